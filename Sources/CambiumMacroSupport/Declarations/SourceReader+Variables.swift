import CambiumSourceText

/// The type, the initial value and the block behind the name of a variable.
struct VariableTail {
  var type: VariableDeclaration.Word?
  /// Its place is that of the `=`.
  var value: VariableDeclaration.Word?
  var block: TypeDeclaration.Block?
}

extension SourceReader {
  /// Reads the type and the initial value of a variable, up to a `,` before another one, or to its end; skips its
  /// accessors or observers.
  ///
  /// A variable ends with a line, unless the line ends with an operator or the next one goes on with one.
  mutating func variableTail() throws(Refusal) -> VariableTail {
    var tail = VariableTail()
    var part = Part()
    // Where the type or the value begins; `nil` before the colon.
    var start: Int?
    var equals: Int?
    var angles = 0
    scan: while true {
      let isOnNewLine = skipTriviaNotingLines()
      guard let byte = peek() else { break }
      if isOnNewLine, !part.goesOn(in: bytes), isStartOfMember { break }
      let begin = position
      var isGroup = false
      var word: String?
      switch byte {
      case UInt8(ascii: "}"), UInt8(ascii: ";"): break scan
      case UInt8(ascii: ")"), UInt8(ascii: "]"):
        // The bracket would close one of the expansion that the value is copied into.
        guard isPlanted(.strayBracketCopied) else {
          throw Refusal(message: "this bracket closes nothing", offset: begin)
        }
        position += 1
      case UInt8(ascii: ",") where angles <= 0: break scan
      case UInt8(ascii: "{"):
        let kind = kindOfBlock
        guard skipGroup() else { throw Refusal.unclosed(begin) }
        if equals == nil || kind != nil {
          tail.block = TypeDeclaration.Block(kind: kind ?? .accessors, offset: begin)
          break scan
        }
        // A closure, or the end of a value.
        isGroup = true
      case UInt8(ascii: "@") where equals != nil: break scan
      case UInt8(ascii: "@"):
        // `var f: @Sendable () -> Void`.
        _ = try attribute()
        isGroup = true
      case UInt8(ascii: ":") where start == nil && equals == nil:
        position += 1
        skipTrivia()
        start = position
        part = Part(end: begin + 1)
        continue
      case UInt8(ascii: "=") where equals == nil:
        tail.type = piece(start, part.end)
        equals = begin
        position += 1
        skipTrivia()
        start = position
        part = Part(end: begin + 1)
        continue
      case UInt8(ascii: "<"):
        if equals == nil { angles += 1 }
        if equals == nil || !skipGenericArguments() { position += 1 }
      case UInt8(ascii: ">") where equals == nil:
        angles -= 1
        position += 1
      case UInt8(ascii: "-") where peek(1) == UInt8(ascii: ">"): position += 2
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "\""):
        guard skipGroup() else { throw Refusal.unclosed(begin) }
        isGroup = true
      case UInt8(ascii: "#"):
        guard skipHashes() else { throw Refusal.unclosed(begin) }
        isGroup = position - begin > 2
      case UInt8(ascii: "/"):
        isGroup = skipGroup()
        if !isGroup { position = begin + 1 }
      default:
        word = name()
        if word == nil {
          guard byte != UInt8(ascii: "`") else { throw Refusal.unclosed(begin) }
          position += 1
        }
      }
      part.append(word, isGroup: isGroup, from: begin, to: position)
    }
    if let equals {
      tail.value = piece(start, part.end).map { VariableDeclaration.Word(text: $0.text, offset: equals) }
    } else {
      tail.type = piece(start, part.end)
    }
    return tail
  }

  private func piece(_ start: Int?, _ end: Int) -> VariableDeclaration.Word? {
    guard let start, start < end, end <= bytes.count else { return nil }
    return VariableDeclaration.Word(text: String(decoding: bytes[start..<end], as: UTF8.self), offset: start)
  }

  /// The last pieces of a type or value. They decide whether the next line continues it.
  private struct Part {
    var end = 0
    private var word: String?
    private var wordBefore: String?
    private var isGroup = false

    init(end: Int = 0) { self.end = end }

    mutating func append(_ word: String?, isGroup: Bool, from start: Int, to end: Int) {
      // A word may end with a mark, as casts do that may fail.
      wordBefore = start == self.end ? self.word : nil
      (self.word, self.isGroup, self.end) = (word, isGroup, end)
    }

    private static let words: Set<String> = [
      "try", "await", "unsafe", "as", "is", "some", "any", "each", "repeat", "if", "switch", "borrowing", "consuming",
      "sending",
    ]

    /// Whether the last piece is an operator between two operands, or a word that needs another one.
    func goesOn(in bytes: [UInt8]) -> Bool {
      if isGroup { return false }
      if let word { return Self.words.contains(word) }
      guard end > 0, end <= bytes.count else { return false }
      switch bytes[end - 1] {
      case UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "="): return true
      case UInt8(ascii: "?"), UInt8(ascii: "!"):
        if wordBefore == "as" || wordBefore == "try" { return true }
      case UInt8(ascii: ">") where end > 1 && bytes[end - 2] == UInt8(ascii: "-"): return true
      case UInt8(ascii: ".") where end > 1 && bytes[end - 2] != UInt8(ascii: "."): return true
      default: break
      }
      var start = end
      while start > 0, SourceReader.operators.contains(bytes[start - 1]) { start -= 1 }
      // `a!` and `1...` end; `a +` goes on.
      return start < end && start > 0 && [0x09, 0x0A, 0x0D, 0x20].contains(bytes[start - 1])
    }
  }

  private static let operators: Set<UInt8> = Set("/=-+!*%<>&|^~?.".utf8)

  /// The kind of the block at the position, if its first word is that of an accessor or observer.
  private var kindOfBlock: TypeDeclaration.Block.Kind? {
    var ahead = self
    ahead.position += 1
    var word: String
    repeat {
      ahead.skipTrivia()
      if ahead.peek() == UInt8(ascii: "@") {
        guard (try? ahead.attribute()) != nil else { return nil }
        word = ""
        continue
      }
      guard let next = ahead.name() else { return nil }
      word = next
    } while word.isEmpty || Self.accessorModifiers.contains(word)
    guard Self.accessors.contains(word) else { return nil }
    ahead.skipTrivia()
    if ahead.peek() == UInt8(ascii: "("), !ahead.skipGroup() { return nil }
    ahead.skipTrivia()
    while let effect = ahead.name() {
      guard effect == "async" || effect == "throws" else { return nil }
      if ahead.peek() == UInt8(ascii: "("), !ahead.skipGroup() { return nil }
      ahead.skipTrivia()
    }
    guard ahead.peek() == UInt8(ascii: "{") else { return nil }
    return word == "didSet" || word == "willSet" ? .observers : .accessors
  }

  private static let accessorModifiers: Set<String> = [
    "mutating", "nonmutating", "borrowing", "consuming", "nonisolated", "private", "fileprivate", "internal",
  ]

  private static let accessors: Set<String> = [
    "get", "set", "didSet", "willSet", "init", "_read", "_modify", "read", "modify", "unsafeAddress",
    "unsafeMutableAddress",
  ]

  /// Skips `<A, B>` in a value; false, and nothing read, if the `<` compares.
  private mutating func skipGenericArguments() -> Bool {
    guard position > 0, Self.isInName(bytes[position - 1], first: false) || bytes[position - 1] == 0x60 else {
      return false
    }
    var ahead = self
    guard ahead.skipGenericClause() else { return false }
    // The next character decides, as in the compiler.
    var behind = ahead
    while behind.peek() == 0x20 || behind.peek() == 0x09 { behind.position += 1 }
    switch behind.peek() {
    case nil, 0x0A, 0x0D, UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "{"),
      UInt8(ascii: "}"), UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"),
      UInt8(ascii: "?"), UInt8(ascii: "!"), UInt8(ascii: "/"):
      self = ahead
      return true
    default: return false
    }
  }

  /// Skips `<A, B>`, in which nothing but types stands; false, and nothing read, if there is none.
  mutating func skipGenericClause() -> Bool {
    guard peek() == UInt8(ascii: "<") else { return false }
    var ahead = self
    var depth = 0
    repeat {
      ahead.skipTrivia()
      guard let byte = ahead.peek() else { return false }
      switch byte {
      case UInt8(ascii: "<"):
        depth += 1
        ahead.position += 1
      case UInt8(ascii: ">"):
        depth -= 1
        ahead.position += 1
      case UInt8(ascii: "-") where ahead.peek(1) == UInt8(ascii: ">"): ahead.position += 2
      case UInt8(ascii: "("), UInt8(ascii: "["): guard ahead.skipGroup() else { return false }
      case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: "?"), UInt8(ascii: "!"), UInt8(ascii: "&"),
        UInt8(ascii: "@"), UInt8(ascii: "~"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        ahead.position += 1
      default: guard ahead.name() != nil else { return false }
      }
    } while depth > 0
    self = ahead
    return true
  }

  /// Skips blanks and comments; answers whether a line ended there.
  private mutating func skipTriviaNotingLines() -> Bool {
    let start = position
    skipTrivia()
    return bytes[start..<position].contains { $0 == 0x0A || $0 == 0x0D }
  }

  /// Whether another member begins here: an operator or a bracket would go on with this one, as `as` and `else` do.
  private var isStartOfMember: Bool {
    var ahead = self
    if ahead.peek() == UInt8(ascii: "#") || ahead.peek() == UInt8(ascii: "@") { return true }
    guard let word = ahead.name() else { return false }
    return !["as", "is", "else"].contains(word)
  }
}
