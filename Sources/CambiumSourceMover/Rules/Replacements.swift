/// Single names that are called otherwise.
enum Replacements {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].isWord("UndoManager") {
      // `context.undoManager = UndoManager()`.
      guard source[index - 1]?.isMark("=") == true, source[index - 2]?.text == "undoManager",
        source[index + 1]?.isOpen("(") == true
      else { continue }
      move.replace(index...index, with: "ContextUndoManager")
    }
  }
}
