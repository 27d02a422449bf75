/// Replaces `#keyPath(Item.list.name)` with `"list.name"`, and `NSStringFromSelector(#selector(getter: Item.name))`
/// with `"name"`.
enum KeyPathLiterals {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].text == "#keyPath" {
      guard let open = source[index + 1], open.isOpen("("), let close = open.partner,
        let names = names(in: (index + 2)..<close, source)
      else {
        move.find(unreadable, index...index)
        continue
      }
      let keys = properties(names, move.folder)
      move.replace(index...close, with: "\"\(keys.joined(separator: "."))\"")
    }
    for index in source.tokens.indices where source.tokens[index].text == "#selector" {
      guard isLiteral(selector: index, source), let end = source[index - 1]?.partner,
        let close = source[index + 1]?.partner, let name = source[close - 1]
      else { continue }
      move.replace((index - 2)...end, with: "\"\(name.text)\"")
    }
  }

  /// Whether a `#selector` is the name of a property: `NSStringFromSelector(#selector(getter: name))`.
  static func isLiteral(selector index: Int, _ source: SourceText) -> Bool {
    guard source[index - 2]?.isWord("NSStringFromSelector") == true, source[index - 1]?.isOpen("(") == true,
      let open = source[index + 1], open.isOpen("("), let close = open.partner,
      source[index - 1]?.partner == close + 1, let first = source[index + 2], let last = source[close - 1]
    else { return false }
    // Without a property's name in it, it is that of a method with parameters.
    return last.kind == .word
      && (first.isWord("getter") || close == index + 3 || source[close - 2]?.isMark(".") == true)
  }

  /// The names between the dots; `nil` for anything else.
  private static func names(in range: Range<Int>, _ source: SourceText) -> [String]? {
    var names: [String] = []
    for (offset, token) in source.tokens[range].enumerated() {
      if offset % 2 == 0 {
        guard token.kind == .word else { return nil }
      } else {
        guard token.isMark(".") else { return nil }
        continue
      }
      names.append(token.text)
    }
    return names.isEmpty || range.count % 2 == 0 ? nil : names
  }

  /// Leaves out the types before the properties. The last name is a property in any case.
  private static func properties(_ names: [String], _ folder: Folder) -> [String] {
    var first = 0
    while first < names.count - 1 {
      let name = names[first]
      let isType =
        name == "self" || name == "Self" || folder.types.contains(name) || folder.managedClasses.contains(name)
      // Before a known type there are modules and other types; without one, capital letters tell.
      guard
        isType
          || name.first?.isUppercase == true && !names[..<first].contains(where: { folder.managedClasses.contains($0) })
      else { break }
      first += 1
    }
    return Array(names[first...])
  }

  private static let unreadable = Cause(
    "#keyPath needs Objective-C, which is on Apple platforms alone", "write the path as a string")
}
