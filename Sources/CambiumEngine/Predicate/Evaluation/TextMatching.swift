import CambiumKernel

/// Text as comparisons see it: the UTF-8 of its normal form (Unicode's form C), the same bytes that index keys hold.
///
/// - `[d]` takes the combining marks off: the text is decomposed, and what has a combining class is left out.
/// - `[c]` maps the text to lower case by Unicode's simple and special mappings, in no language.
///
/// `[d]` uses the kernel's tables. `[c]` needs those of the standard library, which Embedded Swift does not bring;
/// there it folds ASCII letters alone.
///
/// All matching is by Unicode scalars of the normal form, in time linear in the text: "é" does not begin with "e",
/// however it was written.
struct FoldedText: Equatable {
  /// The bytes.
  let bytes: [UInt8]

  init(_ text: String, _ options: ComparisonOptions) {
    #if hasFeature(Embedded)
      var folded = options.contains(.diacriticInsensitive) ? Self.withoutMarks(text) : Self.normalForm(text)
      if options.contains(.caseInsensitive) {
        for index in folded.indices where folded[index] >= UInt8(ascii: "A") && folded[index] <= UInt8(ascii: "Z") {
          folded[index] &+= 32
        }
      }
      bytes = folded
    #else
      var folded = text
      if options.contains(.diacriticInsensitive) { folded = String(decoding: Self.withoutMarks(folded), as: UTF8.self) }
      if options.contains(.caseInsensitive) { folded = folded.lowercased() }
      bytes = FoldedText.normalForm(folded)
    #endif
  }

  private static func normalForm(_ text: String) -> [UInt8] {
    var utf8 = Array(text.utf8)
    let normal = utf8.withUnsafeBytes { bytes -> [UInt8]? in
      StringNormalization.isQuicklyNormal(bytes) ? nil : StringNormalization.normalForm(of: bytes)
    }
    if let normal { utf8 = normal }
    return utf8
  }

  private static func withoutMarks(_ text: String) -> [UInt8] {
    let utf8 = Array(text.utf8)
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8 }
    return utf8.withUnsafeBytes { StringNormalization.withoutMarks($0) }
  }

  /// The folded text.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// How many Unicode scalars there are.
  var scalarCount: Int64 {
    var count: Int64 = 0
    for byte in bytes where byte >> 6 != 2 { count += 1 }
    return count
  }

  /// The Unicode scalars.
  var scalars: [UInt32] {
    var result: [UInt32] = []
    result.reserveCapacity(bytes.count)
    for scalar in text.unicodeScalars { result.append(scalar.value) }
    return result
  }

  func hasPrefix(_ prefix: FoldedText) -> Bool { matches(prefix.bytes, at: 0) }

  func hasSuffix(_ suffix: FoldedText) -> Bool { matches(suffix.bytes, at: bytes.count - suffix.bytes.count) }

  private func matches(_ part: [UInt8], at offset: Int) -> Bool {
    guard offset >= 0, part.count <= bytes.count - offset else { return false }
    for index in part.indices where bytes[offset + index] != part[index] { return false }
    return true
  }

  /// Whether `part` occurs; everywhere, if it is empty. Linear in both lengths, by Knuth, Morris and Pratt's method.
  func contains(_ part: FoldedText) -> Bool {
    let pattern = part.bytes
    guard pattern.count > 1 else { return pattern.isEmpty || bytes.contains(pattern[0]) }
    guard pattern.count <= bytes.count else { return false }
    // For each prefix of the pattern the length of the longest proper prefix that also ends it.
    var borders = [0]
    var matched = 0
    for index in 1..<pattern.count {
      while matched > 0, pattern[index] != pattern[matched] { matched = borders[matched - 1] }
      if pattern[index] == pattern[matched] { matched += 1 }
      borders.append(matched)
    }
    matched = 0
    for byte in bytes {
      while matched > 0, byte != pattern[matched] { matched = borders[matched - 1] }
      if byte == pattern[matched] { matched += 1 }
      if matched == pattern.count { return true }
    }
    return false
  }

  /// Orders by the scalars of the normal forms, as values are ordered.
  static func order(_ a: FoldedText, _ b: FoldedText) -> ValueOrdering { orderBytes(a.bytes, b.bytes) }
}
