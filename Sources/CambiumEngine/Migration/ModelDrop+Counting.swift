import CambiumKernel

extension EntityStore {
  /// Returns the drops with the numbers of their values. O(rows of the entities with drops).
  ///
  /// - Throws: kernel errors.
  @_optimize(none)
  func counted(_ drops: [ModelDrop], _ view: EntityView) throws(EngineError) -> [ModelDrop] {
    var drops = drops
    for place in drops.indices { drops[place].values = 0 }
    for entity in schema.entities {
      let places = drops.indices.filter { drops[$0].losers.contains(entity.id) }
      if places.isEmpty { continue }
      var readers: [RelationshipReader?] = []
      for place in places {
        let id = drops[place].identifiers.last
        let relationship = drops[place].kind == .relationship ? entity.allRelationships.first { $0.id == id } : nil
        guard let relationship else {
          readers.append(nil)
          continue
        }
        readers.append(try view.destinations(of: relationship))
      }
      try view.rows(entity: entity, includesSubentities: false) { (row) throws(EngineError) in
        for (place, reader) in zip(places, readers) {
          drops[place].values = (drops[place].values ?? 0) + (try drops[place].count(in: row, reader))
        }
        return true
      }
    }
    return drops
  }
}

extension ModelDrop {
  /// Returns the number of values that a row loses.
  fileprivate func count(in row: Row, _ reader: RelationshipReader?) throws(EngineError) -> UInt64 {
    switch kind {
    case .entity: return 1
    case .relationship:
      guard let reader else { return 0 }
      return UInt64(clamping: try reader.count(from: row.reference))
    case .attribute, .element:
      var ids = identifiers[...]
      guard let first = ids.popFirst(), var attribute = row.entity.allAttributes.first(where: { $0.id == first }) else {
        return 0
      }
      var value = try row.value(attribute)
      for id in ids {
        guard case .composite(let composite) = value, let element = attribute.elements.first(where: { $0.id == id })
        else { return 0 }
        value = composite[element.name] ?? .null
        attribute = element
      }
      return value.isNull ? 0 : 1
    }
  }
}
