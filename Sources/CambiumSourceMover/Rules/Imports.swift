/// Replaces `import CoreData` with `import CambiumCoreData`. A source that uses Core Data without an import gets one.
enum Imports {
  private struct Import {
    /// The tokens from `import` to the last name.
    var tokens: ClosedRange<Int>
    /// The first of the attributes and modifiers before them.
    var start: Int
    var module: String
    var isConditional: Bool
  }

  static func run(_ move: inout FileMove) {
    let source = move.source
    let imports = imports(of: move.structure)
    var end: Int?
    for found in imports where found.module == "CoreData" || found.module == "CambiumCoreData" {
      if found.module == "CoreData" { move.replace(found.tokens, with: "import CambiumCoreData") }
      if end == nil || !isScoped(found, source) { end = source.tokens[found.tokens.upperBound].range.upperBound }
    }
    let unneeded = imports.filter { !$0.isConditional && UnneededImports.isUnneeded($0.module, in: source) }
    for found in unneeded { move.remove(found.start...found.tokens.upperBound) }
    for index in source.tokens.indices where source.tokens[index].isWord("canImport") {
      if source[index + 2]?.isWord("CoreData") == true, source[index + 1]?.isOpen("(") == true {
        move.replace((index + 2)...(index + 2), with: "CambiumCoreData")
      }
    }
    var added: [String] = []
    if end == nil { added.append("import CambiumCoreData") }
    let others = imports.filter { found in !unneeded.contains { $0.start == found.start } }
    if !imports.contains(where: { $0.module == networking }), usesNetworking(source) {
      added.append(
        ["#if canImport(\(networking))", "import \(networking)", "#endif"].joined(separator: source.lineEnd))
    }
    guard !added.isEmpty else { return }
    let lineEnd = source.lineEnd
    if let end {
      move.insert(added.map { lineEnd + $0 }.joined(), at: end)
    } else if let last = others.last(where: { !$0.isConditional }) {
      let place = source.tokens[last.tokens.upperBound].range.upperBound
      move.insert(added.map { lineEnd + $0 }.joined(), at: place)
    } else if let first = source[0] {
      move.insert(added.map { $0 + lineEnd }.joined() + lineEnd, at: first.range.lowerBound)
    }
    for text in added { move.note("\(text) is added", at: end ?? source[0]?.range.lowerBound ?? 0) }
  }

  /// The part of Foundation that is a module of its own off Apple platforms.
  private static let networking = "FoundationNetworking"

  private static func usesNetworking(_ source: SourceText) -> Bool {
    let names: Set<String> = [
      "URLSession", "URLRequest", "URLResponse", "HTTPURLResponse", "URLCache", "URLCredential", "URLProtocol",
      "URLSessionDataTask", "URLSessionTask", "URLSessionConfiguration", "URLSessionDelegate", "HTTPCookie",
    ]
    return source.tokens.contains { $0.kind == .word && names.contains($0.text) }
  }

  private static func isScoped(_ found: Import, _ source: SourceText) -> Bool { found.tokens.count > 2 }

  private static func imports(of structure: SourceStructure) -> [Import] {
    let source = structure.source
    var result: [Import] = []
    for index in source.tokens.indices {
      let token = source.tokens[index]
      guard token.isWord("import"), source[index - 1]?.isMark(".") != true else { continue }
      var next = index + 1
      if let kind = source[next],
        ["class", "struct", "enum", "protocol", "typealias", "func", "var", "let"].contains(kind.text),
        source[next + 1]?.kind == .word
      {
        next += 1
      }
      guard let module = source[next], module.kind == .word else { continue }
      while source[next + 1]?.isMark(".") == true, source[next + 2]?.kind == .word { next += 2 }
      result.append(
        Import(
          tokens: index...next, start: DeclarationHead(source, introducer: index).start, module: module.text,
          isConditional: structure.isConditional(index)))
    }
    return result
  }
}
