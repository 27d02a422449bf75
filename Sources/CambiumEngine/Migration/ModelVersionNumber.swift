/// The number of a version of a model: `3`, or `2.98`.
///
/// Numbers are compared part by part: 2.98 comes before 2.100, and 2 equals 2.0.
public struct ModelVersionNumber: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The parts from left to right, without zeros at the end.
  private let parts: [UInt64]

  /// Reads a number: digits, in parts that points separate. Returns nil for any other text, and for a part above 2^64 -
  /// 1.
  public init?(_ text: String) {
    var parts: [UInt64] = []
    var part: UInt64?
    for byte in text.utf8 {
      if byte == UInt8(ascii: ".") {
        guard let known = part else { return nil }
        parts.append(known)
        part = nil
        continue
      }
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      let (tens, isTooLarge) = (part ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, isStillTooLarge) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
      if isTooLarge || isStillTooLarge { return nil }
      part = sum
    }
    guard let last = part else { return nil }
    parts.append(last)
    while parts.count > 1, parts.last == 0 { parts.removeLast() }
    self.parts = parts
  }

  /// Whether the number of a version comes before another one.
  public static func < (a: ModelVersionNumber, b: ModelVersionNumber) -> Bool {
    for place in 0..<max(a.parts.count, b.parts.count) {
      let (x, y) = (place < a.parts.count ? a.parts[place] : 0, place < b.parts.count ? b.parts[place] : 0)
      if x != y { return x < y }
    }
    return false
  }

  /// The parts, with points between them.
  public var description: String {
    var text = ""
    for part in parts { text += text.isEmpty ? "\(part)" : ".\(part)" }
    return text
  }
}

extension ModelVersionNumber {
  /// The number among the version identifiers of a model. Nil if none of them is a number, or if several are, as in a
  /// model that was merged from several.
  public init?(among identifiers: [String]) {
    let numbers = Set(identifiers.compactMap { ModelVersionNumber($0) })
    guard let number = numbers.first, numbers.count == 1 else { return nil }
    self = number
  }
}

extension Schema {
  /// The number of the model's version, if one of its version identifiers is a number.
  public var versionNumber: ModelVersionNumber? { ModelVersionNumber(among: versionIdentifiers) }
}
