import CambiumEngine
import CambiumKernel
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
      for store in oldValue { entitiesOfRemovedStores.formUnion(store.space.entityNames) }
      for store in stores { entitiesOfRemovedStores.subtract(store.space.entityNames) }
      versionOfStores.add(1, ordering: .relaxed)
      for store in oldValue where !stores.contains(where: { $0 === store }) { store.note(nil) }
      for store in stores { store.note(self) }
    }
  }
  private let versionOfStores = Atomic(0)
  /// Is another one when the coordinator has other stores.
  /// The entities that stores held which the coordinator has no more.
  private var entitiesOfRemovedStores: Set<String> = []
  var storesVersion: Int { versionOfStores.load(ordering: .relaxed) }
  /// The classes of the entities that the model names no class for, once they are fixed.
  private var classes: [String: AnyClass] = [:]
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
  /// As many blocks run at a time as there are processors. The other threads wait for the disk, a lock or another
  /// process. With fewer threads fewer saves share a sync. Threads end when there was no work for two seconds.
  public var maximumBlockThreads: Int {
    get { threads.mostThreads }
    set { threads.mostThreads = newValue }
  }

  /// The stores, in the order in which they were added.
  public var persistentStores: [PersistentStore] { lock.locked { stores } }

  // MARK: Options of stores

  /// The option that a store with another model is migrated when it is opened (`Bool`).
  public static let migratePersistentStoresAutomaticallyOption = "CambiumMigratePersistentStoresAutomatically"
  /// The option that gives mapping models for that (`[MappingModel]`); see
  /// ``PersistentStoreDescription/mappingModels``.
  public static let mappingModelsOption = "CambiumMappingModels"
  /// The option that gives the stages of that (``StagedMigrationManager``), together with the two others. Core Data:
  /// `NSPersistentStoreStagedMigrationManagerOptionKey`.
  public static let stagedMigrationManagerOption = "CambiumStagedMigrationManager"
  /// The option that the mapping for that is inferred (`Bool`).
  public static let inferMappingModelAutomaticallyOption = "CambiumInferMappingModelAutomatically"

  /// The option that an inferred migration may go back to a model that the store had before, and drop what that lacks
  /// (`Bool`); see ``PersistentStoreDescription/allowsReturningToFormerModels``.
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

  /// The option of how many seconds are waited for other processes (a number); see
  /// ``PersistentStoreDescription/timeout``. Core Data: `NSPersistentStoreTimeoutOption`.
  public static let persistentStoreTimeoutOption = "CambiumPersistentStoreTimeout"

  /// The option that a migration may put off what the application can do without (`Bool`; together with both others).
  /// The key is also one of a store's metadata, where it says that something was put off and is not done yet; not that
  /// the option was set.
  public static let deferredLightweightMigrationOption = PersistentStore.deferredLightweightMigrationKey

  /// The option that those who listen are told of what is saved in the store (`Bool`); see
  /// ``PersistentStoreDescription/postsRemoteChanges``. Core Data:
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
  public static let remoteChangeNotificationPostOption = "CambiumRemoteChangeNotificationPost"

  /// The option that the store keeps history (`Bool`); see ``PersistentStoreDescription/tracksHistory``. Core Data:
  /// `NSPersistentHistoryTrackingKey`.
  public static let persistentHistoryTrackingOption = "CambiumPersistentHistoryTracking"

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

  /// Adds a store, unless there is one with its identifier.
  func addUnlessThere(_ store: PersistentStore) -> Bool {
    lock.locked {
      if stores.contains(where: { $0.identifier == store.identifier }) { return false }
      stores.append(store)
      return true
    }
  }

  /// Puts together what objects need of the store and the model, which differ in nothing that is stored.
  func space(for engine: EntityStore, _ description: PersistentStoreDescription) throws -> StoreSpace {
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
  /// Waits for requests and saves of the store that run on other threads. So call it outside of blocks: a request may
  /// wait for the context whose block removes the store. What comes later throws
  /// ``CambiumError/Code/persistentStoreOperation``. Values that objects have read stay readable. To read a property of
  /// a fault records that error. The file is closed when the last coordinator of this process removes it. After that it
  /// can be destroyed, replaced, or opened again.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a store that is not one of the coordinator's;
  ///   ``CambiumError/Code/persistentStoreOperation`` within a request of the store, or while a save writes to it; what
  ///   closing the file throws, such as a full device. The store is removed and closed then as well.
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

  /// Whether the entity of an identifier, which may come from another model of the store, is in the store's model.
  package func knowsEntity(of id: ManagedObjectID) -> Bool {
    persistentStores.contains { $0.identifier == id.storeIdentifier && $0.space.info(id.reference.entity) != nil }
  }

  /// Reads what ``ManagedObjectID/uriRepresentation()`` wrote; `nil` if it is not the identifier of an object of one of
  /// the stores. Whether there is an object of that name is not looked up.
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
      isRemoved(name) ? .persistentStoreOperation : .invalidArgument,
      "no store \(affected == nil ? "of this context" : "in affectedStores") holds an entity '\(name)'; \(remedy)",
      entityName: name)
  }

  /// Whether the coordinator had a store for an entity, and has none now.
  private func isRemoved(_ entity: String) -> Bool { lock.locked { entitiesOfRemovedStores.contains(entity) } }

  /// Returns the error about an entity that objects cannot be inserted of.
  func uninsertable(_ name: String) -> CambiumError {
    if isRemoved(name) { return noStore(forEntity: name, of: nil) }
    return CambiumError(
      .invalidArgument,
      "'\(name)' is not an entity that objects can be inserted of: it is abstract, unknown to the model, or in no store that is "
        + "loaded", entityName: name)
  }

  /// Refuses if all stores were removed. To ask none of them would look as if they held nothing.
  func requireStores() throws {
    if lock.locked({ stores.isEmpty && !entitiesOfRemovedStores.isEmpty }) { throw CambiumError(StoreError.closed) }
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
  func entity(for objectClass: AnyClass) -> EntityDescription {
    if let known = lock.locked({ entities[ObjectIdentifier(objectClass)] }) { return known }
    guard let found = managedObjectModel.entity(for: objectClass) else { return EntityDescription("\(objectClass)") }
    lock.locked { entities[ObjectIdentifier(objectClass)] = found }
    return found
  }

  // MARK: Classes of objects

  /// Returns the class that was fixed for an entity of which the model names none, and whether it is fixed just now. If
  /// there is none yet, it is `first`.
  @discardableResult
  func fixedClass(forEntity name: String, first: AnyClass) -> (found: AnyClass, isNew: Bool) {
    lock.locked {
      if let known = classes[name] { return (known, false) }
      classes[name] = first
      return (first, true)
    }
  }

  /// Whether a class was fixed for an entity.
  func hasFixedClass(forEntity name: String) -> Bool { lock.locked { classes[name] != nil } }
}
