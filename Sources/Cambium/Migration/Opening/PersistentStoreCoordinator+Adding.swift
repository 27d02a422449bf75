import CambiumEngine
import CambiumKernel
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentStoreCoordinator {
  /// Opens a store. If the file is missing, it is made with the model. If the store has another model, it is migrated,
  /// when the description allows it (``PersistentStoreDescription/shouldMigrateStoreAutomatically``), by the mapping
  /// model that the application has for it (``PersistentStoreDescription/mappingModels``), or else if a mapping can be
  /// inferred; see ``MappingModel/inferred(from:to:)`` for what can. The migration happens as a whole or not at all,
  /// whatever cuts it short. Indexes, defaults, delete rules and the like are no part of a model's version: where only
  /// they differ, the store takes them over without a migration. With stages
  /// (``PersistentStoreDescription/stagedMigrationManager``) the migration goes by these, each of which is done as a
  /// whole.
  ///
  /// A store is added once; so is one of several copies of a file.
  ///
  /// - Throws: ``CambiumError/Code/persistentStoreIncompatibleVersionHash`` if the store holds another model and is not
  ///   to be migrated, with the entities that differ, if it had the coordinator's model before and would lose something
  ///   by going back (``PersistentStoreDescription/allowsReturningToFormerModels``), or if no mapping can be inferred,
  ///   with ``CambiumError/Code/migrationMissingMappingModel`` underneath, and under that every change in the way
  ///   (``CambiumError/Code/inferredMappingModel``); ``CambiumError/Code/migration`` or
  ///   ``CambiumError/Code/migrationConstraintViolation`` if objects in the store stand in the way;
  ///   ``CambiumError/Code/persistentStoreOpen`` if the file cannot be opened, or the coordinator has the store
  ///   already; ``CambiumError/Code/invalidModel``. With stages also
  ///   ``CambiumError/Code/managedObjectModelReferenceNotFound`` if the version of the store or of the coordinator's
  ///   model is in none of them, or the model of one is missing or was changed;
  ///   ``CambiumError/Code/stagedMigrationBackwardMigration`` if the store is of a later version;
  ///   ``CambiumError/Code/stagedMigrationFrameworkVersionMismatch`` if a later version of Cambium has begun a stage;
  ///   ``CambiumError/Code/migration`` with what a handler threw underneath, and, with or without stages, if a stage
  ///   was begun whose handler is not among them.
  @discardableResult
  public func addPersistentStore(_ description: PersistentStoreDescription) throws -> PersistentStore {
    try addPersistentStore(description, tells: true)
  }

  /// - Parameter tells: Whether those who listen are told that there are other stores.
  func addPersistentStore(_ description: PersistentStoreDescription, tells: Bool) throws -> PersistentStore {
    guard eventHook.isOn else { return try add(description, tells: tells) }
    let url = description.usedType == .file ? description.url : nil
    return try eventHook.run(.opening(url), name: nil, author: nil, count: { _ in 1 }, plan: { nil }) {
      try add(description, tells: tells)
    }
  }

  private func add(_ description: PersistentStoreDescription, tells: Bool) throws -> PersistentStore {
    let model = try managedObjectModel.takeIntoUse()
    try findNamedClasses()
    if let name = description.configuration, managedObjectModel.entities(forConfigurationName: name) == nil {
      throw CambiumError(.persistentStoreOpen, "the model has no configuration '\(name)'")
    }
    if let name = description.unknownTypeName {
      throw CambiumError(
        .persistentStoreInvalidType,
        "there are no stores of the type '\(name)'; use NSSQLiteStoreType for a file, or NSInMemoryStoreType")
    }
    let store: PersistentStore
    do { store = try open(description, model) } catch {
      var result: CambiumError
      switch error {
      case let error as CambiumError: result = error
      case let error as EngineError: result = CambiumError(error, during: .persistentStoreOpen)
      case StoreError.notAStore: result = PersistentStore.notAStore(description.url)
      case let error as StoreError: result = CambiumError(error, during: .persistentStoreOpen)
      default: result = CambiumError(.persistentStoreOpen, "\(error)", underlying: [error])
      }
      result.storeURL = description.url
      throw result.explained(opening: description)
    }
    let isAdded = persistentStores.contains { $0.identifier == store.identifier }
    if tells, !isAdded { tell(.storesWillChange, added: [store]) }
    let isNew = addUnlessThere(store)
    guard isNew else {
      // Each object would be there twice, under the same identifier.
      var error = CambiumError(
        .persistentStoreOpen,
        "the coordinator has this store already, or the one that its file is a copy of; a store is added once")
      error.storeURL = description.url
      throw error
    }
    RemoteChangeLookout.everywhere.follow(store, of: self)
    if tells { tell(.storesDidChange, added: [store]) }
    return store
  }

  /// Opens a store by its parts; see ``addPersistentStore(_:)``. A store with another model is migrated only if
  /// `options` say so, as in Core Data: ``migratePersistentStoresAutomaticallyOption`` and
  /// ``inferMappingModelAutomaticallyOption``, both `true`.
  ///
  /// - Throws: also ``CambiumError/Code/invalidArgument`` for an option of another type.
  @discardableResult
  public func addPersistentStore(
    type: PersistentStoreType, configuration: String? = nil, at url: URL? = nil, durability: Durability = .full,
    isReadOnly: Bool = false, options: [String: any Sendable]? = nil
  ) throws -> PersistentStore {
    let description = PersistentStoreDescription(type: type)
    description.configuration = configuration
    description.url = url
    description.durability = durability
    description.isReadOnly = isReadOnly
    description.shouldMigrateStoreAutomatically = false
    description.shouldInferMappingModelAutomatically = false
    try description.take(options ?? [:])
    return try addPersistentStore(description)
  }

  private func inMemory(_ description: PersistentStoreDescription, _ model: Schema) throws -> EntityStore {
    let environment = SystemEnvironment()
    let options = description.storeOptions
    if let device = description.device, try device.size() > 0 {
      return try EntityStore.open(Store.open(on: device, environment: environment, options: options))
    }
    let device = description.device ?? MemoryDevice(lock: environment.makeLock())
    return try EntityStore.create(
      in: Store.create(on: device, environment: environment, options: options), schema: model)
  }

  private func open(_ description: PersistentStoreDescription, _ model: Schema) throws -> PersistentStore {
    switch description.usedType {
    case .inMemory:
      let engine = try inMemory(description, model)
      let reason = try prepareHistory(of: engine, description)
      return PersistentStore(
        description, engine: engine, shared: nil, space: try space(for: engine, description),
        tracksHistory: description.tracksHistory && !description.isReadOnly, readOnlyReason: reason)
    case .file:
      guard let url = description.url, url.isFileURL else {
        throw CambiumError(.persistentStoreOpen, "a store in a file needs a file URL")
      }
      let migration = StoreMigration(description, managedObjectModel, try managedObjectModel.definition())
      let shared = try migration.open(url, making: model)
      do {
        let (engine, reason) = try opened(shared, description, migration)
        return PersistentStore(
          description, engine: engine, shared: shared, space: try space(for: engine, description),
          tracksHistory: description.tracksHistory && !description.isReadOnly, readOnlyReason: reason)
      } catch {
        try? OpenStores.close(shared)
        throw error
      }
    }
  }

  /// Brings a store to the coordinator's model and begins its history, and returns the reason why it may only be read.
  ///
  /// Another process that opens the store at the same time may give it another model between the two steps, for example
  /// the same entities with the classes of another stack. Then this begins again with the model that the store has now.
  private func opened(
    _ shared: SharedStore, _ description: PersistentStoreDescription, _ migration: StoreMigration
  ) throws -> (EntityStore, PersistentStore.ReadOnlyReason?) {
    var attemptsLeft = 100
    while true {
      do {
        let engine = try migration.prepare(shared)
        // A process that was killed may have left states behind.
        if !description.isReadOnly { try? engine.releaseOwnStates() }
        return (engine, try prepareHistory(of: engine, description))
      } catch let error as CambiumError where error.code == .persistentStoreIncompatibleSchema && attemptsLeft > 0 {
        attemptsLeft -= 1
      }
    }
  }
}
