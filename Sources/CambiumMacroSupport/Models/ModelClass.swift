import CambiumSourceText

/// A class with `@Model`.
struct ModelClass {
  let declaration: TypeDeclaration
  /// The superclass, if it is a model.
  var parent: String?
  let properties: [ModelProperty]
  /// The source of the name that the entity had in earlier versions.
  var originalName: String?
  private let access: Access
  private let isOpen: Bool

  /// Reads the class.
  ///
  /// - Parameter conformances: The protocols that the compiler says the class does not conform to yet.
  init(_ request: CompilerMessage.AttachedMacro, source: String, conformances: String) throws(Refusal) {
    declaration = try TypeDeclaration(source, for: "@Model")
    access = Access(of: declaration, in: request.lexicalContext ?? [])
    isOpen = access == .public && declaration.modifiers.contains { $0.text == "open" }
    properties = declaration.variables.filter(\.isPersisted).map(ModelProperty.init)
    originalName = try AttributeArguments(request.attributeSyntax.source, of: "@Model")["originalName"]?.text
    parent = Self.parent(of: declaration, conformances: conformances)
  }

  /// Returns the superclass if it is a model. Then the class conforms already; a protocol that requires a model does
  /// not make it conform.
  private static func parent(of declaration: TypeDeclaration, conformances: String) -> String? {
    guard !ConformanceList(conformances).contains("PersistentModel"), let first = declaration.firstInherited?.text,
      first != "PersistentModel", !first.hasSuffix(".PersistentModel")
    else { return nil }
    return first
  }

  var name: String { declaration.name.text }
  /// Whether the class inherits the initializers of its superclass, because it writes no designated one and needs none.
  var inheritsInitializers: Bool {
    parent != nil && declaration.initializers.allSatisfy(\.isConvenience)
      && properties.allSatisfy { $0.value != nil || $0.isOptional }
  }
  var isFinal: Bool { declaration.modifiers.contains { $0.text == "final" } }

  /// The access of generated members, with a blank behind it.
  var accessText: String { access.text }
  /// The access of generated members that subclasses override: those of another module as well, if the class is open.
  var overridableAccessText: String { isOpen && !isFinal ? "open " : access.text }
}

/// The protocols that the compiler says a type does not conform to yet.
struct ConformanceList {
  private var names: Set<String> = []

  init(_ source: String) {
    var reader = SourceReader(source)
    var last: String?
    while !reader.isAtEnd {
      reader.skipTrivia()
      if let name = reader.name() {
        // `Swift.Sendable`: the last name counts.
        last = name
      } else {
        if reader.peek() == UInt8(ascii: ","), let name = last { names.insert(name) }
        reader.position += 1
      }
    }
    if let last { names.insert(last) }
  }

  func contains(_ name: String) -> Bool { names.contains(name) }
}
