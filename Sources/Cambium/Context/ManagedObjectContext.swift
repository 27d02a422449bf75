import CambiumEngine
import Synchronization

/// Where a context's blocks run, with Core Data's raw values.
public enum ConcurrencyType: UInt, Sendable {
  /// One after the other, on any thread.
  case privateQueue = 1
  /// On the main thread.
  case mainQueue = 2
}

/// A working copy of a coordinator's objects. Core Data: `NSManagedObjectContext`.
///
/// Objects are used on the context's queue: within ``perform(_:)->_`` or ``performAndWait(_:)``, or, for a main-queue
/// context, anywhere on the main thread. The context's own methods take its lock, so each is atomic; a sequence of them is if
/// it is in one block.
///
/// The context reads a snapshot, which each fetch and each save replaces by the newest commit. It keeps one object for
/// each row. Objects without unsaved changes that nobody else holds are let go of as more come, and at the end of a block.
public final class ManagedObjectContext: @unchecked Sendable {
  // `@unchecked`: everything that changes is touched with `lock` held, or on the context's queue by its objects.

  /// Where the context's blocks run.
  public let concurrencyType: ConcurrencyType
  /// The stores. A child's are those of its parent.
  ///
  /// May be set, as may ``parent``, as long as the context has no objects: by who makes it, before others know of it. Later the context
  /// stays as it is, and notes ``CambiumError/Code/invalidArgument``.
  public var persistentStoreCoordinator: PersistentStoreCoordinator {
    get { coordinator }
    set { move(to: newValue, parent: nil) }
  }
  @exclusivity(unchecked) private var coordinator: PersistentStoreCoordinator
  /// The context that this one reads from and saves into, in place of the stores; `nil` for one that works on the stores. May be set
  /// before there are objects; see ``persistentStoreCoordinator``.
  public var parent: ManagedObjectContext? {
    get { parentContext }
    set { move(to: newValue?.persistentStoreCoordinator ?? coordinator, parent: newValue) }
  }
  @exclusivity(unchecked) private var parentContext: ManagedObjectContext?
  /// A name for logs, and for the history of the stores.
  public var name: String?
  /// Who makes the context's changes, as the history of the stores tells: "importer", say.
  public var transactionAuthor: String?
  /// What saving does about objects that others changed.
  public var mergePolicy = MergePolicy.error
  /// Whether the context keeps all of its objects, and not only those with unsaved changes, until it is reset. Off at first.
  public var retainsRegisteredObjects = false {
    didSet { registry.retainsAll = retainsRegisteredObjects }
  }
  /// What happens when an object is read whose row is gone, by a call that cannot throw. If on, as at first, the object counts
  /// as deleted (``ManagedObject/isDeleted``), and has no values. If off, it has no values either, and each reading notes
  /// ``CambiumError/Code/managedObjectReferentialIntegrity`` in ``recordedErrors``.
  public var shouldDeleteInaccessibleFaults = true
  /// What the application attaches to the context.
  public var userInfo: [String: Any] = [:]

  /// Undoes and redoes what is changed in the context; `nil`, the default, for nothing.
  public var undoManager: ContextUndoManager? {
    didSet {
      oldValue?.detach(self)
      undoManager?.attach(self)
    }
  }

  let lock = ContextLock()
  let observers = ContextObservers()
  let children = ContextChildren()
  let mail = ContextMail()
  /// The permanent identifiers of objects that children may know by their temporary ones.
  @exclusivity(unchecked) var permanentIDs = PermanentIDs()
  /// Whether the context is saving into its parent.
  @exclusivity(unchecked) var isPushing = false
  /// The child that is saving into this context.
  @exclusivity(unchecked) var pushingChild: ManagedObjectContext?
  /// Whether what happens is told when the context's queue comes to it, because a child is saving on another thread.
  var tellsLater = false
  let mergesAutomatically = Atomic(false)
  /// The objects that the present event has changed.
  @exclusivity(unchecked) var eventObjects: [ManagedObject] = []
  /// The objects that were refreshed in the present event.
  var refreshed = Set<ManagedObject>()
  /// What the objects were before the event that is being told.
  var toldEventStates: [ObjectIdentifier: EventState] = [:]
  /// Whether changes are of an event. Those that a save computes, and those of migrations, are not.
  @exclusivity(unchecked) var isNotingEvents = true
  /// The objects that a save has changed itself since the last one was told.
  @exclusivity(unchecked) private(set) var changedBySaving = Set<ManagedObject>()
  /// Whether anybody is to hear of those, as of the beginning of the save.
  @exclusivity(unchecked) var notesChangesBySaving = false
  private let queue = ContextQueue()
  /// With each view its store, which is not closed before.
  @exclusivity(unchecked) private var views: [ObjectIdentifier: (store: PersistentStore, view: EntityView)] = [:]
  /// The one of ``views`` that was used last.
  @exclusivity(unchecked) private var lastView: (space: StoreSpace, view: EntityView)?
  /// What follows relationships from many objects, in the views that they are read in.
  @exclusivity(unchecked) private var readers:
    [(relationship: RelationshipInfo, view: EntityView, reader: RelationshipReader)] = []
  var generation = QueryGeneration()
  /// See ``stalenessInterval``.
  var keptStalenessInterval = -1.0
  private let tailLock = StateLock()
  private var tail: Task<Void, Never>?
  @exclusivity(unchecked) private(set) var registry = ObjectRegistry()
  /// Objects of which others' changes are a conflict though they have none here.
  @exclusivity(unchecked) var watched: [ManagedObjectID: WatchedObject] = [:]
  // Exclusive access to what every change touches is not checked at run time, since the checks would take longer than the
  // changes. What is taken out of these is held by others until it is out, so that no object's end comes back meanwhile.
  @exclusivity(unchecked) var inserted = PendingObjects(.inserted)
  @exclusivity(unchecked) var updated = PendingObjects(.updated)
  @exclusivity(unchecked) var deleted = PendingObjects(.deleted)
  /// How objects find the context.
  let link = ContextLink()
  @exclusivity(unchecked) private(set) var homes = ObjectHome.List()
  /// What was prefetched in the block that runs, or by the last fetch outside of one: held, so that it is there when it is asked for.
  @exclusivity(unchecked) var prefetched: [ManagedObject] = []
  /// How many blocks run, one within the other.
  @exclusivity(unchecked) private(set) var blockDepth = 0
  /// See ``KnownBirth``.
  @exclusivity(unchecked) var lastBirth: KnownBirth?
  /// What objects were last inserted of, so that it need not be looked up for every one.
  @exclusivity(unchecked) var lastInsertable: Insertable?
  @exclusivity(unchecked) private(set) var changeCount: UInt64 = 0
  /// Whether the event that ends is about what others have saved, and is not to be undone.
  @exclusivity(unchecked) var isTakingIn = false
  /// New objects whose relationships are still to be set, while some are set that were made without a context.
  @exclusivity(unchecked) var earlyInWaiting: [(ManagedObject, ManagedObject.EarlyValues)]?
  /// How many saves were begun.
  @exclusivity(unchecked) var saveNumber: UInt64 = 0
  /// While objects are told of a save, those that were told and have changed since; nil otherwise.
  @exclusivity(unchecked) var changedWhileTold: [ManagedObject]?
  /// While methods that validate are called, in which nobody saves; nil otherwise.
  @exclusivity(unchecked) var validation: ValidationWatch?
  private var notedErrors: [CambiumError] = []
  var lostChanges: [any Error] = []
  /// Whether the context is a migration manager's, which saves it itself.
  var isSavedByMigration = false {
    didSet { isNotingEvents = !isSavedByMigration }
  }

  /// A context.
  public init(concurrencyType: ConcurrencyType, persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.concurrencyType = concurrencyType
    coordinator = persistentStoreCoordinator
    link.lead(to: self)
  }

  deinit { link.cut() }

  /// A child of another context, which it keeps alive.
  ///
  /// To the child, the parent's objects are as good as stored, unsaved changes included: fetches find them so, and
  /// ``save()`` puts the child's changes into the parent, where they are unsaved changes like others; they come into the stores
  /// when the last of the parents saves. Inserted objects have the same temporary identifier in all of them until then.
  ///
  /// Each of the child's objects shows the parent's as it was when it was read. What the parent changes later shows after a
  /// fetch, ``refresh(_:mergeChanges:)``, or by ``automaticallyMergesChangesFromParent``. If the parent's object was changed by
  /// then, the child's ``mergePolicy`` decides when it saves.
  ///
  /// A child that works on another thread than its parent takes the parent's lock whenever it reads. That keeps them apart if
  /// the parent's objects are used in blocks of ``perform(_:)->_`` or ``performAndWait(_:)`` only, for a main-queue parent
  /// as well. A block of the parent must not wait for the child; a block of the child may wait for the parent.
  ///
  /// What a child's save changes in the parent is told (``observe(_:)``, ``FetchedResultsController``) before the save returns;
  /// if the parent has the main queue and the child saves on another thread, afterwards, on the main thread.
  public init(concurrencyType: ConcurrencyType, parent: ManagedObjectContext) {
    self.concurrencyType = concurrencyType
    coordinator = parent.persistentStoreCoordinator
    parentContext = parent
    link.lead(to: self)
    parent.children.add(self)
  }

  private func move(to coordinator: PersistentStoreCoordinator, parent: ManagedObjectContext?) {
    lock.run {
      if coordinator === self.coordinator, parent === parentContext { return }
      var ancestor = parent
      while let context = ancestor, context !== self { ancestor = context.parent }
      guard allRegistered.isEmpty, inserted.isEmpty, deleted.isEmpty, children.living.isEmpty, ancestor == nil else {
        let text =
          ancestor == nil
          ? "a context that has objects or children cannot be given other stores or another parent"
          : "a context cannot be its own parent"
        return record(CambiumError(.invalidArgument, text), losesChange: false)
      }
      parentContext?.children.remove(self)
      self.coordinator = coordinator
      parentContext = parent
      advance()
      forgetRegistry()
      generation = QueryGeneration()
      undoManager?.removeAllActions()
      parent?.children.add(self)
      if parent == nil, automaticallyMergesChangesFromParent { coordinator.saveObservers.add(self) }
    }
  }

  // MARK: Queue

  /// Runs a block on the context's queue and waits for it without holding a thread up. Blocks that were started before
  /// (``perform(_:)-(()->Void)``), also by the context itself to take in what others have saved, come first. `R` must be `Sendable`: hand
  /// identifiers out of the block, not objects.
  @discardableResult
  public func perform<R: Sendable, Failure: Error>(
    _ block: @escaping @Sendable () throws(Failure) -> R
  ) async throws(Failure) -> R {
    await tailLock.locked { tail }?.value
    return try await run(block)
  }

  private func run<R: Sendable, Failure: Error>(
    _ block: @escaping @Sendable () throws(Failure) -> R
  ) async throws(Failure) -> R {
    switch concurrencyType {
    case .privateQueue: return try await queue.run(self, block)
    case .mainQueue: return try await onMain(block)
    }
  }

  @MainActor private func onMain<R: Sendable, Failure: Error>(
    _ block: @Sendable () throws(Failure) -> R
  ) throws(Failure) -> R {
    try runEvent(block)
  }

  /// Runs a block that is an event of its own.
  func runEvent<R, Failure: Error>(_ block: () throws(Failure) -> R) throws(Failure) -> R {
    try performAndWait { () throws(Failure) -> R in
      defer { processPendingChanges() }
      return try block()
    }
  }

  /// Starts a block on the context's queue. Blocks that are started so run in the order of their starting.
  public func perform(_ block: @escaping @Sendable () -> Void) {
    tailLock.locked {
      let previous = tail
      tail = Task.detached {
        await previous?.value
        await self.run(block)
      }
    }
  }

  /// Runs a block with the context for itself, on the calling thread, when no other block of the context runs; blocks that were started, and
  /// have not begun, it does not wait for. May be called within a block of the same context.
  @discardableResult
  public func performAndWait<R, Failure: Error>(_ block: () throws(Failure) -> R) throws(Failure) -> R {
    try lock.run { () throws(Failure) in
      // What the block has used, and nobody uses any more, goes with its end.
      blockDepth += 1
      defer {
        blockDepth -= 1
        if blockDepth == 0 { letGoOfPrefetched() }
        if lock.isOutermost { registry.sweepIfGrown() }
      }
      return try block()
    }
  }

  // MARK: Errors

  /// What went wrong in calls that cannot throw, the oldest first, at most 100: see ``ManagedObject``.
  public var recordedErrors: [CambiumError] { lock.run { notedErrors } }

  func record(_ error: any Error, losesChange: Bool) {
    let noted = error as? CambiumError ?? CambiumError(.coreData, "\(error)", underlying: [error])
    if !losesChange, shouldDeleteInaccessibleFaults, noted.code == .managedObjectReferentialIntegrity,
      let object = noted.objectID.flatMap({ registered($0) }), object.isFault || object.state == .stale,
      !object.isUpdated
    {
      object.isDeleted = true
      return
    }
    if notedErrors.count < 100 { notedErrors.append(noted) }
    persistentStoreCoordinator.eventHook.tell(.recordedError(noted), by: self)
    if losesChange, lostChanges.count < 100 { lostChanges.append(noted) }
  }

  /// Whether an object counts as deleted only because its row was not there when it was read. Others may have saved the row
  /// since.
  func isMissing(_ object: ManagedObject) -> Bool {
    object.isDeleted && object.state != .inserted && object.state != .detached && object.pending != .deleted
  }

  func forgetErrors() {
    notedErrors = []
    lostChanges = []
  }

  // MARK: Snapshots

  /// The snapshot of a store that the context reads.
  func view(of space: StoreSpace) throws -> EntityView {
    if let pinned = try pinnedView(of: space) { return pinned }
    if let lastView, lastView.space === space { return lastView.view }
    if let known = views[ObjectIdentifier(space)] {
      lastView = (space, known.view)
      return known.view
    }
    guard let store = persistentStoreCoordinator.store(of: space) else {
      throw CambiumError(
        .persistentStoreOperation, "the object's store was removed from the coordinator, or is another coordinator's")
    }
    let view = try mapping { () throws(EngineError) in try store.view() }
    views[ObjectIdentifier(space)] = (store, view)
    lastView = (space, view)
    return view
  }

  /// The newest commit of a store, which the context does not go on to; nil if it reads a generation, or knows no store.
  func newestView(of space: StoreSpace) throws -> EntityView? {
    if generation.isPinned { return nil }
    guard let store = persistentStoreCoordinator.store(of: space) else { return nil }
    return try mapping { () throws(EngineError) in try store.view() }
  }

  /// Reads the newest commit from now on.
  func advance() {
    if !readers.isEmpty { readers = [] }
    if lastView == nil, views.isEmpty { return }
    lastView = nil
    views = [:]
  }

  /// Whether the row that the context sees of an object is a newer one than the object has. One of a lower version is, too, and may be one of the
  /// same version, after a migration was undone; but else it is not: a generation that is read, or what is gone back to when a save was
  /// refused, may be older than the object.
  ///
  /// - Parameters:
  ///   - version: The version of the row that is seen.
  ///   - row: That row, which is asked for if the version does not tell.
  func isNewer(
    _ version: UInt32, than known: Row, in space: StoreSpace, _ row: @autoclosure () throws(EngineError) -> Row?
  ) throws(EngineError) -> Bool {
    if version > known.version { return true }
    guard !generation.isPinned, persistentStoreCoordinator.store(of: space)?.hasChangedModel == true else {
      return false
    }
    if version < known.version { return true }
    return try row().map { !$0.isSame(as: known) } ?? true
  }

  /// What follows a relationship in the snapshot of a store that the context reads.
  func destinations(of relationship: RelationshipInfo, in space: StoreSpace) throws -> RelationshipReader {
    let view = try view(of: space)
    if let known = readers.first(where: { $0.relationship === relationship && $0.view === view }) {
      return known.reader
    }
    let reader = try mapping { () throws(EngineError) in try view.destinations(of: relationship.schema) }
    if readers.count >= 16 { readers = [] }
    readers.append((relationship, view, reader))
    return reader
  }

  // MARK: Registry

  /// The object of an identifier, if the context has it.
  func registered(_ id: ManagedObjectID) -> ManagedObject? { registry[id] }

  func register(_ object: ManagedObject) {
    registry.add(object)
  }

  func unregister(_ id: ManagedObjectID) { registry.remove(id) }

  /// The objects that the context has, less those that nobody uses.
  var allRegistered: [ManagedObject] { registry.objects }

  /// The home of the context's objects of an identifier.
  @inline(__always)
  func home(of id: ManagedObjectID, _ info: EntityInfo, _ entity: EntityDescription) -> ObjectHome {
    homes.home(of: id, info, entity, link)
  }

  /// Has a home be among those of the context.
  func keep(_ home: ObjectHome) { homes.keep(home) }

  /// See ``ObjectHome/List/twin(of:)``.
  @inline(__always)
  func twin(of home: ObjectHome) -> EntityDescription { homes.twin(of: home) }

  /// The home of the objects that were last asked for by their identifiers, if it is that of another identifier.
  func knownHome(of id: ManagedObjectID) -> ObjectHome? {
    homes.known(id, version: persistentStoreCoordinator.storesVersion)
  }

  /// Notes the home of an object that was asked for by its identifier.
  func noteHome(of object: ManagedObject, version: Int) {
    if let home = object.home { homes.note(home, version: version) }
  }

  func forgetRegistry() {
    letGoOfPrefetched()
    homes = ObjectHome.List()
    (lastInsertable, lastBirth) = (nil, nil)
    registry = ObjectRegistry()
    registry.retainsAll = retainsRegisteredObjects
    watched = [:]
    changedBySaving = []
    permanentIDs = PermanentIDs()
  }

  /// The object of a row, made if the context does not have it.
  func object(_ id: ManagedObjectID, _ info: EntityInfo) -> ManagedObject {
    registered(id) ?? object(id, home(of: id, info, info.description))
  }

  /// The object of a row that the context does not have.
  func object(_ id: ManagedObjectID, _ home: ObjectHome) -> ManagedObject {
    let objectClass = persistentStoreCoordinator.objectClass(for: home.info)
    let twin = twin(of: home)
    defer { withExtendedLifetime(twin) {} }
    return make(ObjectBirth(objectClass, home, twin), id.reference.row, registry)
  }

  // MARK: Changes

  func noteChange(of object: ManagedObject) {
    guard object.state != .inserted, object.state != .detached, !object.isDeleted else { return }
    guard object.pending != .updated else { return }
    changeCount += 1
    object.changeOrder = changeCount
    updated.insert(object)
  }

  /// Whether there may be anything to save; what was taken back may count as well.
  var hasPending: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty }

  /// Forgets what the next save would do.
  func forgetPending() {
    inserted.removeAll()
    updated.removeAll()
    deleted.removeAll()
  }

  /// Notes an object that is changed while changes are of no event: by a save, as far as anybody is to hear of it.
  func noteChangeBySaving(_ object: ManagedObject) {
    validation?.note(object, isRelationship: false)
    if notesChangesBySaving, !isSavedByMigration { changedBySaving.insert(object) }
  }

  /// The objects that saves have changed themselves, which are told with this.
  func takeChangedBySaving() -> Set<ManagedObjectID> {
    if changedBySaving.isEmpty { return [] }
    defer { changedBySaving = [] }
    if persistentStoreCoordinator.saveObservers.isEmpty { return [] }
    return Set(changedBySaving.lazy.map { $0.objectID })
  }

  func nextChangeOrder() -> UInt64 {
    changeCount += 1
    return changeCount
  }
}
