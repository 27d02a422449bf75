// The model as Swift text:
//
//     let model = try ManagedObjectModel {
//       Composite("ColorScheme") { Attribute("primary", .string); Attribute("secondary", .string) }
//       Entity("Aircraft") {
//         Attribute("tailNumber", .string, optional: false)
//         Attribute("colorScheme", composite: "ColorScheme")
//         ToMany("logEntries", "LogEntry", inverse: "aircraft", deleteRule: .cascade)
//         Unique("tailNumber")
//       }
//       Entity("LogEntry") { ToOne("aircraft", "Aircraft", inverse: "logEntries") }
//     }
//
// It makes the same descriptions that can be made by hand.

/// Collects the parts of a model.
@resultBuilder public enum ModelBuilder {
  /// One part.
  public static func buildExpression(_ part: Entity) -> [ModelBuilderPart] { [.entity(part)] }
  /// One part.
  public static func buildExpression(_ part: Composite) -> [ModelBuilderPart] { [.composite(part)] }
  /// One part.
  public static func buildExpression(_ part: Configuration) -> [ModelBuilderPart] { [.configuration(part)] }
  /// One part.
  public static func buildExpression(_ part: RequestTemplate) -> [ModelBuilderPart] { [.template(part)] }
  /// One part.
  public static func buildExpression(_ part: RemovedEntity) -> [ModelBuilderPart] { [.removed(part)] }
  /// Parts in a row.
  public static func buildBlock(_ parts: [ModelBuilderPart]...) -> [ModelBuilderPart] { parts.flatMap { $0 } }
  /// The parts of `if` without `else`.
  public static func buildOptional(_ parts: [ModelBuilderPart]?) -> [ModelBuilderPart] { parts ?? [] }
  /// The parts of `if`.
  public static func buildEither(first parts: [ModelBuilderPart]) -> [ModelBuilderPart] { parts }
  /// The parts of `else`.
  public static func buildEither(second parts: [ModelBuilderPart]) -> [ModelBuilderPart] { parts }
  /// The parts of a loop.
  public static func buildArray(_ parts: [[ModelBuilderPart]]) -> [ModelBuilderPart] { parts.flatMap { $0 } }
}

/// A part of a model in ``ModelBuilder``.
public enum ModelBuilderPart {
  /// An entity.
  case entity(Entity)
  /// A composite type.
  case composite(Composite)
  /// A named subset of the entities.
  case configuration(Configuration)
  /// A stored fetch request.
  case template(RequestTemplate)
  /// An entity of earlier versions that the model removes.
  case removed(RemovedEntity)
}

/// A stored fetch request, in a model builder; see
/// ``ManagedObjectModel/fetchRequestFromTemplate(withName:substitutionVariables:as:)``.
public struct RequestTemplate {
  let name: String
  let template: FetchRequestTemplate

  /// A request for objects of an entity, by a predicate with `$variables`.
  public init(_ name: String, _ entity: String, where predicate: String? = nil, limit: Int = 0) {
    self.name = name
    template = FetchRequestTemplate(entityName: entity, predicateFormat: predicate, fetchLimit: limit)
  }
}

/// A named subset of the model's entities, in a model builder.
public struct Configuration {
  /// The name.
  public var name: String
  /// The names of the entities.
  public var entities: [String]

  /// A configuration.
  public init(_ name: String, _ entities: String...) {
    self.name = name
    self.entities = entities
  }
}

extension ManagedObjectModel {
  /// Makes a model of its parts, and checks it.
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` with what is wrong; ``ManagedObjectModelError``.
  public convenience init(versionIdentifiers: Set<String> = [], @ModelBuilder _ parts: () -> [ModelBuilderPart]) throws
  {
    self.init()
    self.versionIdentifiers = versionIdentifiers
    var entities: [EntityDescription] = []
    var types: [CompositeAttributeDescription] = []
    var configurations: [Configuration] = []
    for part in parts() {
      switch part {
      case .entity(let entity): entities.append(try entity.description())
      case .composite(let composite): types.append(try composite.description())
      case .configuration(let configuration): configurations.append(configuration)
      case .template(let template): setFetchRequestTemplate(template.template, forName: template.name)
      case .removed(let removed): removedEntities.append(removed.name)
      }
    }
    compositeTypes = types
    self.entities = entities
    let byName = entitiesByName
    for configuration in configurations {
      var members: [EntityDescription] = []
      for name in configuration.entities {
        guard let entity = byName[name] else {
          throw CambiumError(
            .invalidModel, "configuration '\(configuration.name)' names '\(name)', which the model does not have",
            entityName: name)
        }
        members.append(entity)
      }
      setEntities(members, forConfigurationName: configuration.name)
    }
    fillElements(from: try schema())
  }

  /// Makes a numbered version of a model from its parts, and checks it.
  ///
  ///     let model = try ManagedObjectModel(version: 3) {
  ///       Entity("Trip") { Attribute("title", .string) }
  ///     }
  ///
  /// Raise the number in each version that removes something. The store keeps the number of its model. An application
  /// with a higher number may drop what its own model lacks. An application with a lower number may not: opening the
  /// store throws ``CambiumError/Code/migrationMissingSourceModel``. The number is the model's only version identifier
  /// (``versionIdentifiers``), and has no part in the version hashes. Core Data has no order of versions.
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` with the mistake, also for a negative number;
  ///   ``ManagedObjectModelError``.
  public convenience init(version: Int, @ModelBuilder _ parts: () -> [ModelBuilderPart]) throws {
    guard version >= 0 else {
      throw CambiumError(.invalidModel, "the version of a model is \(version); number versions from 0 or 1")
    }
    try self.init(versionIdentifiers: ["\(version)"], parts)
  }
}
