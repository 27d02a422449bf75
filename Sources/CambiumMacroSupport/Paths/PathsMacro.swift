/// `@ManagedPaths`: what key paths and conditions have to know of the properties of a class or composite.
///
///     @ManagedPaths final class Aircraft: ManagedObject { @Managed var tailNumber: String? }
///     // In the class:
///     //   override class var managedKeyPaths: [AnyKeyPath: String] { ... [\Aircraft.tailNumber: "tailNumber"] ... }
///     // nonisolated extension Aircraft: FetchPaths, PredicateKeyPaths {
///     //   struct Paths: Sendable { let tailNumber = ManagedPath.of(\Aircraft.tailNumber, "tailNumber") }
///     //   static let paths = Paths()
///     //   static var predicateKeyPaths: [AnyKeyPath: String] { managedKeyPaths }
///     // }
///
/// A subclass of a class with paths has the conformances, and cannot have other `Paths`. It overrides
/// `managedKeyPaths`.
enum PathsMacro {
  /// The source of the extension.
  static func extensions(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let declaration = try TypeDeclaration(request.declSyntax.source)
    if declaration.isGeneric {
      throw Refusal(
        message: "'@ManagedPaths' is not for generic types, which cannot have a list for all of them",
        offset: declaration.introducer.offset)
    }
    // The compiler says nothing of what is there already, by the type itself or by its superclass.
    guard let wanted = request.conformanceListSyntax?.source.trimmed, !wanted.isEmpty else {
      // The superclass has the conformances, and the members of this class are in `managedKeyPaths`.
      if isSubclass(declaration) { return "" }
      throw Refusal(
        message: "'@ManagedPaths' can add nothing here: the type has paths already",
        offset: declaration.introducer.offset)
    }
    guard let type = request.extendedTypeSyntax?.source.trimmed, !type.isEmpty else {
      throw Refusal(message: "the compiler does not say which type '@ManagedPaths' is for", offset: 0)
    }
    let access = Access(of: declaration, in: request.lexicalContext ?? [])
    let properties = try properties(of: declaration, type, access)
    var conformances: [String] = []
    var members: [String] = []
    if wanted.contains("FetchPaths") {
      conformances.append("Cambium.FetchPaths")
      members.append("\(access.text)struct Paths: Sendable {")
      for property in properties {
        members.append(
          "  \(property.access.text)let \(property.name) = Cambium.ManagedPath.of(\\\(type).\(property.name), \(property.key))"
        )
      }
      members.append("}")
      members.append("\(access.text)static let paths = Paths()")
    }
    if wanted.contains("PredicateKeyPaths") {
      conformances.append("Cambium.PredicateKeyPaths")
      members.append("\(access.text)static var predicateKeyPaths: [AnyKeyPath: String] {")
      let isClass = declaration.introducer.text == "class"
      members.append("  \(isClass ? "managedKeyPaths" : list(of: properties, from: type))")
      members.append("}")
    }
    // Conditions are made and key paths compared on any thread; where a module's declarations are the main actor's by
    // default, this would be.
    return "nonisolated extension \(type): \(conformances.joined(separator: ", ")) {\n"
      + members.map { "  \($0)\n" }.joined() + "}"
  }

  /// The source of the member of a class that lists its key paths; empty for a structure. What is wrong with the
  /// declaration, ``extensions(_:)`` says.
  static func members(_ request: CompilerMessage.AttachedMacro) -> String {
    guard let declaration = try? TypeDeclaration(request.declSyntax.source), declaration.introducer.text == "class",
      !declaration.isGeneric
    else { return "" }
    let type = declaration.name.text
    let access = Access(of: declaration, in: request.lexicalContext ?? [])
    guard let properties = try? properties(of: declaration, type, access) else { return "" }
    // A key path that a subclass inherits begins at the subclass. `\Self.name` would, but cannot be made (Swift 6.3
    // ends the process).
    return """
      \(access.text)override nonisolated class var managedKeyPaths: [AnyKeyPath: String] {
        func of<ManagedPathsObject: \(type)>(_: ManagedPathsObject.Type) -> [AnyKeyPath: String] {
          \(list(of: properties, from: "ManagedPathsObject"))
        }
        return super.managedKeyPaths.merging(of(Self.self)) { _, own in own }
      }
      """
  }

  /// Whether a class inherits from another one than `ManagedObject`.
  private static func isSubclass(_ declaration: TypeDeclaration) -> Bool {
    guard declaration.introducer.text == "class", let superclass = declaration.firstInherited?.text else {
      return false
    }
    return !["ManagedObject", "NSManagedObject"].contains(superclass.split(separator: ".").last.map(String.init) ?? "")
  }

  private static func list(of properties: [Property], from root: String) -> String {
    let pairs = properties.map { "\\\(root).\($0.name): \($0.key)" }
    return pairs.isEmpty ? "[:]" : "[\(pairs.joined(separator: ", "))]"
  }

  private struct Property {
    var access: Access
    /// As it is written in Swift.
    var name: String
    /// The source of its name in the model.
    var key: String
  }

  private static func properties(
    of declaration: TypeDeclaration, _ type: String, _ access: Access
  ) throws(Refusal) -> [Property] {
    var result: [Property] = []
    let isClass = declaration.introducer.text == "class"
    guard isClass || declaration.introducer.text == "struct" else {
      throw Refusal(
        message: "'@ManagedPaths' is for classes that inherit from 'ManagedObject', and for structures that are "
          + "composites", offset: declaration.introducer.offset)
    }
    for variable in declaration.variables where !variable.hasModifier("private") && !variable.isConditional {
      var key = ManagedMacro.literal(variable.name.text)
      if isClass {
        guard let managed = variable.attributes.first(where: { $0.name == "Managed" }) else { continue }
        if let text = try AttributeArguments(managed.source)[nil]?.text {
          // In `Paths`, that would be another type.
          key = text.hasPrefix("Self.") ? type + text.dropFirst(4) : text
        }
      } else if variable.hasAccessors || variable.hasModifier("static") || variable.hasModifier("lazy") {
        continue
      }
      result.append(
        Property(
          access: min(access, Access(variable.modifiers) ?? min(access, .internal)), name: escaped(variable.name.text),
          key: key))
    }
    return result
  }

  /// Names in backticks stay what they are with them.
  private static func escaped(_ name: String) -> String { "`\(name)`" }
}
