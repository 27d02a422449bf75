import Cambium
import Foundation
import Synchronization

/// A schema and the stores that have its models. SwiftData: `ModelContainer`.
///
///     let container = try ModelContainer(for: Trip.self)
///     let context = ModelContext(container)
///
/// Thread-safe. Classes that relationships lead to need not be named.
public final class ModelContainer: Sendable {
  /// The models.
  public let schema: Schema
  /// Where the stores are.
  public let configurations: Set<ModelConfiguration>
  /// The coordinator of the stores, for use with `Cambium`.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The model of the object graph, for use with `Cambium`.
  public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }
  /// The classes by the names of their entities.
  let classes: [String: ModelClass]
  private let main = Mutex<MainContext>(MainContext())
  /// The contexts of model actors.
  private let actors = Mutex<[WeakExecutor]>([])

  private struct MainContext: @unchecked Sendable {
    // `@unchecked`: the context is used on the main actor alone.
    var context: ModelContext?
  }

  private struct WeakExecutor: Sendable { weak var executor: DefaultSerialModelExecutor? }

  /// A container of classes, with the default store unless configurations say otherwise.
  ///
  /// - Throws: ``SwiftDataError`` if the classes make no schema, or the configurations don't fit;
  ///   ``SwiftDataError/loadIssueModelContainer`` with the cause if a store cannot be opened.
  public convenience init(
    for forTypes: any PersistentModel.Type..., configurations: ModelConfiguration...
  ) throws {
    try self.init(for: Schema(forTypes), configurations: configurations)
  }

  /// A container of a schema.
  ///
  /// - Throws: as the others.
  public convenience init(for givenSchema: Schema, configurations: ModelConfiguration...) throws {
    try self.init(for: givenSchema, configurations: configurations)
  }

  /// A container of a schema.
  ///
  /// - Throws: as the others.
  public convenience init(for givenSchema: Schema, configurations: [ModelConfiguration]) throws {
    try self.init(for: givenSchema, configurations: configurations) { _ in }
  }

  /// A container of a schema, whose stores the caller may describe more closely before they are opened. For benchmarks.
  ///
  /// - Throws: as the others.
  @_spi(Stores) public init(
    for givenSchema: Schema, configurations: [ModelConfiguration], describing: (PersistentStoreDescription) -> Void
  ) throws {
    let given = configurations.isEmpty ? [ModelConfiguration(schema: givenSchema)] : configurations
    schema = givenSchema
    self.configurations = Set(given)
    classes = Dictionary(givenSchema.classes.map { ($0.entityName, $0) }, uniquingKeysWith: { first, _ in first })
    do {
      let compiled = try givenSchema.compiled.get()
      let names = try Self.configurationNames(of: given, in: givenSchema, compiled)
      persistentStoreCoordinator = PersistentStoreCoordinator(managedObjectModel: compiled)
      for (configuration, name) in zip(given, names) {
        try configuration.validate()
        let description =
          configuration.isStoredInMemoryOnly
          ? PersistentStoreDescription(type: .inMemory) : PersistentStoreDescription(url: configuration.url)
        description.configuration = name
        description.isReadOnly = !configuration.allowsSave
        description.tracksHistory = configuration.allowsSave
        describing(description)
        try persistentStoreCoordinator.addPersistentStore(description)
      }
    } catch let error as SwiftDataError {
      throw error
    } catch let error as CambiumError {
      if let mapped = error.asSwiftDataError as? SwiftDataError { throw mapped }
      throw SwiftDataError(.loadIssueModelContainer, error.message, error)
    } catch {
      throw SwiftDataError(.loadIssueModelContainer, "\(error)", error)
    }
  }

  /// Names a configuration of the model for each store, if there are several: the entities of its schema, or those that no
  /// other one has.
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

  /// The context of the main actor, which saves by itself: see ``ModelContext/autosaveEnabled``. It shows what other
  /// contexts of the container save.
  @MainActor public var mainContext: ModelContext {
    if let known = main.withLock({ $0.context }) { return known }
    let made = ModelContext(self, .mainQueue)
    made.autosaveEnabled = true
    main.withLock { $0.context = made }
    return made
  }

  /// Runs a block with a new context of its own, on a thread that is none of Swift's concurrency pool, and hands on what it
  /// returns. What the block does not save is lost. SwiftData has no such call.
  ///
  ///     let count = try await container.perform { context in
  ///       try context.delete(model: Trip.self)
  ///       try context.save()
  ///     }
  @discardableResult
  nonisolated(nonsending)
    public func perform<R: Sendable>(_ block: @escaping @Sendable (ModelContext) throws -> R) async throws -> R
  {
    let background = ManagedObjectContext(
      concurrencyType: .privateQueue, persistentStoreCoordinator: persistentStoreCoordinator)
    return try await background.perform { try block(ModelContext(self)) }
  }

  // MARK: The end

  func add(_ executor: DefaultSerialModelExecutor) {
    actors.withLock {
      $0.removeAll { $0.executor == nil }
      $0.append(WeakExecutor(executor: executor))
    }
  }

  /// Saves what ``mainContext`` and model actors have not saved and would save by themselves, and closes the stores. Models of
  /// the container are of no use afterwards. SwiftData has no such call: there, what was not saved when a process ends is
  /// lost.
  ///
  /// - Throws: the first error of a save, after which the stores stay open.
  @MainActor public func close() async throws {
    if let context = main.withLock({ $0.context }), context.autosaveEnabled { try context.save() }
    for executor in actors.withLock({ $0.compactMap { $0.executor } }) { try await executor.saveAtEnd() }
    for store in persistentStoreCoordinator.persistentStores {
      try mappingErrors { try persistentStoreCoordinator.remove(store) }
    }
  }

  /// Deletes everything in the stores, and leaves their files without any model.
  ///
  /// - Throws: what deleting and saving throws.
  public func erase() throws {
    let context = ModelContext(self)
    for modelClass in schema.classes where modelClass.superclass == nil { try context.deleteAll(of: modelClass) }
    try context.save()
  }
}

extension ModelContainer: Equatable {
  /// Whether both are the same.
  public static func == (a: ModelContainer, b: ModelContainer) -> Bool { a === b }
}
