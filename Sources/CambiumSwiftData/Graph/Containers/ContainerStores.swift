import Cambium
import Foundation
import Synchronization

/// The schema of a container, and its open stores.
final class ContainerStores: Sendable {
  let schema: Schema
  let plan: (any SchemaMigrationPlan.Type)?
  let configurations: Set<ModelConfiguration>
  let coordinator: PersistentStoreCoordinator
  /// The classes by the names of their entities.
  let classes: [String: ModelClass]
  private let actors = Mutex<[WeakExecutor]>([])

  private struct WeakExecutor: Sendable { weak var executor: DefaultSerialModelExecutor? }

  /// Opens the stores.
  ///
  /// - Parameters:
  ///   - plan: How stores of earlier versions are migrated; nil if what they need is to be inferred.
  ///   - describing: May change how a store is opened.
  init(
    _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?, _ configurations: [ModelConfiguration],
    _ describing: (PersistentStoreDescription) -> Void
  ) throws {
    let given = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
    self.schema = schema
    self.plan = plan
    self.configurations = Set(given)
    classes = Self.classes(of: schema)
    coordinator = try SwiftDataError.loading {
      let checked = try plan.map { try CheckedPlan($0) }
      try checked?.check(schema, files: given.filter { !$0.isStoredInMemoryOnly }.map { $0.url })
      // A model of its own, because the entities of each store are named in it.
      let model = try checked?.makeModel(of: schema) ?? schema.makeModel()
      let names = try Self.configurationNames(of: given, in: schema, model)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      for (configuration, name) in zip(given, names) {
        try configuration.validate()
        let description =
          configuration.isStoredInMemoryOnly
          ? PersistentStoreDescription(type: .inMemory) : PersistentStoreDescription(url: configuration.url)
        description.configuration = name
        description.isReadOnly = !configuration.allowsSave
        description.tracksHistory = configuration.allowsSave
        description.keepsModel = true
        if !configuration.isStoredInMemoryOnly {
          let entities = name.flatMap { model.entities(forConfigurationName: $0) }
          try checked?.apply(to: description, configuration, entities: entities.map { Set($0.map { $0.name }) })
        }
        describing(description)
        do { try coordinator.addPersistentStore(description) } catch let error as CambiumError where checked == nil {
          let own: (any Error)? = SwiftDataError(error, openingStoreAt: configuration.url, version: schema.version)
          throw own ?? error
        }
      }
      return coordinator
    }
  }

  /// The stores of a coordinator that has them already.
  init(
    _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?, _ configurations: [ModelConfiguration],
    _ coordinator: PersistentStoreCoordinator
  ) {
    self.schema = schema
    self.plan = plan
    self.configurations = Set(configurations)
    self.coordinator = coordinator
    classes = Self.classes(of: schema)
  }

  private static func classes(of schema: Schema) -> [String: ModelClass] {
    Dictionary(schema.classes.map { ($0.entityName, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Names a configuration of the model for each store, if there are several: the entities of its schema, or those that
  /// no other one has.
  private static func configurationNames(
    of given: [ModelConfiguration], in schema: Schema, _ model: ManagedObjectModel
  ) throws -> [String?] {
    for (place, configuration) in given.enumerated() {
      for other in given[..<place]
      where other.url == configuration.url && !configuration.isStoredInMemoryOnly || other.name == configuration.name {
        throw SwiftDataError(
          .duplicateConfiguration, "two configurations have the name '\(configuration.name)' or one file; name each")
      }
      for entity in configuration.schema?.classes ?? []
      where !schema.classes.contains(where: { $0 === entity }) {
        throw SwiftDataError(
          .configurationSchemaNotFoundInContainerSchema,
          "the configuration '\(configuration.name)' has '\(entity.entityName)', which is not in the container's schema"
        )
      }
    }
    guard given.count > 1 else { return [nil] }
    let claimed = Set(given.flatMap { $0.schema?.classes.map { $0.entityName } ?? [] })
    return given.enumerated().map { place, configuration in
      let wanted = configuration.schema.map { Set($0.classes.map { $0.entityName }) }
      let name = "store\(place)"
      model.setEntities(
        model.entities.filter { wanted?.contains($0.name) ?? !claimed.contains($0.name) }, forConfigurationName: name)
      return name
    }
  }

  // MARK: Model actors

  /// The executors of the model actors that are there.
  var executors: [DefaultSerialModelExecutor] { actors.withLock { $0.compactMap { $0.executor } } }

  func add(_ executor: DefaultSerialModelExecutor) {
    actors.withLock {
      $0.removeAll { $0.executor == nil }
      $0.append(WeakExecutor(executor: executor))
    }
  }
}
