import CambiumSourceText

@testable import CambiumMacroSupport

/// Asks the plug-in's macros as the compiler does, without its messages.
enum ModelExpansion {
  static let all = "struct Placeholder: Observable, PersistentModel, Sendable {}"

  static func request(
    _ source: String, _ type: String = "ModelMacro", role: String = "member", attribute: String = "@Model",
    conformances: String? = all, context: [String] = [], parent: String? = nil, extended: String? = "Trip"
  ) -> CompilerMessage.AttachedMacro {
    CompilerMessage.AttachedMacro(
      macro: .init(moduleName: "CambiumMacros", typeName: type, name: "Model"), macroRole: role,
      attributeSyntax: .init(source: attribute, location: nil), declSyntax: .init(source: source, location: nil),
      parentDeclSyntax: parent.map { .init(source: $0, location: nil) },
      lexicalContext: context.map { .init(source: $0, location: nil) },
      extendedTypeSyntax: extended.map { .init(source: $0, location: nil) },
      conformanceListSyntax: conformances.map { .init(source: $0, location: nil) })
  }

  /// The members of a class, or what is wrong with it.
  static func members(_ source: String, conformances: String? = all, context: [String] = []) throws -> String {
    try ModelMacro.members(request(source, conformances: conformances, context: context))
  }

  static func refusal(_ source: String, conformances: String? = all) -> Refusal? {
    do throws(Refusal) {
      _ = try ModelMacro.members(request(source, conformances: conformances))
      return nil
    } catch { return error }
  }

  // MARK: Whole programs

  /// All expansions of all classes and actors of a program with `@Model` or `@ModelActor`.
  static func expansions(ofProgram source: String) throws -> String {
    var result = ""
    var models: Set<String> = []
    for (attribute, declaration) in declarations(source) {
      let type = try TypeDeclaration(declaration)
      let name = type.name.text
      if attribute.hasPrefix("@ModelActor") {
        let request = request(declaration, attribute: attribute, conformances: "ModelActor", extended: name)
        result += section("\(name): members", try ModelActorMacro.members(request))
        result += section("\(name): extensions", try ModelActorMacro.extensions(request))
        continue
      }
      let isSubclass = type.firstInherited.map { models.contains($0.text) } ?? false
      models.insert(name)
      let request = request(declaration, attribute: attribute, conformances: isSubclass ? nil : all, extended: name)
      result += section("\(name): members", try ModelMacro.members(request))
      result += section("\(name): extensions", try ModelMacro.extensions(request))
      for variable in type.variables {
        let source = self.source(of: variable, in: declaration)
        let member = self.request(source, attribute: attribute, context: [declaration], parent: declaration)
        let added = ModelMacro.attribute(member)
        result += section("\(name).\(variable.name.text): attributes", added)
        if added.isEmpty { continue }
        result += section("\(name).\(variable.name.text): peers", try PersistedPropertyMacro.peers(member))
        result += section("\(name).\(variable.name.text): accessors", try PersistedPropertyMacro.accessors(member))
      }
    }
    return result
  }

  private static func section(_ title: String, _ text: String) -> String { "=== \(title)\n\(text)\n" }

  /// The declarations with `@Model` and `@ModelActor`, and these attributes.
  private static func declarations(_ source: String) -> [(attribute: String, source: String)] {
    var result: [(String, String)] = []
    var reader = SourceReader(source)
    while !reader.isAtEnd {
      reader.skipTrivia()
      let start = reader.position
      guard reader.peek() == UInt8(ascii: "@"), let attribute = try? reader.attribute() else {
        if reader.name() == nil { reader.position += 1 }
        continue
      }
      guard ["Model", "ModelActor"].contains(attribute.name) else { continue }
      while let byte = reader.peek(), byte != UInt8(ascii: "{") { reader.position += 1 }
      guard reader.skipGroup() else { return result }
      result.append((attribute.source, reader.text(from: start)))
    }
    return result
  }

  /// The member that a variable is, with its attributes.
  private static func source(of variable: TypeDeclaration.Variable, in declaration: String) -> String {
    var reader = SourceReader(declaration)
    let first = [variable.attributes.map(\.offset), variable.modifiers.map(\.offset)].joined().min()
    let start = min(first ?? variable.introducer.offset, variable.introducer.offset)
    reader.position = variable.name.offset
    _ = reader.name()
    guard (try? reader.variableTail()) != nil else { return "" }
    return reader.text(from: start)
  }
}
