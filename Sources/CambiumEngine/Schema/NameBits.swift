/// The bits that a string is made of, to compare it with another one without counting references or looking at its
/// bytes.
///
/// Two that are the same are of equal strings, as long as both strings are there. Two that differ may be of equal
/// strings as well: long ones, and those with letters that can be written in several ways.
public struct NameBits: Equatable, Sendable {
  /// Up to so many bytes of UTF-8 lie within a string, so that two equal names of ASCII have the same bits; of longer
  /// ones, the bits are those of where the text is.
  public static let shortCount = 15

  #if _pointerBitWidth(_64)
    @usableFromInline let low: UInt64
    @usableFromInline let high: UInt64

    /// Those of a string, which is kept by somebody else.
    @inlinable @inline(__always)
    public init(_ name: String) { (low, high) = unsafeBitCast(name, to: (UInt64, UInt64).self) }

    /// Whether both are the same.
    @inlinable @inline(__always)
    public static func == (a: NameBits, b: NameBits) -> Bool { (a.low ^ b.low) | (a.high ^ b.high) == 0 }
  #else
    // A string has other sizes there, not all of whose bits count.
    private let name: String

    /// Those of a string.
    public init(_ name: String) { self.name = name }
  #endif
}
