import CambiumEngine

/// What is asked of an attribute whenever it is read or set by its name.
struct DirectAttribute {
  let name: NameBits
  let key: PropertyKey
  let place: Int
  let type: AttributeType
  /// Whether it is read as it is stored.
  let isReadable: Bool
  /// Whether it is also set so.
  let isPlain: Bool
}

/// The attributes of an entity, by their places: plain memory, so that nothing is counted for what is looked at.
struct DirectAttributes: @unchecked Sendable {
  // `@unchecked`: nothing changes the memory before it is freed, by the ``EntityInfo`` that made it.
  private let attributes: UnsafeMutablePointer<DirectAttribute>
  let count: Int

  /// The names are those of the properties, which are kept as long.
  init(_ properties: [PropertyInfo], _ keys: [PropertyKey], _ entity: EntitySchema) {
    let all = properties.filter { $0.isAttribute }
    let types = entity.allAttributes.map { $0.type }
    count = min(all.count, keys.count, types.count)
    attributes = .allocate(capacity: count)
    for (place, property) in all.prefix(count).enumerated() {
      (attributes + place).initialize(
        to: DirectAttribute(
          name: NameBits(property.name), key: keys[place], place: place, type: types[place],
          isReadable: !property.isTransient && !property.isTransformed, isPlain: property.isPlain))
    }
  }

  func deallocate() {
    attributes.deinitialize(count: count)
    attributes.deallocate()
  }

  /// The attribute at a place, which has to be one of the entity's.
  @inline(__always)
  subscript(place: Int) -> DirectAttribute { attributes[place] }

  /// The place of an attribute whose name has the very bits, looked for from a place on, and then before it; nil where
  /// there is none, or the name is written otherwise.
  @inline(__always)
  func place(_ name: NameBits, from first: Int) -> Int? {
    var place = first
    while place < count {
      if attributes[place].name == name { return place }
      place &+= 1
    }
    place = 0
    while place < first, place < count {
      if attributes[place].name == name { return place }
      place &+= 1
    }
    return nil
  }
}
