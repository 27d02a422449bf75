/// Makes strings of up to 15 ASCII characters from the two words that such a string is.
///
/// Most texts in rows are that short, and a string keeps them within itself. The standard library's ways to one copy
/// the bytes and look through them once more, 90 to 160 instructions; the words alone are 20. How they look is not
/// promised to anybody. So it is found out from strings that the library made: where one looks otherwise, all go the
/// library's way.
enum ShortText {
  #if _pointerBitWidth(_64) && _endian(little)
    /// Whether strings look as they are taken to.
    static let isKnown: Bool = {
      guard MemoryLayout<String>.size == 16 else { return false }
      let sample: [UInt8] = Array("q~ 09AZaz\u{7F}\u{1}-/.m".utf8)
      for count in 0...15 {
        let made = sample.withUnsafeBytes { bytes in words(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        let known = unsafeBitCast(String(decoding: sample[..<count], as: UTF8.self), to: Words.self)
        guard let made, made.low == known.low, made.high == known.high else { return false }
      }
      return true
    }()

    private struct Words {
      var low: UInt64
      var high: UInt64
    }

    /// The words of a string of the bytes; nil if there are more than 15, or any is not ASCII.
    @inline(__always)
    private static func words(_ utf8: UnsafeRawBufferPointer) -> Words? {
      let count = utf8.count
      guard count <= 15 else { return nil }
      var low: UInt64 = 0
      var high: UInt64 = 0
      // Loads overlap rather than pass the end.
      if count >= 8 {
        low = utf8.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        high =
          utf8.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
          >> UInt64(truncatingIfNeeded: (16 &- count) &* 8)
      } else if count >= 4 {
        low = UInt64(utf8.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        let last = UInt64(utf8.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
        low |= last &<< UInt64(truncatingIfNeeded: (count &- 4) &* 8)
      } else if count > 0 {
        low = UInt64(utf8.loadUnaligned(fromByteOffset: 0, as: UInt8.self))
        low |=
          UInt64(utf8.loadUnaligned(fromByteOffset: count / 2, as: UInt8.self))
          &<< UInt64(truncatingIfNeeded: count / 2 * 8)
        low |=
          UInt64(utf8.loadUnaligned(fromByteOffset: count &- 1, as: UInt8.self))
          &<< UInt64(truncatingIfNeeded: (count &- 1) &* 8)
      }
      guard (low | high) & 0x8080_8080_8080_8080 == 0 else { return nil }
      return Words(low: low, high: high | (0xE0 | UInt64(truncatingIfNeeded: count)) &<< 56)
    }

    /// A string of the bytes; nil if it is to be made in another way.
    @inline(__always)
    static func string(_ utf8: UnsafeRawBufferPointer) -> String? {
      guard let made = words(utf8), isKnown else { return nil }
      return unsafeBitCast(made, to: String.self)
    }
  #else
    @inline(__always)
    static func string(_ utf8: UnsafeRawBufferPointer) -> String? { nil }
  #endif
}
