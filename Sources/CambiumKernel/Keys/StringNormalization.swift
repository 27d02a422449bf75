/// Brings text into Unicode normalisation form C. `==` on String is equality of its bytes, and `<` is meant to be their
/// order; the standard library's compares a text that another begins with before that one is normalised, so that it is
/// not always an order. What is asked of a store, and how it is sorted, goes by ``compare(_:_:)``, in an index or not.
///
/// The kernel has tables of its own, so that keys are the same on every platform and do not depend on the Unicode
/// version that a standard library happens to have; they work in Embedded Swift as well. A build with the condition
/// `CAMBIUM_WITHOUT_UNICODE` leaves them out (about 30 KiB): text is then taken as it is, which is right as long as all
/// of it is normalised already.
public enum StringNormalization {
  /// The version of Unicode of the tables. A store keeps it beside its keys.
  public static var unicodeVersion: (major: UInt8, minor: UInt8) {
    #if CAMBIUM_WITHOUT_UNICODE
      (0, 0)
    #else
      NormalizationTables.unicodeVersion
    #endif
  }

  /// Whether text is certainly in the normal form: true for all text below U+0300 and most other text. Text that is not
  /// well-formed UTF-8 counts as normal; it is compared as bytes.
  public static func isQuicklyNormal(_ utf8: UnsafeRawBufferPointer) -> Bool {
    #if CAMBIUM_WITHOUT_UNICODE
      return true
    #else
      var index = 0
      while index < utf8.count {
        // U+0300 is CC 80: every scalar before has a smaller first byte and changes nothing.
        while index &+ 8 <= utf8.count,
          utf8.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
          index &+= 8
        }
        guard index < utf8.count else { return true }
        let first = utf8[index]
        if first < 0xCC {
          index &+= 1
          continue
        }
        guard let (scalar, length) = scalar(of: utf8, at: index) else { return true }
        if mayChange(scalar) { return false }
        index &+= length
      }
      return true
    #endif
  }

  /// The order of two texts: that of their normal forms as bytes, which is that of the forms' scalars. Below, at or
  /// above
  /// 0. O(n).
  public static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    if isQuicklyNormal(a), isQuicklyNormal(b) { return compareKeys(a, b) }
    return normalForm(of: a).withUnsafeBytes { x in normalForm(of: b).withUnsafeBytes { compareKeys(x, $0) } }
  }

  /// Calls `body` with the normal form of UTF-8 text: with the text itself if it is normal already.
  @inline(__always)
  static func withNormalForm(
    of utf8: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    if isQuicklyNormal(utf8) { return body(utf8) }
    normalForm(of: utf8).withUnsafeBytes(body)
  }

  /// The normal form of UTF-8 text as UTF-8. Text that is not well-formed comes back as it is. O(n).
  public static func normalForm(of utf8: UnsafeRawBufferPointer) -> [UInt8] { normalForm(of: utf8, keepsMarks: true) }

  /// The normal form of UTF-8 text without its combining marks: the text is decomposed, what has a combining class is
  /// left out, and the rest composed. Text that is not well-formed, and in a build without tables all text, comes back
  /// as it is. O(n).
  public static func withoutMarks(_ utf8: UnsafeRawBufferPointer) -> [UInt8] { normalForm(of: utf8, keepsMarks: false) }

  private static func normalForm(of utf8: UnsafeRawBufferPointer, keepsMarks: Bool) -> [UInt8] {
    #if CAMBIUM_WITHOUT_UNICODE
      return [UInt8](utf8)
    #else
      var scalars: [UInt32] = []
      scalars.reserveCapacity(utf8.count)
      var index = 0
      while index < utf8.count {
        guard let (scalar, length) = scalar(of: utf8, at: index) else { return [UInt8](utf8) }
        decompose(scalar, into: &scalars)
        index &+= length
      }
      if keepsMarks { reorder(&scalars) } else { scalars.removeAll { combiningClass($0) != 0 } }
      compose(&scalars)
      var output: [UInt8] = []
      output.reserveCapacity(utf8.count + utf8.count / 2)
      for scalar in scalars { appendUTF8(scalar, to: &output) }
      return output
    #endif
  }

  /// The scalar at an offset and its length in bytes, or `nil` where the text is not well-formed.
  private static func scalar(of utf8: UnsafeRawBufferPointer, at index: Int) -> (UInt32, Int)? {
    let first = utf8[index]
    if first < 0x80 { return (UInt32(first), 1) }
    let length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0
    guard length > 0, length <= utf8.count &- index else { return nil }
    var value = UInt32(first) & (0x7F &>> UInt32(length))
    for next in 1..<length {
      let byte = utf8[index &+ next]
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value &<< 6 | UInt32(byte & 0x3F)
    }
    let lowest: UInt32 = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000
    guard value >= lowest, value < 0x110000, value &- 0xD800 >= 0x800 else { return nil }
    return (value, length)
  }

  private static func appendUTF8(_ scalar: UInt32, to output: inout [UInt8]) {
    let tail = { (shift: UInt32) in 0x80 | UInt8(truncatingIfNeeded: scalar &>> shift) & 0x3F }
    if scalar < 0x80 {
      output.append(UInt8(truncatingIfNeeded: scalar))
    } else if scalar < 0x800 {
      output.append(0xC0 | UInt8(truncatingIfNeeded: scalar &>> 6))
      output.append(tail(0))
    } else if scalar < 0x10000 {
      output.append(0xE0 | UInt8(truncatingIfNeeded: scalar &>> 12))
      output.append(tail(6))
      output.append(tail(0))
    } else {
      output.append(0xF0 | UInt8(truncatingIfNeeded: scalar &>> 18))
      output.append(tail(12))
      output.append(tail(6))
      output.append(tail(0))
    }
  }
}
