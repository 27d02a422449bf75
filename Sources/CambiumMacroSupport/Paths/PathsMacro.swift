/// `@ManagedPaths`: what key paths and conditions have to know of the properties of a class or composite.
///
///     @ManagedPaths final class Aircraft: ManagedObject { @Managed var tailNumber: String? }
///     // extension Aircraft: FetchPaths, PredicateKeyPaths {
///     //   struct Paths: Sendable { let tailNumber = ManagedPath.of(\Aircraft.tailNumber, "tailNumber") }
///     //   static let paths = Paths()
///     //   static var predicateKeyPaths: [AnyKeyPath: String] { ... [\Aircraft.tailNumber: "tailNumber"] ... }
///     // }
enum PathsMacro {
  /// The source of the extension; empty if the type has both conformances by itself.
  static func extensions(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let declaration = try TypeDeclaration(request.declSyntax.source)
    let properties = try properties(of: declaration)
    guard let type = request.extendedTypeSyntax?.source.trimmed, !type.isEmpty else {
      throw Refusal(message: "the compiler does not say which type '@ManagedPaths' is for", offset: 0)
    }
    let wanted = request.conformanceListSyntax?.source ?? "FetchPaths, PredicateKeyPaths"
    let access = declaration.modifiers.lazy.compactMap { accesses[$0] }.first ?? ""
    var conformances: [String] = []
    var members: [String] = []
    if wanted.contains("FetchPaths") {
      conformances.append("Cambium.FetchPaths")
      members.append("\(access)struct Paths: Sendable {")
      for property in properties {
        members.append(
          "  \(access)let \(property.name) = Cambium.ManagedPath.of(\\\(type).\(property.name), \(property.key))")
      }
      members.append("}")
      members.append("\(access)static let paths = Paths()")
    }
    if wanted.contains("PredicateKeyPaths") {
      conformances.append("Cambium.PredicateKeyPaths")
      let isClass = declaration.introducer.text == "class"
      let pairs = properties.map { "\\\(isClass ? "Object" : type).\($0.name): \($0.key)" }
      let list = pairs.isEmpty ? "[:]" : "[\(pairs.joined(separator: ", "))]"
      members.append("\(access)static var predicateKeyPaths: [AnyKeyPath: String] {")
      if isClass {
        // A key path that a subclass inherits begins at the subclass. `\Self.name` would, but cannot be made (Swift 6.3 ends the process).
        members.append("  func of<Object: \(type)>(_: Object.Type) -> [AnyKeyPath: String] { \(list) }")
        members.append("  return of(Self.self)")
      } else {
        members.append("  \(list)")
      }
      members.append("}")
    }
    if conformances.isEmpty { return "" }
    return "extension \(type): \(conformances.joined(separator: ", ")) {\n"
      + members.map { "  \($0)\n" }.joined() + "}"
  }

  /// Witnesses are as visible as their type; of an `open` one they need not be more than public.
  private static let accesses = [
    "public": "public ", "open": "public ", "package": "package ", "internal": "", "fileprivate": "fileprivate ",
    "private": "fileprivate ",
  ]

  private struct Property {
    /// As it is written in Swift.
    var name: String
    /// The source of its name in the model.
    var key: String
  }

  private static func properties(of type: TypeDeclaration) throws(Refusal) -> [Property] {
    var result: [Property] = []
    switch type.introducer.text {
    case "class":
      for variable in type.variables {
        guard let managed = variable.attributes.first(where: { $0.name == "Managed" }) else { continue }
        let key = try AttributeArguments(managed.source)[nil]?.text ?? ManagedMacro.literal(variable.name)
        result.append(Property(name: escaped(variable.name), key: key))
      }
    case "struct":
      for variable in type.variables where !variable.hasBlock && !variable.modifiers.contains("static") {
        result.append(Property(name: escaped(variable.name), key: ManagedMacro.literal(variable.name)))
      }
    default:
      throw Refusal(
        message: "'@ManagedPaths' is for classes that inherit from 'ManagedObject', and for structures that are "
          + "composites", offset: type.introducer.offset)
    }
    return result
  }

  /// Names in backticks stay what they are with them.
  private static func escaped(_ name: String) -> String { "`\(name)`" }
}

extension String {
  fileprivate var trimmed: String {
    var reader = SourceReader(self)
    reader.skipTrivia()
    var end = reader.bytes.count
    while end > reader.position, [0x20, 0x0A, 0x0D, 0x09].contains(reader.bytes[end - 1]) { end -= 1 }
    return String(decoding: reader.bytes[reader.position..<end], as: UTF8.self)
  }
}
