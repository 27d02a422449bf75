/// The key of a row id and nothing else, as ``KeyEncoder/append(rowID:)`` writes it: what keys of links begin with. At
/// most ten bytes, which take no memory of their own.
public struct RowIDKey {
  // The bytes in their order, zeros behind them.
  @usableFromInline let words: (UInt64, UInt64)
  @usableFromInline let count: Int

  /// Makes the key of a row id.
  public init(_ id: UInt64) {
    let size = byteCount(id)
    let tag = UInt64(KeyTag.rowID) &+ UInt64(truncatingIfNeeded: size)
    // The id's bytes, the first one foremost; a shift by all 64 bits is none.
    let bytes = size == 0 ? 0 : id &<< UInt64(truncatingIfNeeded: 64 &- 8 &* size)
    var (high, low) = (tag &<< 56 | bytes &>> 8, bytes &<< 56)
    if size < 7 {
      high |= tag &<< UInt64(truncatingIfNeeded: 48 &- 8 &* size)
    } else {
      low |= tag &<< UInt64(truncatingIfNeeded: 112 &- 8 &* size)
    }
    words = (high.bigEndian, low.bigEndian)
    count = size &+ 2
  }

  /// Calls `body` with the key, valid until `body` returns.
  @inlinable @inline(__always)
  public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result = withUnsafeBytes(of: words) { (all) -> Result<R, E> in
      do throws(E) { return .success(try body(UnsafeRawBufferPointer(rebasing: all[..<count]))) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
