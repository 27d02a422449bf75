import CambiumSourceText

/// A source and its tokens. Blanks and comments are between the tokens. They include the code of string interpolations.
///
/// Any text can be read. A string without end is taken to end with its line, a bracket without end has no partner.
struct SourceText {
  let bytes: [UInt8]
  let tokens: [Token]
  /// The offsets at which lines begin.
  private let lineStarts: [Int]

  init(_ text: String) {
    var lexer = Lexer(text)
    lexer.run()
    let bytes = lexer.reader.bytes
    self.bytes = bytes
    tokens = lexer.tokens
    lineStarts = [0] + bytes.indices.filter { bytes[$0] == 0x0A }.map { $0 + 1 }
  }

  /// The text of some bytes.
  func text(_ range: Range<Int>) -> String {
    let range = range.clamped(to: 0..<bytes.count)
    return String(decoding: bytes[range], as: UTF8.self)
  }

  /// The text from a token to another one, both included.
  func text(tokens range: ClosedRange<Int>) -> String {
    guard let first = self[range.lowerBound], let last = self[range.upperBound] else { return "" }
    return text(first.range.lowerBound..<last.range.upperBound)
  }

  /// A token; `nil` before the first and behind the last.
  subscript(index: Int) -> Token? { tokens.indices.contains(index) ? tokens[index] : nil }

  /// The line of an offset; the first is 1.
  func line(at offset: Int) -> Int {
    var (low, high) = (0, lineStarts.count)
    while low < high {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The offset at which the line of an offset begins.
  func startOfLine(at offset: Int) -> Int { lineStarts[max(line(at: offset) - 1, 0)] }

  /// The blanks at the beginning of the line of an offset.
  func indentation(at offset: Int) -> String {
    let start = startOfLine(at: offset)
    var end = start
    while end < bytes.count, bytes[end] == 0x20 || bytes[end] == 0x09 { end += 1 }
    return text(start..<end)
  }

  /// How the source ends its lines.
  var lineEnd: String {
    guard let end = bytes.firstIndex(of: 0x0A), end > 0, bytes[end - 1] == 0x0D else { return "\n" }
    return "\r\n"
  }
}

/// Cuts a source into tokens, one after the other, without recursion.
private struct Lexer {
  var reader: SourceReader
  var tokens: [Token] = []
  /// What is open: the token, and what it needs to be closed.
  private var open: [(token: Int, kind: SourceReader.Open)] = []

  init(_ text: String) {
    reader = SourceReader(text)
    // A byte order mark would be the beginning of a name.
    if reader.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
  }

  mutating func run() {
    while true {
      if case .string(let hashes, let isMultiline) = open.last?.kind {
        readString(hashes, isMultiline)
        continue
      }
      reader.skipTrivia()
      guard let byte = reader.peek() else { return }
      readCode(byte)
    }
  }

  private mutating func readCode(_ byte: UInt8) {
    let start = reader.position
    if reader.skipRegularExpression() { return add(.literal, from: start) }
    if let kind = reader.opening() {
      // The text of a quotation mark leaves out the `#` before it and the marks of a string of several lines.
      let text = if case .string = kind { "\"" } else { reader.text(from: start) }
      add(.open, from: start, text: text)
      open.append((tokens.count - 1, kind))
      return
    }
    switch byte {
    case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
      reader.position += 1
      add(.close, from: start)
      close(byte)
    case UInt8(ascii: "#"), UInt8(ascii: "@"):
      reader.position += 1
      let isName = reader.peek() != UInt8(ascii: "`") && reader.name() != nil
      add(!isName ? .mark : byte == UInt8(ascii: "#") ? .hashWord : .attribute, from: start)
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      while let next = reader.peek(), SourceReader.isInName(next, first: false) { reader.position += 1 }
      add(.literal, from: start)
    default:
      if let name = reader.name() { return add(.word, from: start, text: name) }
      reader.position += 1
      add(.mark, from: start)
    }
  }

  private mutating func readString(_ hashes: Int, _ isMultiline: Bool) {
    let start = reader.position
    while true {
      let before = reader.position
      switch reader.stepInString(hashes, isMultiline) {
      case .goesOn: continue
      case .interpolates:
        if before > start { add(.characters, start..<before) }
        add(.open, (reader.position - 1)..<reader.position, text: "(")
        open.append((tokens.count - 1, .bracket(UInt8(ascii: ")"))))
      case .ends:
        if before > start { add(.characters, start..<before) }
        add(.close, before..<reader.position, text: "\"")
        closeLast()
      case nil:
        // The string has no end on its line, or at all.
        reader.position = max(before, start)
        if before > start { add(.characters, start..<before) }
        open.removeLast()
      }
      return
    }
  }

  /// Closes the innermost bracket of a kind. Brackets within that are still open have no end.
  private mutating func close(_ byte: UInt8) {
    for index in open.indices.reversed() {
      switch open[index].kind {
      case .string: return
      case .bracket(let end) where end == byte:
        open.removeLast(open.count - index - 1)
        return closeLast()
      case .bracket: continue
      }
    }
  }

  private mutating func closeLast() {
    guard let last = open.popLast() else { return }
    tokens[last.token].partner = tokens.count - 1
    tokens[tokens.count - 1].partner = last.token
  }

  private mutating func add(_ kind: Token.Kind, from start: Int, text: String? = nil) {
    add(kind, start..<reader.position, text: text)
  }

  private mutating func add(_ kind: Token.Kind, _ range: Range<Int>, text: String? = nil) {
    let text = text ?? (kind == .characters ? "" : String(decoding: reader.bytes[range], as: UTF8.self))
    tokens.append(Token(kind: kind, range: range, text: text))
  }
}
