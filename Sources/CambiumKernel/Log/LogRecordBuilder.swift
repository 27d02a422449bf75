/// Builds the record of one commit where it will be written from, its header left free.
///
/// Its memory is used again for the next record, and lies behind a pointer, because every commit comes through here. In
/// front of the record lie ``lead`` bytes, for the header of a log segment that is written together with the segment's
/// first record.
final class LogRecordBuilder {
  /// Bytes in front of the record: as many as lie between the start of a log segment and its first record.
  let lead: Int
  private let firstCapacity: Int

  private struct State {
    /// The record.
    var base: UnsafeMutableRawPointer
    var capacity: Int
    var count = LogRecordHeader.size
    /// The byte key before, which the next one is told by.
    var lastKey: UnsafeMutableRawPointer
    var lastKeyCapacity: Int
    var lastKeyCount = 0
    var operations = 0
  }

  private let state: UnsafeMutablePointer<State>

  /// - Parameters:
  ///   - isStrict: Whether records begin at a block of their own each, at ``Durability/strict``.
  ///   - capacity: The bytes that a record has room for at first.
  init(isStrict: Bool, capacity: Int) {
    lead = isStrict ? LogWriter.strictBlock : SegmentHeader.size
    firstCapacity = capacity
    state = .allocate(capacity: 1)
    state.initialize(
      to: State(
        base: Self.room(capacity, lead: lead), capacity: capacity,
        lastKey: .allocate(byteCount: 256, alignment: 16), lastKeyCapacity: 256))
  }

  deinit {
    (state.pointee.base - lead).deallocate()
    state.pointee.lastKey.deallocate()
    state.deallocate()
  }

  private static func room(_ capacity: Int, lead: Int) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer.allocate(byteCount: capacity + lead, alignment: 16) + lead
  }

  /// Gives the memory back of a record that was longer than any that is written, or of all records of a closed store.
  func trim() {
    begin()
    if state.pointee.capacity == firstCapacity { return }
    let base = Self.room(firstCapacity, lead: lead)
    (state.pointee.base - lead).deallocate()
    state.pointee.base = base
    state.pointee.capacity = firstCapacity
  }

  /// Starts a new record.
  func begin() {
    state.pointee.count = LogRecordHeader.size
    state.pointee.lastKeyCount = 0
    state.pointee.operations = 0
  }

  /// Bytes of the record so far, the header included.
  var length: Int { state.pointee.count }
  var operations: Int { state.pointee.operations }

  /// The record, with zeros behind it up to a multiple of 16, room for `more` bytes behind these, and ``lead`` bytes in
  /// front.
  func padded(more: Int = 0) -> UnsafeMutableRawPointer {
    let count = state.pointee.count
    reserve(16 + more)
    (state.pointee.base + count).zero(roundUp(count, to: 16) - count)
    return state.pointee.base
  }

  /// Makes a record of operations that were encoded before.
  func copy(_ payload: UnsafeRawBufferPointer) {
    begin()
    raw(payload)
  }

  // MARK: Bytes

  /// Room for `bytes` more.
  @inline(__always)
  private func reserve(_ bytes: Int) {
    if state.pointee.count &+ bytes > state.pointee.capacity { grow(bytes) }
  }

  @inline(never)
  private func grow(_ bytes: Int) {
    let capacity = max(state.pointee.capacity * 2, roundUp(state.pointee.count + bytes, to: firstCapacity))
    let base = Self.room(capacity, lead: lead)
    base.copyMemory(from: state.pointee.base, byteCount: state.pointee.count)
    (state.pointee.base - lead).deallocate()
    state.pointee.base = base
    state.pointee.capacity = capacity
  }

  /// One byte; room has been reserved.
  @inline(__always)
  private func u8(_ value: UInt8) {
    state.pointee.base.put(value, state.pointee.count)
    state.pointee.count &+= 1
  }

  /// At most ten bytes; room has been reserved.
  @inline(__always)
  private func varint(_ value: UInt64) {
    var v = value
    while v >= 0x80 {
      u8(UInt8(truncatingIfNeeded: v) | 0x80)
      v &>>= 7
    }
    u8(UInt8(truncatingIfNeeded: v))
  }

  private func raw(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    state.pointee.base.put(bytes, state.pointee.count)
    state.pointee.count &+= bytes.count
  }

  private func key(_ kind: TreeKind, _ key: TreeKey) {
    if kind == .integer {
      varint(key.head)
      return
    }
    let shared = sharedPrefix(state.pointee.lastKey, state.pointee.lastKeyCount, key.bytes, key.count)
    varint(UInt64(shared))
    varint(UInt64(key.count - shared))
    let rest = UnsafeRawBufferPointer(start: key.bytes + shared, count: key.count - shared)
    raw(rest)
    if key.count > state.pointee.lastKeyCapacity {
      let capacity = roundUp(key.count, to: 1024)
      let last = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
      last.copyMemory(from: state.pointee.lastKey, byteCount: shared)
      state.pointee.lastKey.deallocate()
      state.pointee.lastKey = last
      state.pointee.lastKeyCapacity = capacity
    }
    state.pointee.lastKey.put(rest, shared)
    state.pointee.lastKeyCount = key.count
  }

  // MARK: Operations

  /// The first bytes of an operation, and room for its numbers.
  @inline(__always)
  private func operation(_ code: UInt8, _ tree: TreeID) {
    reserve(64)
    u8(code)
    varint(UInt64(tree.rawValue))
    state.pointee.operations &+= 1
  }

  func put(
    _ tree: TreeID, _ kind: TreeKind, _ key: TreeKey, _ value: UnsafeRawBufferPointer, isStub: Bool, isNew: Bool
  ) {
    operation((isStub ? 0x03 : 0x01) | (isNew ? 0x10 : 0), tree)
    self.key(kind, key)
    reserve(10)
    varint(UInt64(value.count))
    raw(value)
  }

  func delete(_ tree: TreeID, _ kind: TreeKind, _ key: TreeKey) {
    operation(0x02, tree)
    self.key(kind, key)
  }

  func created(_ tree: TreeID, _ kind: TreeKind) {
    operation(0x04, tree)
    u8(kind.rawValue)
  }

  func dropped(_ tree: TreeID) { operation(0x05, tree) }

  func counter(_ tree: TreeID, _ index: UInt32, _ change: Int64) {
    operation(0x06, tree)
    varint(UInt64(index))
    varint(UInt64(bitPattern: (change &<< 1) ^ (change &>> 63)))
  }

  func valueSegment(_ s: Segment, added: UInt32) {
    operation(0x07, TreeID(rawValue: s.start))
    varint(UInt64(s.units))
    varint(UInt64(s.used))
    varint(UInt64(added))
  }

  func nextValueID(_ id: UInt64) {
    reserve(64)
    u8(0x08)
    varint(id)
    state.pointee.operations &+= 1
  }
}
