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
  /// What contexts need of the container. They do not need the container itself, so that its main context does not keep
  /// it.
  let stores: ContainerStores
  private let main: Mutex<MainContext>

  private struct MainContext: @unchecked Sendable {
    // `@unchecked`: the context is used on the main actor alone.
    var context: ModelContext?
  }

  /// The models.
  public var schema: Schema { stores.schema }
  /// Where the stores are.
  public var configurations: Set<ModelConfiguration> { stores.configurations }
  /// The coordinator of the stores, for use with `Cambium`.
  public var persistentStoreCoordinator: PersistentStoreCoordinator { stores.coordinator }
  /// The model of the object graph, for use with `Cambium`.
  public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// How stores of earlier versions are migrated; `nil` if what they need is to be inferred.
  public var migrationPlan: (any SchemaMigrationPlan.Type)? { stores.plan }

  /// A container of classes, with the default store unless configurations say otherwise.
  ///
  /// A store of an earlier version is migrated: by the stages of the plan, or, without a plan, by what can be inferred
  /// from the two versions. The classes are those of the plan's last version. See <doc:MigratingWithPlans>.
  ///
  /// - Throws: ``SwiftDataError`` if the classes make no schema, or the configurations don't fit;
  ///   ``SwiftDataError/loadIssueModelContainer`` with the cause if a store cannot be opened, the plan's versions and
  ///   stages do not fit together, or a stage fails. With a plan also ``SwiftDataError/unknownDataStoreSchema`` for a
  ///   store of a version that the plan lacks, and ``SwiftDataError/backwardMigration`` for a store of a later version
  ///   than the container.
  public convenience init(
    for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: Schema(forTypes), migrationPlan: migrationPlan, configurations: configurations)
  }

  /// A container of a schema.
  ///
  /// - Throws: as the others.
  public convenience init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: ModelConfiguration...
  ) throws {
    try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
  }

  /// A container of a schema.
  ///
  /// - Throws: as the others.
  public convenience init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: [ModelConfiguration]
  ) throws {
    self.init(try ContainerStores(givenSchema, migrationPlan, configurations) { _ in })
  }

  /// A container of a schema, whose stores the caller may describe more closely before they are opened. For benchmarks
  /// and tests.
  ///
  /// - Throws: as the others.
  @_spi(Stores) public convenience init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: [ModelConfiguration],
    describing: (PersistentStoreDescription) -> Void
  ) throws {
    self.init(try ContainerStores(givenSchema, migrationPlan, configurations, describing))
  }

  /// A container of stores that are open.
  init(_ stores: ContainerStores) {
    self.stores = stores
    main = Mutex(MainContext())
  }

  /// The container of a main context whose own is gone.
  init(of context: ModelContext) {
    stores = context.stores
    main = Mutex(MainContext(context: context))
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

  /// Runs a block with a new context of its own, on a thread that is none of Swift's concurrency pool, and hands on
  /// what it returns. What the block does not save is lost. SwiftData has no such call.
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

  /// Saves what ``mainContext`` and model actors have not saved and would save by themselves, and closes the stores.
  /// Models of the container are of no use afterwards. SwiftData has no such call: there, what was not saved when a
  /// process ends is lost.
  ///
  /// - Throws: the first error of a save, after which the stores stay open.
  @MainActor public func close() async throws {
    if let context = main.withLock({ $0.context }), context.autosaveEnabled { try context.save() }
    for executor in stores.executors { try await executor.saveAtEnd() }
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
  /// Whether both have the same stores open.
  public static func == (a: ModelContainer, b: ModelContainer) -> Bool { a.stores === b.stores }
}
