/// Moves overrides of managed objects' methods out of extensions and into the class: an extension cannot override
/// anything without Objective-C. The sources are moved already, and are changed once more.
enum ExtensionOverrides {
  /// An override that an extension has.
  private struct Override {
    var className: String
    /// The bytes of the declaration, with the comments right above it, as whole lines.
    var range: Range<Int>
    /// The lines, as they stand in the class.
    var text: String
  }

  /// Takes the overrides out of the extensions of all sources, and puts each at the end of its class. An override whose
  /// class is in none of the sources stays.
  static func joined(_ texts: [String], _ folder: Folder) -> [String] {
    var taken: [String: [(file: Int, override: Override)]] = [:]
    for (file, text) in texts.enumerated() where text.contains("override") && text.contains("extension") {
      for override in overrides(in: SourceStructure(SourceText(text)), folder) {
        taken[override.className, default: []].append((file, override))
      }
    }
    if taken.isEmpty { return texts }
    var edits = texts.map { _ in SourceEdits() }
    for (file, text) in texts.enumerated() where taken.keys.contains(where: { text.contains($0) }) {
      let source = SourceText(text)
      for scope in SourceStructure(source).scopes where scope.kind == "class" {
        guard let found = taken[scope.lastName],
          let end = scope.end(
            found.map { source.lineEnd + $0.override.text + source.lineEnd }.joined(), in: source)
        else { continue }
        taken[scope.lastName] = nil
        edits[file].insert(end.text, at: end.offset)
        for (origin, override) in found { edits[origin].replace(override.range, with: "") }
      }
    }
    return texts.indices.map { edits[$0].isEmpty ? texts[$0] : edits[$0].applied(to: SourceText(texts[$0])) }
  }

  private static func overrides(in structure: SourceStructure, _ folder: Folder) -> [Override] {
    let source = structure.source
    var result: [Override] = []
    for scope in structure.scopes where scope.kind == "extension" && folder.managedClasses.contains(scope.lastName) {
      let access = scope.head.modifiers.map { source.tokens[$0].text }.first { accessWords.contains($0) }
      for index in structure.members(["func", "var"], of: scope) {
        let head = DeclarationHead(source, introducer: index)
        let words = head.modifiers.map { source.tokens[$0].text }
        guard words.contains("override"), let range = lines(of: head, in: scope, structure) else { continue }
        var text = source.text(range)
        while text.last?.isNewline == true { text.removeLast() }
        if let access, !words.contains(where: { accessWords.contains($0) }) {
          let place = source.tokens[head.start].range.lowerBound - range.lowerBound
          text =
            String(decoding: Array(text.utf8.prefix(place)), as: UTF8.self) + access + " "
            + String(decoding: Array(text.utf8.dropFirst(place)), as: UTF8.self)
        }
        result.append(Override(className: scope.lastName, range: range, text: text))
      }
    }
    return result
  }

  private static let accessWords: Set<String> = ["public", "open", "package", "internal", "fileprivate", "private"]

  /// The lines of a member of an extension that can go into the class, with the comments right above. `nil` if the
  /// member stands under a condition, which the class does not have, or has no body, or shares a line with other code.
  static func lines(of head: DeclarationHead, in scope: TypeScope, _ structure: SourceStructure) -> Range<Int>? {
    guard !structure.isConditional(head.introducer, in: scope), let end = end(of: head.introducer, structure) else {
      return nil
    }
    return lines(from: head.start, to: end, structure.source)
  }

  /// The brace that ends the body of a function or of a computed property.
  private static func end(of introducer: Int, _ structure: SourceStructure) -> Int? {
    let source = structure.source
    var next = introducer + 1
    while let token = source[next] {
      if token.isOpen("{") { return token.partner }
      if token.kind == .close || token.isMark("=") || token.isWord("func") || token.isWord("var") { return nil }
      guard token.kind == .open else {
        next += 1
        continue
      }
      guard let partner = token.partner else { return nil }
      next = partner + 1
    }
    return nil
  }

  /// The lines of some tokens with the comments above; `nil` if other code is on one of the lines.
  private static func lines(from first: Int, to last: Int, _ source: SourceText) -> Range<Int>? {
    var start = source.startOfLine(at: source.tokens[first].range.lowerBound)
    if let before = source[first - 1], before.range.upperBound > start { return nil }
    var end = source.tokens[last].range.upperBound
    while end < source.bytes.count, source.bytes[end] != 0x0A { end += 1 }
    end = min(end + 1, source.bytes.count)
    if let after = source[last + 1], after.range.lowerBound < end { return nil }
    // A line before that is a comment belongs to the declaration.
    while start > 0 {
      let line = source.startOfLine(at: start - 1)
      let text = source.text(line..<start).drop { $0 == " " || $0 == "\t" }
      guard text.hasPrefix("//"), !text.hasPrefix("// MARK") else { break }
      start = line
    }
    return start..<end
  }
}
