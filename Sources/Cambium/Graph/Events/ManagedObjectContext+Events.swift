// An event is what happens between two calls of `processPendingChanges()`. At its end it is told, and goes to the undo
// manager as one.
extension ManagedObjectContext {
  /// Ends an event: tells ``ContextNotification/Kind/objectsDidChange`` if anything was changed since the last one
  /// ended, and registers it with the undo manager, if there is one.
  ///
  /// Happens by itself at the end of a block of ``perform(_:)->_``, and in ``save()``, ``undo()`` and ``redo()``.
  /// There is no run loop that would end the events of a main-queue context: call this where the user's action ends.
  public func processPendingChanges() {
    lock.run {
      takeInMail()
      processEvent()
    }
  }

  /// Ends the event. What observers change meanwhile belongs to the next one.
  func processEvent() {
    guard !events.objects.isEmpty || !events.refreshed.isEmpty else { return }
    let isUndone = undoManager?.isUndoRegistrationEnabled == true && !events.isTakingIn
    // Observers may change more, which can be undone.
    events.isTakingIn = false
    let isTold = isObserved || persistentStoreCoordinator.saveObservers.follow(self)
    guard isUndone || isTold || !family.children.living.isEmpty else {
      events.refreshed = []
      return forgetEvent()
    }
    let list = events.end()
    if isUndone { register(list) }
    tellChildren(list.forChildren)
    if isTold { telling { self.tell(list) } }
  }

  /// Hands an event to the undo manager.
  private func register(_ list: ChangeList) {
    do {
      let described = try list.described()
      if !described.changes.isEmpty { undoManager?.register(.changes(.init(context: self), described)) }
    } catch {
      // If an event cannot be described, neither it nor any event before it can be undone.
      undoManager?.removeAllActions()
      record(error, losesChange: false)
    }
  }

  /// Runs a closure that calls observers: at once, or when the context's queue comes to it, if a child saves on another
  /// thread.
  func telling(_ tell: @escaping @Sendable () -> Void) { if events.tellsLater { perform(tell) } else { tell() } }

  /// Tells results of objects that have other identifiers. No event changed them.
  func tell(renamed objects: [ManagedObject]) {
    let list = ChangeList(objects.map { .init(object: $0, before: .unchanged, existsAfter: $0.isPresent) })
    telling { self.persistentStoreCoordinator.saveObservers.tell(.ended(list), of: self) }
  }

  private func tell(_ list: ChangeList) {
    // An observer may end an event of its own. The observers after it still hear of this one.
    let outer = events.told
    events.told = list
    defer { events.told = outer }
    tell { ContextNotification(list, self) }
    persistentStoreCoordinator.saveObservers.tell(.ended(list), of: self)
  }

  /// Ends the event, and those that the ones who are told begin, until there is none, or somebody does not stop.
  func processEvents() {
    for _ in 0..<100 where !events.objects.isEmpty || !events.refreshed.isEmpty { processEvent() }
  }

  /// Forgets what the event has changed so far: nobody is told. What it has refreshed stays so, and is told.
  func forgetEvent() {
    events.objects.lend { $1.forgetEventState() }
    events.objects = []
  }

  /// Takes back what the event has changed so far, if nothing was saved meanwhile.
  func revertEvent() {
    for object in events.objects {
      guard let state = object.eventState else { continue }
      object.eventState = nil
      let id = object.objectID
      updated.remove(object)
      deleted.remove(object)
      inserted.remove(object)
      switch state {
      case .absent:
        unregister(id)
        object.detach()
      case .unchanged:
        object.dropChanges()
        object.transients = [:]
        object.isDeleted = false
        if object.state == .inserted { inserted.insert(object) }
      case .changed(let snapshot):
        object.attributeChanges = snapshot.attributeChanges
        object.toOneChanges = snapshot.toOneChanges
        object.toManyChanges = snapshot.toManyChanges
        object.transients = snapshot.transients
        object.isDeleted = snapshot.isDeleted
        if snapshot.isDeleted {
          if object.state != .inserted { deleted.insert(object) }
        } else if object.state == .inserted {
          inserted.insert(object)
        } else if snapshot.isRegisteredAsUpdated {
          updated.insert(object)
        }
      }
    }
    events.objects = []
  }

  // MARK: What saving tells

  func tellDidSave(_ saved: SavedObjects) {
    // What is derived is new to the children.
    if parent == nil, !family.children.living.isEmpty {
      var changes = saved.identifiers
      // The event has told of the other deletions.
      changes.deletedObjectIDs = saved.byRules.deletedObjectIDs
      tellChildren(changes)
    }
    events.savedHandler?(saved)
    tell {
      var notification = ContextNotification(.didSave, self)
      notification.insertedObjects = Set(saved.inserted)
      notification.updatedObjects = Set(saved.updated)
      notification.deletedObjects = Set(saved.deleted)
      notification.nameObjects()
      notification.objectIDs.formUnion(saved.byRules)
      return notification
    }
  }
}
