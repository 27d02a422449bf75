import CambiumKernel

/// New rows of one entity that are encoded and not written yet: by another thread than that of the transaction, as a
/// rule.
///
/// Made by ``EntityTransaction/encoder(_:)``. Its rows are written by ``RowWriter/save(_:_:as:)``. It belongs to one
/// thread at a time.
public final class RowEncoder: @unchecked Sendable {
  // `@unchecked`: whoever has it for the time being uses it alone.
  private let plan: EntityPlan
  private let builder: RecordBuilder
  private let fields: RowFields
  /// The rows, one behind the other, and where each ends.
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  @exclusivity(unchecked) private var ends: [Int] = []
  @exclusivity(unchecked) private var isBegun = false
  /// So much memory is kept for further rows.
  private static var mostKept: Int { 1 << 20 }

  init(_ plan: EntityPlan, _ schema: Schema) {
    self.plan = plan
    builder = RecordBuilder(plan.layout.record)
    fields = RowFields(plan, schema, builder)
  }

  /// How many rows there are.
  public var count: Int { ends.count }

  /// How many bytes they have.
  public var byteCount: Int { bytes.count }

  /// Gives up all rows. Keeps the memory.
  public func removeAll() {
    // What few large rows have taken is given back.
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.mostKept)
    ends.removeAll(keepingCapacity: true)
  }

  /// Begins a new row, in which every property is null; forgets what was begun and not ended.
  public func begin() {
    builder.begin(entity: UInt16(truncatingIfNeeded: plan.entityID), version: 1)
    isBegun = true
  }

  /// Sets an attribute as ``RowWriter/set(attribute:_:)`` does.
  public func set(attribute key: PropertyKey, _ value: Value) throws(EngineError) {
    _ = try fields.set(attribute: key, value)
  }

  /// Sets a to-one relationship as ``RowWriter/set(toOne:_:)`` does.
  public func set(toOne key: PropertyKey, _ reference: ObjectReference?) throws(EngineError) {
    _ = try fields.set(toOne: key, reference)
  }

  /// Ends the row that was begun.
  ///
  /// - Throws: ``EngineError/store(_:)`` for a row that is too long; ``EngineError/misuse(_:)`` if none was begun.
  public func end() throws(EngineError) {
    guard isBegun else { throw .misuse("no row was begun: call begin() first") }
    isBegun = false
    try storing { () throws(StoreError) in
      try builder.withBytes { (row) throws(StoreError) in bytes.append(contentsOf: row) }
    }
    ends.append(bytes.count)
  }

  func isOf(_ plan: EntityPlan) -> Bool { self.plan === plan }

  func withBytes(_ number: Int, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void) throws(EngineError) {
    guard ends.indices.contains(number) else { throw .misuse("there is no row of the number \(number)") }
    let start = number == 0 ? 0 : ends[number - 1]
    let end = ends[number]
    try bytes.withUnsafeBytesEngine { (bytes) throws(EngineError) in
      try body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }
  }
}

extension EntityTransaction {
  /// Prepares encoding rows of an entity: its objects alone, not those of descendants.
  ///
  /// - Throws: as ``writer(_:)``.
  public func encoder(_ entity: EntitySchema) throws(EngineError) -> RowEncoder {
    let plan = try store.plan(entity.id)
    if plan.entity.isAbstract {
      throw .misuse("\(plan.entity.name) is abstract: make an object of one of its subentities")
    }
    return RowEncoder(plan, store.schema)
  }

  /// Whether there is another thread to encode rows ahead of the one that writes them.
  public var encodesAhead: Bool { store.kernel.threadCount > 1 }

  /// Has `encode` called with each number below `count`, several at a time on threads of the host's, and `write` with
  /// what it made, in the order of the numbers and on the calling thread. What `write` is done with is handed to
  /// `encode` again.
  ///
  /// - Throws: of the errors of both that there were when it came to an end the one with the lowest number;
  ///   ``EngineError/misuse(_:)`` if the host does not call what it is given to run concurrently.
  public func encodeAhead<Rows: Sendable>(
    _ count: Int, encode: @escaping @Sendable (_ number: Int, _ spare: Rows?) throws(EngineError) -> Rows,
    write: @escaping (Rows) throws(EngineError) -> Void
  ) throws(EngineError) {
    var written = 0
    try store.kernel.inOrder(
      count, make: encode,
      use: { (rows) throws(EngineError) in
        try write(rows)
        written += 1
      })
    if written < count { throw .misuse("the host did not call the work that it was given") }
  }
}
