@testable import CambiumMacroSupport

/// The input is a message of the compiler, a declaration with `@Model`, or the members of such a class.
enum MacroTarget {
  static func problem(_ input: FuzzInput) -> String? {
    var input = input
    let choice = input.byte()
    let rest = input.rest()
    if choice % 8 == 0 { return Plugin.answer(rest).count > 2 ? nil : "a message without an answer" }
    let text = String(decoding: rest, as: UTF8.self)
    let source = choice % 4 == 1 ? text : "@Model class Trip: Base { init() {}\n\(text)\n}"
    let conformances = choice % 3 == 0 ? nil : "struct Placeholder: Observable, PersistentModel, Sendable {}"
    return modelProblem(source, conformances) ?? memberProblem(text, source)
  }

  private static func request(_ source: String, _ conformances: String?, parent: String? = nil)
    -> CompilerMessage.AttachedMacro
  {
    CompilerMessage.AttachedMacro(
      macro: .init(typeName: "ModelMacro"), macroRole: "", attributeSyntax: .init(source: "@Model"),
      declSyntax: .init(source: source), parentDeclSyntax: parent.map { .init(source: $0) },
      extendedTypeSyntax: .init(source: "Trip"), conformanceListSyntax: conformances.map { .init(source: $0) })
  }

  /// All members that the macro adds, as far as each class has them.
  private static let added: Set<String> = [
    "_$backingData", "_$held", "persistentBackingData", "schemaMetadata", "_$row", "_$levels", "_$context",
    "_$observationRegistrar",
  ]

  /// A class is refused at a place within it, or its expansion is read as what the macro adds, and nothing else.
  private static func modelProblem(_ source: String, _ conformances: String?) -> String? {
    let request = request(source, conformances)
    _ = try? ModelActorMacro.members(request)
    _ = try? PathsMacro.extensions(request)
    let members: String
    do throws(Refusal) { members = try ModelMacro.members(request) } catch { return problem(of: error, source) }
    guard let extensions = try? ModelMacro.extensions(request) else { return "a class whose extension is refused" }
    if extensions.isEmpty != (conformances == nil) { return "an extension that nothing asks for" }
    guard let again = try? TypeDeclaration("class Trip {\n\(members)\n}") else {
      return "an expansion that is not read:\n\(members)"
    }
    // The reader takes no `$` for a letter: such a name is cut off before it.
    let names = added.map { $0.split(separator: "$").count > 1 ? "_" : $0 }
    for variable in again.variables where !names.contains(variable.name.text) {
      return "an expansion with a variable '\(variable.name.text)':\n\(members)"
    }
    guard again.variables.contains(where: { $0.name.text == "schemaMetadata" }), again.patterns.isEmpty else {
      return "an expansion without metadata:\n\(members)"
    }
    return nil
  }

  /// The members by themselves: what gets an attribute gets accessors and a peer.
  private static func memberProblem(_ source: String, _ parent: String) -> String? {
    let request = request(source, nil, parent: parent)
    if let error = refusal({ () throws(Refusal) in try PersistedPropertyMacro.accessors(request) }),
      let problem = problem(of: error, source)
    {
      return problem
    }
    guard !ModelMacro.attribute(request).isEmpty else { return nil }
    guard let peer = try? PersistedPropertyMacro.peers(request), let read = try? TypeDeclaration("class A { \(peer) }")
    else { return "a property with an attribute, and without a peer" }
    return read.variables.count == 1 ? nil : "a peer that is not one variable: \(peer)"
  }

  private static func refusal(_ body: () throws(Refusal) -> String) -> Refusal? {
    do throws(Refusal) {
      _ = try body()
      return nil
    } catch { return error }
  }

  private static func problem(of error: Refusal, _ source: String) -> String? {
    if error.message.isEmpty { return "a refusal without words" }
    return (0...source.utf8.count).contains(error.offset) ? nil : "a refusal at \(error.offset), outside of the source"
  }
}
