/// `init(entity:insertInto:)` is `required`, so that a class with initializers of its own has to have it as well.
enum Initializers {
  static func run(_ move: inout FileMove) {
    for scope in move.structure.scopes
    where scope.kind == "class" && move.folder.managedClasses.contains(scope.lastName) {
      run(scope, &move)
    }
  }

  private static func run(_ scope: TypeScope, _ move: inout FileMove) {
    let source = move.source
    var hasInitializerOfEntity = false
    var firstDesignated: DeclarationHead?
    for index in move.structure.members(["init"], of: scope) {
      // A call of another initializer is within a body, and no member.
      guard source.parameterBracket(at: index) != nil else { continue }
      let head = DeclarationHead(source, introducer: index)
      let words = head.modifiers.map { source.tokens[$0].text }
      if source.isInitializerOfEntity(index) {
        hasInitializerOfEntity = true
        guard let override = head.modifiers.first(where: { source.tokens[$0].text == "override" }) else { continue }
        if words.contains("required") {
          move.remove(override...override)
        } else {
          move.replace(override...override, with: "required", as: "override init(entity:insertInto:) -> required init")
        }
        continue
      }
      if words.contains("convenience") { continue }
      if firstDesignated == nil { firstDesignated = head }
      if source.parameterLabels(at: index) == ["context"],
        let override = head.modifiers.first(where: { source.tokens[$0].text == "override" })
      {
        // It overrides a convenience initializer, which Swift does not call overriding.
        move.remove(override...override)
      }
      rewriteCalls(of: index, scope, &move)
    }
    guard let firstDesignated, !hasInitializerOfEntity, let start = source[firstDesignated.start] else { return }
    let indentation = source.indentation(at: start.range.lowerBound)
    // One step more than the initializer, as far as the class says how far a step is.
    let inner = indentation + SourceText.step(from: scope.indentation(in: source), to: indentation)
    let access = scope.head.modifiers.contains { ["public", "open"].contains(source.tokens[$0].text) } ? "public " : ""
    let end = source.lineEnd
    move.insert(
      "\(access)required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {\(end)"
        + "\(inner)super.init(entity: entity, insertInto: context)\(end)"
        + "\(indentation)}\(end)\(end)\(indentation)",
      at: start.range.lowerBound)
    move.note("required init(entity:insertInto:) is added to \(scope.name)", at: start.range.lowerBound)
  }

  /// `super.init(context: x)` is a convenience initializer, which a designated one cannot call.
  private static func rewriteCalls(of initializer: Int, _ scope: TypeScope, _ move: inout FileMove) {
    let source = move.source
    guard let bracket = source.parameterBracket(at: initializer), let end = source.tokens[bracket].partner,
      let open = ((end + 1)..<source.tokens.count).prefix(8).first(where: { source.tokens[$0].isOpen("{") }),
      let close = source.tokens[open].partner
    else { return }
    for index in open..<close where source.tokens[index].isWord("super") {
      guard source[index + 1]?.isMark(".") == true, source[index + 2]?.isWord("init") == true,
        source[index + 3]?.isOpen("(") == true, source[index + 4]?.isWord("context") == true,
        source[index + 5]?.isMark(":") == true
      else { continue }
      move.replace(
        (index + 4)...(index + 5), with: "entity: \(scope.lastName).entity(), insertInto:",
        as: "super.init(context:) -> super.init(entity:insertInto:)")
    }
  }
}
