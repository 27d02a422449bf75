import Cambium
import CambiumEngine

/// A version of a migration plan, with its schema.
struct PlanVersion {
  let type: any VersionedSchema.Type
  let schema: Schema
  /// The model of the object graph, which is in use.
  let model: ManagedObjectModel
  /// The same in the engine's form.
  let stored: CambiumEngine.Schema
  /// The same as the version before another one, where only names count.
  let source: CambiumEngine.Schema

  /// - Parameter previous: The version before.
  /// - Throws: ``SwiftDataError/loadIssueModelContainer`` if the classes make no schema, or two have one name.
  init(
    _ type: any VersionedSchema.Type, after previous: PlanVersion?, of plan: any SchemaMigrationPlan.Type
  ) throws {
    self.type = type
    schema = Schema(type.models, version: type.versionIdentifier) { model in
      if let previous { OriginalNames.settle(model, after: previous) }
      try model.takeIntoUse()
    }
    do {
      try Self.requireOneClassForEachEntity(schema.classes)
      model = try schema.compiled.get()
      stored = try model.schema()
      source = try stored.withoutRenamingIdentifiers()
    } catch {
      throw SwiftDataError(
        .loadIssueModelContainer,
        "the version \(schema.version) (\(type)) of the migration plan \(plan) makes no schema: "
          + ((error as? SwiftDataError)?.message ?? (error as? CambiumError)?.message ?? "\(error)"),
        (error as? SwiftDataError)?.underlying ?? error)
    }
  }

  /// The version, for messages.
  var name: String { "\(schema.version) (\(type))" }
  var number: Schema.Version { schema.version }
  /// Tells versions of the object graph apart.
  var checksum: String { stored.versionChecksum }

  /// The class of an entity.
  func modelClass(named entity: String) -> ModelClass? { schema.classes.first { $0.entityName == entity } }

  private static func requireOneClassForEachEntity(_ classes: [ModelClass]) throws {
    var known: [String: ModelClass] = [:]
    for modelClass in classes {
      guard let other = known.updateValue(modelClass, forKey: modelClass.entityName) else { continue }
      throw SwiftDataError(
        .loadIssueModelContainer,
        "it has two classes for the entity '\(modelClass.entityName)', \(other.fullName)\(Self.way(to: other, in: classes)) "
          + "and \(modelClass.fullName)\(Self.way(to: modelClass, in: classes)). A class that several versions share leads to "
          + "the classes of one of them only; nest a copy of it in each version")
    }
  }

  /// The relationship that leads to a class, for messages.
  private static func way(to modelClass: ModelClass, in classes: [ModelClass]) -> String {
    for other in classes {
      for property in other.ownProperties where property.destination.map({ $0 == modelClass.type }) ?? false {
        return " (by \(other.fullName).\(property.name))"
      }
    }
    return ""
  }
}

extension ModelClass {
  /// The name of the class with that of what it is nested in.
  var fullName: String {
    let text = String(reflecting: type)
    // Without the module.
    return text.firstIndex(of: ".").map { String(text[text.index(after: $0)...]) } ?? text
  }

  /// Whether the class is nested in a version.
  func isNested(in version: any VersionedSchema.Type) -> Bool {
    String(reflecting: type).hasPrefix(String(reflecting: version) + ".")
  }
}
