/// Writes an XML document, element by element.
struct XMLWriter {
  private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
  private var depth = 0
  /// The first text that XML cannot have, and the attribute that it is for.
  private(set) var problem: String?

  /// Writes an element with its content and its attributes. Attributes without a value are left out.
  mutating func element(
    _ name: String, _ attributes: [(name: String, value: String?)], _ content: (inout XMLWriter) -> Void = { _ in }
  ) {
    text += String(repeating: "    ", count: depth) + "<" + name
    for attribute in attributes {
      guard let value = attribute.value else { continue }
      text += " \(attribute.name)=\"\(escaped(value, attribute.name))\""
    }
    text += ">\n"
    let inside = text.utf8.count
    depth += 1
    content(&self)
    depth -= 1
    if text.utf8.count == inside {
      // The end of the tag and of the line.
      text.removeLast(2)
      text += "/>\n"
    } else {
      text += String(repeating: "    ", count: depth) + "</\(name)>\n"
    }
  }

  private mutating func escaped(_ value: String, _ name: String) -> String {
    var result = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      // Would be read as spaces.
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      default:
        if scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF {
          if problem == nil {
            problem =
              "the \(name) '\(value)' has the character U+\(String(scalar.value, radix: 16)), which XML cannot have"
          }
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result
  }
}
