import CambiumKernel

/// Writes rows of one entity, property by property: new ones, and changes of existing ones.
///
/// Made by ``EntityTransaction/writer(_:)`` and used for many rows: what is to be done is found out once, and values go
/// straight into the encoded row. It works within its transaction, and one row at a time:
///
///     let tailNumber = try store.field("tailNumber", of: aircraft)
///     let hours = try store.field("hours", of: aircraft)
///     try store.write { t in
///       let rows = try t.writer(aircraft)
///       for flight in flights {
///         rows.begin()
///         try rows.set(tailNumber, flight.tailNumber)
///         try rows.set(hours, 0.5)
///         try rows.save()
///       }
///     }
///
/// A link has two ends: ``save()`` writes the other ends of the relationships that were set as well. Their destinations
/// may be inserted later, and must exist when the transaction ends.
///
/// Every setter takes nil for null and replaces what was set before. It throws
/// ``EngineError/typeMismatch(entity:property:expected:found:)`` if the property is of another type or too narrow, and
/// ``EngineError/misuse(_:)`` if no row was begun. An element of a composite is set by its own field
/// (`colorScheme.primary`); that makes the composite non-null, unless the element is set to null.
public final class RowWriter {
  private enum State {
    case idle
    case new(ObjectReference?)
    case existing(ObjectReference)
  }

  let transaction: EntityTransaction
  let plan: EntityPlan
  /// The builder, and the row as it was.
  let buffers: TransactionKit.Buffers
  let builder: RecordBuilder
  /// What sets properties by their keys.
  private let fields: RowFields
  private let layoutID: UInt16
  private let keeper: IndexKeeper
  // Exclusive access is not checked at run time, since the checks would take longer than most setters; nothing here
  // calls out to code that could come back.
  @exclusivity(unchecked) private var state = State.idle
  @exclusivity(unchecked) private(set) var touched: UInt64 = 0
  /// The destinations that the row is to have by unordered relationships, by the places of these: written after it.
  @exclusivity(unchecked) private var links: [(place: Int, destinations: [ObjectReference])] = []
  /// What the row that was just written changes of relationships whose other sides are written after it.
  @exclusivity(unchecked) var edits: [LinkEdit] = []
  /// Whether a row is written without the other sides of its links.
  @exclusivity(unchecked) var isAlone = false
  /// How many changes the transaction had seen when the row was read.
  @exclusivity(unchecked) private var changesSeen: UInt64 = 0

  init(_ transaction: EntityTransaction, _ plan: EntityPlan, _ keeper: IndexKeeper, _ buffers: TransactionKit.Buffers) {
    self.transaction = transaction
    self.plan = plan
    self.keeper = keeper
    self.buffers = buffers
    builder = buffers.builder
    fields = RowFields(plan, transaction.store.schema, builder)
    layoutID = plan.layout.id
  }

  // MARK: Rows

  /// Begins a new row, in which every property is null; forgets what was begun and not saved.
  ///
  /// - Parameter reference: a reference that was reserved for it, and under which there is no row yet; ``save()``
  ///   reserves one if there is none.
  public func begin(_ reference: ObjectReference? = nil) {
    builder.begin(entity: UInt16(truncatingIfNeeded: plan.entityID), version: 1)
    forgetLinks()
    state = .new(reference)
    touched = PropertyMask.all
  }

  /// Begins changing an object: properties that are not set keep their values. Forgets what was begun and not saved.
  ///
  /// - Throws: ``EngineError/noSuchObject(_:)``; ``EngineError/misuse(_:)`` if the object is of another entity than the
  ///   writer.
  public func begin(changing reference: ObjectReference) throws(EngineError) {
    state = .idle
    forgetLinks()
    try copyOld(reference)
    try withOld { (record) throws(EngineError) in
      do throws(StoreError) {
        try builder.begin(copying: record, version: record.rowVersion &+ (isPlanted(.rowVersionStays) ? 0 : 1))
      } catch {
        throw .store(error)
      }
    }
    state = .existing(ObjectReference(entity: plan.entityID, row: reference.row))
    touched = 0
  }

  /// Writes the row that was begun, and answers its reference. Constraints are checked when the transaction commits.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if none was begun, if the object was changed or deleted in another way since,
  ///   or if there is one of the reference given for a new row; kernel errors.
  @discardableResult
  public func save() throws(EngineError) -> ObjectReference {
    switch state {
    case .idle: throw Self.nothingBegun()
    case .new(let given):
      state = .idle
      let reference: ObjectReference
      if let given {
        if given.entity != plan.entityID { throw wrongEntity(given) }
        try transaction.requireNew(plan, given)
        reference = given
      } else {
        reference = try transaction.referenceToWrite(plan)
      }
      try write(reference, isNew: true) { (record) throws(EngineError) in
        try keeper.insert(record, reference, transaction, isNew: true)
      }
      try writeLinks(reference, isNew: true)
      return reference
    case .existing(let reference):
      state = .idle
      if transaction.changes != changesSeen, !isPlanted(.rowChangedMeanwhile) { try requireUnchanged(reference) }
      try write(reference, isNew: false) { (after) throws(EngineError) in
        try withOld { (before) throws(EngineError) in
          try keeper.update(before, after, reference, touched: touched, transaction)
        }
      }
      try writeLinks(reference, isNew: false)
      return reference
    }
  }

  /// Writes a new row that somebody has encoded, under a reference that was reserved for it. Forgets what was begun and
  /// not saved.
  ///
  /// - Throws: as ``save()``; ``EngineError/misuse(_:)`` if the row is of another entity than the writer.
  public func save(_ rows: RowEncoder, _ number: Int, as reference: ObjectReference) throws(EngineError) {
    state = .idle
    forgetLinks()
    guard reference.entity == plan.entityID, rows.isOf(plan) else { throw wrongEntity(reference) }
    try transaction.requireNew(plan, reference)
    try rows.withBytes(number) { (bytes) throws(EngineError) in
      try write(bytes, reference, isNew: true) { (record) throws(EngineError) in
        try keeper.insert(record, reference, transaction, isNew: true)
      }
    }
    try writeLinks(reference, isNew: true)
  }

  /// Forgets the links of a row that was begun and not saved.
  @inline(__always)
  private func forgetLinks() {
    if !links.isEmpty { links = [] }
    if !edits.isEmpty { edits = [] }
  }

  /// Writes the links of a row that is written already, and the other sides of all its links: without them it must not
  /// be committed.
  @inline(__always)
  private func writeLinks(_ reference: ObjectReference, isNew: Bool) throws(EngineError) {
    if links.isEmpty, edits.isEmpty, !isNew || !transaction.ledger.hasClaims { return }
    try writeLinksAndOtherSides(reference, isNew: isNew)
  }

  @inline(never)
  private func writeLinksAndOtherSides(_ reference: ObjectReference, isNew: Bool) throws(EngineError) {
    // The transaction may write further rows by this writer.
    var (links, edits) = (links, edits)
    self.links = []
    self.edits = []
    do throws(EngineError) {
      if isNew, transaction.ledger.hasClaims { try transaction.takeClaims(reference, plan, &edits) }
      for link in links { try transaction.setUnordered(link.place, of: reference, plan, link.destinations) }
      for edit in edits { try transaction.follow(edit, of: reference) }
    } catch {
      transaction.breakOff(error)
      throw error
    }
  }

  /// Removes an object as ``EntityTransaction/delete(_:)`` does. Forgets what was begun and not saved.
  ///
  /// - Throws: ``EngineError/noSuchObject(_:)``; ``EngineError/misuse(_:)`` if the object is of another entity than the
  ///   writer.
  public func delete(_ reference: ObjectReference) throws(EngineError) {
    state = .idle
    if let own = try transaction.planOfRow(reference), own !== plan { throw wrongEntity(own.reference(to: reference)) }
    try transaction.delete(reference)
  }

  /// Removes a row, its index entries, and the links in trees that begin at it.
  func removeRow(_ reference: ObjectReference) throws(EngineError) {
    state = .idle
    try copyOld(reference)
    let own = ObjectReference(entity: plan.entityID, row: reference.row)
    do throws(EngineError) {
      try withOld { (record) throws(EngineError) in try keeper.delete(record, own, transaction) }
      try transaction.removeLinks(plan, reference.row)
      try transaction.removeRow(plan, reference.row)
    } catch {
      transaction.breakOff(error)
      throw error
    }
  }

  private func write(
    _ reference: ObjectReference, isNew: Bool, _ index: (RecordView) throws(EngineError) -> Void
  ) throws(EngineError) {
    var failure: EngineError?
    do throws(StoreError) {
      try builder.withBytes { (bytes) throws(StoreError) in
        do throws(EngineError) { try write(bytes, reference, isNew: isNew, index) } catch { failure = error }
      }
    } catch { throw .store(error) }
    if let failure { throw failure }
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, _ reference: ObjectReference, isNew: Bool,
    _ index: (RecordView) throws(EngineError) -> Void
  ) throws(EngineError) {
    if !plan.referenceFields.isEmpty { try noteReferences(bytes, isNew: isNew) }
    let isGathered: Bool
    do throws(StoreError) {
      isGathered = try transaction.putRow(plan, reference.row, bytes, mayGather: isNew && keeper.mayGather)
    } catch { throw .store(error) }
    if transaction.keepsRows, !isAlone, bytes.count <= EntityTransaction.mostKept {
      transaction.keptRows.add(bytes, plan.layout, reference.row)
    }
    if isGathered { return try transaction.settleIfLarge() }
    let record: RecordView
    do throws(StoreError) { record = try RecordView(bytes, layout: fields.layout) } catch {
      transaction.breakOff(.store(error))
      throw .store(error)
    }
    do throws(EngineError) { try index(record) } catch {
      transaction.breakOff(error)
      throw error
    }
    try transaction.settleIfLarge()
  }

  /// Makes sure that the row is still as it was when it was begun: its index entries are found by that.
  private func requireUnchanged(_ reference: ObjectReference) throws(EngineError) {
    let now = RowCopy()
    defer { withExtendedLifetime(now) {} }
    if try transaction.copyRow(plan.rows, reference.row, to: now) != nil, now.bytes.elementsEqual(buffers.old.bytes) {
      return
    }
    throw .misuse(
      "\(reference.description) was changed or deleted since begin(changing:): begin it again, and save before anything "
        + "else changes it")
  }

  private func copyOld(_ reference: ObjectReference) throws(EngineError) {
    try transaction.moveLinks(plan.rows, reference.row)
    changesSeen = transaction.changes
    guard let entity = try transaction.copyRow(plan.rows, reference.row, to: buffers.old) else {
      throw .noSuchObject(reference)
    }
    if !plan.isInHierarchy(entity) { throw .noSuchObject(reference) }
    if entity != plan.entityID { throw wrongEntity(ObjectReference(entity: entity, row: reference.row)) }
  }

  func withOld(_ body: (RecordView) throws(EngineError) -> Void) throws(EngineError) {
    let record: RecordView
    do throws(StoreError) { record = try RecordView(buffers.old.bytes, layout: fields.layout) } catch {
      throw .store(error)
    }
    try body(record)
  }

  // MARK: Setting

  /// Notes that a field of the builder is set.
  func touch(_ field: Int) { touched |= PropertyMask.mask(field) }

  /// Sets a text or a URI.
  public func set(_ field: RowField, _ value: String?) throws(EngineError) {
    try put(field, isNull: value == nil, "text") { (builder, index) throws(StoreError) in
      try builder.set(value, at: index)
    }
  }

  /// Sets a text or a URI given as UTF-8; ill-formed UTF-8 is refused.
  public func set(_ field: RowField, utf8 value: UnsafeRawBufferPointer) throws(EngineError) {
    try put(field, isNull: false, "text") { (builder, index) throws(StoreError) in
      try builder.set(utf8: value, at: index)
    }
  }

  /// Sets an integer of any width.
  public func set(_ field: RowField, _ value: Int64?) throws(EngineError) {
    try put(field, isNull: value == nil, "integer") { (builder, index) throws(StoreError) in
      try builder.set(value, at: index)
    }
  }

  /// Sets a double, or a float to the nearest one.
  public func set(_ field: RowField, _ value: Double?) throws(EngineError) {
    try put(field, isNull: value == nil, "double") { (builder, index) throws(StoreError) in
      try builder.set(value, at: index)
    }
  }

  /// Sets a boolean.
  public func set(_ field: RowField, _ value: Bool?) throws(EngineError) {
    try put(field, isNull: value == nil, "boolean") { (builder, index) throws(StoreError) in
      try builder.set(value, at: index)
    }
  }

  /// Sets a date, in seconds since 2001-01-01 00:00:00 UTC.
  public func set(_ field: RowField, date value: Double?) throws(EngineError) {
    try put(field, isNull: value == nil, "date") { (builder, index) throws(StoreError) in
      try builder.set(date: value, at: index)
    }
  }

  /// Sets a UUID.
  public func set(_ field: RowField, _ value: UUIDBytes?) throws(EngineError) {
    try put(field, isNull: value == nil, "UUID") { (builder, index) throws(StoreError) in
      try builder.set(value, at: index)
    }
  }

  /// Sets a decimal.
  public func set(_ field: RowField, _ value: DecimalValue?) throws(EngineError) {
    try put(field, isNull: value == nil, "decimal") { (builder, index) throws(StoreError) in
      try builder.set(value, at: index)
    }
  }

  /// Sets a binary attribute.
  public func set(_ field: RowField, bytes value: [UInt8]?) throws(EngineError) {
    try put(field, isNull: value == nil, "binary") { (builder, index) throws(StoreError) in
      try builder.set(bytes: value, at: index)
    }
  }

  /// Sets a to-one relationship, or an object identity.
  public func set(_ field: RowField, _ value: ObjectReference?) throws(EngineError) {
    guard let place = try place(field, isNull: value == nil) else { return }
    if let value, let family = field.destination, !family.contains(value.entity) {
      throw .typeMismatch(
        entity: plan.entity.name, property: field.keyPath, expected: .objectID,
        found: transaction.store.schema.entity(id: value.entity)?.name ?? "an object of another model")
    }
    do throws(StoreError) {
      try place.builder.borrowed { (builder) throws(StoreError) in
        try builder.set(reference: value.map(PackedReference.pack), at: place.index)
      }
    } catch { throw mismatch(field, "object", error) }
  }

  /// Sets any attribute, with the conversions of ``AttributeSchema/coerce(_:)``; composites as a whole.
  public func set(_ field: RowField, _ value: Value) throws(EngineError) {
    guard let attribute = field.attribute else {
      switch value {
      case .null: return try set(field, nil as ObjectReference?)
      case .reference(let reference): return try set(field, reference)
      default: throw mismatch(field, value.kindName)
      }
    }
    guard let coerced = attribute.coerce(value) else { throw mismatch(field, value.kindName) }
    guard let place = try place(field, isNull: value.isNull) else { return }
    do throws(StoreError) {
      try place.builder.borrowed { (builder) throws(StoreError) in
        try builder.set(coerced, elements: attribute.elements, at: place.index)
      }
    } catch { throw .store(error) }
  }

  // MARK: Setting by key

  /// Sets an attribute, with the conversions of ``AttributeSchema/coerce(_:)``; a composite as a whole. Nothing is
  /// written for a transient one.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if the entity does not have it.
  public func set(attribute key: PropertyKey, _ value: Value) throws(EngineError) {
    if case .idle = state { throw Self.nothingBegun() }
    let field = try fields.set(attribute: key, value)
    if field >= 0 { touch(field) }
  }

  /// Sets a to-one relationship. Nothing is written for a transient one.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if the entity does not have it.
  public func set(toOne key: PropertyKey, _ reference: ObjectReference?) throws(EngineError) {
    if case .idle = state { throw Self.nothingBegun() }
    let field = try fields.set(toOne: key, reference)
    if field >= 0 { touch(field) }
  }

  /// Sets all destinations of a to-many relationship. Nothing is written for a transient one.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if the entity does not have it.
  public func set(toMany key: PropertyKey, _ references: [ObjectReference]) throws(EngineError) {
    if case .idle = state { throw Self.nothingBegun() }
    let place = try fields.place(relationship: key, isToMany: true)
    for reference in references { try fields.requireDestination(reference, place) }
    let relationship = plan.entity.allRelationships[place]
    if relationship.isTransient { return }
    if !relationship.isOrdered {
      links.removeAll { $0.place == place }
      return links.append((place, references))
    }
    try set(references, at: fields.field(ofRelationshipAt: place))
  }

  /// Sets a field that holds a list, in which each reference is once.
  private func set(_ references: [ObjectReference], at field: Int) throws(EngineError) {
    if field < 0 { return }
    touch(field)
    var seen = Set<UInt64>()
    let packed = references.filter { seen.insert($0.row).inserted }.map(PackedReference.pack)
    do throws(StoreError) { try builder.set(references: packed.isEmpty ? nil : packed, at: field) } catch {
      throw .store(error)
    }
  }

  /// Makes a property null.
  public func setNull(_ field: RowField) throws(EngineError) {
    guard let place = try place(field, isNull: true) else { return }
    do throws(StoreError) {
      try place.builder.borrowed { (builder) throws(StoreError) in try builder.setNull(at: place.index) }
    } catch { throw .store(error) }
  }

  /// A builder, which the writer's keeps, and one of its fields.
  private typealias Place = (builder: Unmanaged<RecordBuilder>, index: Int)

  /// Notes that a field is set, and has it set: `set` is told by which builder, and at which of its fields. Not if
  /// there is nothing to do, since an element of a composite that is null is to be null.
  @inline(__always)
  private func put(
    _ field: RowField, isNull: Bool, _ kind: StaticString,
    _ set: (RecordBuilder, Int) throws(StoreError) -> Void
  ) throws(EngineError) {
    if case .idle = state { throw Self.nothingBegun() }
    if field.layoutID == layoutID, field.ownIndex >= 0 {
      touched |= field.mask
      do throws(StoreError) { return try set(builder, field.ownIndex) } catch { throw mismatch(field, kind, error) }
    }
    guard let place = try placeOfElement(field, isNull: isNull) else { return }
    do throws(StoreError) {
      try place.builder.borrowed { (builder) throws(StoreError) in try set(builder, place.index) }
    } catch { throw mismatch(field, kind, error) }
  }

  /// Notes that a field is set; nil if there is nothing to do, as in ``put(_:isNull:_:_:)``.
  private func place(_ field: RowField, isNull: Bool) throws(EngineError) -> Place? {
    if case .idle = state { throw Self.nothingBegun() }
    if field.layoutID == layoutID, field.ownIndex >= 0 {
      touched |= field.mask
      return (.passUnretained(builder), field.ownIndex)
    }
    return try placeOfElement(field, isNull: isNull)
  }

  private func placeOfElement(_ field: RowField, isNull: Bool) throws(EngineError) -> Place? {
    if field.layoutID == layoutID {
      if field.outerIndex < 0 { return try place(field.path, isNull: isNull) }
      touched |= field.mask
      do throws(StoreError) {
        if isNull, try builder.isNull(at: field.outerIndex) { return nil }
        return (try builder.lentElement(at: field.outerIndex), field.innerIndex)
      } catch { throw .store(error) }
    }
    return try place(try field.path(in: layoutID), isNull: isNull)
  }

  @inline(__always)
  private func place(_ path: FieldPath, isNull: Bool) throws(EngineError) -> Place? {
    touched |= PropertyMask.mask(path[0])
    if path.depth == 1 { return (.passUnretained(builder), path[0]) }
    do throws(StoreError) {
      if isNull, try builder.isNull(at: path[0]) { return nil }
      var place = (builder: try builder.lentElement(at: path[0]), index: path[1])
      var step = 2
      while step < path.depth {
        let index = place.index
        let next = try place.builder.borrowed { (builder) throws(StoreError) -> Unmanaged<RecordBuilder>? in
          if isNull, try builder.isNull(at: index) { return nil }
          return try builder.lentElement(at: index)
        }
        guard let next else { return nil }
        place = (next, path[step])
        step &+= 1
      }
      return place
    } catch { throw .store(error) }
  }

  @inline(never)
  private static func nothingBegun() -> EngineError {
    .misuse("no row was begun: call begin() or begin(changing:) first")
  }

  private func wrongEntity(_ reference: ObjectReference) -> EngineError {
    let name = transaction.store.schema.entity(id: reference.entity)?.name ?? "another model's entity"
    return .misuse("\(reference.description) is of \(name), and the writer of \(plan.entity.name): use one of its own")
  }

  @inline(never)
  private func mismatch(_ field: RowField, _ found: StaticString, _ error: StoreError) -> EngineError {
    if case .misuse = error {} else { return .store(error) }
    return mismatch(field, found.description)
  }

  private func mismatch(_ field: RowField, _ found: String) -> EngineError {
    .typeMismatch(entity: plan.entity.name, property: field.keyPath, expected: field.type, found: found)
  }
}

extension EntityTransaction {
  /// Prepares writing rows of an entity. Its objects alone: those of descendants have writers of their own.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if the entity is abstract, or not of the store's model.
  public func writer(_ entity: EntitySchema) throws(EngineError) -> RowWriter {
    let plan = try store.plan(entity.id)
    if plan.entity.isAbstract {
      throw .misuse("\(plan.entity.name) is abstract: make an object of one of its subentities")
    }
    return try makeWriter(plan)
  }
}
