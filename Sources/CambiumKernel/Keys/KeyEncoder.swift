/// Writes keys whose bytes order like the values that they were made from. See `KeyTag.swift` for the bytes.
///
/// Parts are appended one after the other; comparing two keys that were made of the same kinds of parts, byte by byte,
/// is comparing the values from the left. Null sorts before everything, or last where the part is descending. All
/// integer widths share one form, and so do float and double. Reuse an encoder for key after key; it keeps its buffer.
///
/// **Keys that are cut.** An encoder with a limit writes no key that is longer. A string or bytes part that would be is
/// cut, and nothing but the row id is appended after it; ``isInexact`` says so. Order is kept weakly: if one value
/// sorts before another, its key, with a row id at its end, is never greater, and an exact key never equals a cut one.
/// Only keys that were cut at the same bytes are equal though their values may differ, and then the rows have to be
/// compared.
public struct KeyEncoder: ~Copyable, @unchecked Sendable {
  // `@unchecked`: the memory is nobody else's. It is plain, since a key is a few bytes at a time, and what arrays look
  // at before each of them would take longer than writing it.

  @usableFromInline private(set) var base: UnsafeMutableRawPointer
  private var capacity: Int
  /// The length of the key so far, in bytes.
  public private(set) var count = 0
  /// Whether a part was cut or left out.
  public private(set) var isInexact = false
  /// The longest key in bytes, with a row id at its end.
  public let limit: Int

  /// Makes an encoder of keys of any length.
  public init() { self.init(longest: .max) }

  /// Makes an encoder of keys of at most `limit` bytes; below 16, 16.
  public init(limit: Int) { self.init(longest: max(limit, 16)) }

  private init(longest: Int) {
    limit = longest
    capacity = 64
    base = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { base.deallocate() }

  /// An encoder that goes on where this one is. O(n).
  public func copy() -> KeyEncoder {
    var copy = KeyEncoder(longest: limit)
    withBytes { copy.append(run: $0, 0) }
    copy.isInexact = isInexact
    return copy
  }

  /// The key so far. O(n).
  public var bytes: [UInt8] { withBytes { [UInt8]($0) } }

  /// Whether another encoder has the same key. O(n).
  public func hasSameKey(as other: borrowing KeyEncoder) -> Bool {
    count == other.count && compareBytes(UnsafeRawPointer(base), count, UnsafeRawPointer(other.base), count) == 0
  }

  /// Begins a new key.
  public mutating func removeAll() {
    count = 0
    isInexact = false
  }

  /// Calls `body` with the key, valid until `body` returns.
  @inlinable
  public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Appends null.
  public mutating func appendNull(descending: Bool = false) {
    guard begin(1) else { return }
    append(byte: KeyTag.null, inversion(descending && !isPlanted(.nullFirstInDescending)))
  }

  /// Appends a boolean; false sorts first.
  public mutating func append(_ value: Bool, descending: Bool = false) {
    guard begin(1) else { return }
    append(byte: value ? KeyTag.yes : KeyTag.no, inversion(descending))
  }

  /// Appends an integer.
  public mutating func append(_ value: Int64, descending: Bool = false) {
    guard begin(9) else { return }
    let inversion = inversion(descending)
    // ~value is the magnitude less one of a negative number; -1 still takes a byte, since the count is in the tag.
    let magnitude = value < 0 ? UInt64(bitPattern: ~value) : UInt64(bitPattern: value)
    let count = value < 0 ? max(isPlanted(.minusOneAsZero) ? 0 : 1, byteCount(magnitude)) : byteCount(magnitude)
    let step = UInt8(truncatingIfNeeded: count)
    append(byte: value < 0 ? KeyTag.integerZero &- step : KeyTag.integerZero &+ step, inversion)
    append(bigEndian: UInt64(bitPattern: value), count: count, inversion)
  }

  /// Appends a double. -0 equals 0; not-a-number equals itself and sorts before every number.
  public mutating func append(_ value: Double, descending: Bool = false) {
    append(double: value, KeyTag.double, descending)
  }

  /// Appends a float, in the form of the double of the same value.
  public mutating func append(_ value: Float, descending: Bool = false) {
    append(double: Double(value), KeyTag.double, descending)
  }

  /// Appends a date, in seconds since 2001-01-01 00:00:00 UTC.
  public mutating func append(date value: Double, descending: Bool = false) {
    append(double: value, KeyTag.date, descending)
  }

  /// Appends a UUID.
  public mutating func append(_ value: UUIDBytes, descending: Bool = false) {
    guard begin(17) else { return }
    let inversion = inversion(descending)
    append(byte: KeyTag.uuid, inversion)
    append(bigEndian: value.high, count: 8, inversion)
    append(bigEndian: value.low, count: 8, inversion)
  }

  /// Appends the row id of a relationship's target.
  public mutating func append(reference value: UInt64, descending: Bool = false) {
    guard begin(9) else { return }
    let inversion = inversion(descending)
    let count = byteCount(value)
    append(byte: KeyTag.reference &+ UInt8(truncatingIfNeeded: count), inversion)
    append(bigEndian: value, count: count, inversion)
  }

  /// Appends the id of the row to which an index entry belongs, as the last part of the key. Always exact, always
  /// ascending; ``KeyDecoder/rowID(atEndOf:)`` finds it without reading the rest.
  public mutating func append(rowID value: UInt64) {
    let count = byteCount(value)
    let tag = KeyTag.rowID &+ UInt8(truncatingIfNeeded: count)
    append(byte: tag, 0)
    append(bigEndian: value, count: count, 0)
    append(byte: tag, 0)
  }

  /// Appends parts that another encoder wrote.
  public mutating func append(encoded part: UnsafeRawBufferPointer) {
    guard begin(part.count) else { return }
    append(run: part, 0)
  }

  private mutating func append(double value: Double, _ tag: UInt8, _ descending: Bool) {
    guard begin(9) else { return }
    let inversion = inversion(descending)
    append(byte: tag, inversion)
    append(bigEndian: KeyEncoder.orderedBits(value), count: 8, inversion)
  }

  /// Bits that order like the number: the sign bit flipped, or all bits of a negative number; 0 for not-a-number, the
  /// same for both zeros.
  @inlinable @inline(__always)
  public static func orderedBits(_ value: Double) -> UInt64 {
    if value.isNaN { return 0 }
    let bits = value == 0 ? 0 : value.bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  /// Whether a part of up to `size` bytes may still be written. What a part may take, not what it takes, decides, so
  /// that all keys with the same bytes before it decide alike; otherwise leaving it out would break the order.
  mutating func begin(_ size: Int) -> Bool {
    if isInexact { return false }
    if size <= room { return true }
    isInexact = true
    return false
  }

  /// How many bytes may still be written before the row id.
  var room: Int { limit - KeyTag.rowIDSize - count }

  mutating func markInexact() { isInexact = true }

  @inline(__always)
  func inversion(_ descending: Bool) -> UInt8 { descending ? 0xFF : 0x00 }

  /// Makes room for bytes that are about to be added.
  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if more > capacity &- count { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    capacity = max(capacity * 2, roundUp(count + more, to: 64))
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
  }

  @inline(__always)
  mutating func append(byte: UInt8, _ inversion: UInt8) {
    reserve(1)
    base.put(byte ^ inversion, count)
    count &+= 1
  }

  mutating func append(run: UnsafeRawBufferPointer, _ inversion: UInt8) {
    reserve(run.count)
    let p = base + count
    if inversion == 0 {
      p.copyFew(from: run.start, run.count)
    } else {
      for i in 0..<run.count { p.put(~run[i], i) }
    }
    count &+= run.count
  }

  /// Appends the lowest `size` bytes of a number, at most 8.
  @inline(__always)
  mutating func append(bigEndian value: UInt64, count size: Int, _ inversion: UInt8) {
    // All eight are written, the ones that count first.
    reserve(8)
    let mask: UInt64 = inversion == 0 ? 0 : .max
    let shifted = size == 0 ? 0 : value &<< UInt64(truncatingIfNeeded: 8 &* (8 &- size))
    base.storeBytes(of: (shifted ^ mask).bigEndian, toByteOffset: count, as: UInt64.self)
    count &+= size
  }
}
