/// The rules for one variable of a model.
struct PropertyCheck {
  let variable: TypeDeclaration.Variable
  let declaration: TypeDeclaration
  private var name: String { variable.name.text }

  init(_ variable: TypeDeclaration.Variable, in declaration: TypeDeclaration) {
    self.variable = variable
    self.declaration = declaration
  }

  func run() throws(Refusal) {
    if variable.isPersisted {
      try checkName()
      try checkDeclaration()
      try checkAttributes()
      try checkType()
    } else {
      try checkTransient()
    }
  }

  /// Members that the macro adds, or that all models have.
  private static let reserved: Set<String> = [
    "persistentModelID", "modelContext", "hasChanges", "isDeleted", "persistentBackingData", "schemaMetadata",
  ]

  private func checkName() throws(Refusal) {
    if name == "objectID" || name == "self" {
      throw Refusal(
        message: "conditions call the model itself '\(name)': choose another name", offset: variable.name.offset)
    }
    guard Self.reserved.contains(name) else { return }
    throw Refusal(
      message: "each model has a member '\(name)' already: choose another name, and keep the old one in the store with "
        + "'@Attribute(originalName: \"\(name)\")'", offset: variable.name.offset)
  }

  // MARK: The declaration

  private func checkDeclaration() throws(Refusal) {
    if variable.isConditional {
      throw Refusal(
        message:
          "'@Model' cannot see whether the condition of '#if' holds: write the stored property '\(name)' without "
          + "a condition, or make it '@Transient'", offset: variable.name.offset)
    }
    if variable.isOneOfSeveral {
      throw Refusal(
        message: "a model needs one 'var' for each stored property: write 'var \(name)' in a declaration of its own",
        offset: variable.name.offset)
    }
    for modifier in variable.modifiers {
      let advice: String
      switch modifier.text {
      case "lazy": advice = "a computed property, or '@Transient lazy var \(name)'"
      case "weak": advice = "a relationship without 'weak', or '@Transient weak var \(name)'"
      case "unowned": advice = "a relationship without 'unowned', or '@Transient unowned var \(name)'"
      case "override": advice = "a property with another name, or a computed property"
      default: continue
      }
      throw Refusal(
        message: "the store cannot keep '\(modifier.text)' properties: write \(advice)", offset: modifier.offset)
    }
    if variable.introducer.text == "let" {
      throw Refusal(
        message: "a model reads '\(name)' from its store, so it cannot be a 'let': write 'private(set) var \(name)' or "
          + "'var \(name)'", offset: variable.introducer.offset)
    }
    if let block = variable.block {
      throw Refusal(
        message: "observers of a stored property of a model are never called, because the macro writes the accessors: "
          + "write a method that sets '\(name)' and does the rest", offset: block.offset)
    }
    if variable.type == nil, variable.value == nil {
      throw Refusal(
        message: "'\(name)' needs a type or an initial value: write 'var \(name): String'", offset: variable.name.offset
      )
    }
  }

  // MARK: Attributes

  /// Capitalized attributes that are no property wrappers.
  private static let known: Set<String> = [
    "Attribute", "Relationship", "Transient", "ObservationIgnored", "ObservationTracked", "MainActor",
    "_PersistedProperty", "IBInspectable", "NSManaged", "GKInspectable",
  ]

  private func checkAttributes() throws(Refusal) {
    var first: TypeDeclaration.Attribute?
    for attribute in variable.attributes {
      if ["Attribute", "Relationship"].contains(attribute.name) {
        if let first {
          throw Refusal(
            message: first.name == attribute.name
              ? "'\(name)' has '@\(attribute.name)' twice: write all options into one"
              : "'\(name)' is an attribute or a relationship, not both: leave out '@Attribute' or '@Relationship'",
            offset: attribute.offset)
        }
        first = attribute
      } else if let initial = attribute.name.unicodeScalars.first, initial.properties.isUppercase,
        !Self.known.contains(attribute.name)
      {
        throw Refusal(
          message: "a model cannot store a property with '@\(attribute.name)', which looks like a property wrapper: "
            + "write '@Transient @\(attribute.name)' and store the value in another property", offset: attribute.offset)
      }
    }
  }

  // MARK: The type

  private func checkType() throws(Refusal) {
    guard let type = variable.type, !variable.isTransformable else { return }
    let shape = TypeShape(type.text)
    let advice: String
    if shape.isFunction {
      advice = "the store cannot keep a function: make '\(name)' '@Transient', or a method"
    } else if shape.isExistential {
      advice = "the store cannot keep a value of any type: write a 'Codable' type, or make '\(name)' '@Transient'"
    } else if shape.isTuple {
      advice = "the store cannot keep a tuple: write a 'Codable' structure"
    } else if shape.isSet, variable.attributes.contains(where: { $0.name == "Relationship" }) {
      advice = "a relationship to several models is an array: write '[Model]' instead of 'Set<Model>'"
    } else {
      return
    }
    throw Refusal(message: advice, offset: type.offset)
  }

  // MARK: Properties that the store does not keep

  /// Refuses a `@Transient` property without value, because the generated initializer does not set it.
  private func checkTransient() throws(Refusal) {
    guard let transient = variable.attributes.first(where: { $0.name == "Transient" }), !variable.hasAccessors,
      !variable.hasModifier("static"), !variable.hasModifier("class"), variable.value == nil
    else { return }
    if variable.isOptional, variable.introducer.text == "var" { return }
    // A wrapper may have a value of its own.
    if variable.attributes.contains(where: { Self.isWrapper($0.name) }) { return }
    throw Refusal(
      message:
        "'@Transient' needs an initial value, because a fetched model begins with it: write 'var \(name) = ...', "
        + "or make the type optional", offset: transient.offset)
  }

  private static func isWrapper(_ attribute: String) -> Bool {
    guard let initial = attribute.unicodeScalars.first else { return false }
    return initial.properties.isUppercase && !known.contains(attribute)
  }
}
