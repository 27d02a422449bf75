import CambiumEngine
import Synchronization

/// Where a context's blocks run, with Core Data's raw values.
public enum ConcurrencyType: UInt, Sendable {
  /// Where they are called: the context has no queue. Whoever made it uses it and its objects from one place at a time,
  /// for example within one actor. It does not take in what others save by itself; fetch again, or refresh.
  case confinement = 0
  /// One after the other, on any thread.
  case privateQueue = 1
  /// On the main thread.
  case mainQueue = 2
}

/// A working copy of a coordinator's objects. Core Data: `NSManagedObjectContext`.
///
/// Objects are used on the context's queue: within ``perform(_:)->_`` or ``performAndWait(_:)``, or, for a main-queue
/// context, anywhere on the main thread. The context's own methods take its lock, so each is atomic; a sequence of them
/// is if it is in one block.
///
/// The context reads a snapshot, which each fetch and each save replaces by the newest commit. It keeps one object for
/// each row. Objects without unsaved changes that nobody else holds are let go of as more come, and at the end of a
/// block.
public final class ManagedObjectContext: @unchecked Sendable {
  // `@unchecked`: everything that changes is touched with `lock` held, or on the context's queue by its objects.

  /// Where the context's blocks run.
  public let concurrencyType: ConcurrencyType
  /// The stores. A child's are those of its parent.
  ///
  /// The code that makes the context may set this, and ``parent``, as long as the context has no objects and no other
  /// code knows it. Later the context stays as it is, and notes ``CambiumError/Code/invalidArgument``.
  public var persistentStoreCoordinator: PersistentStoreCoordinator {
    get { coordinator }
    set { move(to: newValue, parent: nil) }
  }
  @exclusivity(unchecked) private var coordinator: PersistentStoreCoordinator
  /// The context that this one reads from and saves into, in place of the stores; `nil` for one that works on the
  /// stores. May be set before there are objects; see ``persistentStoreCoordinator``.
  public var parent: ManagedObjectContext? {
    get { parentContext }
    set { move(to: newValue?.persistentStoreCoordinator ?? coordinator, parent: newValue) }
  }
  @exclusivity(unchecked) private var parentContext: ManagedObjectContext?
  /// A name for logs, and for the history of the stores.
  public var name: String? {
    didSet { runner.queue.name = name }
  }
  /// The author of the context's changes in the history of the stores, for example "importer".
  public var transactionAuthor: String?
  /// Decides what a save does with objects that others changed.
  public var mergePolicy = MergePolicy.error
  /// Whether the context keeps all of its objects, and not only those with unsaved changes, until it is reset. Off at
  /// first.
  public var retainsRegisteredObjects = false {
    didSet { registry.retainsAll = retainsRegisteredObjects }
  }
  /// Decides what happens when a call that cannot throw reads an object whose row is gone. If on, which is the default,
  /// the object counts as deleted (``ManagedObject/isDeleted``), and has no values. If off, it has no values either,
  /// and each read notes ``CambiumError/Code/managedObjectReferentialIntegrity`` in ``recordedErrors``.
  public var shouldDeleteInaccessibleFaults = true
  /// Values that the application attaches to the context.
  public var userInfo: [String: Any] = [:]

  /// Undoes and redoes the changes of the context. `nil`, the default, if changes cannot be undone.
  public var undoManager: ContextUndoManager? {
    didSet {
      oldValue?.detach(self)
      undoManager?.attach(self)
    }
  }

  let lock = ContextLock()
  /// What the present event has changed, and who is told of it.
  let events = ContextEvents()
  /// The children of the context, and what passes between them and their parent.
  let family = ContextFamily()
  /// The actor whose executor runs the jobs and blocks of a private queue.
  let runner: ContextRunner
  let snapshots: ContextSnapshots
  @exclusivity(unchecked) private(set) var registry = ObjectRegistry()
  // Exclusive access to the properties that every change touches is not checked at run time, because the checks would
  // take longer than the changes. The caller holds an object that it takes out, so that the object does not end
  // meanwhile.
  @exclusivity(unchecked) var inserted = PendingObjects(.inserted)
  @exclusivity(unchecked) var updated = PendingObjects(.updated)
  @exclusivity(unchecked) var deleted = PendingObjects(.deleted)
  /// The reference by which objects find the context.
  let link = ContextLink()
  @exclusivity(unchecked) private(set) var homes = ObjectHome.List()
  /// What objects are made with.
  let making = ObjectMaking()
  @exclusivity(unchecked) private(set) var changeCount: UInt64 = 0
  /// The save under way; nil if there is none.
  var session: SaveSession?
  private var errors = RecordedErrors()
  /// Whether the context is a migration manager's, which saves it itself.
  var isSavedByMigration = false {
    didSet { events.isNoting = !isSavedByMigration }
  }

  /// A context.
  public init(concurrencyType: ConcurrencyType, persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.concurrencyType = concurrencyType
    coordinator = persistentStoreCoordinator
    runner = ContextRunner(WorkQueue(lock, coordinator.threads))
    snapshots = ContextSnapshots(persistentStoreCoordinator)
    link.lead(to: self)
  }

  deinit { link.cut() }

  /// A child of another context, which it keeps alive.
  ///
  /// To the child, the parent's objects are as good as stored, unsaved changes included: fetches find them so, and
  /// ``save()`` puts the child's changes into the parent, where they are unsaved changes like others; they come into
  /// the stores when the last of the parents saves. Inserted objects have the same temporary identifier in all of them
  /// until then.
  ///
  /// Each of the child's objects shows the parent's as it was when it was read. What the parent changes later shows
  /// after a fetch, ``refresh(_:mergeChanges:)``, or by ``automaticallyMergesChangesFromParent``. If the parent's
  /// object was changed by then, the child's ``mergePolicy`` decides when it saves.
  ///
  /// A child that works on another thread than its parent takes the parent's lock whenever it reads. That keeps them
  /// apart if the parent's objects are used in blocks of ``perform(_:)->_`` or ``performAndWait(_:)`` only, for a
  /// main-queue parent as well. A block of the parent must not wait for the child; a block of the child may wait for
  /// the parent.
  ///
  /// The parent tells the changes of a child's save (``observe(_:)``, ``FetchedResultsController``) before the save
  /// returns. If the parent has the main queue and the child saves on another thread, it tells them afterwards, on the
  /// main thread.
  public init(concurrencyType: ConcurrencyType, parent: ManagedObjectContext) {
    self.concurrencyType = concurrencyType
    coordinator = parent.persistentStoreCoordinator
    runner = ContextRunner(WorkQueue(lock, coordinator.threads))
    snapshots = ContextSnapshots(coordinator)
    parentContext = parent
    link.lead(to: self)
    parent.family.children.add(self)
  }

  private func move(to coordinator: PersistentStoreCoordinator, parent: ManagedObjectContext?) {
    lock.run {
      if coordinator === self.coordinator, parent === parentContext { return }
      var ancestor = parent
      while let context = ancestor, context !== self { ancestor = context.parent }
      guard allRegistered.isEmpty, inserted.isEmpty, deleted.isEmpty, family.children.living.isEmpty, ancestor == nil
      else {
        let text =
          ancestor == nil
          ? "a context that has objects or children cannot be given other stores or another parent"
          : "a context cannot be its own parent"
        return record(CambiumError(.invalidArgument, text), losesChange: false)
      }
      parentContext?.family.children.remove(self)
      self.coordinator = coordinator
      runner.queue.move(to: coordinator.threads)
      parentContext = parent
      snapshots.move(to: coordinator)
      forgetRegistry()
      undoManager?.removeAllActions()
      parent?.family.children.add(self)
      if parent == nil, automaticallyMergesChangesFromParent { coordinator.saveObservers.add(self) }
    }
  }

  // MARK: Queue

  /// Runs a block on the context's queue and waits for it without holding a thread up.
  ///
  /// The blocks of a context run one after the other, in the order in which they came, those of
  /// ``perform(_:)-(()->Void)`` and those that the context starts to merge the saves of others included. The threads of
  /// a private queue are the coordinator's: as many blocks run at a time as there are processors, and contexts take
  /// turns. Priorities of tasks do not matter. A block that waits for another context, a save or the disk gives its
  /// processor to others. It must not wait by other means, such as a semaphore, for a block that is still to run,
  /// because that one may get no thread.
  ///
  /// `R` must be `Sendable`: hand identifiers out of the block, not objects.
  @discardableResult
  nonisolated(nonsending)
    public func perform<R: Sendable, Failure: Error>(
      _ block: @escaping @Sendable () throws(Failure) -> R
    ) async throws(Failure) -> R
  {
    switch concurrencyType {
    case .privateQueue: return try await runner.run(self, block)
    case .mainQueue: return try await onMain(block)
    case .confinement: return try runEvent(block)
    }
  }

  @MainActor private func onMain<R: Sendable, Failure: Error>(
    _ block: @Sendable () throws(Failure) -> R
  ) throws(Failure) -> R {
    try runEvent(block)
  }

  /// Whether the calling code may use the context's objects, as far as can be told: it holds the lock, or the context
  /// has no queue.
  var isUsedHere: Bool { lock.isHeldHere || concurrencyType == .confinement }

  /// Runs a block that is an event of its own.
  func runEvent<R, Failure: Error>(_ block: () throws(Failure) -> R) throws(Failure) -> R {
    try performAndWait { () throws(Failure) -> R in
      defer { processPendingChanges() }
      return try block()
    }
  }

  /// Starts a block on the context's queue and returns. Blocks that are started so run in the order of their starting.
  ///
  /// In a function that is `async`, use ``perform(_:)->_`` with `await`. The compiler takes `await context.perform { …
  /// }` at the top level of `main.swift` for this one and refuses it, unless the block throws; put it into an `async`
  /// function there.
  ///
  /// The block sees neither the cancellation nor the task-local values of a task.
  @available(
    *, noasync,
    message: "in an async function, await it; at the top level of main.swift, call an async function that awaits it"
  )
  public func perform(_ block: @escaping @Sendable () -> Void) { start(block) }

  /// Starts a block on the context's queue and returns.
  func start(_ block: @escaping @Sendable () -> Void) {
    switch concurrencyType {
    case .privateQueue: runner.queue.start { self.runEvent(block) }
    case .mainQueue: Task { @MainActor in self.runEvent(block) }
    case .confinement: runEvent(block)
    }
  }

  /// Runs a block on the calling thread when no other block of the context runs. It does not wait for blocks that were
  /// started and have not begun. May be called within a block of the same context.
  @discardableResult
  public func performAndWait<R, Failure: Error>(_ block: () throws(Failure) -> R) throws(Failure) -> R {
    try lock.run { () throws(Failure) in
      // The context lets go of unused objects at the end of the block.
      making.prefetched.beginBlock()
      defer {
        making.prefetched.endBlock()
        if lock.isOutermost { registry.sweepIfGrown() }
      }
      return try block()
    }
  }

  // MARK: Errors

  /// The errors of calls that cannot throw, the oldest first, at most 100. See ``ManagedObject``.
  public var recordedErrors: [CambiumError] { lock.run { errors.all } }

  func record(_ error: any Error, losesChange: Bool) {
    let noted = error as? CambiumError ?? CambiumError(.coreData, "\(error)", underlying: [error])
    if !losesChange, shouldDeleteInaccessibleFaults, noted.code == .managedObjectReferentialIntegrity,
      let object = noted.objectID.flatMap({ registered($0) }), object.isFault || object.state == .stale,
      !object.isUpdated
    {
      object.isDeleted = true
      return
    }
    errors.append(noted, losesChange: losesChange)
    persistentStoreCoordinator.eventHook.tell(.recordedError(noted), name: name, author: transactionAuthor)
  }

  /// Whether an object counts as deleted only because its row was missing when it was read. Others may have saved the
  /// row since.
  func isMissing(_ object: ManagedObject) -> Bool {
    object.isDeleted && object.state != .inserted && object.state != .detached && object.pending != .deleted
  }

  /// The errors by which a change was lost.
  var lostChanges: [any Error] {
    get { errors.ofLostChanges }
    set { errors.ofLostChanges = newValue }
  }

  func forgetErrors() { errors = RecordedErrors() }

  // MARK: Registry

  /// The object of an identifier, if the context has it.
  func registered(_ id: ManagedObjectID) -> ManagedObject? { registry[id] }

  func register(_ object: ManagedObject) {
    registry.add(object)
  }

  func unregister(_ id: ManagedObjectID) { registry.remove(id) }

  /// The objects of the context, without those that nobody else holds.
  var allRegistered: [ManagedObject] { registry.objects }

  /// The home of the context's objects of an identifier.
  @inline(__always)
  func home(of id: ManagedObjectID, _ info: EntityInfo, _ entity: EntityDescription) -> ObjectHome {
    homes.home(of: id, info, entity, link)
  }

  /// Adds a home to those of the context.
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
    making.prefetched.letGo()
    homes = ObjectHome.List()
    making.forget()
    registry = ObjectRegistry()
    registry.retainsAll = retainsRegisteredObjects
    snapshots.watched = [:]
    events.changedBySaving = []
    family.permanentIDs = PermanentIDs()
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
    session?.validation?.note(object, isRelationship: false)
    if events.notesChangesBySaving, !isSavedByMigration { events.changedBySaving.insert(object) }
  }

  /// The objects that saves have changed themselves, which are told with this.
  func takeChangedBySaving() -> Set<ManagedObjectID> {
    if events.changedBySaving.isEmpty { return [] }
    defer { events.changedBySaving = [] }
    if persistentStoreCoordinator.saveObservers.isEmpty { return [] }
    return Set(events.changedBySaving.lazy.map { $0.objectID })
  }

  func nextChangeOrder() -> UInt64 {
    changeCount += 1
    return changeCount
  }
}
