import CambiumKernel

/// How the rows of one entity are laid out in one version of the model.
///
/// A composite is a nested record of its elements, in their order. Rows that still have an earlier layout are read by
/// way of a ``StaleLayout``.
final class EntityLayout: Sendable {
  let entity: EntitySchema
  /// The entity's identifier and the layout's, where they are read without the rest.
  let entityID: UInt32
  let id: UInt16
  let record: RecordLayout
  /// Index of the field of a property, by name.
  let fieldByName: NameIndex
  /// The names of the elements of attributes, by the attributes' places: none but of composites.
  let elementNames: [[String]]
  /// What is needed to read and write a property, by its place.
  let columns: ColumnTable

  /// The layout of rows as `descriptor` has them. The order of its fields is the one in which they lie in rows, which
  /// is not always that of the properties: declaring them in another order changes nothing.
  init(entity: EntitySchema, id: UInt16, descriptor: LayoutDescriptor) throws(EngineError) {
    try Self.requireSmall(entity)
    self.entity = entity
    self.id = id
    entityID = entity.id
    let wanted = try Self.fields(of: entity)
    guard Self.isSameButForOrder(wanted, descriptor.fields) else {
      throw .corrupt("layout \(id) is not that of the rows of \(entity.name)")
    }
    var names: [(name: String, number: Int)] = []
    names.reserveCapacity(descriptor.fields.count)
    // As a rule, the fields are in the order of the properties.
    var next = 0
    for attribute in entity.allAttributes where !attribute.isTransient {
      guard let place = Self.place(of: attribute.id, in: descriptor.fields, &next) else { continue }
      names.append((attribute.name, place))
    }
    for relationship in entity.allRelationships where !relationship.isTransient {
      if relationship.isToMany && !relationship.isOrdered { continue }
      guard let place = Self.place(of: relationship.id, in: descriptor.fields, &next) else { continue }
      names.append((relationship.name, place))
    }
    fieldByName = NameIndex(names)
    elementNames = entity.allAttributes.map { $0.elements.map { $0.name } }
    record = try storing { () throws(StoreError) in try RecordLayout(row: id, fields: descriptor.fields) }
    columns = ColumnTable(of: entity, fieldByName, record)
  }

  deinit { columns.deallocate() }

  /// The place of a property's field, which is looked for from `next` on; `next` becomes the one behind it.
  private static func place(of property: UInt32, in fields: [RecordField], _ next: inout Int) -> Int? {
    for step in fields.indices {
      let place = next + step < fields.count ? next + step : next + step - fields.count
      if fields[place].property == property {
        next = place + 1
        return place
      }
    }
    return nil
  }

  /// The fields of an entity's rows as its model has them: the attributes, then the to-one relationships and the
  /// ordered to-many ones; transient ones are left out.
  static func fields(of entity: EntitySchema) throws(EngineError) -> [RecordField] {
    var fields: [RecordField] = []
    for attribute in entity.allAttributes where !attribute.isTransient {
      fields.append(RecordField(property: attribute.id, kind: try kind(attribute)))
    }
    for relationship in entity.allRelationships where !relationship.isTransient {
      if relationship.isToMany && !relationship.isOrdered { continue }
      fields.append(
        RecordField(property: relationship.id, kind: relationship.isToMany ? .references : .reference))
    }
    return fields
  }

  /// Whether rows with one list of fields are as good as with the other.
  static func isSameButForOrder(_ a: [RecordField], _ b: [RecordField]) -> Bool {
    guard a.count == b.count else { return false }
    // As a rule, they are in the same order.
    if LayoutDescriptor.same(a, b) { return true }
    var places: [UInt32: Int] = [:]
    for (place, field) in b.enumerated() { places[field.property] = place }
    for field in a {
      guard let place = places[field.property], LayoutDescriptor.same(field, b[place]) else { return false }
    }
    return places.count == b.count
  }

  private static func requireSmall(_ entity: EntitySchema) throws(EngineError) {
    guard entity.id <= UInt32(UInt16.max) else {
      throw .unsupported(
        "a store holds at most 65,535 entities in its life; this model's \(entity.name) is beyond that")
    }
  }

  private static func kind(_ attribute: AttributeSchema) throws(EngineError) -> FieldKind {
    switch attribute.type {
    case .integer16: return .int16
    case .integer32: return .int32
    case .integer64: return .int64
    case .decimal: return .decimal
    case .double: return .double
    case .float: return .float
    case .string, .uri: return .string
    case .boolean: return .boolean
    case .date: return .date
    case .binary, .transformable: return .bytes
    case .uuid: return .uuid
    case .objectID: return .reference
    case .composite:
      var fields: [RecordField] = []
      for element in attribute.elements {
        fields.append(RecordField(property: element.id, kind: try kind(element)))
      }
      let made = fields
      return .nested(try storing { () throws(StoreError) in try RecordLayout(nested: made) })
    case .undefined:
      throw .unsupported("attribute '\(attribute.name)' has no type, which only a transient attribute may lack")
    }
  }

  /// The attribute that a key path is the name of, and its field; nil if the path is any other.
  func attribute(_ keyPath: String) -> (attribute: AttributeSchema, field: Int)? {
    guard let field = fieldByName[keyPath], let attribute = entity.attribute(named: keyPath) else { return nil }
    return (attribute, field)
  }

  /// A path of field indexes through composites, for an attribute path without relationships.
  func fieldPath(_ steps: [PathStep]) -> [Int]? {
    var path: [Int] = []
    path.reserveCapacity(steps.count)
    var elements: [AttributeSchema] = []
    for step in steps {
      switch step {
      case .attribute(let attribute):
        guard let index = fieldByName[attribute.name] else { return nil }
        path.append(index)
        elements = attribute.elements
      case .element(let element):
        guard let index = elements.firstIndex(where: { $0.id == element.id }) else { return nil }
        path.append(index)
        elements = element.elements
      case .toOne(let relationship, _):
        guard let index = fieldByName[relationship.name] else { return nil }
        path.append(index)
      default: return nil
      }
    }
    return path
  }
}

/// How a row stores a reference: the entity above, the row below.
@usableFromInline
enum PackedReference {
  static let rowBits: UInt64 = 48

  static func pack(_ reference: ObjectReference) -> UInt64 {
    UInt64(reference.entity) &<< rowBits | (reference.row & ((1 &<< rowBits) &- 1))
  }

  @usableFromInline
  static func unpack(_ value: UInt64) -> ObjectReference {
    ObjectReference(entity: UInt32(truncatingIfNeeded: value &>> rowBits), row: value & ((1 &<< rowBits) &- 1))
  }
}

// MARK: Values in records

extension RecordView {
  /// The value of an attribute's field.
  func value(_ attribute: AttributeSchema, at index: Int) throws(StoreError) -> Value {
    if attribute.type == .composite {
      return try composite(attribute.elements, attribute.elements.map { $0.name }, at: index)
    }
    return try value(attribute.type, at: index)
  }

  /// The value of a composite's field.
  func composite(
    _ elements: [AttributeSchema], _ names: [String], at index: Int
  ) throws(StoreError) -> Value {
    guard let nested = try nested(at: index) else { return .null }
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    for i in elements.indices { values.append(try nested.value(elements[i], at: i)) }
    return .composite(CompositeValue(distinct: names, values))
  }

  /// The value of a field of a type that is no composite.
  func value(_ type: AttributeType, at index: Int) throws(StoreError) -> Value {
    switch type {
    case .integer16, .integer32, .integer64: return try int64(at: index).map(Value.integer) ?? .null
    case .decimal: return try decimal(at: index).map(Value.decimal) ?? .null
    case .double: return try double(at: index).map(Value.double) ?? .null
    case .float: return try float(at: index).map(Value.float) ?? .null
    case .string: return try string(at: index).map(Value.string) ?? .null
    case .uri: return try string(at: index).map(Value.uri) ?? .null
    case .boolean: return try boolean(at: index).map(Value.boolean) ?? .null
    case .date: return try date(at: index).map(Value.date) ?? .null
    case .binary, .transformable: return try bytes(at: index).map { .binary(Array($0)) } ?? .null
    case .uuid: return try uuid(at: index).map(Value.uuid) ?? .null
    case .objectID: return try reference(at: index).map { .reference(PackedReference.unpack($0)) } ?? .null
    case .composite, .undefined: return .null
    }
  }
}

extension RecordBuilder {
  /// Sets an attribute's field; `value` has the attribute's type already (see ``AttributeSchema/coerce(_:)``).
  ///
  /// - Parameter elements: those of the attribute, if it is a composite.
  func set(_ value: Value, elements: [AttributeSchema], at index: Int) throws(StoreError) {
    switch value {
    case .null: try setNull(at: index)
    case .boolean(let v): try set(v, at: index)
    case .integer(let v): try set(v, at: index)
    case .decimal(let v): try set(v, at: index)
    case .double(let v): try set(v, at: index)
    case .float(let v): try set(v, at: index)
    case .string(let v), .uri(let v): try set(v, at: index)
    case .date(let v): try set(date: v, at: index)
    case .binary(let v): try set(bytes: v, at: index)
    case .uuid(let v): try set(v, at: index)
    case .reference(let v): try set(reference: PackedReference.pack(v), at: index)
    case .composite(let composite):
      let inner = try nested(at: index)
      for i in elements.indices {
        // As a rule, the values are in the order of the elements.
        let isInPlace = i < composite.count && composite.names[i] == elements[i].name
        if isInPlace, case .string(let text) = composite.values[i] {
          try inner.set(text, at: i)
          continue
        }
        let value = isInPlace ? composite.values[i] : composite[elements[i].name] ?? .null
        try inner.set(value, elements: elements[i].elements, at: i)
      }
    case .list: throw .misuse("an attribute cannot hold a list")
    }
  }
}
