import CambiumEngine
import CambiumKernel

/// How values are shown.
struct ValueText {
  /// By which objects are named after their entities.
  let schema: Schema

  /// The value as text; nil for null.
  func text(_ value: Value) -> String? {
    switch value {
    case .null: return nil
    case .boolean(let flag): return flag ? "true" : "false"
    case .integer(let number): return "\(number)"
    case .decimal(let number): return number.description
    case .double(let number): return "\(number)"
    case .float(let number): return "\(number)"
    case .string(let text), .uri(let text): return text
    case .date(let seconds): return dateText(seconds)
    case .binary(let bytes): return hexadecimal(bytes)
    case .uuid(let uuid): return uuid.text
    case .reference(let reference): return name(reference)
    case .composite, .list: return json(value).line
    }
  }

  /// The value as JSON. Dates are text as RFC 3339 has it, bytes hexadecimal digits, objects `Entity/row`.
  func json(_ value: Value) -> JSON {
    switch value {
    case .boolean(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .decimal(let number): return number.isNaN ? .null : .digits(number.description)
    case .double(let number): return .number(number)
    case .float(let number): return number.isFinite ? .digits("\(number)") : .null
    case .composite(let composite):
      return .object(zip(composite.names, composite.values).map { ($0, json($1)) })
    case .list(let values): return .array(values.map(json))
    default: return text(value).map { .string($0) } ?? .null
    }
  }

  private func name(_ reference: ObjectReference) -> String {
    "\(schema.entity(id: reference.entity)?.name ?? "\(reference.entity)")/\(reference.row)"
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    var digits: [UInt8] = []
    digits.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      for digit in [byte >> 4, byte & 15] { digits.append(digit < 10 ? 48 + digit : 87 + digit) }
    }
    return String(decoding: digits, as: UTF8.self)
  }
}

/// A moment as RFC 3339 has it, in UTC and to the microsecond: `2013-01-31T05:17:00Z`; beyond the years 1 to 9999 the
/// seconds since 2001.
func dateText(_ seconds: Double) -> String {
  // From 0001-01-01 until before 10000-01-01.
  guard seconds >= -730_485 * 86_400, seconds < 2_921_574 * 86_400 else { return "\(seconds)" }
  var whole = Int(seconds.rounded(.down))
  var microseconds = Int(((seconds - Double(whole)) * 1_000_000).rounded())
  if microseconds == 1_000_000 {
    whole += 1
    microseconds = 0
  }
  // Days since 0000-03-01, so that leap days end a year, of four hundred years each 146,097.
  let since = whole + 730_791 * 86_400
  let day = since / 86_400
  let second = since % 86_400
  let era = day / 146_097
  let dayOfEra = day % 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let month = (5 * dayOfYear + 2) / 153
  let year = era * 400 + yearOfEra + (month >= 10 ? 1 : 0)
  func digits(_ value: Int, _ count: Int) -> String {
    let text = "\(value)"
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
  var fraction = ""
  if microseconds > 0 {
    fraction = "." + digits(microseconds, 6)
    while fraction.hasSuffix("0") { fraction.removeLast() }
  }
  let date =
    "\(digits(year, 4))-\(digits(month < 10 ? month + 3 : month - 9, 2))"
    + "-\(digits(dayOfYear - (153 * month + 2) / 5 + 1, 2))"
  return "\(date)T\(digits(second / 3600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))\(fraction)Z"
}
