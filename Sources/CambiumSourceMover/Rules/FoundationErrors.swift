/// Replaces `catch let error as NSError` with a cast of the caught error. Off Apple platforms the pattern compiles, and
/// the program crashes when it catches an error. Casts to `CocoaError` are reported, because they fail there.
enum FoundationErrors {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices {
      let token = source.tokens[index]
      if token.isWord("catch") { rewriteCatch(index, &move) }
      if token.isWord("as") { rewriteCast(index, &move) }
      if token.isWord("is"), source[index + 1]?.isWord("NSError") == true { move.find(pattern, index...(index + 1)) }
      if token.isWord("as") || token.isWord("is") { reportCocoaError(index, &move) }
    }
  }

  /// `catch let error as CocoaError`, `error as? CocoaError` and `error is CocoaError`.
  private static func reportCocoaError(_ index: Int, _ move: inout FileMove) {
    let source = move.source
    var last = index + 1
    if let mark = source[last], mark.isMark("?") || mark.isMark("!") { last += 1 }
    if source[last]?.isWord("Foundation") == true, source[last + 1]?.isMark(".") == true { last += 2 }
    // `as? CocoaError.Code` casts a code.
    guard source[last]?.isWord("CocoaError") == true, source[last + 1]?.isMark(".") != true else { return }
    move.find(cocoaError, max(index - 1, 0)...last)
  }

  /// `catch let name as NSError`, with or without a condition.
  private static func rewriteCatch(_ index: Int, _ move: inout FileMove) {
    let source = move.source
    guard let binding = source[index + 1], binding.isWord("let") || binding.isWord("var"),
      let name = source[index + 2], name.kind == .word, source[index + 3]?.isWord("as") == true,
      source[index + 4]?.isWord("NSError") == true
    else { return }
    var open = index + 5
    if source[open]?.isWord("where") == true {
      while let token = source[open], !token.isOpen("{") {
        guard token.kind != .close, !token.isWord("catch"), !(token.kind == .open && token.partner == nil) else {
          return
        }
        open = token.kind == .open ? (token.partner ?? open) + 1 : open + 1
      }
    }
    guard let brace = source[open], brace.isOpen("{"), let close = brace.partner else {
      return move.find(pattern, index...(index + 4))
    }
    let written = source.text(name.range)
    if open == index + 5 {
      move.replace((index + 1)...(index + 4), with: "", as: "catch let \(written) as NSError -> catch")
      closeGap(from: index, to: open, &move)
    } else {
      move.replace((index + 3)...(index + 4), with: "", as: "catch let \(written) as NSError -> catch let \(written)")
      closeGap(from: index + 2, to: index + 5, &move)
      for inner in (index + 6)..<open where source.tokens[inner].isWord(name.text) {
        guard source[inner - 1]?.isMark(".") != true else { continue }
        move.insert("(", at: source.tokens[inner].range.lowerBound)
        move.insert(" as NSError)", at: source.tokens[inner].range.upperBound)
      }
    }
    let isUsed = (open..<close).contains { inner in
      source.tokens[inner].isWord(name.text) && source[inner - 1]?.isMark(".") != true
    }
    guard isUsed, let next = source[open + 1] else { return }
    let caught = open == index + 5 ? "error" : written
    let statement = "\(binding.text) \(written) = \(caught) as NSError"
    let isOneLine = source.line(at: next.range.lowerBound) == source.line(at: brace.range.lowerBound)
    if isOneLine {
      move.insert(" \(statement);", at: brace.range.upperBound)
    } else {
      let start = source.startOfLine(at: next.range.lowerBound)
      move.insert(source.indentation(at: next.range.lowerBound) + statement + source.lineEnd, at: start)
    }
  }

  /// Takes out the blanks that would be doubled where tokens between two others were left out.
  private static func closeGap(from first: Int, to last: Int, _ move: inout FileMove) {
    let source = move.source
    guard let next = source[last], let before = source[last - 1] else { return }
    let gap = before.range.upperBound..<next.range.lowerBound
    if source.text(gap).allSatisfy({ $0 == " " }), !gap.isEmpty { move.drop(gap) }
  }

  /// `error as? NSError` of a value of type Error is nil off Apple platforms.
  private static func rewriteCast(_ index: Int, _ move: inout FileMove) {
    let source = move.source
    guard let mark = source[index + 1], mark.isMark("?") || mark.isMark("!"),
      source[index + 2]?.isWord("NSError") == true, let operand = source[index - 1]
    else {
      if source[index + 1]?.isWord("NSError") == true, source[index - 2]?.isWord("let") == true,
        source[index - 3]?.isWord("case") == true
      {
        move.find(pattern, (index - 3)...(index + 1))
      }
      return
    }
    guard operand.isWord("error"), source[index - 2]?.isMark(".") != true else {
      if operand.kind == .word, operand.text.lowercased().hasSuffix("error") {
        move.find(cast, (index - 1)...(index + 2))
      }
      return
    }
    let isOptional = mark.text == "?"
    move.replace(
      index...(index + 2), with: isOptional ? "as NSError?" : "as NSError",
      as: "error as\(mark.text) NSError -> error as NSError\(isOptional ? "?" : "")")
  }

  private static let pattern = Cause(
    "a pattern 'as NSError' matches no error of Swift off Apple platforms, or crashes there",
    "match the error, then write 'let error = error as NSError'")
  private static let cocoaError = Cause(
    "a cast to CocoaError matches no error off Apple platforms",
    "match 'catch CocoaError.x', or cast to NSError and compare codes")
  private static let cast = Cause(
    "'as? NSError' of an error of Swift is nil off Apple platforms", "write 'as NSError?'")
}
