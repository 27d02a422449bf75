import CambiumEngine

/// Says in words what differs between two schemas.
enum SchemaText {
  /// The changes, entity by entity.
  ///
  /// - Parameter storedOnly: Whether only changes count for which a store has to be migrated.
  static func changes(_ entities: [EntityDifference], storedOnly: Bool = true) -> String {
    entities.compactMap { entity in
      switch entity.kind {
      case .added: return "'\(entity.name)' is new"
      case .removed: return "'\(entity.name)' is missing"
      case .changed:
        let changes = entity.changes.filter { $0.isStored || !storedOnly }
        if changes.isEmpty { return nil }
        let texts = changes.map { change in (change.property.map { "\($0): " } ?? "") + change.text }
        return "'\(entity.name)' (\(texts.joined(separator: "; ")))"
      }
    }.joined(separator: ", ")
  }
}
