/// `@Composite`: how a structure is read from the elements of a composite attribute, and what it stores.
///
///     @Composite struct Location { var latitude: Double; var name = ""; var note: String? }
///     // nonisolated extension Location: CompositeRepresentable {
///     //   init?(compositeElements elements: CompositeElements) {
///     //     do {
///     //       self.latitude = try elements.element("latitude")
///     //       elements.read("name", into: &self.name)
///     //       self.note = try elements.element("note")
///     //     } catch { return nil }
///     //   }
///     //   ...
///     // }
///
/// What an element's type means is left to the overloads of these methods: the compiler knows types.
enum CompositeMacro {
  /// The source of the extension.
  static func extensions(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let declaration = try TypeDeclaration(request.declSyntax.source, for: "@Composite")
    let offset = declaration.introducer.offset
    guard declaration.introducer.text == "struct" else {
      throw Refusal(
        message: "'@Composite' is for structures; for another type, write its conformance to 'CompositeRepresentable'",
        offset: offset)
    }
    guard !declaration.isGeneric else {
      throw Refusal(message: "'@Composite' is not for generic types, whose elements differ", offset: offset)
    }
    guard let wanted = request.conformanceListSyntax?.source.trimmed, !wanted.isEmpty else {
      throw Refusal(
        message:
          "'@Composite' can add nothing here: the type is 'CompositeRepresentable' already; leave one of both out",
        offset: offset)
    }
    guard let type = request.extendedTypeSyntax?.source.trimmed, !type.isEmpty else {
      throw Refusal(message: "the compiler does not say which type '@Composite' is for", offset: 0)
    }
    let elements = try elements(of: declaration)
    let access = Access(of: declaration, in: request.lexicalContext ?? []).text
    let pairs = elements.map { "\(ManagedMacro.literal($0.name.text)): self.`\($0.name.text)` as Any" }
    let values = pairs.isEmpty ? "[:]" : "[\(pairs.joined(separator: ", "))]"
    let lines =
      ["\(access)init?(compositeElements elements: Cambium.CompositeElements) {", "  do {"]
      + elements.map { "    \(reading($0))" }
      // Where nothing throws, the compiler warns of a `catch` that is never reached.
      + ["    try elements.finish()", "  } catch { return nil }", "}"]
      + ["\(access)init?(compositeValues values: [String: Any]) {"]
      + ["  guard let elements = Cambium.CompositeElements(values) else { return nil }"]
      + ["  self.init(compositeElements: elements)", "}"]
      + ["\(access)var compositeElements: Cambium.CompositeElements? {"]
      + ["  \(elements.isEmpty ? "let" : "var") elements = Cambium.CompositeElements()"]
      + elements.map { "  elements[\(ManagedMacro.literal($0.name.text))] = self.`\($0.name.text)`" }
      + ["  return elements", "}"]
      + ["\(access)var compositeValues: [String: Any] { \(values) }"]
    return "nonisolated extension \(type): Cambium.CompositeRepresentable {\n"
      + lines.map { "  \($0)\n" }.joined() + "}"
  }

  private static func reading(_ element: TypeDeclaration.Variable) -> String {
    let (name, key) = (element.name.text, ManagedMacro.literal(element.name.text))
    return element.value == nil
      ? "self.`\(name)` = try elements.element(\(key))" : "elements.read(\(key), into: &self.`\(name)`)"
  }

  /// The stored variables. A constant with an initial value always has that one, and is no element.
  private static func elements(of declaration: TypeDeclaration) throws(Refusal) -> [TypeDeclaration.Variable] {
    if let pattern = declaration.patterns.first {
      throw Refusal(message: "'@Composite' needs variables with one name each", offset: pattern.name.offset)
    }
    var result: [TypeDeclaration.Variable] = []
    for variable in declaration.variables
    where !variable.hasAccessors && !variable.hasModifier("static") && !variable.hasModifier("lazy") {
      if variable.isConditional {
        throw Refusal(
          message: "'@Composite' does not know whether '\(variable.name.text)' is there: it stands within '#if'",
          offset: variable.name.offset)
      }
      if variable.introducer.text == "let", variable.value != nil { continue }
      result.append(variable)
    }
    return result
  }
}
