import CambiumSourceText

/// What a macro has to know of the declaration of a variable.
struct VariableDeclaration: Equatable {
  /// A word before the name, and where it is.
  struct Word: Equatable {
    var text: String
    var offset: Int
  }

  /// `public`, `static`, `lazy`, ...; `private(set)` without what is in the brackets.
  var modifiers: [Word] = []
  /// `var` or `let`.
  var introducer: Word
  var name: Word
  /// As written; `nil` if there is none.
  var type: String?
  /// Where the `=` of an initial value is.
  var initialValueOffset: Int?
  /// Where the `{` of accessors or observers is.
  var accessorsOffset: Int?
  /// Where the `,` before another variable is.
  var furtherVariableOffset: Int?

  /// Reads `@Attribute(...) modifier var name: Type`, up to whatever follows the type.
  init(_ source: String) throws(Refusal) {
    var reader = SourceReader(source)
    try reader.skipAttributes()
    var words: [Word] = []
    while true {
      reader.skipTrivia()
      let offset = reader.position
      guard let word = reader.name() else {
        throw Refusal(message: "'@Managed' goes with a variable, such as '@Managed var name: String?'", offset: offset)
      }
      if word == "var" || word == "let" {
        introducer = Word(text: word, offset: offset)
        break
      }
      words.append(Word(text: word, offset: offset))
      reader.skipTrivia()
      if reader.peek() == UInt8(ascii: "("), !reader.skipGroup() {
        throw Refusal(message: "the brackets of '\(word)' are not closed", offset: offset)
      }
    }
    modifiers = words
    reader.skipTrivia()
    let offset = reader.position
    guard let text = reader.name() else {
      throw Refusal(message: "'@Managed' needs a variable with one name", offset: offset)
    }
    name = Word(text: text, offset: offset)
    reader.skipTrivia()
    if reader.skip(":") { type = try reader.type() }
    reader.skipTrivia()
    switch reader.peek() {
    case UInt8(ascii: "="): initialValueOffset = reader.position
    case UInt8(ascii: "{"): accessorsOffset = reader.position
    case UInt8(ascii: ","): furtherVariableOffset = reader.position
    default: break
    }
  }
}

extension SourceReader {
  /// Skips `@Name`, `@Module.Name<Argument>(arguments)`, and so on.
  mutating func skipAttributes() throws(Refusal) {
    while true {
      skipTrivia()
      let offset = position
      guard skip("@") else { return }
      skipAttributeName()
      // Brackets after a blank belong to what follows.
      if peek() == UInt8(ascii: "("), !skipGroup() {
        throw Refusal(message: "the brackets of the attribute are not closed", offset: offset)
      }
    }
  }

  /// Skips the name of an attribute or macro, with modules and generic arguments.
  mutating func skipAttributeName() {
    repeat { _ = name() } while skip(".")
    guard skip("<") else { return }
    var depth = 1
    while depth > 0, let byte = peek() {
      switch byte {
      case UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: "-") where peek(1) == UInt8(ascii: ">"): position += 1
      case UInt8(ascii: ">"): depth -= 1
      case UInt8(ascii: "("), UInt8(ascii: "["):
        guard skipGroup() else { return }
        continue
      default: break
      }
      position += 1
    }
  }

  /// The type at the position, without blanks around it; `nil` if there is none.
  fileprivate mutating func type() throws(Refusal) -> String? {
    skipTrivia()
    let start = position
    var end = start
    var angles = 0
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "("), UInt8(ascii: "["):
        guard skipGroup() else { throw Refusal(message: "the brackets of the type are not closed", offset: start) }
      case UInt8(ascii: "-") where peek(1) == UInt8(ascii: ">"): position += 2
      case UInt8(ascii: "="), UInt8(ascii: "{"):
        position = end
        return end == start ? nil : text(from: start)
      case UInt8(ascii: ",") where angles == 0:
        position = end
        return end == start ? nil : text(from: start)
      default:
        if byte == UInt8(ascii: "<") { angles += 1 }
        if byte == UInt8(ascii: ">") { angles -= 1 }
        position += 1
      }
      end = position
      skipTrivia()
    }
    position = end
    return end == start ? nil : text(from: start)
  }
}
