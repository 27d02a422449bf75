import CambiumEngine
import CambiumKernel
import CambiumSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The stores of a model that contexts work on. Core Data: `NSPersistentStoreCoordinator`. Thread-safe.
public final class PersistentStoreCoordinator: @unchecked Sendable {
  // `@unchecked`: `stores`, `classes`, `entities` and `keptName` are touched with `lock` held only.
  /// The model, which is in use from the first store on.
  public let managedObjectModel: ManagedObjectModel
  private let lock = StateLock()
  private var stores: [PersistentStore] = [] {
    didSet {
      versionOfStores.add(1, ordering: .relaxed)
      for store in oldValue where !stores.contains(where: { $0 === store }) { store.note(nil) }
      for store in stores { store.note(self) }
    }
  }
  private let versionOfStores = Atomic(0)
  /// Is another one when the coordinator has other stores.
  var storesVersion: Int { versionOfStores.load(ordering: .relaxed) }
  /// The classes of the entities that the model names no class for, once they are fixed.
  private var classes: [String: ManagedObject.Type] = [:]
  private var entities: [ObjectIdentifier: EntityDescription] = [:]

  /// Whether objects are of no class of the application's, as in migrations. Set before any object is made.
  var makesPlainObjects = false

  private var keptName: String?
  /// A name for logs and for debugging; nothing else depends on it.
  public var name: String? {
    get { lock.locked { keptName } }
    set { lock.locked { keptName = newValue } }
  }

  /// The threads that run blocks of the coordinator and its contexts.
  let threads = WorkerThreads()
  let blocks: CoordinatorBlocks
  /// Who is told of what the stores are asked.
  let eventHook = StoreEventHook()
  /// Who is told of saves.
  let saveObservers = SaveObservers()

  /// A coordinator without stores.
  public init(managedObjectModel: ManagedObjectModel) {
    self.managedObjectModel = managedObjectModel
    blocks = CoordinatorBlocks(threads)
  }

  /// How many threads run blocks of the coordinator and its contexts at most: 64 unless set.
  ///
  /// As many blocks run at a time as there are processors. The other threads wait for the disk, a lock or another process. With
  /// fewer threads fewer saves share a sync. Threads end when there was no work for two seconds.
  public var maximumBlockThreads: Int {
    get { threads.mostThreads }
    set { threads.mostThreads = newValue }
  }

  /// The stores, in the order in which they were added.
  public var persistentStores: [PersistentStore] { lock.locked { stores } }

  // MARK: Opening

  /// Opens a store. If the file is missing, it is made with the model. If the store has another model, it is migrated, when
  /// the description allows it (``PersistentStoreDescription/shouldMigrateStoreAutomatically``), by the mapping model that the
  /// application has for it (``PersistentStoreDescription/mappingModels``), or else if a mapping can be inferred; see
  /// ``MappingModel/inferred(from:to:)`` for what can. The migration happens as a whole or not at all, whatever cuts it
  /// short. Indexes, defaults, delete rules and the like are no part of a model's version:
  /// where only they differ, the store takes them over without a migration. With stages
  /// (``PersistentStoreDescription/stagedMigrationManager``) the migration goes by these, each of which is done as a whole.
  ///
  /// A store is added once; so is one of several copies of a file.
  ///
  /// - Throws: ``CambiumError/Code/persistentStoreIncompatibleVersionHash`` if the store holds another model and is not to be
  ///   migrated, with the entities that differ, if it had the coordinator's model before and would lose something by going back
  ///   (``PersistentStoreDescription/allowsReturningToFormerModels``), or if no mapping can be inferred, with
  ///   ``CambiumError/Code/migrationMissingMappingModel`` underneath, and under that every change in the way
  ///   (``CambiumError/Code/inferredMappingModel``); ``CambiumError/Code/migration`` or
  ///   ``CambiumError/Code/migrationConstraintViolation`` if objects in the store stand in the way;
  ///   ``CambiumError/Code/persistentStoreOpen`` if the file cannot be opened, or the coordinator has the store already;
  ///   ``CambiumError/Code/invalidModel``. With
  ///   stages also ``CambiumError/Code/managedObjectModelReferenceNotFound`` if the version of the store or of the coordinator's
  ///   model is in none of them, or the model of one is missing or was changed;
  ///   ``CambiumError/Code/stagedMigrationBackwardMigration`` if the store is of a later version;
  ///   ``CambiumError/Code/stagedMigrationFrameworkVersionMismatch`` if a later version of Cambium has begun a stage;
  ///   ``CambiumError/Code/migration`` with what a handler threw underneath, and, with or without stages, if a stage was begun
  ///   whose handler is not among them.
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
    if let name = description.configuration, managedObjectModel.entities(forConfigurationName: name) == nil {
      throw CambiumError(.persistentStoreOpen, "the model has no configuration '\(name)'")
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
    let isKnown = lock.locked {
      let isKnown = stores.contains { $0.identifier == store.identifier }
      if !isKnown { stores.append(store) }
      return isKnown
    }
    guard !isKnown else {
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

  /// Opens a store by its parts; see ``addPersistentStore(_:)``. A store with another model is migrated only if `options`
  /// say so, as in Core Data: ``migratePersistentStoresAutomaticallyOption`` and ``inferMappingModelAutomaticallyOption``,
  /// both `true`.
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

  /// The option that a store with another model is migrated when it is opened (`Bool`).
  public static let migratePersistentStoresAutomaticallyOption = "CambiumMigratePersistentStoresAutomatically"
  /// The option that gives mapping models for that (`[MappingModel]`); see ``PersistentStoreDescription/mappingModels``.
  public static let mappingModelsOption = "CambiumMappingModels"
  /// The option that gives the stages of that (``StagedMigrationManager``), together with the two others. Core Data:
  /// `NSPersistentStoreStagedMigrationManagerOptionKey`.
  public static let stagedMigrationManagerOption = "CambiumStagedMigrationManager"
  /// The option that the mapping for that is inferred (`Bool`).
  public static let inferMappingModelAutomaticallyOption = "CambiumInferMappingModelAutomatically"

  /// The option that an inferred migration may go back to a model that the store had before, and drop what that lacks (`Bool`); see
  /// ``PersistentStoreDescription/allowsReturningToFormerModels``.
  public static let allowReturningToFormerModelsOption = "CambiumAllowReturningToFormerModels"

  /// The option with models that the application knows (`[ManagedObjectModel]`); see
  /// ``PersistentStoreDescription/sourceModels``.
  public static let sourceModelsOption = "CambiumSourceModels"

  /// The option that an inferred migration may drop any part of the store's model (`Bool`); see
  /// ``PersistentStoreDescription/allowsDroppingUnknownData``.
  public static let allowDroppingUnknownDataOption = "CambiumAllowDroppingUnknownData"

  /// The option that a store may only be read (`Bool`); see ``PersistentStoreDescription/isReadOnly``. Core Data:
  /// `NSReadOnlyPersistentStoreOption`.
  public static let readOnlyPersistentStoreOption = "CambiumReadOnlyPersistentStore"

  /// The option of how many seconds are waited for other processes (a number); see ``PersistentStoreDescription/timeout``. Core Data:
  /// `NSPersistentStoreTimeoutOption`.
  public static let persistentStoreTimeoutOption = "CambiumPersistentStoreTimeout"

  /// The option that a migration may put off what the application can do without (`Bool`; together with both others). The
  /// key is also one of a store's metadata, where it says that something was put off and is not done yet; not that the option
  /// was set.
  public static let deferredLightweightMigrationOption = PersistentStore.deferredLightweightMigrationKey

  /// The option that those who listen are told of what is saved in the store (`Bool`); see
  /// ``PersistentStoreDescription/postsRemoteChanges``. Core Data: `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
  public static let remoteChangeNotificationPostOption = "CambiumRemoteChangeNotificationPost"

  /// The option that the store keeps history (`Bool`); see ``PersistentStoreDescription/tracksHistory``. Core Data:
  /// `NSPersistentHistoryTrackingKey`.
  public static let persistentHistoryTrackingOption = "CambiumPersistentHistoryTracking"

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
        let engine = try migration.prepare(shared)
        // What a process that was killed did not come to.
        if !description.isReadOnly { try? engine.releaseOwnStates() }
        let reason = try prepareHistory(of: engine, description)
        return PersistentStore(
          description, engine: engine, shared: shared, space: try space(for: engine, description),
          tracksHistory: description.tracksHistory && !description.isReadOnly, readOnlyReason: reason)
      } catch {
        try? OpenStores.close(shared)
        throw error
      }
    }
  }

  /// Takes in a store that is open already, and that whoever opened it closes.
  ///
  /// - Parameter origin: What must not be closed before.
  @discardableResult
  func borrow(
    _ engine: EntityStore, as description: PersistentStoreDescription, origin: PersistentStore? = nil,
    state: RetainedCommit? = nil
  ) throws -> PersistentStore {
    try managedObjectModel.takeIntoUse()
    let store = PersistentStore(
      description, engine: engine, shared: nil, space: try space(for: engine, description), isBorrowed: true,
      origin: origin, state: state,
      // What handlers of a migration save belongs to the store's history, if it has one.
      tracksHistory: try mapping { () throws(EngineError) in try engine.view().isKeepingHistory() })
    lock.locked { stores.append(store) }
    return store
  }

  /// Puts together what objects need of the store and the model, which differ in nothing that is stored.
  private func space(for engine: EntityStore, _ description: PersistentStoreDescription) throws -> StoreSpace {
    let stored = engine.schema
    let model = try ManagedObjectModel.compile(try managedObjectModel.definition(), basedOn: stored)
    var descriptions = managedObjectModel.entitiesByName
    if let members = managedObjectModel.entities(forConfigurationName: description.configuration) {
      let names = Set(members.map { $0.name })
      descriptions = descriptions.filter { names.contains($0.key) }
    }
    let uuid = engine.kernel.uuid
    let identifier = UUID(UUIDBytes(high: uuid.0, low: uuid.1)).uuidString
    return StoreSpace(identifier: identifier, stored: stored, model: model, descriptions: descriptions)
  }

  /// Takes a store out of the coordinator and closes it, whoever still has the store or objects of it.
  ///
  /// Waits for requests and saves of the store that run on other threads; what comes later throws
  /// ``CambiumError/Code/persistentStoreOperation``. Values that objects have read stay readable. To read a property of a fault records that
  /// error. The file is closed when the last coordinator of this process removes it. After that it can be destroyed, replaced, or
  /// opened again.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a store that is not one of the coordinator's;
  ///   ``CambiumError/Code/persistentStoreOperation`` within a request or a save of the store; what closing the file throws, such as a full
  ///   device. The store is removed and closed then as well.
  public func remove(_ store: PersistentStore) throws {
    if store.uses.isHere {
      throw CambiumError(
        .persistentStoreOperation,
        "a store cannot be removed by what a request or a save of it calls; remove it afterwards")
    }
    try withdraw(store)
    defer { tell(.storesDidChange, removed: [store]) }
    do { try store.close() } catch let error as StoreError { throw CambiumError(error) }
  }

  /// Takes a store out, and tells of it beforehand only.
  func withdraw(_ store: PersistentStore) throws {
    if persistentStores.contains(where: { $0 === store }) {
      tell(.willRemoveStore, removed: [store])
      tell(.storesWillChange, removed: [store])
    }
    let found = lock.locked {
      let before = stores.count
      stores.removeAll { $0 === store }
      return stores.count < before
    }
    if !found { throw CambiumError(.invalidArgument, "the store is not one of the coordinator's") }
  }

  /// Has a store, which may be one of the coordinator's, at a place among the others.
  func put(_ store: PersistentStore, at place: Int) {
    lock.locked {
      stores.removeAll { $0 === store }
      stores.insert(store, at: min(place, stores.count))
    }
    // It may have been given up meanwhile.
    RemoteChangeLookout.everywhere.follow(store, of: self)
  }

  /// The file of a store; `nil` in memory. Core Data: `url(for:)`. A store is moved by
  /// ``migratePersistentStore(_:to:type:options:)``.
  @_disfavoredOverload public func url(for store: PersistentStore) -> URL? { store.url }

  /// The store at a file.
  public func persistentStore(for url: URL) -> PersistentStore? {
    persistentStores.first { $0.url?.standardizedFileURL == url.standardizedFileURL }
  }

  /// ``PersistentStore/metadata`` of a store.
  public func metadata(for store: PersistentStore) -> [String: Any] { store.metadata }

  /// ``PersistentStore/setMetadata(_:)`` of a store.
  public func setMetadata(_ entries: [String: Any], for store: PersistentStore) throws {
    try store.setMetadata(entries)
  }

  // MARK: Objects

  /// Reads what ``ManagedObjectID/uriRepresentation()`` wrote; `nil` if it is not the identifier of an object of one of the
  /// stores. Whether there is an object of that name is not looked up.
  public func managedObjectID(forURIRepresentation uri: URL) -> ManagedObjectID? {
    let text = uri.absoluteString
    let prefix = "x-cambium://"
    guard text.hasPrefix(prefix) else { return nil }
    let parts = text.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2].hasPrefix("p"), let row = UInt64(parts[2].dropFirst()),
      row > 0, row < ObjectReference.firstTemporaryRow
    else { return nil }
    for store in persistentStores where store.identifier == parts[0] {
      guard let info = store.space.info(named: String(parts[1])) else { continue }
      return ManagedObjectID(space: store.space, reference: ObjectReference(entity: info.schema.id, row: row))
    }
    return nil
  }

  /// The first store that holds an entity and may be written, or else read.
  func store(forEntity name: String, of affected: [PersistentStore]? = nil) -> PersistentStore? {
    let holders = stores(forEntity: name, of: affected)
    return holders.first { !$0.isReadOnly } ?? holders.first
  }

  /// The stores that hold an entity, of those that are meant, if only some are.
  func stores(forEntity name: String, of affected: [PersistentStore]?) -> [PersistentStore] {
    persistentStores.filter { store in
      store.space.info(named: name) != nil && affected?.contains { $0 === store } ?? true
    }
  }

  /// Returns the error about an entity that no store holds, or none of the stores that the caller named.
  func noStore(forEntity name: String, of affected: [PersistentStore]?) -> CambiumError {
    let stores = affected ?? persistentStores
    let names = Set(stores.flatMap { $0.space.entityNames }).ordered()
    let remedy =
      stores.isEmpty
      ? affected == nil ? "load the stores first" : "name stores in affectedStores, or none"
      : "there are \(names.prefix(40).joined(separator: ", "))"
    return CambiumError(
      .invalidArgument,
      "no store \(affected == nil ? "of this context" : "in affectedStores") holds an entity '\(name)'; \(remedy)",
      entityName: name)
  }

  func store(of space: StoreSpace) -> PersistentStore? {
    lock.locked {
      for store in stores where store.space === space { return store }
      for store in stores where store.identifier == space.identifier { return store }
      return nil
    }
  }

  /// The entity that a class stands for: the one that names the class, or is called like it; one without properties if
  /// there is none.
  func entity(for objectClass: ManagedObject.Type) -> EntityDescription {
    if let known = lock.locked({ entities[ObjectIdentifier(objectClass)] }) { return known }
    guard let found = managedObjectModel.entity(for: objectClass) else { return EntityDescription("\(objectClass)") }
    lock.locked { entities[ObjectIdentifier(objectClass)] = found }
    return found
  }

  // MARK: Classes of objects

  /// Returns the class of an entity's objects: the class that the model names. If it names none, the class is fixed
  /// now, unless it was before.
  ///
  /// - Parameter first: The class to fix.
  func objectClass(
    for entity: EntityInfo, first: ManagedObject.Type = ManagedObject.self
  ) -> ManagedObject.Type {
    if makesPlainObjects { return ManagedObject.self }
    if let named = entity.objectClass { return named }
    return lock.locked {
      if let known = classes[entity.name] { return known }
      classes[entity.name] = first
      return first
    }
  }

  /// Returns the class of an entity's objects, for an application that uses a class for it. See
  /// ``objectClass(for:first:)``.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` if the class would be fixed, and stands for an unrelated entity.
  func use(_ objectClass: ManagedObject.Type, for entity: EntityInfo) throws -> ManagedObject.Type {
    let isSettled = makesPlainObjects || entity.objectClass != nil || lock.locked { classes[entity.name] != nil }
    if !isSettled, objectClass != ManagedObject.self, let own = managedObjectModel.entity(for: objectClass),
      !entity.description.descends(from: own.name)
    {
      // A class of a subentity is used to find its objects among those of this entity.
      if own.descends(from: entity.name) { return ManagedObject.self }
      throw mismatch(objectClass, entity, ManagedObject.self)
    }
    return self.objectClass(for: entity, first: objectClass)
  }

  /// Returns the error that an entity's objects are of a class, and not of the wanted one.
  func mismatch(
    _ wanted: ManagedObject.Type, _ entity: EntityInfo, _ given: ManagedObject.Type, instead: String = ""
  ) -> CambiumError {
    var advice = instead
    if let own = managedObjectModel.entity(for: wanted), own.name != entity.name {
      advice = "did you mean entityName '\(own.name)'?"
    } else if given == ManagedObject.self {
      advice = "name the class in the model, or use it before the first object is made"
    }
    return CambiumError(
      .invalidArgument, "objects of '\(entity.name)' are of class \(given), not \(wanted); \(advice)",
      entityName: entity.name)
  }
}
