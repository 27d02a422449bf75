/// A property list in XML, as far as models come with them: dictionaries, arrays, strings, data, flags, numbers.
public indirect enum PropertyList: Equatable, Sendable {
  /// A string, a number or a date as written, or data in base64.
  case text(String)
  /// `<true/>` or `<false/>`.
  case flag(Bool)
  /// Values in the order of the file.
  case array([PropertyList])
  /// Keys and values in the order of the file.
  case dictionary([PropertyListEntry])

  /// Reads a property list. O(length).
  ///
  /// - Throws: `malformed` and `unusable` with the place of what is none; binary ones are refused.
  @_optimize(none)
  public init(_ bytes: [UInt8]) throws(ModelDocumentError) {
    if bytes.starts(with: Array("bplist".utf8)) {
      throw .unusable(
        line: 1, column: 1, detail: "this is a binary property list; convert it with 'plutil -convert xml1'")
    }
    let document = try XMLDocument(bytes)
    guard document.root.name == "plist", let value = document.root.children.first else {
      throw document.unusable(document.root.offset, "this is no property list")
    }
    self = try PropertyList(value, in: document)
  }

  /// The reader's limit bounds the depth.
  @_optimize(none)
  private init(_ element: XMLElement, in document: XMLDocument) throws(ModelDocumentError) {
    switch element.name {
    case "string", "integer", "real", "date": self = .text(element.text)
    case "data":
      self = .text(String(decoding: element.text.utf8.filter { $0 > UInt8(ascii: " ") }, as: UTF8.self))
    case "true": self = .flag(true)
    case "false": self = .flag(false)
    case "array":
      var values: [PropertyList] = []
      for child in element.children { values.append(try PropertyList(child, in: document)) }
      self = .array(values)
    case "dict":
      var entries: [PropertyListEntry] = []
      var key: String?
      for child in element.children {
        if let name = key {
          entries.append(PropertyListEntry(name, try PropertyList(child, in: document)))
          key = nil
        } else {
          guard child.name == "key" else { throw document.unusable(child.offset, "there is no key before this value") }
          key = child.text
        }
      }
      if let key { throw document.unusable(element.offset, "the key '\(key)' has no value") }
      self = .dictionary(entries)
    default: throw document.unusable(element.offset, "'\(element.name)' is no part of a property list")
    }
  }

  /// The first value of a key; `nil` if there is none, or this is no dictionary.
  public subscript(_ key: String) -> PropertyList? {
    guard case .dictionary(let entries) = self else { return nil }
    for entry in entries where entry.key == key { return entry.value }
    return nil
  }

  /// The text; `nil` for all else.
  public var text: String? {
    if case .text(let text) = self { return text }
    return nil
  }

  /// The list as a file. Text is written as strings.
  public var bytes: [UInt8] {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """
    append(to: &text, indent: "")
    return Array((text + "</plist>\n").utf8)
  }

  private func append(to text: inout String, indent: String) {
    switch self {
    case .text(let value): text += "\(indent)<string>\(escaped(value))</string>\n"
    case .flag(let value): text += "\(indent)<\(value ? "true" : "false")/>\n"
    case .array(let values):
      text += "\(indent)<array>\n"
      for value in values { value.append(to: &text, indent: indent + "  ") }
      text += "\(indent)</array>\n"
    case .dictionary(let entries):
      text += "\(indent)<dict>\n"
      for entry in entries {
        text += "\(indent)  <key>\(escaped(entry.key))</key>\n"
        entry.value.append(to: &text, indent: indent + "  ")
      }
      text += "\(indent)</dict>\n"
    }
  }

  private func escaped(_ text: String) -> String {
    var result: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): result += Array("&amp;".utf8)
      case UInt8(ascii: "<"): result += Array("&lt;".utf8)
      case UInt8(ascii: ">"): result += Array("&gt;".utf8)
      // Would be read as a line feed.
      case 13: result += Array("&#13;".utf8)
      default: result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

/// A key and its value.
public struct PropertyListEntry: Equatable, Sendable {
  /// The key.
  public let key: String
  /// The value.
  public let value: PropertyList

  /// An entry.
  public init(_ key: String, _ value: PropertyList) {
    self.key = key
    self.value = value
  }
}
