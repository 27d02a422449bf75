/// Replaces `T(context: context)` of a generic type or of `Self` with `T(entity: T.entity(), insertInto: context)`,
/// because `init(context:)` is not required.
enum GenericObjects {
  static func run(_ move: inout FileMove) {
    let source = move.source
    let generic = genericNames(of: source)
    for index in source.tokens.indices where source.tokens[index].isOpen("(") {
      guard source[index + 1]?.isWord("context") == true, source[index + 2]?.isMark(":") == true,
        let type = type(before: index, generic, source)
      else { continue }
      move.replace(
        (index + 1)...(index + 2), with: "entity: \(type).entity(), insertInto:",
        as: "\(type)(context:) -> \(type)(entity:insertInto:)")
    }
  }

  /// `T`, `Self`, `Self.Item` or `T.Item` before a bracket, also before `.init`. The last part begins with a capital
  /// letter, because `Self.create(context: context)` calls a method.
  private static func type(before bracket: Int, _ generic: Set<String>, _ source: SourceText) -> String? {
    var last = bracket - 1
    if source[last]?.isWord("init") == true, source[last - 1]?.isMark(".") == true { last -= 2 }
    var first = last
    while source[first]?.kind == .word, source[first - 1]?.isMark(".") == true { first -= 2 }
    guard first >= 0, first <= last, let root = source[first], root.kind == .word, generic.contains(root.text),
      source[first - 1]?.isWord("func") != true, source[last]?.text.first?.isUppercase == true
    else { return nil }
    return source.text(tokens: first...last)
  }

  /// The names of generic parameters and associated types, and `Self`.
  private static func genericNames(of source: SourceText) -> Set<String> {
    var result: Set<String> = ["Self"]
    for index in source.tokens.indices {
      if source.tokens[index].isWord("associatedtype"), let name = source[index + 1], name.kind == .word {
        result.insert(name.text)
      }
      guard source.tokens[index].isMark("<"), source[index - 1]?.kind == .word,
        declarations.contains(source[index - 2]?.text ?? "")
      else { continue }
      let end = source.afterGenericArguments(index)
      // A name behind `<` or `,` is a parameter, and one behind `:` its constraint.
      for inner in index..<max(end, index) where source.tokens[inner].isMark("<") || source.tokens[inner].isMark(",") {
        if let name = source[inner + 1], name.kind == .word { result.insert(name.text) }
      }
    }
    return result
  }

  private static let declarations: Set<String> = ["func", "class", "struct", "enum", "actor", "protocol"]
}
