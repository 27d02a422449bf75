/// Single names and words that read otherwise.
enum Replacements {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices {
      let token = source.tokens[index]
      // `context.undoManager = UndoManager()`.
      if token.isWord("UndoManager"), source[index - 1]?.isMark("=") == true, source[index - 2]?.text == "undoManager",
        source[index + 1]?.isOpen("(") == true
      {
        move.replace(index...index, with: "ContextUndoManager")
      }
      if token.isWord("let") { makeVariable(index, &move) }
      if token.isWord("CVarArg") { dropCast(index, &move) }
    }
  }

  /// Drops `as CVarArg` in the arguments of a predicate. It takes Swift's values, which are no C arguments off Apple
  /// platforms.
  private static func dropCast(_ index: Int, _ move: inout FileMove) {
    let source = move.source
    var start = index - 1
    if source[start]?.isWord("any") == true { start -= 1 }
    if source[start]?.isMark("!") == true { start -= 1 }
    guard source[start]?.isWord("as") == true, let before = source[start - 1] else { return }
    var bracket = move.structure.enclosing[index]
    while bracket >= 0 {
      if let name = source[bracket - 1], ["NSPredicate", "NSExpression"].contains(name.text),
        source[bracket + 1]?.isWord("format") == true
      {
        move.drop(before.range.upperBound..<source.tokens[index].range.upperBound)
        move.note("\(source.text(tokens: start...index)) is left out", at: before.range.lowerBound)
        return
      }
      bracket = move.structure.enclosing[bracket]
    }
  }

  private static let structures: Set<String> = [
    "NSPersistentHistoryChangeRequest", "NSEntityMapping", "NSPropertyMapping",
    "NSMappingModel",
  ]

  /// Makes a constant a variable if it is a structure here, and a property of it is set.
  private static func makeVariable(_ index: Int, _ move: inout FileMove) {
    let source = move.source
    guard let name = source[index + 1], name.kind == .word, source[index + 2]?.isMark("=") == true,
      let type = source[index + 3], structures.contains(type.text)
    else { return }
    let block = move.structure.enclosing[index]
    let end = source[block]?.partner ?? source.tokens.count
    let isSet = (index + 4..<max(end, index + 4)).contains { place in
      source.tokens[place].isWord(name.text) && source[place + 1]?.isMark(".") == true
        && source[place + 2]?.kind == .word && source[place + 3]?.isMark("=") == true
        && source[place + 4]?.isMark("=") != true
    }
    if isSet { move.replace(index...index, with: "var", as: "let \(name.text) -> var \(name.text), a structure") }
  }
}
