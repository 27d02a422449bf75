/// Replaces `#keyPath(Item.list.name)` with `"list.name"`, and `NSStringFromSelector(#selector(getter: Item.name))`
/// with `"name"`. Orders and expressions with Swift's key paths get a name as well, because the classes of moved
/// sources do not list their key paths. The names are those of the model: a property with `@objc(isDone)` gives
/// `"isDone"`.
enum KeyPathLiterals {
  static func run(_ move: inout FileMove) {
    rewriteKeyPaths(&move)
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].text == "#keyPath" {
      guard let open = source[index + 1], open.isOpen("("), let close = open.partner,
        let names = names(in: (index + 2)..<close, source)
      else {
        move.find(unreadable, index...index)
        continue
      }
      let keys = keys(names, at: index, move)
      move.replace(index...close, with: "\"\(keys.joined(separator: "."))\"")
    }
    for index in source.tokens.indices where source.tokens[index].text == "#selector" {
      guard isLiteral(selector: index, source), let end = source[index - 1]?.partner,
        let close = source[index + 1]?.partner, let name = source[close - 1]
      else { continue }
      // `getter: Item.name`.
      let first = source[index + 3]?.isMark(":") == true ? index + 4 : index + 2
      let names = first < close ? names(in: first..<close, source) : nil
      let key = names.flatMap { keys($0, at: index, move).last } ?? name.text
      move.replace((index - 2)...end, with: "\"\(key)\"")
    }
  }

  /// Replaces `NSSortDescriptor(keyPath: \Item.list.name` with `NSSortDescriptor(key: "list.name"`, and
  /// `NSExpression(forKeyPath: \Item.name` with `NSExpression(forKeyPath: "name"`.
  private static func rewriteKeyPaths(_ move: inout FileMove) {
    let labels = ["NSSortDescriptor": ("keyPath", "key"), "NSExpression": ("forKeyPath", "forKeyPath")]
    let source = move.source
    for index in source.tokens.indices {
      guard let (label, newLabel) = labels[source.tokens[index].text], source[index + 1]?.isOpen("(") == true,
        source[index + 2]?.isWord(label) == true, source[index + 3]?.isMark(":") == true,
        source[index + 4]?.isMark("\\") == true
      else { continue }
      var names: [String] = []
      var next = index + 5
      // `\.name` leaves out the class.
      let hasClass = source[next]?.isMark(".") != true
      if !hasClass { next += 1 }
      while let name = source[next], name.kind == .word {
        names.append(name.text)
        next += 1
        while source[next]?.isMark("?") == true || source[next]?.isMark("!") == true { next += 1 }
        guard source[next]?.isMark(".") == true else { break }
        next += 1
      }
      guard let end = source[next], end.isMark(",") || end.isClose(")"), !names.isEmpty else { continue }
      let keys = hasClass ? keys(names, at: index, move) : move.folder.keys(names, from: nil)
      move.replace((index + 2)...(next - 1), with: "\(newLabel): \"\(keys.joined(separator: "."))\"")
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

  /// The names in the model of the properties at the end of some names. The types before them are left out. The last
  /// name is a property in any case.
  private static func keys(_ names: [String], at place: Int, _ move: FileMove) -> [String] {
    let folder = move.folder
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
    var className = first > 0 ? names[first - 1] : "self"
    if className == "self" || className == "Self" {
      className = move.structure.innermostType(around: place)?.lastName ?? ""
    }
    return folder.keys(Array(names[first...]), from: className)
  }

  private static let unreadable = Cause(
    "#keyPath needs Objective-C, which is on Apple platforms alone", "write the path as a string")
}
