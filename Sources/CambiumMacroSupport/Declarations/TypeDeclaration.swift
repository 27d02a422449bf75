import CambiumSourceText

/// The parts of a type's declaration that a macro needs: its head, its variables, initializers and macros.
struct TypeDeclaration: Equatable {
  typealias Word = VariableDeclaration.Word

  /// A variable of the type.
  struct Variable: Equatable {
    /// Without backticks; a tuple pattern has none.
    var name: Word
    /// The names of its attributes, without modules, with their sources.
    var attributes: [Attribute] = []
    /// `static`, `lazy`, ... with their places; `private(set)` is not among them, because it does not limit who may
    /// read.
    var modifiers: [Word] = []
    /// `var` or `let`.
    var introducer: Word
    /// The type as written, without blanks and comments around it.
    var type: Word?
    /// The initial value as written, without blanks and comments around it; its place is that of the `=`.
    var value: Word?
    /// The `{` of accessors or observers.
    var block: Block?
    /// Whether the variable is within `#if`: a macro does not know if the condition holds.
    var isConditional = false
    /// Whether its `var` declares other variables as well.
    var isOneOfSeveral = false

    /// Whether the variable has accessors; observers do not count.
    var hasAccessors: Bool { block?.kind == .accessors }

    func hasModifier(_ text: String) -> Bool { modifiers.contains { $0.text == text } }
  }

  /// The block of a variable.
  struct Block: Equatable {
    enum Kind { case accessors, observers }
    var kind: Kind
    var offset: Int
  }

  struct Attribute: Equatable {
    var name: String
    var source: String
    var offset: Int
  }

  /// A macro at the level of the members, such as `#Unique<Trip>([\.name])`.
  struct MacroUse: Equatable {
    /// Without the module.
    var name: Word
    /// `<Trip>([\.name])`.
    var arguments: String
    var isConditional: Bool
  }

  struct Initializer: Equatable {
    /// With their brackets.
    var parameters: String
    var isConvenience: Bool
  }

  /// `class`, `struct`, ...
  var introducer: Word
  /// As written, with the backticks that it may have.
  var name: Word
  var modifiers: [Word] = []
  var isGeneric = false
  /// The first type behind the colon.
  var firstInherited: Word?
  /// The variables of the type itself, in their order.
  var variables: [Variable] = []
  /// `var (a, b) = f()`: no variable has one name.
  var patterns: [Variable] = []
  var macros: [MacroUse] = []
  var initializers: [Initializer] = []
  /// The first attribute that stands within `#if` without the declaration that it is for.
  var strayAttribute: Attribute?

  /// Reads `@Attribute modifier class Name<T>: Base where ... { members }`.
  ///
  /// - Parameter macro: The macro that is named if this is no type.
  init(_ source: String, for macro: String = "@ManagedPaths") throws(Refusal) {
    var reader = SourceReader(source)
    try reader.skipAttributes()
    while true {
      reader.skipTrivia()
      let offset = reader.position
      guard let word = reader.name() else {
        throw Refusal(message: "'\(macro)' goes with a class or structure", offset: offset)
      }
      if Self.introducers.contains(word) {
        // `class func` is no class; a name follows all of these.
        introducer = Word(text: word, offset: offset)
        break
      }
      modifiers.append(Word(text: word, offset: offset))
      reader.skipTrivia()
      if reader.peek() == UInt8(ascii: "("), !reader.skipGroup() {
        throw Refusal(message: "the brackets of '\(word)' are not closed", offset: offset)
      }
    }
    reader.skipTrivia()
    let offset = reader.position
    _ = reader.name()
    name = Word(text: reader.text(from: offset), offset: offset)
    reader.skipTrivia()
    isGeneric = reader.peek() == UInt8(ascii: "<")
    if isGeneric { reader.skipAttributeName() }
    reader.skipTrivia()
    if reader.skip(":") { firstInherited = try reader.inheritedType() }
    while let byte = reader.peek(), byte != UInt8(ascii: "{") { try reader.skipPiece() }
    guard reader.skip("{") else { return }
    try readMembers(&reader)
  }

  private static let introducers: Set<String> = ["class", "struct", "enum", "actor", "extension", "protocol"]
}

extension SourceReader {
  /// Skips a name, a bracket or string with all that is in it, or a character.
  mutating func skipPiece() throws(Refusal) {
    let start = position
    switch peek() {
    case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\""):
      guard skipGroup() else { throw Refusal.unclosed(start) }
    case UInt8(ascii: "#"): guard skipHashes() else { throw Refusal.unclosed(start) }
    case UInt8(ascii: "/"):
      if !skipGroup() { position = start + 1 }
    case nil: break
    default:
      if name() == nil { position = start + 1 }
    }
    skipTrivia()
  }

  /// Reads the type up to a `,`, to `where`, or to the members.
  fileprivate mutating func inheritedType() throws(Refusal) -> VariableDeclaration.Word? {
    skipTrivia()
    let start = position
    var end = start
    var angles = 0
    scan: while let byte = peek() {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "\""),
        UInt8(ascii: "#"), UInt8(ascii: "/"):
        break scan
      case UInt8(ascii: ",") where angles <= 0: break scan
      case UInt8(ascii: "<"): angles += 1
      case UInt8(ascii: ">"): angles -= 1
      default: break
      }
      let begin = position
      if let word = name() {
        if word == "where", bytes[begin] != UInt8(ascii: "`") {
          position = begin
          break
        }
      } else {
        let isBracket = [UInt8(ascii: "("), UInt8(ascii: "[")].contains(byte)
        if isBracket { guard skipGroup() else { throw Refusal.unclosed(begin) } } else { position += 1 }
      }
      end = position
      skipTrivia()
    }
    return end == start
      ? nil : VariableDeclaration.Word(text: String(decoding: bytes[start..<end], as: UTF8.self), offset: start)
  }
}

extension Refusal {
  /// A bracket or string without end.
  static func unclosed(_ offset: Int) -> Refusal {
    Refusal(
      message: "the macro finds no end of what is opened here; if a regular expression between slashes misleads it, "
        + "write the expression as '#/.../#'", offset: offset)
  }
}
