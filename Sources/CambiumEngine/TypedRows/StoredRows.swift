/// The rows of an entity as values of a structure. Made by ``EntityStore/rows(of:)``.
///
///     let measurements = try store.rows(of: Measurement.self)
///     try store.write { (transaction) throws(EngineError) in
///       try measurements.insert(Measurement(time: now, sensor: 3, value: 21.5), in: transaction)
///     }
///     let byTime = try store.view().lookup(measurements.entity, by: ["time"])
///     try byTime.forEach(from: .date(start), to: nil) { (row) throws(EngineError) in
///       show(try measurements.read(row))
///       return true
///     }
///
/// Any thread may use it, in any view or transaction of the store that it was made for.
public struct StoredRows<Content: StoredRow>: Sendable {
  /// The entity.
  public let entity: EntitySchema
  /// Where the properties lie.
  public let fields: StoredFields

  /// Adds an object, and returns its reference. Properties of the entity that the structure lacks are null.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if the entity is abstract; as ``RowWriter/save()``.
  @inlinable @discardableResult
  public func insert(_ row: Content, in transaction: EntityTransaction) throws(EngineError) -> ObjectReference {
    let writer = try transaction.beginRow(entity.id)
    try row.store(fields, in: writer)
    return try writer.save()
  }

  /// Gives an object the values of a structure. Properties of the entity that the structure lacks keep theirs.
  ///
  /// - Throws: As ``EntityTransaction/update(_:by:)``; ``EngineError/misuse(_:)`` for an object of another entity.
  @inlinable
  public func update(
    _ reference: ObjectReference, to row: Content, in transaction: EntityTransaction
  ) throws(EngineError) {
    try transaction.update(reference) { (writer) throws(EngineError) in try row.store(fields, in: writer) }
  }

  /// Reads a row that a view lends.
  ///
  /// - Throws: As ``StoredRow/init(storedRow:fields:)``.
  @inlinable
  public func read(_ row: borrowing RowReader) throws(EngineError) -> Content {
    try Content(storedRow: row, fields: fields)
  }

  /// Reads a row that was fetched.
  ///
  /// - Throws: As ``StoredRow/init(storedRow:fields:)``.
  @inlinable
  public func read(_ row: Row) throws(EngineError) -> Content {
    try row.withReader { (row) throws(EngineError) in try read(row) }
  }

  /// Reads the row of an object; nil if there is none. O(log n).
  ///
  /// - Throws: As ``StoredRow/init(storedRow:fields:)``.
  @inlinable
  public func row(_ reference: ObjectReference, in view: EntityView) throws(EngineError) -> Content? {
    try view.withRow(reference) { (row) throws(EngineError) in try read(row) }
  }
}

extension EntityStore {
  /// Prepares reading and writing the rows of a structure's entity.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if the store's model has no such entity; ``EngineError/schema(_:)`` if the
  ///   entity lacks an attribute; ``EngineError/typeMismatch(entity:property:expected:found:)`` if an attribute is of
  ///   another type, where integers of all widths are one type.
  public func rows<Content: StoredRow>(of type: Content.Type) throws(EngineError) -> StoredRows<Content> {
    let entity = try entity(named: Content.entityName)
    return StoredRows(entity: entity, fields: try fields(of: entity, Content.storedAttributes))
  }

  // Not generic, because each structure would have a copy.

  private func entity(named name: String) throws(EngineError) -> EntitySchema {
    if let entity = schema.entity(named: name) { return entity }
    throw .misuse("the store's model has no entity '\(name)': add the structure's entity() to the schema, and migrate")
  }

  private func fields(of entity: EntitySchema, _ attributes: [AttributeSchema]) throws(EngineError) -> StoredFields {
    var fields: [RowField] = []
    for attribute in attributes {
      let field = try field(attribute.name, of: entity)
      guard field.type == attribute.type || field.type.integerRange != nil && attribute.type.integerRange != nil else {
        throw .typeMismatch(
          entity: entity.name, property: attribute.name, expected: field.type, found: attribute.type.name)
      }
      fields.append(field)
    }
    return StoredFields(fields: fields)
  }
}

extension EntityTransaction {
  /// Begins a new row of an entity with the transaction's own writer.
  @usableFromInline
  func beginRow(_ entity: UInt32) throws(EngineError) -> RowWriter {
    let plan = try store.plan(entity)
    if plan.entity.isAbstract {
      throw .misuse("\(plan.entity.name) is abstract: make an object of one of its subentities")
    }
    let writer = try writer(plan)
    writer.begin()
    return writer
  }
}
