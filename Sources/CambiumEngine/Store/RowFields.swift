import CambiumKernel

/// Puts the values of properties, which are named by their keys, into the record that a builder makes of one entity's
/// row.
struct RowFields {
  private let plan: EntityPlan
  private let schema: Schema
  private let builder: RecordBuilder
  /// Those of the plan's layout, which keeps them.
  private let columns: ColumnTable

  init(_ plan: EntityPlan, _ schema: Schema, _ builder: RecordBuilder) {
    self.plan = plan
    self.schema = schema
    self.builder = builder
    columns = plan.layout.columns
  }

  /// The layout of the rows, which the plan keeps.
  var layout: BorrowedLayout { columns.record }

  /// Sets an attribute, with the conversions of ``AttributeSchema/coerce(_:)``; answers its field, -1 for a transient
  /// one, of which nothing is written.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if the entity does not have it;
  ///   ``EngineError/typeMismatch(entity:property:expected:found:)``.
  @inline(__always)
  func set(attribute key: PropertyKey, _ value: Value) throws(EngineError) -> Int {
    guard let place = columns.place(attribute: key) else { throw noProperty(key) }
    let (field, type) = (columns[place].field, columns[place].type)
    if field < 0 { return field }
    let isSet: Bool
    do throws(StoreError) {
      isSet = try put(value, type, field) ? true : try putCoerced(value, type, place, field)
    } catch { throw .store(error) }
    if isSet { return field }
    throw .typeMismatch(
      entity: plan.entity.name, property: plan.entity.allAttributes[place].name, expected: type, found: value.kindName)
  }

  /// Puts a value in that is in the form of the type already, as a rule, without copying it; answers whether it was.
  @inline(__always)
  private func put(_ value: Value, _ type: AttributeType, _ field: Int) throws(StoreError) -> Bool {
    switch (type, value) {
    case (.string, .string(let text)): try builder.set(text, at: field)
    case (.double, .double(let number)): try builder.set(number, at: field)
    case (.date, .date(let seconds)): try builder.set(date: seconds, at: field)
    case (.binary, .binary(let bytes)): try builder.set(bytes: bytes, at: field)
    case (.boolean, .boolean(let flag)): try builder.set(flag, at: field)
    case (.integer64, .integer(let number)): try builder.set(number, at: field)
    case (.integer32, .integer(let number)) where Int32(exactly: number) != nil: try builder.set(number, at: field)
    case (.integer16, .integer(let number)) where Int16(exactly: number) != nil: try builder.set(number, at: field)
    default: return false
    }
    return true
  }

  /// Puts in what a value becomes; answers whether it becomes anything.
  private func putCoerced(
    _ value: Value, _ type: AttributeType, _ place: Int, _ field: Int
  ) throws(StoreError) -> Bool {
    let elements = plan.entity.allAttributes[place].elements
    guard let coerced = AttributeSchema.coerce(value, type, elements) else { return false }
    try builder.set(coerced, elements: elements, at: field)
    return true
  }

  /// Sets a to-one relationship; answers its field, -1 for a transient one, of which nothing is written.
  ///
  /// - Throws: as ``set(attribute:_:)``.
  func set(toOne key: PropertyKey, _ reference: ObjectReference?) throws(EngineError) -> Int {
    let place = try place(relationship: key, isToMany: false)
    if let reference { try requireDestination(reference, place) }
    let field = field(ofRelationshipAt: place)
    if field < 0 { return field }
    do throws(StoreError) { try builder.set(reference: reference.map(PackedReference.pack), at: field) } catch {
      throw .store(error)
    }
    return field
  }

  /// The place of a relationship among all of them.
  func place(relationship key: PropertyKey, isToMany: Bool) throws(EngineError) -> Int {
    guard let column = columns.place(relationship: key) else { throw noProperty(key) }
    let place = column - columns.attributeCount
    if columns[column].isToMany == isToMany { return place }
    throw .misuse("'\(plan.entity.allRelationships[place].name)' of \(plan.entity.name) is not of that kind")
  }

  /// The field of the relationship at a place; -1 for one that is not kept in rows.
  func field(ofRelationshipAt place: Int) -> Int { columns[columns.attributeCount + place].field }

  private func noProperty(_ key: PropertyKey) -> EngineError {
    .misuse("\(plan.entity.name) has no property of the identifier \(key.id): it was dropped, or is another entity's")
  }

  /// Makes sure that a relationship leads to an object of its destination.
  func requireDestination(_ reference: ObjectReference, _ place: Int) throws(EngineError) {
    let destination = plan.destinations[place]
    if reference.entity == destination || schema.isEntity(reference.entity, orDescendantOf: destination) { return }
    throw .typeMismatch(
      entity: plan.entity.name, property: plan.entity.allRelationships[place].name, expected: .objectID,
      found: schema.entity(id: reference.entity)?.name ?? "an object of another model")
  }
}
