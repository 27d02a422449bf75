/// Bytes in plain memory that grow, for what is written record after record: nothing is counted, and nobody else can
/// have them, so that nothing has to be looked at before they change.
///
/// Whoever made some owns them: it gives them back with ``deallocate()``, once, and keeps no copy of the struct beside
/// the one that grows. What is added must not lie in them.
struct GrowingBytes {
  /// The first of ``capacity`` bytes; where there is no capacity, an address that is not read from or written to.
  private(set) var base = UnsafeMutableRawPointer(mutating: emptyBytes)
  /// How many bytes there are. Those behind them are undefined.
  private(set) var count = 0
  /// How many there is room for.
  private(set) var capacity = 0

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Drops all bytes, and keeps the memory for the next ones.
  @inline(__always)
  mutating func removeAll() { count = 0 }

  /// Gives the memory back.
  func deallocate() {
    if capacity > 0 { base.deallocate() }
  }

  /// Adds bytes that the caller writes before anyone reads them, and answers where. The address is good until more are
  /// added.
  @inline(__always)
  mutating func add(_ more: Int) -> UnsafeMutableRawPointer {
    if more > capacity &- count { grow(more) }
    let p = base + count
    count &+= more
    return p
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) { add(1).put(byte, 0) }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) { add(bytes.count).copyFew(from: bytes.start, bytes.count) }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let larger = max(64, roundUp(max(count + more, capacity &* 2), to: 16))
    let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    new.copyFew(from: base, count)
    deallocate()
    base = new
    capacity = larger
  }
}
