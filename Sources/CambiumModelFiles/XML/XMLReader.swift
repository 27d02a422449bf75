/// Reads an XML document piece by piece: elements, attributes, text, the predefined entities, character references,
/// CDATA, comments and processing instructions.
///
/// Strict, and made for files that may be anything: UTF-8 only, no declarations in the document type (so that no entity
/// can be defined, let alone expanded or fetched), and limits on size, depth and attributes. What it accepts is
/// well-formed XML 1.0, but for names, where every character beyond ASCII is allowed. O(length), no recursion.
public struct XMLReader {
  /// The longest document, in bytes.
  public static let sizeLimit = 1 << 26
  /// How deep elements may be nested.
  public static let depthLimit = 64
  /// How many attributes an element may have.
  public static let attributeLimit = 256

  /// A part of a document.
  public enum Event: Equatable, Sendable {
    /// The beginning of an element, with its attributes in order. An empty element has a beginning and an end as well.
    case start(name: String, attributes: [XMLAttribute])
    /// The end of the element that was begun last.
    case end
    /// Text within an element, CDATA included; may come in several pieces.
    case text(String)
  }

  private let bytes: [UInt8]
  private var position = 0
  private var open: [String] = []
  private var isEmptyElement = false
  private var hasRoot = false
  /// Where the event that came last begins, in bytes.
  public private(set) var eventOffset = 0

  /// A reader of a document.
  ///
  /// - Throws: `malformed` if the bytes are not UTF-8, `tooLarge`.
  public init(_ bytes: [UInt8]) throws(ModelDocumentError) {
    guard bytes.count <= Self.sizeLimit else { throw .tooLarge }
    self.bytes = bytes
    if starts(with: [0xFE, 0xFF]) || starts(with: [0xFF, 0xFE]) {
      throw malformed("the file is UTF-16; save it as UTF-8")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw malformed("the file is not UTF-8") }
    if starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    for (index, byte) in bytes.enumerated() where byte < 0x20 && byte != 9 && byte != 10 && byte != 13 {
      position = index
      throw malformed("there is a control character, which XML does not allow")
    }
    try readDeclaration()
  }

  // MARK: Events

  /// The next part; `nil` at the end of the document.
  public mutating func next() throws(ModelDocumentError) -> Event? {
    if isEmptyElement {
      isEmptyElement = false
      return .end
    }
    while position < bytes.count {
      eventOffset = position
      if bytes[position] != UInt8(ascii: "<") {
        let text = try readText()
        if open.isEmpty {
          guard text.utf8.allSatisfy({ isSpace($0) }) else {
            position = eventOffset
            throw malformed("there is text outside of the root element")
          }
          continue
        }
        return .text(text)
      }
      if starts(with: "<!--") {
        try skipComment()
      } else if starts(with: "<![CDATA[") {
        guard !open.isEmpty else { throw malformed("there is CDATA outside of the root element") }
        return .text(try readCDATA())
      } else if starts(with: "<!DOCTYPE") {
        try skipDocumentType()
      } else if starts(with: "<?") {
        try skipInstruction()
      } else if starts(with: "</") {
        try readEndTag()
        return .end
      } else {
        return try readStartTag()
      }
    }
    eventOffset = position
    if let name = open.last { throw malformed("the file ends within '\(name)'") }
    guard hasRoot else { throw malformed("there is no element") }
    return nil
  }

  private mutating func readStartTag() throws(ModelDocumentError) -> Event {
    guard !open.isEmpty || !hasRoot else { throw malformed("there is a second root element") }
    position += 1
    let name = try readName("element")
    guard open.count < Self.depthLimit else { throw malformed("elements are nested deeper than \(Self.depthLimit)") }
    var attributes: [XMLAttribute] = []
    var names: Set<String> = []
    while true {
      let hadSpace = skipSpace()
      guard position < bytes.count else { throw malformed("the file ends within the tag of '\(name)'") }
      let isEmpty = bytes[position] == UInt8(ascii: "/")
      if isEmpty || bytes[position] == UInt8(ascii: ">") {
        position += 1
        if isEmpty { try expect(">", in: "the tag of '\(name)'") }
        hasRoot = true
        isEmptyElement = isEmpty
        if !isEmpty { open.append(name) }
        return .start(name: name, attributes: attributes)
      }
      guard hadSpace else { throw malformed("there is no space before an attribute of '\(name)'") }
      guard attributes.count < Self.attributeLimit else {
        throw malformed("'\(name)' has more than \(Self.attributeLimit) attributes")
      }
      let start = position
      let attribute = try readName("attribute")
      guard names.insert(attribute).inserted else {
        position = start
        throw malformed("'\(name)' has the attribute '\(attribute)' twice")
      }
      _ = skipSpace()
      try expect("=", in: "'\(attribute)'")
      _ = skipSpace()
      attributes.append(XMLAttribute(name: attribute, value: try readAttributeValue(attribute), offset: start))
    }
  }

  private mutating func readEndTag() throws(ModelDocumentError) {
    position += 2
    let name = try readName("element")
    _ = skipSpace()
    try expect(">", in: "the end of '\(name)'")
    guard let expected = open.popLast(), expected == name else {
      position = eventOffset
      throw malformed("'\(name)' ends here, but it was not the last to begin")
    }
  }

  // MARK: Text

  private mutating func readText() throws(ModelDocumentError) -> String {
    var text: [UInt8] = []
    while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
      if starts(with: "]]>") { throw malformed("']]>' stands in text; write ']]&gt;'") }
      try readCharacter(into: &text)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func readAttributeValue(_ name: String) throws(ModelDocumentError) -> String {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'") else {
      throw malformed("the value of '\(name)' does not begin with a quotation mark")
    }
    let quote = bytes[position]
    position += 1
    var text: [UInt8] = []
    while position < bytes.count, bytes[position] != quote {
      if bytes[position] == UInt8(ascii: "<") { throw malformed("'<' stands in the value of '\(name)'; write '&lt;'") }
      if isSpace(bytes[position]) {
        // A break of two characters is one space, as XML has it.
        if bytes[position] == 13, position + 1 < bytes.count, bytes[position + 1] == 10 { position += 1 }
        text.append(UInt8(ascii: " "))
        position += 1
      } else {
        try readCharacter(into: &text)
      }
    }
    guard position < bytes.count else { throw malformed("the file ends within the value of '\(name)'") }
    position += 1
    return String(decoding: text, as: UTF8.self)
  }

  /// One byte of text, a reference, or the end of a line.
  private mutating func readCharacter(into text: inout [UInt8]) throws(ModelDocumentError) {
    let byte = bytes[position]
    if byte == UInt8(ascii: "&") {
      try readReference(into: &text)
    } else if byte == 13 {
      position += position + 1 < bytes.count && bytes[position + 1] == 10 ? 2 : 1
      text.append(10)
    } else {
      text.append(byte)
      position += 1
    }
  }

  private mutating func readReference(into text: inout [UInt8]) throws(ModelDocumentError) {
    let start = position
    var end = start + 1
    while end < bytes.count, end - start <= 12, bytes[end] != UInt8(ascii: ";") { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: ";") else {
      throw malformed("'&' begins no reference; write '&amp;'")
    }
    let name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
    position = end + 1
    switch name {
    case "lt": text.append(UInt8(ascii: "<"))
    case "gt": text.append(UInt8(ascii: ">"))
    case "amp": text.append(UInt8(ascii: "&"))
    case "quot": text.append(UInt8(ascii: "\""))
    case "apos": text.append(UInt8(ascii: "'"))
    default:
      guard let scalar = Self.character(name) else {
        position = start
        throw malformed("'&\(name);' is no entity that XML predefines, and others are not read")
      }
      text.append(contentsOf: Array(String(Character(scalar)).utf8))
    }
  }

  /// The character that `#10` or `#xA` names.
  private static func character(_ name: String) -> Unicode.Scalar? {
    guard name.utf8.first == UInt8(ascii: "#") else { return nil }
    let digits = name.utf8.dropFirst()
    let isHexadecimal = digits.first == UInt8(ascii: "x")
    let rest = isHexadecimal ? digits.dropFirst() : digits
    // `UInt32(_:radix:)` would take a sign.
    guard let first = rest.first, first != UInt8(ascii: "+"),
      let value = UInt32(String(decoding: Array(rest), as: UTF8.self), radix: isHexadecimal ? 16 : 10),
      value >= 0x20 || value == 9 || value == 10 || value == 13, value != 0xFFFE, value != 0xFFFF
    else { return nil }
    return Unicode.Scalar(value)
  }

  private mutating func readCDATA() throws(ModelDocumentError) -> String {
    position += 9
    let start = position
    guard let end = find("]]>") else { throw malformed("the file ends within CDATA") }
    position = end + 3
    var text: [UInt8] = []
    for index in start..<end {
      if bytes[index] == 13 {
        if index + 1 < end, bytes[index + 1] == 10 { continue }
        text.append(10)
      } else {
        text.append(bytes[index])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: What is passed over

  private mutating func readDeclaration() throws(ModelDocumentError) {
    guard starts(with: "<?xml"), position + 5 < bytes.count, isSpace(bytes[position + 5]) else { return }
    guard let end = find("?>") else { throw malformed("the file ends within the XML declaration") }
    let text = String(decoding: bytes[position..<end], as: UTF8.self)
    if let encoding = Self.pseudoAttribute("encoding", in: text) {
      let name = encoding.lowercased()
      guard name == "utf-8" || name == "us-ascii" || name == "ascii" else {
        throw malformed("the file says that it is \(encoding); save it as UTF-8")
      }
    }
    if let version = Self.pseudoAttribute("version", in: text), version != "1.0" {
      throw malformed("the file is XML \(version); only 1.0 is read")
    }
    position = end + 2
  }

  private static func pseudoAttribute(_ name: String, in text: String) -> String? {
    let parts = text.utf8.split(whereSeparator: { isSpace($0) || $0 == UInt8(ascii: "=") })
    var isNext = false
    for part in parts {
      if isNext { return String(decoding: part.dropFirst().dropLast(), as: UTF8.self) }
      isNext = String(decoding: part, as: UTF8.self) == name
    }
    return nil
  }

  private mutating func skipComment() throws(ModelDocumentError) {
    position += 4
    guard let end = find("--") else { throw malformed("the file ends within a comment") }
    position = end + 2
    try expect(">", in: "a comment, which must not have '--' in it")
  }

  private mutating func skipInstruction() throws(ModelDocumentError) {
    guard let end = find("?>") else { throw malformed("the file ends within a processing instruction") }
    position += 2
    let target = try readName("processing instruction")
    guard target.lowercased() != "xml" else {
      position = eventOffset
      throw malformed("the XML declaration is not at the beginning of the file")
    }
    position = end + 2
  }

  private mutating func skipDocumentType() throws(ModelDocumentError) {
    guard !hasRoot else { throw malformed("there is a document type behind the root element") }
    var quote: UInt8?
    while position < bytes.count {
      let byte = bytes[position]
      if let inner = quote {
        if byte == inner { quote = nil }
      } else if byte == UInt8(ascii: "[") {
        throw malformed("the document type declares something of its own, which is not read; remove it")
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        position += 1
        return
      }
      position += 1
    }
    throw malformed("the file ends within the document type")
  }

  // MARK: Bytes

  private mutating func readName(_ what: String) throws(ModelDocumentError) -> String {
    let start = position
    while position < bytes.count, isNameByte(bytes[position], first: position == start) { position += 1 }
    guard position > start else { throw malformed("the name of an \(what) is missing") }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func skipSpace() -> Bool {
    let start = position
    while position < bytes.count, isSpace(bytes[position]) { position += 1 }
    return position > start
  }

  private mutating func expect(_ character: Unicode.Scalar, in place: String) throws(ModelDocumentError) {
    guard position < bytes.count, UInt32(bytes[position]) == character.value else {
      throw malformed("there is no '\(character)' where it must be, in \(place)")
    }
    position += 1
  }

  private func starts(with text: StaticString) -> Bool {
    guard bytes.count - position >= text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { wanted in
      for index in wanted.indices where bytes[position + index] != wanted[index] { return false }
      return true
    }
  }

  private func starts(with wanted: [UInt8]) -> Bool {
    guard bytes.count - position >= wanted.count else { return false }
    for index in wanted.indices where bytes[position + index] != wanted[index] { return false }
    return true
  }

  /// Where the text comes next, from the position on.
  private func find(_ text: StaticString) -> Int? {
    var other = self
    while other.position < bytes.count {
      if other.starts(with: text) { return other.position }
      other.position += 1
    }
    return nil
  }

  /// An error at the position.
  func malformed(_ detail: String) -> ModelDocumentError {
    let place = XMLPlace(offset: position, in: bytes)
    return .malformed(line: place.line, column: place.column, detail: detail)
  }
}

/// An attribute of an element.
public struct XMLAttribute: Equatable, Sendable {
  /// The name, with its prefix if it has one.
  public let name: String
  /// The value, references resolved.
  public let value: String
  /// Where the attribute begins, in bytes from the beginning of the document.
  public let offset: Int
}

/// A place in a text.
struct XMLPlace {
  /// From 1.
  private(set) var line = 1
  /// From 1, in Unicode scalars.
  private(set) var column = 1

  init(offset: Int, in bytes: [UInt8]) {
    for index in 0..<min(max(offset, 0), bytes.count) {
      if bytes[index] == 10 {
        line += 1
        column = 1
      } else if bytes[index] & 0xC0 != 0x80 {
        column += 1
      }
    }
  }
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 || byte == 10 || byte == 13 }

private func isNameByte(_ byte: UInt8, first: Bool) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
    UInt8(ascii: ":"):
    return true
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): return !first
  default: return byte >= 0x80
  }
}
