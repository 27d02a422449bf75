/// A type that a source declares, or extends.
struct TypeScope {
  /// `class`, `struct`, `enum`, `actor`, `protocol` or `extension`.
  var kind: String
  /// As written, without generic parameters: `Outer.Inner` for an extension of a nested type.
  var name: String
  /// The types behind the colon, without generic arguments and modules.
  var inherited: [String]
  /// The tokens of the types behind the colon, the colon included; `nil` if there are none.
  var inheritance: ClosedRange<Int>?
  /// The token of the name, or the last one of it.
  var nameToken: Int
  var head: DeclarationHead
  /// The tokens of the braces. A source without the second one ends the type.
  var open: Int
  var close: Int
  /// The last part of the name.
  var lastName: String { name.split(separator: ".").last.map { String($0) } ?? name }
}

/// Where the types of a source begin and end, and which bracket each token stands in.
struct SourceStructure {
  let source: SourceText
  private(set) var scopes: [TypeScope] = []
  /// The innermost open bracket around each token; -1 outside of all.
  private(set) var enclosing: [Int] = []
  /// How many `#if` are open at each token.
  private var conditions: [Int] = []
  private var scopeOfBrace: [Int: Int] = [:]
  /// The words that may introduce members, by the bracket around them.
  private var introducersByBracket: [Int: [Int]] = [:]

  init(_ source: SourceText) {
    self.source = source
    var stack: [Int] = []
    for (index, token) in source.tokens.enumerated() {
      if token.kind == .close, let open = token.partner {
        // Brackets without end within this one end with it.
        while let last = stack.popLast(), last != open {}
      }
      enclosing.append(stack.last ?? -1)
      // An `#endif` without `#if` closes nothing.
      let depth = conditions.last ?? 0
      conditions.append(token.text == "#if" ? depth + 1 : token.text == "#endif" ? max(depth - 1, 0) : depth)
      if token.kind == .word, Self.memberIntroducers.contains(token.text), token.range.count == token.text.utf8.count,
        source[index - 1]?.isMark(".") != true
      {
        introducersByBracket[stack.last ?? -1, default: []].append(index)
      }
      if token.kind == .open, token.partner != nil { stack.append(index) }
    }
    for index in source.tokens.indices {
      if let scope = scope(at: index) {
        scopeOfBrace[scope.open] = scopes.count
        scopes.append(scope)
      }
    }
  }

  /// The type whose member a token belongs to, if it stands in its braces and in no others.
  func owner(of token: Int) -> TypeScope? {
    guard enclosing.indices.contains(token) else { return nil }
    return scopeOfBrace[enclosing[token]].map { scopes[$0] }
  }

  /// The innermost type around a token.
  func innermostType(around token: Int) -> TypeScope? {
    var index = token
    while enclosing.indices.contains(index) {
      index = enclosing[index]
      if let scope = scopeOfBrace[index] { return scopes[scope] }
    }
    return nil
  }

  /// The tokens of words that introduce members of a type: `var`, `func`, `init` or `case`.
  func members(_ words: Set<String>, of scope: TypeScope) -> [Int] {
    (introducersByBracket[scope.open] ?? []).filter { words.contains(source.tokens[$0].text) }
  }

  /// Whether a member of a type stands between `#if` and `#endif` within the type.
  func isConditional(_ member: Int, in scope: TypeScope) -> Bool {
    guard conditions.indices.contains(member), conditions.indices.contains(scope.open) else { return false }
    return conditions[member] > conditions[scope.open]
  }

  /// Whether a token stands between `#if` and `#endif`.
  func isConditional(_ token: Int) -> Bool { conditions.indices.contains(token) && conditions[token] > 0 }

  private static let memberIntroducers: Set<String> = ["case", "func", "init", "var"]
  private static let introducers: Set<String> = ["class", "struct", "enum", "actor", "protocol", "extension"]
  private static let memberWords: Set<String> = DeclarationHead.modifierWords.union([
    "var", "let", "func", "subscript", "init",
  ])

  private func scope(at index: Int) -> TypeScope? {
    guard let word = source[index], word.kind == .word, Self.introducers.contains(word.text),
      word.range.count == word.text.utf8.count, source[index - 1]?.isMark(".") != true,
      let first = source[index + 1], first.kind == .word,
      !(word.text == "class" && Self.memberWords.contains(first.text) && first.range.count == first.text.utf8.count)
    else { return nil }
    var name = first.text
    var next = index + 2
    while source[next]?.isMark(".") == true, let part = source[next + 1], part.kind == .word {
      name += "." + part.text
      next += 2
    }
    let nameToken = next - 1
    next = source.afterGenericArguments(next)
    var inherited: [String] = []
    var inheritance: ClosedRange<Int>?
    if source[next]?.isMark(":") == true {
      let colon = next
      next += 1
      while let token = source[next], !token.isOpen("{"), !token.isWord("where"), token.kind != .close {
        if token.kind == .word {
          var last = token.text
          next += 1
          while source[next]?.isMark(".") == true, let part = source[next + 1], part.kind == .word {
            last = part.text
            next += 2
          }
          inherited.append(last)
          next = source.afterGenericArguments(next)
        } else if token.kind == .open {
          guard let end = token.partner else { return nil }
          next = end + 1
        } else {
          next += 1
        }
      }
      inheritance = colon...(next - 1)
    }
    while let token = source[next], !token.isOpen("{") {
      if token.kind == .close { return nil }
      if token.kind == .open {
        guard let end = token.partner else { return nil }
        next = end
      }
      next += 1
    }
    guard let brace = source[next] else { return nil }
    return TypeScope(
      kind: word.text, name: name, inherited: inherited, inheritance: inheritance, nameToken: nameToken,
      head: DeclarationHead(source, introducer: index), open: next, close: brace.partner ?? source.tokens.count)
  }
}

extension SourceText {
  /// The token behind `<...>`, or the same one if there is none.
  func afterGenericArguments(_ index: Int) -> Int {
    guard self[index]?.isMark("<") == true else { return index }
    var depth = 0
    var next = index
    while let token = self[next] {
      if token.isMark("<") { depth += 1 }
      // `->` closes nothing.
      if token.isMark(">"), self[next - 1]?.isMark("-") != true { depth -= 1 }
      if token.isOpen("{") || token.kind == .close { return index }
      if token.kind == .open {
        guard let end = token.partner else { return index }
        next = end
      }
      next += 1
      if depth == 0 { return next }
    }
    return index
  }

  /// The token behind a type that begins at a token; the same one if there is no type.
  func afterType(_ start: Int) -> Int {
    var next = start
    while true {
      while let token = self[next], token.kind == .attribute || ["inout", "some", "any"].contains(token.text) {
        next += 1
      }
      guard let token = self[next] else { return start }
      if token.isOpen("[") || token.isOpen("(") {
        guard let end = token.partner else { return start }
        next = end + 1
      } else if token.kind == .word {
        next += 1
        while true {
          next = afterGenericArguments(next)
          guard self[next]?.isMark(".") == true, self[next + 1]?.kind == .word else { break }
          next += 2
        }
      } else {
        return start
      }
      // Marks of optionals stand right behind the type.
      while let token = self[next], token.isMark("?") || token.isMark("!"), let before = self[next - 1],
        before.range.upperBound == token.range.lowerBound
      {
        next += 1
      }
      guard self[next]?.isMark("&") == true else { return next }
      next += 1
    }
  }
}
