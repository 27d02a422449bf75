import CambiumModelFiles
import CambiumSourceText

/// The facts about a version that the writers of all forms share.
struct FormContext {
  let index: ModelIndex
  let options: CodeOptions
  let names: TypeNames

  init(_ document: ModelDocument, _ options: CodeOptions) {
    index = ModelIndex(document)
    self.options = options
    var taken = Set(document.composites.map { $0.name })
    for entity in document.entities {
      taken.formUnion([entity.name, Self.className(of: entity)])
      taken.formUnion(entity.attributes.map { $0.name })
      taken.formUnion(entity.relationships.map { $0.name })
    }
    names = TypeNames(taken: taken)
  }

  var document: ModelDocument { index.document }
  /// The access of declarations, with a blank behind it.
  var access: String { options.isPublic ? "public " : "" }

  /// The class of an entity's objects in the managed-object form, without a module.
  static func className(of entity: ModelDocument.Entity) -> String {
    entity.className?.split(separator: ".").last.map { String($0) } ?? entity.name
  }

  /// Whether the code needs Foundation for the types of some attributes.
  static func needsFoundation(_ attributes: [ModelDocument.Attribute]) -> Bool {
    attributes.contains { [.decimal, .date, .binary, .uuid, .uri].contains($0.type) }
  }

  /// The attributes of all entities and composite types.
  var allAttributes: [ModelDocument.Attribute] {
    document.entities.flatMap { $0.attributes } + document.composites.flatMap { $0.elements }
  }
}

/// A declaration that has a file of its own if the model has one version.
struct Declaration {
  /// The name of the class or structure.
  let name: String
  let imports: Set<String>
  let lines: [String]
}

/// Checks the names that become names of Swift.
struct NameCheck {
  /// Returns the refusal of a name for a class or structure; `nil` if it will do.
  static func type(_ name: String, of entity: String, what: String, remedy: String) -> Refusal? {
    if !SwiftText.isIdentifier(name) {
      return Refusal(entity, nil, "'\(name)' cannot be the name of a \(what) in Swift", remedy)
    }
    if Keywords.reserved.contains(name) {
      return Refusal(entity, nil, "'\(name)' is a word of Swift's, and no name of a \(what)", remedy)
    }
    if TypeNames.modules.contains(name) {
      return Refusal(entity, nil, "a \(what) '\(name)' would hide the module of that name from the code", remedy)
    }
    return nil
  }

  /// Returns the refusal of a name for a property; `nil` if it will do.
  ///
  /// - Parameter typeName: The class or structure, if it is not called like the entity.
  static func property(
    _ name: String, of entity: String, typeName: String? = nil, reserved: Set<String>, member: String
  ) -> Refusal? {
    let remedy = "rename it in the model, with '\(name)' as its renaming identifier"
    if !SwiftText.isIdentifier(name) {
      return Refusal(entity, name, "the name is no identifier of Swift", remedy)
    }
    if ["Type", "Protocol", "Self"].contains(name) {
      return Refusal(entity, name, "key paths of Swift mean the type by the name", remedy)
    }
    if name == "self" { return Refusal(entity, name, "predicates mean the object itself by the name", remedy) }
    if name == typeName ?? entity {
      return Refusal(entity, name, "the property has the name of its own class or structure", remedy)
    }
    if reserved.contains(name) { return Refusal(entity, name, "\(member) has a member of the name", remedy) }
    return nil
  }
}
