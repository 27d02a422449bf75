/// The attributes and modifiers of a declaration, and the word that says what it declares.
struct DeclarationHead {
  /// `@objc(name)`.
  struct Attribute {
    /// With the `@`.
    var name: String
    var tokens: ClosedRange<Int>
    /// The bracket of the arguments.
    var arguments: Int?
  }

  var attributes: [Attribute] = []
  /// The tokens of the modifiers. Of `private(set)` it is the first.
  var modifiers: [Int] = []
  /// The token of `var`, `func`, `class`, ...
  var introducer: Int
  /// The first token of all.
  var start: Int

  func attribute(_ name: String) -> Attribute? { attributes.first { $0.name == name } }

  /// The name that a managed property has in the model, if it has one of its own: `isDone` of `@objc(isDone)` and of
  /// `@Managed("isDone")`.
  func modelName(_ source: SourceText) -> String? {
    if let name = attribute("@objc")?.arguments.flatMap({ source[$0 + 1] }), name.kind == .word { return name.text }
    guard let open = attribute("@Managed")?.arguments, source[open + 1]?.isString == true, let name = source[open + 2],
      name.kind == .characters
    else { return nil }
    return source.text(name.range)
  }

  static let modifierWords: Set<String> = [
    "public", "open", "package", "internal", "fileprivate", "private", "final", "static", "class", "override",
    "mutating", "nonmutating", "nonisolated", "convenience", "required", "dynamic", "lazy", "weak", "unowned",
    "indirect", "optional", "isolated", "distributed", "prefix", "postfix", "infix",
  ]

  /// Reads what stands before a word that introduces a declaration.
  init(_ source: SourceText, introducer: Int) {
    self.introducer = introducer
    start = introducer
    var index = introducer - 1
    while let token = source[index] {
      if token.kind == .attribute {
        attributes.append(Attribute(name: token.text, tokens: index...index))
        start = index
        index -= 1
      } else if token.kind == .word, Self.modifierWords.contains(token.text) {
        // `.public` is a value.
        if source[index - 1]?.isMark(".") == true { break }
        modifiers.append(index)
        start = index
        index -= 1
      } else if token.isClose(")"), let open = token.partner, let owner = source[open - 1] {
        if owner.kind == .attribute, owner.range.upperBound == source.tokens[open].range.lowerBound {
          attributes.append(Attribute(name: owner.text, tokens: (open - 1)...index, arguments: open))
        } else if owner.kind == .word, Self.modifierWords.contains(owner.text) {
          modifiers.append(open - 1)
        } else {
          break
        }
        start = open - 1
        index = open - 2
      } else {
        break
      }
    }
    attributes.reverse()
    modifiers.reverse()
  }
}
