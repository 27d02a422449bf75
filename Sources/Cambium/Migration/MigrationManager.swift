import CambiumEngine
import CambiumKernel
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Migrates a store into another file as a mapping model says. Core Data: `NSMigrationManager`.
///
///     let manager = MigrationManager(sourceModel: v1, destinationModel: v2)
///     try manager.migrateStore(from: old, mapping: mapping, to: new)
///
/// There are two stacks, one on each file, and three passes over the mapping model: objects with their attributes, then
/// relationships, then validation; see ``EntityMigrationPolicy`` for who is called when. The source is only read. The
/// destination has its name from when it is complete: a migration that fails, is cancelled or killed leaves nothing
/// behind that could be taken for a store.
///
/// **Memory.** Objects are made and saved in batches of ``batchSize``. In memory stay the identifiers of the objects of
/// the source (16 bytes each, for one entity mapping at a time) and which object was made of which (about 150 bytes for
/// each object, until the end). An object with many destinations of a to-many relationship is set with all of them at
/// once. Constraints of the destination hold after each batch, and not at the end only.
///
/// A manager does one migration at a time, on the thread that asks for it, where its contexts and policies are used.
/// ``migrationProgress``, ``currentEntityMapping`` and ``cancelMigration(with:)`` may be used from any thread.
open class MigrationManager: @unchecked Sendable {
  // `@unchecked`: what may be used from any thread is touched with `lock` held; the rest on the migration's thread.

  /// The model of the source.
  public let sourceModel: ManagedObjectModel
  /// The model of the destination.
  public let destinationModel: ManagedObjectModel
  /// The objects of the source. Changes of them are never saved.
  public let sourceContext: ManagedObjectContext
  /// The objects of the destination. The manager saves them; ``ManagedObjectContext/save()`` throws.
  public let destinationContext: ManagedObjectContext
  /// What the application attaches to the manager, for its policies.
  public var userInfo: [String: Any] = [:]
  /// For how many objects a policy is called between two saves; at least 1.
  public var batchSize = 1000
  /// The mapping model of the migration that is under way.
  public var mappingModel: MappingModel? { run?.model }

  /// The migration that is under way.
  private(set) var run: MigrationPasses?
  private let lock = StateLock()
  private var isRunning = false
  private var progress: Float = 0
  private var observers: [Int: (_ old: Float, _ new: Float) -> Void] = [:]
  private var observerCount = 0
  private var current: EntityMapping?
  private var cancellation: (any Error)?

  /// A manager for stores of one model, to become stores of another. The models are in use from then on.
  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
    func context(_ model: ManagedObjectModel, _ name: String) -> ManagedObjectContext {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      coordinator.makesPlainObjects = true
      let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
      context.isSavedByMigration = true
      context.name = name
      return context
    }
    sourceContext = context(sourceModel, "source")
    destinationContext = context(destinationModel, "destination")
  }

  // MARK: Migrating

  /// Migrates a store; see ``migrateStore(_:mapping:to:)``.
  ///
  /// - Parameters:
  ///   - sourceURL: The store's file.
  ///   - type: Its type, which has to be ``PersistentStoreType/file``.
  ///   - options: What a coordinator would be given to open it; those about migration have no effect.
  ///   - mapping: The mapping model.
  ///   - destinationURL: The file to be made.
  ///   - destinationType: Its type, which has to be ``PersistentStoreType/file``.
  ///   - destinationOptions: What a coordinator would be given to open it.
  public func migrateStore(
    from sourceURL: URL, type: PersistentStoreType = .file, options: [String: any Sendable]? = nil,
    mapping: MappingModel,
    to destinationURL: URL, destinationType: PersistentStoreType = .file,
    destinationOptions: [String: any Sendable]? = nil
  ) throws {
    func description(
      _ url: URL, _ type: PersistentStoreType, _ options: [String: any Sendable]?
    ) throws -> PersistentStoreDescription {
      let result = PersistentStoreDescription(type: type)
      result.url = url
      for (key, value) in options ?? [:] {
        try result.apply(option: key, value)
        result.setOption(value, forKey: key)
      }
      return result
    }
    try migrateStore(
      try description(sourceURL, type, options), mapping: mapping,
      to: try description(destinationURL, destinationType, destinationOptions))
  }

  /// Migrates a store. The source is opened for reading, however it is described; nobody should write it meanwhile. The
  /// destination's ``PersistentStoreDescription/pageSize`` and ``PersistentStoreDescription/cacheBytes`` count; there
  /// must be no file yet. What the application keeps with the store (``PersistentStore/setMetadata(_:)``) goes along.
  /// The destination is another store with an identifier of its own, so identifiers of objects change.
  ///
  /// - Throws: ``CambiumError/Code/migrationManagerSourceStore`` if the source cannot be opened or read, or is not of
  ///   the source model; ``CambiumError/Code/migrationManagerDestinationStore`` if the destination is there, or cannot
  ///   be made or written; ``CambiumError/Code/entityMigrationPolicy`` with what a policy or value expression threw
  ///   underneath; ``CambiumError/Code/migrationConstraintViolation`` if objects would violate a constraint;
  ///   ``CambiumError/Code/migration`` if objects break other rules of the model, with these as `detailedErrors`;
  ///   ``CambiumError/Code/migrationCancelled``; what ``MappingModel/check(from:to:)`` throws. The source is as it was,
  ///   and there is no destination.
  public func migrateStore(
    _ source: PersistentStoreDescription, mapping: MappingModel, to destination: PersistentStoreDescription
  ) throws {
    guard source.type == .file, let sourceURL = source.url, sourceURL.isFileURL else {
      throw CambiumError(.migrationManagerSourceStore, "the source of a migration has to be a file with a file URL")
    }
    guard destination.type == .file, let destinationURL = destination.url, destinationURL.isFileURL else {
      throw CambiumError(
        .migrationManagerDestinationStore, "the destination of a migration has to be a file with a file URL")
    }
    try mapping.check(from: sourceModel, to: destinationModel)
    try claim { try migrate(sourceURL, source, mapping, destinationURL, destination) }
  }

  private func migrate(
    _ sourceURL: URL, _ source: PersistentStoreDescription, _ mapping: MappingModel, _ destinationURL: URL,
    _ destination: PersistentStoreDescription
  ) throws {
    let opening = PersistentStoreDescription(url: sourceURL)
    opening.isReadOnly = true
    opening.isSharedBetweenProcesses = source.isSharedBetweenProcesses
    opening.cacheBytes = source.cacheBytes
    opening.shouldMigrateStoreAutomatically = false
    let store: PersistentStore
    let coordinator = sourceContext.persistentStoreCoordinator
    do { store = try coordinator.addPersistentStore(opening) } catch {
      throw failure(.migrationManagerSourceStore, "the source at \(sourceURL.path) cannot be opened", error, sourceURL)
    }
    defer { try? coordinator.remove(store) }
    do {
      try StoreFiles.passingErrors { (fill: (FileDevice) throws(StoreError) -> Void) throws(StoreError) in
        try FileDevice.create(at: destinationURL.path, initialize: fill).close()
      } filling: {
        try self.migrate(store, mapping, into: $0, destination)
      }
    } catch let error as StoreError {
      let text =
        error.meansFileExists
        ? "there is something at \(destinationURL.path) already; a migration makes a new file"
        : "the destination at \(destinationURL.path) cannot be made"
      throw failure(.migrationManagerDestinationStore, text, error, destinationURL)
    }
  }

  /// Runs a migration, unless one runs already.
  func claim(_ body: () throws -> Void) throws {
    try lock.locked {
      guard !isRunning else {
        throw CambiumError(.migration, "the manager is in the middle of another migration; make another manager")
      }
      isRunning = true
      progress = 0
      cancellation = nil
    }
    defer {
      lock.locked {
        isRunning = false
        current = nil
      }
    }
    try body()
  }

  func failure(_ code: CambiumError.Code, _ text: String, _ error: any Error, _ url: URL? = nil) -> CambiumError {
    var result = CambiumError(code, "\(text): \((error as? CambiumError)?.message ?? "\(error)")", underlying: [error])
    result.storeURL = url
    return result
  }

  /// Fills a new file with what becomes of a store, which is in the source context's coordinator.
  ///
  /// - Parameter replacing: Whether the file takes the source's place: then it is the same store.
  func migrate(
    _ source: PersistentStore, _ model: MappingModel, into device: FileDevice,
    _ destination: PersistentStoreDescription,
    replacing: Bool = false
  ) throws {
    var options = destination.storeOptions
    options.isReadOnly = false
    // The file has no name until it is closed, which makes it durable: that one sync is enough.
    options.durability = .normal
    if replacing {
      options.uuid = source.engine.kernel.uuid
      options.pageSize = source.engine.kernel.pageSize
    }
    let kernel: Store
    let engine: EntityStore
    do {
      kernel = try Store.create(on: device, environment: SystemEnvironment(), options: options)
      engine = try EntityStore.create(in: kernel, schema: try destinationModel.takeIntoUse())
      if replacing {
        let last = try source.view().lastRow()
        let former = try source.view()
        try engine.write { (t) throws(EngineError) in
          try t.skipRows(through: last)
          try t.setFormerModels(of: former)
        }
      }
    } catch {
      throw failure(.migrationManagerDestinationStore, "the destination cannot be made", error, destination.url)
    }
    do {
      let store = try destinationContext.persistentStoreCoordinator.borrow(engine, as: destination)
      defer {
        // What was read of the stores must not be used once they are closed.
        sourceContext.reset()
        destinationContext.reset()
        run = nil
        try? destinationContext.persistentStoreCoordinator.remove(store)
      }
      try copyMetadata(source, store)
      let run = MigrationPasses(self, model, source: source, destination: store)
      self.run = run
      try sourceContext.performAndWait { try destinationContext.performAndWait { try run.execute() } }
    } catch {
      // Nobody will see the file.
      try? kernel.detach()
      throw error
    }
    do { try kernel.detach() } catch {
      throw failure(.migrationManagerDestinationStore, "the destination cannot be closed", error, destination.url)
    }
    report(1)
  }

  private func copyMetadata(_ source: PersistentStore, _ destination: PersistentStore) throws {
    let metadata: [String: Any]
    do { metadata = try source.applicationMetadata() } catch {
      throw failure(.migrationManagerSourceStore, "the source's metadata cannot be read", error, source.url)
    }
    do { if !metadata.isEmpty { try destination.setMetadata(metadata) } } catch {
      throw failure(.migrationManagerDestinationStore, "the metadata cannot be written", error, destination.url)
    }
  }

  // MARK: Watching

  /// How far the migration is, from 0 to 1; never goes back while one runs.
  public var migrationProgress: Float { lock.locked { progress } }

  /// The entity mapping that is worked on; `nil` while no migration runs.
  public var currentEntityMapping: EntityMapping? { lock.locked { current } }

  /// Ends the migration that is under way after the call of a policy that is running: it throws
  /// ``CambiumError/Code/migrationCancelled`` with `error` underneath. Has no effect while none runs.
  public func cancelMigration(with error: any Error) {
    lock.locked { if isRunning, cancellation == nil { cancellation = error } }
  }

  func report(_ value: Float) {
    let (old, new, called) = lock.locked { () -> (Float, Float, [(Float, Float) -> Void]) in
      let old = progress
      progress = max(progress, min(1, value))
      return (old, progress, observers.sorted { $0.key < $1.key }.map { $0.value })
    }
    if new != old { for observer in called { observer(old, new) } }
  }

  /// Calls a closure with each new ``migrationProgress``, on the thread of the migration, until the number that this
  /// returns is given to ``endObservingProgress(_:)``.
  @_spi(CoreData) public func observeProgress(_ observer: @escaping (_ old: Float, _ new: Float) -> Void) -> Int {
    lock.locked {
      observerCount += 1
      observers[observerCount] = observer
      return observerCount
    }
  }

  /// Ends what ``observeProgress(_:)`` began.
  @_spi(CoreData) public func endObservingProgress(_ number: Int) { lock.locked { observers[number] = nil } }

  func enter(_ mapping: EntityMapping?) { lock.locked { current = mapping } }

  /// What ends the migration if it was cancelled.
  var cancelled: CambiumError? {
    lock.locked { cancellation }.map {
      CambiumError(.migrationCancelled, "the migration was cancelled: \($0)", underlying: [$0])
    }
  }

  // MARK: Associations

  /// Forgets which objects were made of which. Objects that were associated get no relationships any more.
  public func reset() { run?.associations.removeAll() }

  /// Notes that an object of the destination was made of one of the source.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for objects of other contexts than the manager's, or an entity
  ///   mapping that is not of the mapping model.
  public func associate(
    sourceInstance: ManagedObject, withDestinationInstance destination: ManagedObject, for mapping: EntityMapping
  ) throws {
    guard sourceInstance.managedObjectContext === sourceContext, destination.managedObjectContext === destinationContext
    else {
      throw CambiumError(
        .invalidArgument, "an object of the manager's source context is associated with one of its destination context",
        entityName: mapping.destinationEntityName)
    }
    _ = try table(mapping.name)
    run?.associations[mapping.name]?.associate(sourceInstance.objectID.reference, destination.objectID.reference)
  }

  /// What an entity mapping made of objects of the source, in the order of these, each once; `nil` for all that it
  /// made.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for an entity mapping that is not of the mapping model (Core Data
  ///   raises an exception).
  public func destinationInstances(
    forEntityMappingName name: String, sourceInstances: [ManagedObject]?
  ) throws -> [ManagedObject] {
    let table = try table(name)
    guard let space = run?.destination.space else { return [] }
    guard let sourceInstances else {
      return objects(table.destinations.filter { table.isAssociated($0) }, space, destinationContext)
    }
    return objects(
      sourceInstances.flatMap { table.destinations(of: $0.objectID.reference) }, space, destinationContext)
  }

  /// The objects of the source that an entity mapping made objects of the destination of, in the order of these, each
  /// once; `nil` for all.
  ///
  /// - Throws: As ``destinationInstances(forEntityMappingName:sourceInstances:)``.
  public func sourceInstances(
    forEntityMappingName name: String, destinationInstances: [ManagedObject]?
  ) throws -> [ManagedObject] {
    let table = try table(name)
    guard let space = run?.source.space else { return [] }
    let references = destinationInstances?.map { $0.objectID.reference } ?? table.destinations
    return objects(references.flatMap { table.sources(of: $0) }, space, sourceContext)
  }

  /// What any entity mapping made of objects of the source, as far as it is of the entity that a relationship leads to.
  func destinations(
    of sources: [ManagedObject], for relationship: String, of destination: ManagedObject
  ) -> [ManagedObject] {
    guard let run, let name = destination.info.properties[relationship]?.relationship?.schema.destination,
      let info = run.destination.space.info(named: name)
    else { return [] }
    let schema = run.destination.engine.schema
    var found: [ObjectReference] = []
    for source in sources {
      for table in run.associations.tables(ofSourceEntity: source.info.name) {
        for reference in table.destinations(of: source.objectID.reference)
        where schema.isEntity(reference.entity, orDescendantOf: info.schema.id) {
          found.append(reference)
        }
      }
    }
    return objects(found, run.destination.space, destinationContext)
  }

  private func objects(
    _ references: [ObjectReference], _ space: StoreSpace, _ context: ManagedObjectContext
  ) -> [ManagedObject] {
    var seen: Set<ObjectReference> = []
    var result: [ManagedObject] = []
    for reference in references where references.count == 1 || seen.insert(reference).inserted {
      result.append(context.object(with: ManagedObjectID(space: space, reference: reference)))
    }
    return result
  }

  private func table(_ name: String) throws -> MigrationAssociations.Table {
    guard let table = run?.associations[name] else {
      throw CambiumError(
        .invalidArgument,
        run == nil
          ? "no migration is under way" : "the mapping model has no entity mapping called '\(name)'; correct the name")
    }
    return table
  }

  /// The entity in the source that a mapping is for.
  public func sourceEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
  }

  /// The entity in the destination that a mapping is for.
  public func destinationEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
  }
}
