import Cambium

// The object graph matches a property by its renaming identifier, which is the original name of both sides: a property
// that was renamed twice needs the same original name in both versions. Application code names what the property was
// called in the version before. In a plan the version before is known, so both are followed:
//
//   version 1   name version 2   fullName, originalName: "name"        identifier name version 3   title, originalName:
//   "fullName"       identifier name, by ``follow(_:after:)``
//
// Renaming identifiers are no part of version hashes.

/// The original names in the versions of a plan.
enum OriginalNames {
  /// Has original names that are names in the version before stand for what these were called first.
  ///
  /// - Parameters:
  ///   - model: A model that is not in use yet.
  ///   - previous: The model of the version before, whose own original names are followed.
  static func follow(_ model: ManagedObjectModel, after previous: ManagedObjectModel) {
    for entity in model.entities {
      if let first = first(entity.renamingIdentifier, entity.name, previous.entities.map { $0.names }) {
        entity.renamingIdentifier = first
      }
    }
    for entity in model.entities {
      guard let old = counterpart(of: entity, in: previous) else { continue }
      let names = old.propertiesByName.values.map { Names(name: $0.name, identifier: $0.renamingIdentifier ?? $0.name) }
      for property in entity.properties {
        if let first = first(property.renamingIdentifier, property.name, names) { property.renamingIdentifier = first }
      }
    }
  }

  /// The entity of the version before.
  static func counterpart(of entity: EntityDescription, in previous: ManagedObjectModel) -> EntityDescription? {
    let names = entity.names
    let candidates = previous.entities.filter { $0.names.identifier == names.identifier }
    return candidates.first { $0.name == names.name } ?? candidates.first ?? previous.entitiesByName[names.name]
  }

  fileprivate struct Names {
    var name: String
    var identifier: String
  }

  /// The identifier of the part that an original name names; nil if the name is to stay.
  private static func first(_ identifier: String?, _ name: String, _ previous: [Names]) -> String? {
    guard let identifier, identifier != name, !previous.contains(where: { $0.identifier == identifier }) else {
      return nil
    }
    return previous.first { $0.name == identifier }?.identifier
  }
}

extension EntityDescription {
  fileprivate var names: OriginalNames.Names { .init(name: name, identifier: renamingIdentifier ?? name) }
}
