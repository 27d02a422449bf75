import CambiumSourceText

extension TypeDeclaration {
  /// The attributes and modifiers before the word that says which kind of member follows.
  private struct Beginning {
    var attributes: [Attribute] = []
    var modifiers: [Word] = []
  }

  mutating func readMembers(_ reader: inout SourceReader) throws(Refusal) {
    var beginning = Beginning()
    var conditions = 0
    while true {
      reader.skipTrivia()
      guard let byte = reader.peek(), byte != UInt8(ascii: "}") else { return }
      if byte == UInt8(ascii: "#"), let directive = reader.directive() {
        conditions += directive == "if" ? 1 : directive == "endif" ? -1 : 0
        if strayAttribute == nil { strayAttribute = beginning.attributes.first }
        beginning = Beginning()
        continue
      }
      if byte == UInt8(ascii: "#"), let macro = reader.memberMacro(isConditional: conditions > 0) {
        macros.append(macro)
        beginning = Beginning()
        continue
      }
      if byte == UInt8(ascii: "@") {
        beginning.attributes.append(try reader.attribute())
        continue
      }
      let offset = reader.position
      guard let word = reader.name() else {
        // The end of whatever it was.
        beginning = Beginning()
        try reader.skipPiece()
        continue
      }
      let isEscaped = byte == UInt8(ascii: "`")
      if !isEscaped, word == "var" || word == "let" {
        let introducer = Word(text: word, offset: offset)
        try readVariables(&reader, beginning, introducer, isConditional: conditions > 0)
        beginning = Beginning()
        continue
      }
      if !isEscaped, Self.otherMembers.contains(word), !(word == "class" && reader.isBeforeMember) {
        // What its head and body hold are not members of the type.
        if word == "init" {
          let isConvenience = beginning.modifiers.contains { $0.text == "convenience" }
          initializers.append(Initializer(parameters: reader.parameters(), isConvenience: isConvenience))
        }
        beginning = Beginning()
        continue
      }
      reader.skipTrivia()
      if reader.peek() == UInt8(ascii: "(") {
        try reader.skipPiece()
        // `private(set)` says nothing of who may read it.
        guard word == "unowned" || word == "nonisolated" else { continue }
      }
      beginning.modifiers.append(Word(text: word, offset: offset))
    }
  }

  /// Words that begin members of other kinds; what follows them up to the next member is passed over piece by piece.
  private static let otherMembers: Set<String> = [
    "func", "init", "deinit", "subscript", "typealias", "associatedtype", "case", "class", "struct", "enum", "actor",
    "extension", "import", "operator", "precedencegroup", "macro",
  ]

  /// Reads `name: Type = value, other: Type { ... }` behind `var`.
  private mutating func readVariables(
    _ reader: inout SourceReader, _ beginning: Beginning, _ introducer: Word, isConditional: Bool
  ) throws(Refusal) {
    var list: [Variable] = []
    var isPattern = false
    repeat {
      reader.skipTrivia()
      let offset = reader.position
      let name: String
      if reader.peek() == UInt8(ascii: "(") {
        guard reader.skipGroup() else { throw Refusal.unclosed(offset) }
        (name, isPattern) = ("", true)
      } else {
        guard let text = reader.name() else { break }
        name = text
      }
      let tail = try reader.variableTail()
      list.append(
        Variable(
          name: Word(text: name, offset: offset), attributes: beginning.attributes, modifiers: beginning.modifiers,
          introducer: introducer, type: tail.type, value: tail.value, block: tail.block,
          isConditional: isConditional))
    } while reader.skip(",")
    if list.count > 1 { for index in list.indices { list[index].isOneOfSeveral = true } }
    if isPattern { patterns += list } else { variables += list }
  }
}

extension SourceReader {
  /// Skips `#if`, `#endif` and the like; `nil`, and nothing read, for anything else.
  fileprivate mutating func directive() -> String? {
    var ahead = self
    ahead.position += 1
    guard let word = ahead.name(), ["if", "elseif", "else", "endif"].contains(word) else { return nil }
    self = ahead
    return word
  }

  /// Reads `#Module.Name<T>(arguments)`; `nil`, and nothing read, for anything else.
  fileprivate mutating func memberMacro(isConditional: Bool) -> TypeDeclaration.MacroUse? {
    var ahead = self
    ahead.position += 1
    var name: TypeDeclaration.Word
    repeat {
      let offset = ahead.position
      guard let text = ahead.name() else { return nil }
      name = TypeDeclaration.Word(text: text, offset: offset)
    } while ahead.skip(".")
    let start = ahead.position
    _ = ahead.skipGenericClause()
    guard ahead.peek() == UInt8(ascii: "("), ahead.skipGroup() else { return nil }
    self = ahead
    return TypeDeclaration.MacroUse(name: name, arguments: ahead.text(from: start), isConditional: isConditional)
  }

  /// Reads `@Name(arguments)`.
  mutating func attribute() throws(Refusal) -> TypeDeclaration.Attribute {
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
    return TypeDeclaration.Attribute(name: last, source: text(from: start), offset: start)
  }

  /// Whether a word of a variable or function is next, so that `class` before it is a modifier.
  fileprivate var isBeforeMember: Bool {
    var ahead = self
    ahead.skipTrivia()
    guard ahead.peek() != UInt8(ascii: "`"), let word = ahead.name() else { return false }
    return [
      "var", "let", "func", "subscript", "override", "public", "open", "package", "internal", "fileprivate", "private",
      "final", "dynamic", "nonisolated",
    ].contains(word)
  }

  /// The parameters of an initializer whose `init` was read; empty if there are none.
  fileprivate func parameters() -> String {
    var ahead = self
    ahead.skipTrivia()
    if ahead.peek() == UInt8(ascii: "?") || ahead.peek() == UInt8(ascii: "!") { ahead.position += 1 }
    if ahead.peek() == UInt8(ascii: "<") { ahead.skipAttributeName() }
    ahead.skipTrivia()
    let start = ahead.position
    return ahead.peek() == UInt8(ascii: "(") && ahead.skipGroup() ? ahead.text(from: start) : ""
  }
}
