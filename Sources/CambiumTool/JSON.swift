/// A JSON value to be printed. Objects keep the order in which their members are given.
enum JSON {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  /// A number by its digits, which a double may not hold.
  case digits(String)
  case string(String)
  case array([JSON])
  case object([(String, JSON)])

  /// A count or size.
  static func count(_ value: some BinaryInteger) -> JSON { .integer(Int64(clamping: value)) }

  /// The text, in lines indented by two spaces a level.
  func text(indent: Int = 0) -> String {
    let inner = String(repeating: " ", count: indent + 2)
    let outer = String(repeating: " ", count: indent)
    switch self {
    case .null: return "null"
    case .boolean(let value): return value ? "true" : "false"
    case .integer(let value): return String(value)
    case .number(let value): return value.isFinite ? "\(value)" : "null"
    case .digits(let text): return text
    case .string(let value): return Self.quoted(value)
    case .array(let values):
      if values.isEmpty { return "[]" }
      let lines = values.map { inner + $0.text(indent: indent + 2) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.map { inner + Self.quoted($0.0) + ": " + $0.1.text(indent: indent + 2) }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
    }
  }

  /// The text on one line.
  var line: String {
    switch self {
    case .array(let values): return "[" + values.map(\.line).joined(separator: ",") + "]"
    case .object(let members):
      return "{" + members.map { Self.quoted($0.0) + ":" + $0.1.line }.joined(separator: ",") + "}"
    default: return text()
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7F {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
