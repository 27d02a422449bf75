import CambiumModelFiles

/// Finds what of a version managed objects' classes cannot express: names.
struct ManagedObjectsCheck {
  private let context: FormContext
  private(set) var refusals: [Refusal] = []

  init(_ context: FormContext) { self.context = context }

  /// Members of `ManagedObject` that a property of the name would hide or clash with.
  static let reserved: Set<String> = [
    "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent", "description", "didSave",
    "didTurnIntoFault", "entity", "fetchValue", "hasChanges", "hasPersistentChangedValues", "hashValue", "isDeleted",
    "isFault", "isInserted", "isUpdated", "managedObjectContext", "objectID", "ofAnyObjects", "prepareForDeletion",
    "validateForDelete", "validateForInsert", "validateForUpdate", "willSave", "willTurnIntoFault",
  ]

  mutating func run() {
    var owners: [String: String] = [:]
    for entity in context.document.entities {
      let className = FormContext.className(of: entity)
      if let refusal = NameCheck.type(
        className, of: entity.name, what: "class", remedy: "set the entity's class to another name in the model")
      {
        refusals.append(refusal)
      }
      if ["AnyKeyPath", "Sendable", "String"].contains(className) {
        refusals.append(
          Refusal(
            entity.name, nil, "'@ManagedPaths' writes the type '\(className)' of Swift without its module",
            "set the entity's class to another name in the model"))
      }
      if let owner = owners.updateValue(entity.name, forKey: className) {
        refusals.append(
          Refusal(
            entity.name, nil, "its objects are of the class '\(className)', as those of \(owner) are",
            "give each entity a class of its own in the model"))
      }
      let properties =
        entity.attributes.map { $0.name } + entity.relationships.map { $0.name }
        + entity.fetchedProperties.map { $0.name }
      for name in properties {
        if let refusal = NameCheck.property(
          name, of: entity.name, typeName: className, reserved: Self.reserved, member: "each managed object")
        {
          refusals.append(refusal)
        }
      }
      for attribute in entity.attributes where attribute.type == .transformable {
        if attribute.valueTransformerName != nil, let type = attribute.customClassName, SwiftTypeText(type) == nil {
          refusals.append(
            Refusal(
              entity.name, attribute.name, "the custom class '\(type)' is no type of Swift",
              "set it to a Swift type, such as [String], or remove it"))
        }
      }
    }
  }
}
