/// `@Model`: the members, attributes and conformances that make a class a model of `CambiumSwiftData`.
///
///     @Model final class Trip { var name: String; init(name: String) { self.name = name } }
///
/// Three roles work together. The member role adds the backing data, the metadata of the schema and an initializer. The
/// role for attributes puts `@_PersistedProperty` on each stored property. The extension role adds the conformances.
/// Only the member role reports errors of the class. The other roles then expand to nothing, so that no error appears
/// twice.
enum ModelMacro {
  static func members(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let model = try ModelClass(
      request, source: request.declSyntax.source, conformances: request.conformanceListSyntax?.source ?? "")
    try model.check()
    return model.members
  }

  /// The attribute of a member.
  static func attribute(_ request: CompilerMessage.AttachedMacro) -> String {
    guard let variable = try? PersistedPropertyMacro.variable(request.declSyntax.source), variable.isPersisted,
      !variable.attributes.contains(where: { $0.name == "_PersistedProperty" })
    else { return "" }
    // The compiler does not say here whether the superclass is a model: it may be, if there is one.
    if let parent = request.parentDeclSyntax, !isUsable(parent.source, request, conformances: "") { return "" }
    return "@CambiumSwiftData._PersistedProperty"
  }

  static func extensions(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let conformances = request.conformanceListSyntax?.source ?? ""
    guard isUsable(request.declSyntax.source, request, conformances: conformances) else { return "" }
    let missing = ConformanceList(conformances)
    guard let type = request.extendedTypeSyntax?.source.trimmed, !type.isEmpty else {
      throw Refusal(message: "the compiler does not say which class '@Model' is for", offset: 0)
    }
    var lines: [String] = []
    if missing.contains("PersistentModel") {
      lines.append("extension \(type): nonisolated CambiumSwiftData.PersistentModel {}")
    }
    if missing.contains("Observable") { lines.append("extension \(type): nonisolated Observation.Observable {}") }
    if missing.contains("Sendable") {
      lines.append(
        "@available(*, unavailable, message: \"models are not Sendable: hand over the persistentModelID, or use a "
          + "ModelActor\")")
      lines.append("extension \(type): Sendable {}")
    }
    return lines.joined(separator: "\n")
  }

  /// Whether the member role accepts the class.
  private static func isUsable(
    _ source: String, _ request: CompilerMessage.AttachedMacro, conformances: String
  ) -> Bool {
    guard let model = try? ModelClass(request, source: source, conformances: conformances) else { return false }
    return (try? model.check()) != nil
  }
}
