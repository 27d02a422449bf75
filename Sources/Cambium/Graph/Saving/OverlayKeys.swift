import CambiumEngine

/// The keys by which the values of new objects of one entity are encoded. They are looked up once, because every thread
/// would change the same reference counts otherwise.
struct OverlayKeys {
  private let attributes: [PropertyKey]
  /// Those of to-one relationships that rows hold; nil for all other relationships.
  private let toOne: [PropertyKey?]

  init(_ info: EntityInfo) {
    attributes = info.attributeKeys
    toOne = info.relationships.map { property in
      property.relationship.flatMap { $0.isTransient || $0.isToMany ? nil : $0.key }
    }
  }

  /// Encodes the row of a new object. Everything is null in a new row, so null values are left out.
  ///
  /// - Parameter resolve: Finds the row of a destination. It is called for each destination, in order.
  @inline(__always)
  func encode(
    _ overlay: ObjectOverlay, _ encoder: RowEncoder, _ resolve: (ManagedObjectID) -> ObjectReference
  ) throws(EngineError) {
    encoder.begin()
    try overlay.forEachAttribute { (place, value) throws(EngineError) in
      if !value.isNull { try encoder.set(attribute: attributes[place], value) }
    }
    if !overlay.toOneChanges.isEmpty {
      try overlay.toOneChanges.forEach { (place, id) throws(EngineError) in
        guard let id, let key = toOne[place] else { return }
        try encoder.set(toOne: key, resolve(id))
      }
    }
    try encoder.end()
  }
}
