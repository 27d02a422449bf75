/// What a macro has to know of the declaration of a type with its members.
struct TypeDeclaration: Equatable {
  /// A variable of the type.
  struct Variable: Equatable {
    var name: String
    /// The names of its attributes, without modules, with their sources.
    var attributes: [Attribute]
    /// `static`, `lazy`, ...
    var modifiers: [String]
    /// Whether it has accessors.
    var hasAccessors: Bool
  }

  struct Attribute: Equatable {
    var name: String
    var source: String
  }

  /// `class`, `struct`, ...
  var introducer: VariableDeclaration.Word
  var modifiers: [String] = []
  var isGeneric = false
  /// The variables of the type itself, in their order. What is within `#if` is not among them: whether it is there, a macro does not know.
  var variables: [Variable] = []

  /// Reads `@Attribute modifier class Name<T>: Base where ... { members }`.
  init(_ source: String) throws(Refusal) {
    var reader = SourceReader(source)
    try reader.skipAttributes()
    while true {
      reader.skipTrivia()
      let offset = reader.position
      guard let word = reader.name() else {
        throw Refusal(message: "'@ManagedPaths' goes with a class or structure", offset: offset)
      }
      if Self.introducers.contains(word) {
        // `class func` is no class; a name follows all of these.
        introducer = VariableDeclaration.Word(text: word, offset: offset)
        break
      }
      modifiers.append(word)
      reader.skipTrivia()
      if reader.peek() == UInt8(ascii: "("), !reader.skipGroup() {
        throw Refusal(message: "the brackets of '\(word)' are not closed", offset: offset)
      }
    }
    reader.skipTrivia()
    _ = reader.name()
    reader.skipTrivia()
    isGeneric = reader.peek() == UInt8(ascii: "<")
    while let byte = reader.peek(), byte != UInt8(ascii: "{") { try reader.skipPiece() }
    guard reader.skip("{") else { return }
    try readMembers(&reader)
  }

  private static let introducers: Set<String> = ["class", "struct", "enum", "actor", "extension", "protocol"]

  private mutating func readMembers(_ reader: inout SourceReader) throws(Refusal) {
    var attributes: [Attribute] = []
    var words: [String] = []
    var conditions = 0
    while true {
      reader.skipTrivia()
      guard let byte = reader.peek(), byte != UInt8(ascii: "}") else { return }
      if byte == UInt8(ascii: "#"), let directive = reader.directive() {
        conditions += directive == "if" ? 1 : directive == "endif" ? -1 : 0
        (attributes, words) = ([], [])
        continue
      }
      if byte == UInt8(ascii: "@") {
        attributes.append(try reader.attribute())
        continue
      }
      guard let word = reader.name() else {
        // The end of whatever it was.
        (attributes, words) = ([], [])
        try reader.skipPiece()
        continue
      }
      if word == "var" || word == "let" {
        let before = variables
        try readVariables(&reader, attributes, words)
        if conditions > 0 { variables = before }
        (attributes, words) = ([], [])
        continue
      }
      if Self.otherMembers.contains(word) {
        // What its head and body hold are not members of the type.
        (attributes, words) = ([], [])
        continue
      }
      reader.skipTrivia()
      // `private(set)` says nothing of who may read it.
      if reader.peek() == UInt8(ascii: "(") { try reader.skipPiece() } else { words.append(word) }
    }
  }

  /// Words that begin members of other kinds; what follows them up to the next member is passed over piece by piece.
  private static let otherMembers: Set<String> = [
    "func", "init", "deinit", "subscript", "typealias", "associatedtype", "case", "class", "struct", "enum", "actor",
    "extension", "import", "operator", "precedencegroup", "macro",
  ]

  /// Reads `name: Type = value, other: Type { ... }` behind `var`.
  private mutating func readVariables(
    _ reader: inout SourceReader, _ attributes: [Attribute], _ modifiers: [String]
  ) throws(Refusal) {
    repeat {
      reader.skipTrivia()
      guard let name = reader.name() else { return }
      let hasAccessors = try reader.skipToEndOfVariable()
      variables.append(
        Variable(name: name, attributes: attributes, modifiers: modifiers, hasAccessors: hasAccessors))
    } while reader.skip(",")
  }
}

extension SourceReader {
  /// Skips a name, a bracket or string with all that is in it, or a character.
  mutating func skipPiece() throws(Refusal) {
    let start = position
    switch peek() {
    case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\""):
      guard skipGroup() else { throw Refusal.unclosed(start) }
    case UInt8(ascii: "#"):
      if !skipGroup() { position = start + 1 }
    case nil: break
    default:
      if name() == nil { position = start + 1 }
    }
    skipTrivia()
  }

  /// Skips `#if`, `#endif` and the like; `nil`, and nothing read, for anything else.
  fileprivate mutating func directive() -> String? {
    var ahead = self
    ahead.position += 1
    guard let word = ahead.name(), ["if", "elseif", "else", "endif"].contains(word) else { return nil }
    self = ahead
    return word
  }

  /// Reads `@Name(arguments)`.
  fileprivate mutating func attribute() throws(Refusal) -> TypeDeclaration.Attribute {
    let start = position
    position += 1
    var last = ""
    repeat { last = name() ?? "" } while skip(".")
    if peek() == UInt8(ascii: "<") {
      position = start + 1
      skipAttributeName()
    }
    if peek() == UInt8(ascii: "("), !skipGroup() {
      throw Refusal(message: "the brackets of the attribute are not closed", offset: start)
    }
    return TypeDeclaration.Attribute(name: last, source: text(from: start))
  }

  /// Skips the type and the initial value of a variable, up to a `,` before another one, or to its end; answers whether it has
  /// accessors, which are skipped as well, as observers are.
  ///
  /// A variable ends with a line, unless the next one begins or this one ends with what goes on.
  fileprivate mutating func skipToEndOfVariable() throws(Refusal) -> Bool {
    var isInValue = false
    var angles = 0
    while true {
      let isOnNewLine = skipTriviaNotingLines()
      guard let byte = peek() else { return false }
      switch byte {
      case UInt8(ascii: "}"), UInt8(ascii: ";"), UInt8(ascii: "@"):
        // `var f: @Sendable () -> Void` goes on.
        if byte == UInt8(ascii: "@"), !isOnNewLine {
          _ = try attribute()
          continue
        }
        return false
      case UInt8(ascii: ",") where angles <= 0: return false
      case UInt8(ascii: "{"):
        // A closure that is called, or the end of a value, is no block.
        if isInValue && isOnNewLine { return false }
        let start = position
        guard skipGroup() else { throw Refusal.unclosed(start) }
        if !isInValue { return !isOfObservers(start) }
        continue
      case UInt8(ascii: "="):
        isInValue = true
      case UInt8(ascii: "<") where !isInValue: angles += 1
      case UInt8(ascii: ">") where !isInValue: angles -= 1
      case UInt8(ascii: "-") where peek(1) == UInt8(ascii: ">"): position += 1
      default: break
      }
      if isOnNewLine, isStartOfMember { return false }
      switch byte {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "#"):
        let start = position
        if !skipGroup() {
          guard byte == UInt8(ascii: "#") else { throw Refusal.unclosed(start) }
          position = start + 1
        }
      default: if name() == nil { position += 1 }
      }
    }
  }

  /// Whether the block that begins there has observers in it.
  private func isOfObservers(_ start: Int) -> Bool {
    var block = self
    block.position = start + 1
    block.skipTrivia()
    let word = block.name()
    return word == "didSet" || word == "willSet"
  }

  /// Skips blanks and comments; answers whether a line ended there.
  private mutating func skipTriviaNotingLines() -> Bool {
    let start = position
    skipTrivia()
    return bytes[start..<position].contains { $0 == 0x0A || $0 == 0x0D }
  }

  /// Whether a word is next, with which another member begins: an operator or a bracket would go on with this one.
  private var isStartOfMember: Bool {
    var ahead = self
    if ahead.peek() == UInt8(ascii: "#") { return true }
    return ahead.name() != nil
  }
}

extension Refusal {
  /// A bracket or string without end.
  fileprivate static func unclosed(_ offset: Int) -> Refusal {
    Refusal(
      message: "what is opened here is not closed, as far as '@ManagedPaths' can tell; a regular expression between "
        + "slashes may look so: move it into an extension", offset: offset)
  }
}
