import CambiumSourceText

/// `@ModelActor`: an actor with a context of its own, on an executor of its own.
enum ModelActorMacro {
  static func members(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let actor = try declaration(request)
    let access = Access(of: actor, in: request.lexicalContext ?? []).text
    var members = """
      \(access)nonisolated let modelExecutor: any CambiumSwiftData.ModelExecutor
      \(access)nonisolated let modelContainer: CambiumSwiftData.ModelContainer
      """
    if !actor.initializers.contains(where: { takesContainer($0.parameters) }) {
      members += """

        \(access)init(modelContainer: CambiumSwiftData.ModelContainer) {
          let modelContext = CambiumSwiftData.ModelContext(modelContainer)
          self.modelExecutor = CambiumSwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
          self.modelContainer = modelContainer
        }
        """
    }
    return members
  }

  static func extensions(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    // The member role reports the error.
    guard (try? declaration(request)) != nil else { return "" }
    guard ConformanceList(request.conformanceListSyntax?.source ?? "").contains("ModelActor") else { return "" }
    guard let type = request.extendedTypeSyntax?.source.trimmed, !type.isEmpty else {
      throw Refusal(message: "the compiler does not say which actor '@ModelActor' is for", offset: 0)
    }
    return "extension \(type): CambiumSwiftData.ModelActor {}"
  }

  private static func declaration(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> TypeDeclaration {
    let declaration = try TypeDeclaration(request.declSyntax.source, for: "@ModelActor")
    guard declaration.introducer.text == "actor" else {
      throw Refusal(
        message: "'@ModelActor' is for actors: write 'actor \(declaration.name.text)' instead of "
          + "'\(declaration.introducer.text) \(declaration.name.text)'", offset: declaration.introducer.offset)
    }
    return declaration
  }

  /// Whether an initializer with these parameters is the one that the macro would add.
  private static func takesContainer(_ parameters: String) -> Bool {
    var reader = SourceReader(parameters)
    guard reader.skip("(") else { return false }
    reader.skipTrivia()
    guard reader.name() == "modelContainer" else { return false }
    while let byte = reader.peek(), byte != UInt8(ascii: ",") {
      guard (try? reader.skipPiece()) != nil else { return true }
    }
    return reader.peek() != UInt8(ascii: ",")
  }
}
