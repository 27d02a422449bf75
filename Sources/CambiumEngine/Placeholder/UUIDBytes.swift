/// The 16 bytes of a UUID. Ordered as its printed form is.
public struct UUIDBytes: Hashable, Comparable, Sendable {
  /// The first 8 bytes, the first one most significant.
  public var high: UInt64
  /// The last 8 bytes, the first one most significant.
  public var low: UInt64

  /// Puts a UUID together from its halves.
  @inlinable
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Compares byte by byte from the first.
  @inlinable
  public static func < (a: UUIDBytes, b: UUIDBytes) -> Bool {
    a.high != b.high ? a.high < b.high : a.low < b.low
  }
}
