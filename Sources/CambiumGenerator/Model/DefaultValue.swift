import CambiumModelFiles

/// The default value of an attribute, or a limit of its values.
enum DefaultValue: Equatable {
  case integer(Int64)
  case boolean(Bool)
  case double(Double)
  case float(Float)
  /// A decimal number as digits times a power of ten.
  case decimal(isNegative: Bool, digits: String, exponent: Int)
  case string(String)
  /// Seconds since 2001-01-01.
  case date(Double)
  /// Sixteen bytes.
  case uuid([UInt8])
  case uri(String)

  /// Reads the default value of an attribute as the reader of models does; `nil` if it has none, or one that is left
  /// out.
  init?(of attribute: ModelDocument.Attribute) {
    if attribute.type == .date, let seconds = attribute.defaultInterval.flatMap({ Double($0.value) }), seconds.isFinite
    {
      self = .date(seconds)
      return
    }
    guard let text = attribute.defaultValue?.value else { return nil }
    if attribute.type == .string {
      self = .string(text)
      return
    }
    guard !text.isEmpty, let value = Self.plain(text, attribute.type) else { return nil }
    self = value
  }

  /// Reads the least or greatest value of an attribute; `nil` if the text means nothing for the type.
  init?(limit: ModelDocument.Text?, of attribute: ModelDocument.Attribute) {
    guard let text = limit?.value else { return nil }
    switch attribute.type {
    case .date:
      guard let seconds = Double(text) else { return nil }
      self = .date(seconds)
    case .string, .binary, .uri:
      guard let length = Int64(text), length >= 0 else { return nil }
      self = .integer(length)
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      guard let value = Self.plain(text, attribute.type) else { return nil }
      self = value
    default: return nil
    }
  }

  private static func plain(_ text: String, _ type: ModelDocument.AttributeType) -> DefaultValue? {
    switch type {
    case .boolean:
      switch text {
      case "YES", "yes", "true", "1": return .boolean(true)
      case "NO", "no", "false", "0": return .boolean(false)
      default: return nil
      }
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      // The editor leaves these where the type was changed.
      return number(text == "YES" ? "1" : text == "NO" ? "0" : text, type)
    case .uuid: return uuid(text).map { .uuid($0) }
    case .uri: return isURI(text) ? .uri(text) : nil
    default: return nil
    }
  }

  /// Whether a text has only characters that a URI may have, so that Foundation makes a URL of it.
  private static func isURI(_ text: String) -> Bool {
    let marks = Set("-._~:/?#@!$&'()*+,;=%".unicodeScalars)
    return text.unicodeScalars.allSatisfy { scalar in
      marks.contains(scalar) || scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
    }
  }

  // MARK: Numbers

  private static func number(_ text: String, _ type: ModelDocument.AttributeType) -> DefaultValue? {
    switch type {
    case .double: return Double(text).map { .double($0) }
    case .float:
      guard let value = Float(text), value.isFinite || Double(text)?.isFinite == false else { return nil }
      return .float(value)
    default: break
    }
    guard let (isNegative, digits, exponent) = decimal(text) else { return nil }
    if type == .decimal { return .decimal(isNegative: isNegative, digits: digits, exponent: exponent) }
    // Whole digits remain where the exponent is not negative, because zeros at the end were taken off.
    guard exponent >= 0, digits.utf8.count + exponent <= 19,
      let value = Int64((isNegative ? "-" : "") + digits + String(repeating: "0", count: exponent))
    else { return nil }
    let range: ClosedRange<Int64> =
      switch type {
      case .integer16: Int64(Int16.min)...Int64(Int16.max)
      case .integer32: Int64(Int32.min)...Int64(Int32.max)
      default: Int64.min...Int64.max
      }
    return range.contains(value) ? .integer(value) : nil
  }

  /// Takes a decimal number apart: its digits without zeros at the ends, and the power of ten.
  private static func decimal(_ text: String) -> (isNegative: Bool, digits: String, exponent: Int)? {
    var rest = Array(text.utf8)[...]
    var isNegative = false
    if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
      isNegative = sign == UInt8(ascii: "-")
      rest = rest.dropFirst()
    }
    var digits: [UInt8] = []
    var exponent = 0
    var hasPoint = false
    while let byte = rest.first, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
        digits.append(byte)
        if hasPoint { exponent -= 1 }
      } else {
        return nil
      }
    }
    // More digits, and greater powers, no decimal number has.
    guard !digits.isEmpty, digits.count <= 64 else { return nil }
    if !rest.isEmpty {
      guard let power = Int(String(decoding: rest.dropFirst(), as: UTF8.self)), abs(power) <= 200 else { return nil }
      exponent += power
    }
    while digits.count > 1, digits.first == UInt8(ascii: "0") { digits.removeFirst() }
    while digits.count > 1, digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    if digits == [UInt8(ascii: "0")] { return (false, "0", 0) }
    return (isNegative, String(decoding: digits, as: UTF8.self), exponent)
  }

  /// The bytes of a UUID in its usual form.
  private static func uuid(_ text: String) -> [UInt8]? {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map({ $0.utf8.count }) == [8, 4, 4, 4, 12] else { return nil }
    let digits = groups.joined().utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == 32, !digits.contains(nil) else { return nil }
    let values = digits.compactMap { $0 }
    return stride(from: 0, to: 32, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
  }
}

extension DefaultValue {
  /// Returns the value as source, of the attribute's type.
  ///
  /// - Parameter isOptional: Whether an expression of an optional type will do.
  func source(_ names: TypeNames, isOptional: Bool) -> String {
    switch self {
    case .integer(let value): return "\(value)"
    case .boolean(let value): return "\(value)"
    case .double(let value): return Self.source(value, names.swift("Double"), "\(value)")
    case .float(let value): return Self.source(Double(value), names.swift("Float"), "\(value)")
    case .decimal(let isNegative, let digits, let exponent):
      let sign = isNegative ? "-" : ""
      if exponent >= 0, digits.utf8.count + exponent <= 18 {
        return sign + digits + String(repeating: "0", count: exponent)
      }
      let decimal = names.foundation("Decimal")
      guard digits.utf8.count <= 18 else {
        let text = SwiftText.literal("\(sign)\(digits)e\(exponent)")
        return "\(decimal)(string: \(text))" + (isOptional ? "" : " ?? 0")
      }
      return "\(decimal)(sign: .\(isNegative ? "minus" : "plus"), exponent: \(exponent), significand: \(digits))"
    case .string(let text): return SwiftText.literal(text)
    case .date(let seconds):
      let interval = Self.source(seconds, names.swift("Double"), "\(seconds)")
      return "\(names.foundation("Date"))(timeIntervalSinceReferenceDate: \(interval))"
    case .uuid(let bytes):
      let list = bytes.map { "0x" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
      return "\(names.foundation("UUID"))(uuid: (\(list.joined(separator: ", "))))"
    case .uri(let text):
      let url = names.foundation("URL")
      let value = "\(url)(string: \(SwiftText.literal(text)))"
      return isOptional ? value : "\(value) ?? \(url)(fileURLWithPath: \"/\")"
    }
  }

  /// A floating-point number as source.
  private static func source(_ value: Double, _ type: String, _ text: String) -> String {
    if value.isNaN { return "\(type).nan" }
    if value.isInfinite { return (value < 0 ? "-" : "") + "\(type).infinity" }
    return text
  }
}
