import Cambium
import CambiumEngine

/// Models of a store that stand in the way of a stage of a migration.
public struct MigrationProblem: Sendable, CustomStringConvertible {
  /// The kinds of problems.
  public enum Kind: Sendable {
    /// The property is required and has no initial value, and the models have no value.
    case missingValue
    /// Several models have the same values, which are to be unique.
    case duplicates
    /// The property gets a type that does not hold the models' numbers.
    case numberTooLarge
    /// A relationship to one model would lead to several.
    case severalDestinations
    /// Any other.
    case other
  }

  /// The kind.
  public let kind: Kind
  /// The name of the models in the new version.
  public let entityName: String
  /// The properties, by their names in the new version.
  public let propertyNames: [String]
  /// How many models are in the way.
  public let count: Int
  /// Some of the models, with the values that are in the way. At most 10.
  public let examples: [String]
  /// The models of ``examples``.
  public let identifiers: [PersistentIdentifier]
  /// The problem in one sentence, with the examples.
  public let description: String
  /// Whether values are missing of a property that the old version lacks.
  let isOfNewProperty: Bool

  /// - Parameters:
  ///   - container: Shows the store before the stage.
  ///   - version: The version that the stage leads to.
  init(_ block: MigrationBlock, in container: PersistentContainer, to version: PlanVersion) {
    entityName = block.entity
    count = block.count
    let store = container.persistentStoreCoordinator.persistentStores.first
    let ids = store?.objectIDs(of: block) ?? []
    identifiers = ids.map { PersistentIdentifier($0) }
    let found = identifiers.map { "\($0)" }.joined(separator: ", ")
    let models = "\(block.count) model\(block.count == 1 ? "" : "s")"
    let origin = OriginalNames.origin(of: block.entity, version.model, container.managedObjectModel)
    if case .missingValue = block.reason, let property = block.property, let (new, old) = origin {
      isOfNewProperty = OriginalNames.origins(of: new, in: old)[property.prefix { $0 != "." }.description] == nil
    } else {
      isOfNewProperty = false
    }
    let place = block.entity + (block.property.map { ".\($0)" } ?? "")
    let more = block.count > identifiers.count ? " and others" : ""
    switch block.reason {
    case .duplicate(let paths):
      (kind, propertyNames) = (.duplicates, paths)
      let reader = OldValues(container, version)
      examples = reader.groups(of: ids, entity: block.entity, paths: paths)
      description =
        "'\(block.entity)' is to be unique by \(paths.joined(separator: ", ")), and \(models) are not: "
        + examples.joined(separator: "; ") + more
    case .missingValue:
      (kind, propertyNames) = (.missingValue, block.property.map { [$0] } ?? [])
      examples = identifiers.map { "\($0)" }
      description =
        "'\(place)' is required and has no initial value, and \(models) \(block.count == 1 ? "has" : "have") none: "
        + "\(found)\(more)"
    case .overflow(let type):
      (kind, propertyNames) = (.numberTooLarge, block.property.map { [$0] } ?? [])
      let reader = OldValues(container, version)
      examples = reader.values(of: ids, entity: block.entity, path: block.property ?? "")
      description =
        "'\(place)' becomes \(type.name), which does not hold the values of \(models): \(examples.joined(separator: ", "))\(more)"
    case .ambiguousInverse:
      (kind, propertyNames) = (.severalDestinations, block.property.map { [$0] } ?? [])
      examples = identifiers.map { "\($0)" }
      description = "'\(place)' leads to one model, and would lead to several from \(models): \(found)\(more)"
    case .abstractEntity:
      (kind, propertyNames) = (.other, [])
      examples = identifiers.map { "\($0)" }
      description = block.description
    }
  }
}

/// Reads the values of models by the names that their properties get in the next version.
private struct OldValues {
  private let context: ManagedObjectContext
  private let version: PlanVersion

  init(_ container: PersistentContainer, _ version: PlanVersion) {
    context = ManagedObjectContext(
      concurrencyType: .confinement, persistentStoreCoordinator: container.persistentStoreCoordinator)
    self.version = version
  }

  /// The models with the same values, each group with its values: `"Ada" (2: Person/p1, Person/p2)`.
  func groups(of ids: [ManagedObjectID], entity: String, paths: [String]) -> [String] {
    var groups: [(values: String, models: [String])] = []
    for id in ids {
      let values = paths.map { value(of: id, entity: entity, path: $0) }.joined(separator: ", ")
      let model = "\(PersistentIdentifier(id))"
      if let place = groups.firstIndex(where: { $0.values == values }) {
        groups[place].models.append(model)
      } else {
        groups.append((values, [model]))
      }
    }
    return groups.map { "\($0.values) (\($0.models.count): \($0.models.joined(separator: ", ")))" }
  }

  /// The models with their values: `Person/p1 (300)`.
  func values(of ids: [ManagedObjectID], entity: String, path: String) -> [String] {
    ids.map { "\(PersistentIdentifier($0)) (\(value(of: $0, entity: entity, path: path)))" }
  }

  private func value(of id: ManagedObjectID, entity: String, path: String) -> String {
    guard let object = try? context.existingObject(with: id) else { return "?" }
    var names = path.split(separator: ".").map { String($0) }
    guard let first = names.first else { return "?" }
    names[0] = oldName(first, entity, object.entity)
    guard let value = object.value(forKeyPath: names.joined(separator: ".")) else { return "nil" }
    if let object = value as? ManagedObject { return "\(PersistentIdentifier(object.objectID))" }
    return value is String ? "\"\(value)\"" : "\(value)"
  }

  /// The name that a property of the next version has in this one.
  private func oldName(_ name: String, _ entity: String, _ old: EntityDescription) -> String {
    guard let new = version.model.entitiesByName[entity] else { return name }
    return OriginalNames.origins(of: new, in: old)[name] ?? name
  }
}
