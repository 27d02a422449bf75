import CambiumKernel

// How values are written in the format syntax: as literals where there are any, else as CAST of a literal.

/// The value of a number as written, without sign; `nil` if it is too large for any type.
func numberValue(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> Value? {
  var significant = 0
  var isInteger = true
  let first = digits.startIndex
  if digits.count > 2, digits[first] == UInt8(ascii: "0"), let radix = numberRadix(digits[first + 1]) {
    var value: Int64 = 0
    for byte in digits.dropFirst(2) {
      guard let digit = hexadecimalDigit(byte) else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: Int64(radix))
      let (sum, carry) =
        isNegative
        ? product.subtractingReportingOverflow(Int64(digit)) : product.addingReportingOverflow(Int64(digit))
      if overflow || carry { return nil }
      value = sum
    }
    return .integer(value)
  }
  var inExponent = false
  for byte in digits {
    if !isDigit(byte) { isInteger = false }
    if byte | 0x20 == UInt8(ascii: "e") { inExponent = true }
    if !inExponent, isDigit(byte), significant > 0 || byte != UInt8(ascii: "0") { significant += 1 }
  }
  let text = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
  if isInteger, let integer = Int64(text) { return .integer(integer) }
  // A double's shortest text never has more than 17 digits; whoever writes more means them.
  if significant <= 38, isInteger || significant >= 18, let decimal = DecimalValue(text) { return .decimal(decimal) }
  guard let double = DecimalValue.nearestDouble(toText: text), double.isFinite else { return nil }
  return .double(double)
}

/// The value of `CAST(value, "type")`; `nil` if there is none.
func castValue(_ value: Value, to type: String) -> Value? {
  if type == "NSDate" { return value.isNumeric || value.isNonFiniteName ? value.castDouble.map { .date($0) } : nil }
  switch (type, value) {
  case ("NSDecimalNumber", .string(let text)): return DecimalValue(text).map { .decimal($0) }
  case ("NSDecimalNumber", _): return value.shortestDecimal.map { .decimal($0) }
  case ("double", _): return value.castDouble.map { .double($0) }
  case ("float", .string): return value.castDouble.map { .float(Float($0)) }
  case ("float", _): return value.nearestFloat.map { .float($0) }
  case ("NSString", .string): return value
  case ("NSUUID", .string(let text)): return UUIDBytes(text).map { .uuid($0) }
  case ("NSURL", .string(let text)): return .uri(text)
  case ("NSData", .string(let text)): return hexadecimalBytes(text).map { .binary($0) }
  case ("NSManagedObjectID", .string(let text)): return ObjectReference(text).map { .reference($0) }
  case ("composite", .list(let parts)):
    guard parts.count.isMultiple(of: 2) else { return nil }
    var names: [String] = []
    var values: [Value] = []
    for index in parts.indices {
      if !index.isMultiple(of: 2) {
        values.append(parts[index])
      } else if case .string(let name) = parts[index] {
        names.append(name)
      } else {
        return nil
      }
    }
    return .composite(CompositeValue(names: names, values: values))
  default: return nil
  }
}

extension Value {
  /// The type that `CAST` needs to give a value of this kind, if it has no literal of its own: `NSDecimalNumber` (of
  /// text), `NSDate` (of seconds since 2001-01-01), `NSUUID` and `NSURL` (of text), `NSData` (of hexadecimal digits),
  /// `NSManagedObjectID` (of `entity/row`), `float` (of a number), `composite` (of a list of names and values in turn).
  public var castType: String? {
    switch self {
    case .decimal: return "NSDecimalNumber"
    case .float: return "float"
    case .double(let double): return double.isFinite ? nil : "double"
    case .date: return "NSDate"
    case .binary: return "NSData"
    case .uuid: return "NSUUID"
    case .uri: return "NSURL"
    case .reference: return "NSManagedObjectID"
    case .composite: return "composite"
    case .null, .boolean, .integer, .string, .list: return nil
    }
  }

  /// The value in the format syntax.
  public var formatText: String {
    guard let castType else { return literalText }
    return "CAST(" + literalText + ", \"" + castType + "\")"
  }

  private var literalText: String {
    switch self {
    case .null: return "NULL"
    case .boolean(let flag): return flag ? "TRUE" : "FALSE"
    case .integer(let integer): return "\(integer)"
    case .decimal(let decimal): return quoted(decimal.description)
    case .double(let double), .date(let double): return doubleText(double)
    case .float(let float): return float.isFinite ? float.description : doubleText(Double(float))
    case .string(let text), .uri(let text): return quoted(text)
    case .binary(let bytes):
      var text = ""
      for byte in bytes { text += hexadecimalText(byte) }
      return quoted(text)
    case .uuid(let uuid): return quoted(uuid.text)
    case .reference(let reference): return quoted(reference.description)
    case .composite(let composite):
      var parts: [Value] = []
      for index in composite.names.indices {
        parts.append(.string(composite.names[index]))
        parts.append(composite.values[index])
      }
      return Value.list(parts).literalText
    case .list(let values): return "{" + values.map { $0.formatText }.joined(separator: ", ") + "}"
    }
  }

  fileprivate var isNonFiniteName: Bool {
    if case .string(let text) = self { return text == "nan" || text == "inf" || text == "-inf" }
    return false
  }

  /// The double that a number, or one of the names of what has no literal, stands for.
  fileprivate var castDouble: Double? {
    guard case .string(let text) = self else { return nearestDouble }
    switch text {
    case "nan": return .nan
    case "inf": return .infinity
    case "-inf": return -.infinity
    default: return nil
    }
  }
}

private func doubleText(_ double: Double) -> String {
  if double.isNaN { return quoted("nan") }
  if double.isInfinite { return quoted(double < 0 ? "-inf" : "inf") }
  return double.description
}

private func hexadecimalBytes(_ text: String) -> [UInt8]? {
  var result: [UInt8] = []
  var high: UInt8?
  for byte in text.utf8 {
    guard let digit = hexadecimalDigit(byte) else { return nil }
    if let first = high {
      result.append(first << 4 | digit)
      high = nil
    } else {
      high = digit
    }
  }
  return high == nil ? result : nil
}

/// A string literal: in double quotes, with escapes.
func quoted(_ text: String) -> String {
  var bytes: [UInt8] = [UInt8(ascii: "\"")]
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
    case 0x0A: bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
    case 0x00..<0x20, 0x7F: bytes.append(contentsOf: Array(("\\x" + hexadecimalText(byte)).utf8))
    default: bytes.append(byte)
    }
  }
  bytes.append(UInt8(ascii: "\""))
  return String(decoding: bytes, as: UTF8.self)
}
