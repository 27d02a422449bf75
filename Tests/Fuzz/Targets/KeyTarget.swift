import CambiumTesting

@testable import CambiumKernel
@testable import CambiumKernelTests

/// Three looks at keys, chosen by the first byte: any bytes are decoded; two lists of values are encoded, compared and
/// decoded; the same with a limit of length.
enum KeyTarget {
  static func problem(_ input: FuzzInput) -> String? {
    var input = input
    let mode = input.byte()
    let isDescending = mode & 4 != 0
    switch mode & 3 {
    case 0: return decoded(input.rest(), isDescending)
    case 1: return compared(&input, isDescending, limit: nil)
    case 2: return compared(&input, isDescending, limit: 16 + input.below(64))
    default:
      let text = input.rest()
      return normalized(text)
    }
  }

  /// What is decoded is encoded in the same bytes.
  private static func decoded(_ bytes: [UInt8], _ isDescending: Bool) -> String? {
    bytes.withUnsafeBytes { buffer in
      _ = try? KeyDecoder.rowID(atEndOf: buffer)
      var decoder = KeyDecoder(buffer)
      do throws(StoreError) {
        while !decoder.isAtEnd {
          let start = decoder.offset
          let part = try decoder.next(descending: isDescending)
          if decoder.wasCut { return nil }
          // Damage may leave text that is not in the normal form.
          if case .string = part { continue }
          var encoder = KeyEncoder()
          append(part, to: &encoder, isDescending)
          if !encoder.bytes.elementsEqual(bytes[start..<decoder.offset]) { return "\(part) is encoded in other bytes" }
          var again = KeyDecoder(UnsafeRawBufferPointer(rebasing: buffer[start...]))
          try again.skip(descending: isDescending)
          if again.offset != decoder.offset - start { return "\(part) is skipped to another place" }
        }
      } catch {
        guard case .corrupt(let place, _, _) = error, place == .key else { return "decoding ended with \(error)" }
      }
      return nil
    }
  }

  private static func append(_ part: KeyPart, to encoder: inout KeyEncoder, _ isDescending: Bool) {
    switch part {
    case .null: encoder.appendNull(descending: isDescending)
    case .boolean(let value): encoder.append(value, descending: isDescending)
    case .int64(let value): encoder.append(value, descending: isDescending)
    case .double(let value): encoder.append(value, descending: isDescending)
    case .date(let value): encoder.append(date: value, descending: isDescending)
    case .decimal(let value): encoder.append(value, descending: isDescending)
    case .string(let value): encoder.append(value, descending: isDescending)
    case .bytes(let value): encoder.append(bytes: value, descending: isDescending)
    case .uuid(let value): encoder.append(value, descending: isDescending)
    case .place(let x, let y): encoder.append(KeyPlace(x: x, y: y))
    case .reference(let value): encoder.append(reference: value, descending: isDescending)
    case .rowID(let value): encoder.append(rowID: value)
    }
  }

  /// A value of a kind, or null.
  private static func part(_ kind: Int, _ input: inout FuzzInput) -> KeyPart {
    if input.byte() & 15 == 15 { return .null }
    switch kind {
    case 0: return .boolean(input.byte() & 1 == 1)
    case 1: return .int64(Int64(bitPattern: input.number()) >> Int64(input.below(64)))
    case 2: return .double(Double(bitPattern: input.number()))
    case 3: return .date(Double(bitPattern: input.number()))
    case 4:
      let coefficient = UInt128(input.number()) << 64 | UInt128(input.number())
      let sign = input.byte()
      return .decimal(
        DecimalValue(
          isNegative: sign & 1 == 1, coefficient: coefficient >> UInt128(input.below(128)),
          exponent: Int8(bitPattern: input.byte())))
    case 5: return .string(String(decoding: input.take(input.below(24)), as: UTF8.self))
    case 6: return .bytes(input.take(input.below(24)))
    case 7: return .uuid(UUIDBytes(high: input.number(), low: input.number()))
    default: return .reference(input.number() >> UInt64(input.below(64)))
    }
  }

  /// -1, 0, 1; nulls and NaNs come first.
  private static func order(_ a: KeyPart, _ b: KeyPart) -> Int {
    func of<T: Comparable>(_ a: T, _ b: T) -> Int { a == b ? 0 : a < b ? -1 : 1 }
    func numbers(_ a: Double, _ b: Double) -> Int {
      a.isNaN || b.isNaN ? (a.isNaN ? (b.isNaN ? 0 : -1) : 1) : of(a, b)
    }
    switch (a, b) {
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.boolean(let x), .boolean(let y)): return of(x ? 1 : 0, y ? 1 : 0)
    case (.int64(let x), .int64(let y)): return of(x, y)
    case (.double(let x), .double(let y)), (.date(let x), .date(let y)): return numbers(x, y)
    case (.decimal(let x), .decimal(let y)): return x.compare(to: y)
    case (.string(let x), .string(let y)): return texts(x, y)
    case (.bytes(let x), .bytes(let y)): return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
    case (.uuid(let x), .uuid(let y)): return of(x, y)
    case (.place(let a, let b), .place(let x, let y)):
      let codes = of(KeyPlace(x: a, y: b).code, KeyPlace(x: x, y: y).code)
      return codes != 0 ? codes : numbers(a, x) != 0 ? numbers(a, x) : numbers(b, y)
    case (.reference(let x), .reference(let y)): return of(x, y)
    default: return 2
    }
  }

  /// By the standard library's `==`, and scalar by scalar of the normal forms: its `<` is no order (see
  /// `StringOrderTests`).
  private static func texts(_ a: String, _ b: String) -> Int {
    if a == b { return 0 }
    let forms = [a, b].map { text in
      String(decoding: Array(text.utf8).withUnsafeBytes { StringNormalization.normalForm(of: $0) }, as: UTF8.self)
        .unicodeScalars
    }
    return forms[0].lexicographicallyPrecedes(forms[1]) ? -1 : 1
  }

  private static func compared(_ input: inout FuzzInput, _ isDescending: Bool, limit: Int?) -> String? {
    var a = limit == nil ? KeyEncoder() : KeyEncoder(limit: limit ?? 0)
    var b = a.copy()
    var expected = 0
    var parts: [KeyPart] = []
    var others: [KeyPart] = []
    for _ in 0..<(1 + input.below(4)) {
      let kind = input.below(9)
      let (x, y) = (part(kind, &input), part(kind, &input))
      append(x, to: &a, isDescending)
      append(y, to: &b, isDescending)
      parts.append(x)
      others.append(y)
      let found = order(x, y)
      if found == 2 { return "\(x) and \(y) are not of one kind" }
      if expected == 0 { expected = isDescending ? -found : found }
    }
    if let limit {
      var longest = a.copy()
      longest.append(rowID: .max)
      if longest.bytes.count > limit { return "a key of \(longest.bytes.count) bytes, with a limit of \(limit)" }
    }
    let whole = a.bytes
    // Cut keys are in order with the row at their end.
    a.append(rowID: 7)
    b.append(rowID: 7)
    let found = a.bytes.withUnsafeBytes { x in b.bytes.withUnsafeBytes { compareKeys(x, $0) } }
    let sign = found < 0 ? -1 : found > 0 ? 1 : 0
    if sign != expected, sign != 0 || !(a.isInexact && b.isInexact) {
      return "keys of \(parts) and \(others) compare as \(sign), the values as \(expected)"
    }
    if limit != nil { return nil }
    return a.isInexact ? "a key without a limit is inexact" : readBack(whole, parts, isDescending)
  }

  private static func readBack(_ bytes: [UInt8], _ parts: [KeyPart], _ isDescending: Bool) -> String? {
    bytes.withUnsafeBytes { buffer in
      var decoder = KeyDecoder(buffer)
      do throws(StoreError) {
        for part in parts {
          let found = try decoder.next(descending: isDescending)
          if order(found, part) != 0 { return "\(part) is read back as \(found)" }
        }
      } catch { return "\(parts) is not read back: \(error)" }
      return decoder.isAtEnd ? nil : "bytes are left behind \(parts)"
    }
  }

  /// Normal forms are equal if and only if the standard library says that the texts are.
  private static func normalized(_ bytes: [UInt8]) -> String? {
    let half = bytes.count / 2
    let (a, b) = (String(decoding: bytes[..<half], as: UTF8.self), String(decoding: bytes[half...], as: UTF8.self))
    let forms = [a, b].map { text in Array(text.utf8).withUnsafeBytes { StringNormalization.normalForm(of: $0) } }
    if (forms[0] == forms[1]) != (a == b) { return "normal forms of \(a.debugDescription), \(b.debugDescription)" }
    let twice = forms[0].withUnsafeBytes { StringNormalization.normalForm(of: $0) }
    if twice != forms[0] { return "the normal form of \(a.debugDescription) has another one" }
    // Malformed text is a caller's mistake, and must not trap either.
    bytes.withUnsafeBytes {
      _ = StringNormalization.isQuicklyNormal($0)
      _ = StringNormalization.normalForm(of: $0)
      _ = StringNormalization.withoutMarks($0)
    }
    return nil
  }
}
