import CambiumModelFiles

/// Finds what of a version `@Model` classes cannot express.
struct SwiftDataCheck {
  private let context: FormContext
  private let inverses: InverseSides
  private(set) var refusals: [Refusal] = []
  private(set) var notes: [String] = []

  init(_ context: FormContext) {
    self.context = context
    inverses = InverseSides(context.index)
  }

  private static let keep = "generate managed objects, or keep reading the model file"

  /// Members that `@Model` adds, or that all models have.
  static let reserved: Set<String> = [
    "persistentModelID", "modelContext", "hasChanges", "isDeleted", "persistentBackingData", "schemaMetadata",
    "objectID", "hashValue",
  ]

  mutating func run() {
    for entity in context.document.entities { check(entity) }
    checkRings()
    for type in SwiftDataForm(context).usedComposites() { check(type) }
    for configuration in context.document.configurations {
      notes.append(
        "configuration '\(configuration.name)' is left out: give a ModelConfiguration a schema of its entities")
    }
    for request in context.document.fetchRequests {
      notes.append("fetch request '\(request.name)' is left out: write a FetchDescriptor in its place")
    }
  }

  private mutating func refuse(_ entity: String, _ property: String?, _ reason: String, _ remedy: String) {
    refusals.append(Refusal(entity, property, reason, remedy))
  }

  // MARK: Entities

  private mutating func check(_ entity: ModelDocument.Entity) {
    let rename = "rename the entity, with '\(entity.name)' as its renaming identifier"
    if let refusal = NameCheck.type(entity.name, of: entity.name, what: "class", remedy: rename) {
      refusals.append(refusal)
    }
    if entity.name == "Sendable" {
      refuse(entity.name, nil, "'@Model' writes the protocol 'Sendable' without its module", rename)
    }
    if entity.isAbstract {
      refuse(
        entity.name, nil, "SwiftData has no abstract entities",
        "turn 'Abstract Entity' off in a new version of the model, or \(Self.keep)")
    }
    if entity.versionHashModifier != nil {
      refuse(
        entity.name, nil, "SwiftData has no version hash modifier of an entity",
        "give the modifier to one of its properties in a new version of the model, or \(Self.keep)")
    }
    for property in entity.fetchedProperties {
      refuse(
        entity.name, property.name, "SwiftData has no fetched properties",
        "remove it, and write a method that fetches the objects")
    }
    let properties = Set(entity.attributes.map { $0.name } + entity.relationships.map { $0.name })
    for attribute in entity.attributes {
      checkName(attribute.name, properties, entity.name)
      check(attribute, entity.name)
      if attribute.name == "id", attribute.type == .transformable {
        refuse(entity.name, "id", "the values of an 'id' must be hashable", "rename it, or choose another type")
      }
    }
    for relationship in entity.relationships {
      checkName(relationship.name, properties, entity.name)
      check(relationship, entity)
    }
    for paths in entity.uniquenessConstraints {
      for path in paths where context.index.resolve(path, from: entity) == nil {
        refuse(
          entity.name, nil, "the uniqueness constraint on '\(path)' is not on a stored value or to-one relationship",
          "correct it in the model")
      }
    }
    checkIndexes(of: entity)
  }

  private mutating func checkName(_ name: String, _ properties: Set<String>, _ entity: String) {
    if let refusal = NameCheck.property(name, of: entity, reserved: Self.reserved, member: "each model") {
      refusals.append(refusal)
    } else if name.hasPrefix("_"), properties.contains(String(name.dropFirst())) {
      refuse(
        entity, name, "'@Model' adds a member of the name for '\(name.dropFirst())'",
        "rename it in the model, with '\(name)' as its renaming identifier")
    }
  }

  /// Finds entities whose initializer needs an object that needs one of theirs first.
  private mutating func checkRings() {
    for entity in context.document.entities {
      for relationship in entity.relationships where Self.isNeeded(relationship) {
        guard relationship.destination == entity.name || needs(relationship.destination, entity.name) else { continue }
        refuse(
          entity.name, relationship.name,
          "no first object can be made, because it needs "
            + (relationship.destination == entity.name
              ? "another one" : "one of \(relationship.destination), which needs one of \(entity.name)"),
          "make it optional in a new version of the model, or \(Self.keep)")
      }
    }
  }

  private static func isNeeded(_ relationship: ModelDocument.Relationship) -> Bool {
    !relationship.isToMany && !relationship.isOptional
  }

  /// Whether making an object of an entity takes one of another entity, which may be made of an entity below it.
  private func needs(_ entity: String, _ other: String) -> Bool {
    var open = [entity]
    var seen: Set<String> = [entity]
    while let name = open.popLast() {
      guard let next = context.index.entity(name) else { continue }
      for relationship in context.index.lineage(of: next).flatMap({ $0.relationships })
      where Self.isNeeded(relationship) {
        if relationship.destination == other { return true }
        if seen.insert(relationship.destination).inserted { open.append(relationship.destination) }
      }
    }
    return false
  }

  private mutating func checkIndexes(of entity: ModelDocument.Entity) {
    let usable = context.index.usableIndexes(of: entity)
    for index in usable {
      if index.partialPredicate != nil {
        notes.append("index '\(index.name)' of \(entity.name) is left out: SwiftData's have no condition")
      } else if index.elements.contains(where: { $0.isAscending != index.elements.first?.isAscending }) {
        notes.append("index '\(index.name)' of \(entity.name) is written without its descending parts")
      }
    }
  }

  // MARK: Attributes

  private mutating func check(_ attribute: ModelDocument.Attribute, _ place: String) {
    let name = attribute.name
    switch attribute.type {
    case .undefined:
      refuse(
        place, name, "the attribute has no type", "choose a type, or leave it out and write an @Transient property")
    case .objectID:
      refuse(place, name, "SwiftData has no attributes of type ObjectID", "make it a relationship, or \(Self.keep)")
    case .transformable: checkTransformable(attribute, place)
    case .composite:
      if let type = attribute.compositeName.flatMap({ context.index.composite($0) }), type.elements.isEmpty {
        refuse(place, name, "the composite type '\(type.name)' has no elements", "give it one")
      }
    default: break
    }
    if attribute.derivation != nil {
      refuse(
        place, name, "SwiftData has no derived attributes",
        "remove it, and write a computed property; or \(Self.keep)")
    }
    if attribute.minimum != nil || attribute.maximum != nil || attribute.regularExpression != nil {
      refuse(
        place, name, "SwiftData has no validation rules",
        "remove minimum, maximum and pattern in the model, and check the values where they are set")
    }
  }

  private mutating func checkTransformable(_ attribute: ModelDocument.Attribute, _ place: String) {
    if attribute.valueTransformerName == nil {
      refuse(
        place, attribute.name, "the transformable attribute names no value transformer",
        "name one in the model, and register it with AttributeTransformers")
    }
    guard let type = attribute.customClassName else {
      refuse(
        place, attribute.name, "the model does not say of which type the transformable values are",
        "set the attribute's custom class to a Swift type, such as [String]")
      return
    }
    if SwiftTypeText(type) == nil {
      refuse(
        place, attribute.name, "the custom class '\(type)' is no type of Swift",
        "set it to a Swift type, such as [String]")
    }
  }

  // MARK: Relationships

  private mutating func check(_ relationship: ModelDocument.Relationship, _ entity: ModelDocument.Entity) {
    let name = relationship.name
    if relationship.isTransient {
      refuse(
        entity.name, name, "SwiftData has no transient relationships",
        "leave it out, and write an @Transient property")
    }
    if relationship.isToMany, !relationship.isOptional, relationship.minimumCount == 0 {
      refuse(
        entity.name, name, "SwiftData has no required to-many relationship without a least count",
        "make it optional, or set its minimum count to 1, in a new version of the model")
    }
    if relationship.inverse == name, inverses.isOwnInverse(relationship, of: entity) {
      refuse(
        entity.name, name,
        "it is its own inverse, which the compiler takes for a circular reference in SwiftData's macros",
        "add a relationship for the other direction in a new version of the model, or \(Self.keep)")
    }
    if relationship.name == relationship.destination, relationship.inverse != nil {
      refuse(
        entity.name, name,
        "it has an inverse and the name of the class that it leads to, which the compiler takes for a circular reference in "
          + "SwiftData's macros", "rename it in the model, with '\(name)' as its renaming identifier")
    }
    if relationship.inverse == nil, let inferred = inverses.inferred(for: relationship, of: entity) {
      let destination = relationship.destination
      refuse(
        entity.name, name,
        "it has no inverse, but SwiftData infers \(destination).\(inferred), because no other relationships lead from one of "
          + "the two entities to the other", "make the two each other's inverses in a new version of the model")
    }
  }

  // MARK: Composites

  private mutating func check(_ type: ModelDocument.Composite) {
    if let refusal = NameCheck.type(type.name, of: type.name, what: "structure", remedy: "rename the composite type") {
      refusals.append(refusal)
    }
    if context.index.entity(type.name) != nil {
      refuse(type.name, nil, "an entity has the same name", "rename the composite type")
    }
    for element in type.elements {
      if let refusal = NameCheck.property(element.name, of: type.name, reserved: [], member: "") {
        refusals.append(refusal)
      }
      check(element, type.name)
      if element.type == .transformable {
        refuse(type.name, element.name, "an element of a structure cannot be transformable", Self.keep)
      }
      if element.renamingIdentifier != nil || element.versionHashModifier != nil {
        refuse(
          type.name, element.name, "elements have no renaming identifier or version hash modifier in SwiftData",
          "remove it in the model, or \(Self.keep)")
      }
    }
  }
}
