/// Writes records of a layout straight from those of an earlier one, for passes over many rows: fixed-width fields in
/// runs, variable-width ones and unchanged composites as bytes, without a ``RecordBuilder`` in between. The bytes are
/// those that ``RecordProjection/project(_:into:)`` leads to, unless the record is damaged.
///
/// Not every projection can be done so: those that convert values, or give defaults of variable width or in place of
/// nulls, take values in hand. Immutable, and safe to use from any number of threads.
public final class RecordCopier: @unchecked Sendable {
  // Unchecked, since what is done for every record is in plain memory, where nothing is counted for it; nothing changes
  // that between `init` and `deinit`.

  /// Where the value of a variable-width field comes from.
  private enum Variable: BitwiseCopyable {
    case null
    /// A field of the stored record: its index, and its number among those of variable width.
    case bytes(field: Int, number: Int)
    /// A composite whose layout has not changed.
    case composite(field: Int)
    /// A composite whose layout has changed, and which of ``inner`` copies it.
    case nested(field: Int, Int)
  }

  private struct BitMove: BitwiseCopyable {
    var from: Int
    var to: Int
  }

  private struct Run: BitwiseCopyable {
    var from: Int
    var to: Int
    var count: Int
  }

  private let stored: RecordLayout
  private let current: RecordLayout
  /// Everything before the end offsets as it is in a record without any of the stored fields: `fixedEnd` bytes of the
  /// current layout.
  private let template: UnsafeMutableRawPointer
  private let bits: UnsafeMutableBufferPointer<BitMove>
  private let runs: UnsafeMutableBufferPointer<Run>
  /// One of each variable-width field of the current layout.
  private let variables: UnsafeMutableBufferPointer<Variable>
  private let inner: [RecordCopier]

  /// Answers nil if the projection is one that cannot be done by copying.
  public init?(_ projection: RecordProjection) {
    stored = projection.stored
    current = projection.current
    let table = current.table.pointee
    let storedTable = stored.table.pointee
    var template = Self.head(current, projection.defaults)
    var bits: [BitMove] = []
    var moves: [Run] = []
    var variables = [Variable](repeating: .null, count: table.variableCount)
    var copiers: [RecordCopier] = []
    for index in 0..<table.fieldCount {
      let slot = table.slots[index]
      if projection.nullTakesDefault[index] { return nil }
      let from: Int
      switch projection.sources[index] {
      case .gathered, .element: return nil
      case .missing:
        guard slot.tag.isVariable else { continue }
        // A composite that was added is null, whatever the defaults of its elements are.
        if slot.tag != .nested, !Self.bit(template, table, index) { return nil }
        Self.setBit(&template, table, index)
        continue
      case .field(let field, let conversion):
        guard conversion == .none, storedTable.slots[field].tag == slot.tag else { return nil }
        if slot.tag.isVariable {
          variables[slot.position] = .bytes(field: field, number: storedTable.slots[field].position)
        }
        from = field
      case .nested(let field, let inner):
        if inner.isIdentity {
          variables[slot.position] = .composite(field: field)
        } else {
          guard let copier = RecordCopier(inner) else { return nil }
          variables[slot.position] = .nested(field: field, copiers.count)
          copiers.append(copier)
        }
        from = field
      }
      bits.append(BitMove(from: from, to: index))
      let position = storedTable.slots[from].position
      if slot.tag == .boolean {
        bits.append(BitMove(from: position, to: slot.position))
      } else if !slot.tag.isVariable {
        moves.append(Run(from: position, to: slot.position, count: slot.tag.fixedWidth))
      }
    }
    let plainTemplate = UnsafeMutableRawPointer.allocate(byteCount: table.fixedEnd, alignment: 16)
    template.withUnsafeBytes { plainTemplate.put($0, 0) }
    self.template = plainTemplate
    self.bits = Self.plain(bits)
    self.variables = Self.plain(variables)
    runs = Self.plain(Self.joined(moves))
    inner = copiers
  }

  deinit {
    template.deallocate()
    bits.deallocate()
    runs.deallocate()
    variables.deallocate()
  }

  private static func plain<T: BitwiseCopyable>(_ array: [T]) -> UnsafeMutableBufferPointer<T> {
    let buffer = UnsafeMutableBufferPointer<T>.allocate(capacity: array.count)
    _ = buffer.initialize(from: array)
    return buffer
  }

  /// The head of a record of defaults, or of one in which every field is null.
  private static func head(_ layout: RecordLayout, _ defaults: [UInt8]?) -> [UInt8] {
    let table = layout.table.pointee
    if let defaults, defaults.count >= table.fixedEnd { return Array(defaults[..<table.fixedEnd]) }
    var head = [UInt8](repeating: 0, count: table.fixedEnd)
    if table.isRow {
      head[0] = UInt8(truncatingIfNeeded: table.layoutID)
      head[1] = UInt8(truncatingIfNeeded: table.layoutID >> 8)
    }
    for index in 0..<table.fieldCount { setBit(&head, table, index) }
    return head
  }

  private static func bit(_ bytes: [UInt8], _ table: RecordTable, _ index: Int) -> Bool {
    bytes[table.bitsOffset + index >> 3] & 1 << UInt8(index & 7) != 0
  }

  private static func setBit(_ bytes: inout [UInt8], _ table: RecordTable, _ index: Int) {
    bytes[table.bitsOffset + index >> 3] |= 1 << UInt8(index & 7)
  }

  /// Moves that lie one after the other, in both records, become one.
  private static func joined(_ moves: [Run]) -> [Run] {
    var runs: [Run] = []
    for move in moves.ordered(by: { $0.to < $1.to }) {
      if let last = runs.last, last.to + last.count == move.to, last.from + last.count == move.from {
        runs[runs.count - 1].count += move.count
      } else {
        runs.append(move)
      }
    }
    return runs
  }

  // MARK: Copying

  /// The size in bytes of what ``copy(_:entity:to:)`` makes of a record; nil if the record has values that lie outside
  /// it and has to be projected.
  ///
  /// - Throws: ``StoreError/misuse(_:)`` if the record has another layout than the projection;
  ///   ``StoreError/corrupt(place:offset:detail:)`` if its offsets are damaged.
  public func size(of record: RecordView) throws(StoreError) -> Int? {
    guard record.table == stored.table else { throw .misuse("the record has another layout than the projection") }
    guard let size = try variableSize(record) else { return nil }
    return current.table.pointee.fixedEnd &+ Self.endsSize(current, size) &+ size
  }

  private static func endsSize(_ layout: RecordLayout, _ size: Int) -> Int {
    let count = layout.table.pointee.variableCount
    return count < 2 ? 0 : (count &- 1) &<< Int(RecordTable.endWidthCode(variableSize: size))
  }

  private func variableSize(_ record: RecordView) throws(StoreError) -> Int? {
    if record.hasExternals { return nil }
    // No overflow: a layout has at most 16,384 fields. Those of a damaged record may overlap, and be more than there
    // is.
    var sum: UInt64 = 0
    for variable in variables {
      guard let size = try size(variable, record) else { return nil }
      sum &+= UInt64(truncatingIfNeeded: size)
    }
    return sum <= RecordTable.mostVariableBytes ? Int(truncatingIfNeeded: sum) : nil
  }

  private func size(_ variable: Variable, _ record: RecordView) throws(StoreError) -> Int? {
    switch variable {
    case .null: return 0
    case .bytes(let field, let number): return record.bit(field) ? 0 : try record.stored(number).count
    case .composite(let field): return try record.nested(at: field)?.count ?? 0
    case .nested(let field, let copier):
      // The recursion is bounded by `RecordLayout.depthLimit`.
      guard let nested = try record.nested(at: field) else { return 0 }
      return try inner[copier].size(of: nested)
    }
  }

  /// The record of the current layout; nil as for ``size(of:)``.
  ///
  /// - Throws: As ``copy(_:entity:to:)``.
  public func copy(_ record: RecordView, entity: UInt16) throws(StoreError) -> [UInt8]? {
    guard let size = try size(of: record) else { return nil }
    var bytes = [UInt8](repeating: 0, count: size)
    var result: Result<Void, StoreError> = .success(())
    bytes.withUnsafeMutableBytes { out in
      do throws(StoreError) { try copy(record, entity: entity, to: out) } catch { result = .failure(error) }
    }
    try result.get()
    return bytes
  }

  /// Writes a record of the current layout to `out`, which has the size that ``size(of:)`` answered for the record.
  ///
  /// - Parameter entity: The entity id in the row's head.
  /// - Throws: As ``size(of:)``; ``StoreError/misuse(_:)`` if `out` has another size.
  public func copy(
    _ record: RecordView, entity: UInt16, to out: UnsafeMutableRawBufferPointer
  ) throws(StoreError) {
    guard record.table == stored.table, let size = try variableSize(record) else {
      throw .misuse("the room for a copied record has another size than the record")
    }
    try write(record, entity, variables: size, out)
  }

  /// Sets `value` to what ``copy(_:entity:to:)`` makes of a record; answers false, having set nothing, if the record
  /// has to be projected.
  ///
  /// - Throws: As ``size(of:)``.
  public func copy(_ record: RecordView, entity: UInt16, into value: ConvertedValue) throws(StoreError) -> Bool {
    guard record.table == stored.table else { throw .misuse("the record has another layout than the projection") }
    guard let size = try variableSize(record) else { return false }
    let count = current.table.pointee.fixedEnd &+ Self.endsSize(current, size) &+ size
    try write(record, entity, variables: size, value.begin(count))
    return true
  }

  /// Writes a record whose values of variable width come to `size` bytes.
  private func write(
    _ record: RecordView, _ entity: UInt16, variables size: Int, _ out: UnsafeMutableRawBufferPointer
  ) throws(StoreError) {
    guard let p = out.baseAddress, out.count == current.table.pointee.fixedEnd &+ Self.endsSize(current, size) &+ size
    else { throw .misuse("the room for a copied record has another size than the record") }
    let table = current.table.pointee
    p.copyFew(from: template, table.fixedEnd)
    if table.isRow {
      p.put(entity, 2)
      p.put(record.rowVersion, 4)
    }
    let bitsStart = p + table.bitsOffset
    for move in bits {
      let mask: UInt8 = 1 &<< UInt8(truncatingIfNeeded: move.to & 7)
      let byte = bitsStart.load(fromByteOffset: move.to &>> 3, as: UInt8.self)
      bitsStart.storeBytes(
        of: record.bit(move.from) ? byte | mask : byte & ~mask, toByteOffset: move.to &>> 3, as: UInt8.self)
    }
    for run in runs { (p + run.to).copyFew(from: record.base + run.from, run.count) }
    let code: UInt8 = table.variableCount < 2 ? 0 : RecordTable.endWidthCode(variableSize: size)
    p.put(code, table.bitsOffset &- 1)
    let first = table.fixedEnd &+ Self.endsSize(current, size)
    var end = first
    for number in variables.indices {
      end = try write(variables[number], record, out, at: end)
      if number < variables.count &- 1 { Self.putEnd(end &- first, p + (table.fixedEnd &+ number &<< Int(code)), code) }
    }
  }

  private static func putEnd(_ end: Int, _ p: UnsafeMutableRawPointer, _ code: UInt8) {
    switch code {
    case 0: p.put(UInt8(truncatingIfNeeded: end), 0)
    case 1: p.put(UInt16(truncatingIfNeeded: end), 0)
    default: p.put(UInt32(truncatingIfNeeded: end), 0)
    }
  }

  /// Writes a value; answers where it ends.
  private func write(
    _ variable: Variable, _ record: RecordView, _ out: UnsafeMutableRawBufferPointer, at start: Int
  ) throws(StoreError) -> Int {
    switch variable {
    case .null: return start
    case .bytes(let field, let number):
      return record.bit(field) ? start : try Self.write(try record.stored(number), out, at: start)
    case .composite(let field):
      guard let nested = try record.nested(at: field) else { return start }
      return try Self.write(nested.bytes, out, at: start)
    case .nested(let field, let copier):
      guard let nested = try record.nested(at: field), let p = out.baseAddress else { return start }
      guard let count = try inner[copier].size(of: nested), count <= out.count &- start else {
        throw Self.changed()
      }
      try inner[copier].copy(
        nested, entity: 0, to: UnsafeMutableRawBufferPointer(start: p + start, count: count))
      return start &+ count
    }
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer, at start: Int
  ) throws(StoreError) -> Int {
    guard bytes.count <= out.count &- start, let p = out.baseAddress else { throw changed() }
    (p + start).copyFew(from: bytes.start, bytes.count)
    return start &+ bytes.count
  }

  @inline(never)
  private static func changed() -> StoreError { .misuse("a record has changed while it was copied") }
}
