import Cambium

// In a plan, an original name is what a property or class was called in the version just before:
//
//   version 1   name
//   version 2   fullName, originalName: "name"       takes the values of `name`
//   version 3   title, originalName: "fullName"      takes the values of `fullName`
//               name                                 is new, although version 1 had the name
//
// The stages of a plan match the renaming identifiers of a version with the names of the version before
// (`StagedMigrationHooks`). So the identifiers of earlier versions do not count, and need not be followed.

/// The original names in the versions of a plan.
enum OriginalNames {
  /// Has the original names of a version name parts of the version before.
  ///
  /// An original name that the version before has as well, for the same part, was copied along and does not count. One
  /// that is the original name of a part there that is gone means that part, because generated code repeats the first
  /// name of a property in all versions.
  ///
  /// - Parameters:
  ///   - model: A model of the version that is not in use yet.
  ///   - previous: The version before.
  static func settle(_ model: ManagedObjectModel, after previous: PlanVersion) {
    let classes = previous.schema.classes
    let former = classes.map { Part(name: $0.entityName, original: $0.originalName) }
    let names = Set(model.entities.map { $0.name })
    for entity in model.entities {
      entity.renamingIdentifier = settled(entity.renamingIdentifier, entity.name, former, names)
    }
    let origins = origins(of: model, in: previous.model)
    for entity in model.entities {
      guard let old = origins[entity.name], let oldClass = previous.modelClass(named: old) else { continue }
      let former = oldClass.properties.map { Part(name: $0.name, original: $0.originalName) }
      let names = Set(entity.propertiesByName.keys)
      for property in entity.properties {
        property.renamingIdentifier = settled(property.renamingIdentifier, property.name, former, names)
      }
    }
  }

  /// The names that the entities of a version have in the version before; those that are new there are not among them.
  static func origins(of model: ManagedObjectModel, in previous: ManagedObjectModel) -> [String: String] {
    let old = previous.entitiesByName
    return origins(model.entities.map { ($0.name, $0.renamingIdentifier) }) { old[$0] != nil }
  }

  /// An entity of a version, and the same entity of the version before; nil if it is new.
  static func origin(
    of name: String, _ model: ManagedObjectModel, _ previous: ManagedObjectModel
  ) -> (new: EntityDescription, old: EntityDescription)? {
    guard let new = model.entitiesByName[name],
      let old = origins(of: model, in: previous)[name].flatMap({ previous.entitiesByName[$0] })
    else { return nil }
    return (new, old)
  }

  /// The names that the properties of an entity have in the version before.
  static func origins(of entity: EntityDescription, in previous: EntityDescription) -> [String: String] {
    let old = previous.propertiesByName
    return origins(entity.propertiesByName.values.map { ($0.name, $0.renamingIdentifier) }) { old[$0] != nil }
  }

  /// As a migration matches them: original names first.
  private static func origins(_ parts: [(name: String, identifier: String?)], isKnown: (String) -> Bool) -> [String:
    String]
  {
    var result: [String: String] = [:]
    for (name, identifier) in parts {
      if let identifier, identifier != name, isKnown(identifier) { result[name] = identifier }
    }
    let taken = Set(result.values)
    for (name, _) in parts where result[name] == nil && isKnown(name) && !taken.contains(name) { result[name] = name }
    return result
  }

  /// A class or property of the version before, with the original name that its declaration gives.
  private struct Part {
    var name: String
    var original: String?
  }

  /// The original name that counts; nil if there is none.
  ///
  /// - Parameter names: The names of the parts of the version.
  private static func settled(_ original: String?, _ name: String, _ former: [Part], _ names: Set<String>) -> String? {
    guard let original, original != name else { return nil }
    if former.contains(where: { $0.name == name && $0.original == original }) { return nil }
    if former.contains(where: { $0.name == original }) { return original }
    return former.first { $0.original == original && !names.contains($0.name) }?.name ?? original
  }
}

extension ModelProperty {
  /// The original name that the declaration gives.
  fileprivate var originalName: String? {
    let said = metadata.attribute?.originalName ?? metadata.relationship?.originalName ?? ""
    return said.isEmpty || said == name ? nil : said
  }
}
