/// Calls that throw where Core Data raises get `try` in functions that throw. Elsewhere they are left.
enum ThrowingCalls {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].kind == .word {
      guard isThrowing(index, source) else { continue }
      if let start = chainStart(of: index, source), !isTried(start, source) {
        if mayBegin(start, source), isInThrowingFunction(start, move.structure) {
          move.insert("try ", at: source.tokens[start].range.lowerBound)
          move.note("\(source.tokens[index].text) is called with try", at: source.tokens[index].range.lowerBound)
        } else {
          move.find(cause, index...index)
        }
      }
    }
  }

  /// Whether a word is the name of a call or a property that throws.
  private static func isThrowing(_ index: Int, _ source: SourceText) -> Bool {
    let token = source.tokens[index]
    guard source[index - 1]?.isMark(".") == true else { return false }
    if properties.contains(token.text) { return true }
    guard source[index + 1]?.isOpen("(") == true, let label = source[index + 2] else { return false }
    let isLabel = source[index + 3]?.isMark(":") == true && label.kind == .word
    return calls.contains("\(token.text)(\(isLabel ? label.text : "_"):")
  }

  private static let properties: Set<String> = ["resolvedModel"]

  /// With the first label.
  private static let calls: Set<String> = [
    "setElements(_:", "setMetadata(_:", "destinationInstances(forEntityMappingName:",
    "sourceInstances(forEntityMappingName:", "associate(sourceInstance:",
  ]

  /// The first token of `manager.instances(of: x)?.first`, which ends with a member.
  private static func chainStart(of index: Int, _ source: SourceText) -> Int? {
    var first = index
    while source[first - 1]?.isMark(".") == true {
      first -= 2
      while let mark = source[first], mark.isMark("?") || mark.isMark("!") { first -= 1 }
      guard let token = source[first] else { return nil }
      if token.kind == .close {
        guard let open = token.partner, token.text != "}" else { return nil }
        first = source[open - 1]?.kind == .word ? open - 1 : open
      } else if token.kind != .word {
        return nil
      }
    }
    return source[first] == nil ? nil : first
  }

  private static func isTried(_ start: Int, _ source: SourceText) -> Bool {
    guard let before = source[start - 1] else { return false }
    if before.isWord("try") { return true }
    return (before.isMark("?") || before.isMark("!")) && source[start - 2]?.isWord("try") == true
  }

  /// Whether `try` may stand before a token: not behind an operator.
  private static func mayBegin(_ start: Int, _ source: SourceText) -> Bool {
    guard let before = source[start - 1], let token = source[start] else { return true }
    if before.isWord("return") || before.isWord("in") { return true }
    if before.isMark("=") { return source[start - 2].map { $0.kind != .mark } ?? false }
    if before.isOpen("{") || before.isOpen("(") || before.isMark(",") || before.isMark(";") { return true }
    // A statement of its own.
    return before.kind != .mark && source.line(at: before.range.lowerBound) < source.line(at: token.range.lowerBound)
  }

  /// Whether the innermost function throws, and no closure is between it and the token.
  private static func isInThrowingFunction(_ index: Int, _ structure: SourceStructure) -> Bool {
    let source = structure.source
    var brace = structure.enclosing[index]
    while brace >= 0 {
      if source.tokens[brace].isOpen("{"), !isControlBlock(brace, structure) {
        // `func name(parameters) throws -> Result {`.
        var before = brace - 1
        while let token = source[before],
          token.kind == .word || token.kind == .mark || token.text == "]" || token.text == "["
        {
          if token.isWord("throws") { return true }
          before -= 1
        }
        return false
      }
      brace = structure.enclosing[brace]
    }
    return false
  }

  private static let controlWords: Set<String> = [
    "if", "guard", "for", "while", "switch", "do", "else", "catch", "repeat",
  ]

  /// Whether a block belongs to `if`, `for` and the like.
  private static func isControlBlock(_ brace: Int, _ structure: SourceStructure) -> Bool {
    let source = structure.source
    var before = brace - 1
    while let token = source[before] {
      if token.kind == .word, controlWords.contains(token.text) { return true }
      if token.isWord("func") || token.isWord("init") || token.isOpen("{") || token.isMark(";") { return false }
      if token.kind == .close {
        guard token.text != "}", let open = token.partner else { return false }
        before = open
      }
      before -= 1
    }
    return false
  }

  private static let cause = Cause(
    "this throws where Core Data raises, and the function or closure around it does not",
    "handle the error, or use 'try?'")
}
