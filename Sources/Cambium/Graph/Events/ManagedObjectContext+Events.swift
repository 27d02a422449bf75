/// An event that is over, to be told on the context's queue.
private struct EndedEvent: @unchecked Sendable {
  // `@unchecked`: its objects are touched on the context's queue.
  /// For those who observe the context; nil if nobody did.
  let notification: ContextNotification?
  let states: [ObjectIdentifier: EventState]
  /// What was inserted, changed or deleted in the event, or in it alone.
  let changed: [ManagedObject]
  let refreshed: Set<ManagedObject>
}

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

  /// Ends the event. What those who are told change meanwhile is of the next one.
  func processEvent() {
    guard !events.objects.isEmpty || !events.refreshed.isEmpty else { return }
    let objects = events.objects
    let refreshedNow = events.refreshed
    events.objects = []
    events.refreshed = []
    let isTakenIn = events.isTakingIn
    // Who is told may change more, which is to be undone.
    events.isTakingIn = false
    if let undoManager, undoManager.isUndoRegistrationEnabled, !isTakenIn {
      do {
        let event = try UndoEvent(objects)
        if !event.changes.isEmpty { undoManager.register(.changes(.init(context: self), event)) }
      } catch {
        // What cannot be described cannot be undone, and what was before it not either.
        undoManager.removeAllActions()
        record(error, losesChange: false)
      }
    }
    tellChildren(changed: objects, refreshed: refreshedNow)
    let isObserved = isObserved
    guard isObserved || persistentStoreCoordinator.saveObservers.follow(self) else {
      objects.lend { $1.forgetEventState() }
      return
    }
    var notification = isObserved ? ContextNotification(.objectsDidChange, self) : nil
    var states: [ObjectIdentifier: EventState] = [:]
    states.reserveCapacity(objects.count)
    for object in objects {
      guard let state = object.eventState else { continue }
      states[ObjectIdentifier(object)] = state
      object.eventState = nil
      switch (state.existed, object.isPresent) {
      case (false, true): notification?.insertedObjects.insert(object)
      case (true, true): notification?.updatedObjects.insert(object)
      case (true, false): notification?.deletedObjects.insert(object)
      case (false, false): break
      }
    }
    if let updated = notification?.updatedObjects {
      notification?.refreshedObjects = refreshedNow.subtracting(updated)
    }
    let event = EndedEvent(
      notification: notification, states: states, changed: objects, refreshed: refreshedNow)
    if events.tellsLater { perform { self.tell(event) } } else { tell(event) }
  }

  /// Tells those who look on, and nobody else, of objects that have other identifiers.
  func tell(renamed objects: [ManagedObject]) {
    let event = EndedEvent(notification: nil, states: [:], changed: objects, refreshed: [])
    if events.tellsLater { perform { self.tell(event) } } else { tell(event) }
  }

  private func tell(_ event: EndedEvent) {
    // One who is told may end an event of its own; those after it still hear of this one.
    let outer = events.toldStates
    events.toldStates = event.states
    defer { events.toldStates = outer }
    if var notification = event.notification {
      tell {
        notification.nameObjects()
        return notification
      }
    }
    persistentStoreCoordinator.saveObservers.tell(changed: event.changed, refreshed: event.refreshed, in: self)
  }

  /// Ends the event, and those that the ones who are told begin, until there is none, or somebody does not stop.
  func processEvents() {
    for _ in 0..<100 where !events.objects.isEmpty || !events.refreshed.isEmpty { processEvent() }
  }

  /// Forgets what the event has changed so far: nobody is told. What it has refreshed stays so, and is told.
  func forgetEvent() {
    for object in events.objects { object.eventState = nil }
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
      case .absent, .removed:
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

  ///
  /// - Parameter byRules: What delete rules did to objects that were not of the save, which the context need not have.
  func tellDidSave(
    _ insertions: [ManagedObject], _ updates: [ManagedObject], _ deletions: [ManagedObject],
    byRules: ObjectIDNotification
  ) {
    // What is derived is new to the children.
    if parent == nil, !family.children.living.isEmpty {
      tellChildren(changed: insertions + updates, refreshed: [])
      tellChildren(byRules)
    }
    events.savedHandler?(
      SavedChanges(inserted: insertions, updated: updates, deleted: deletions, byRules: byRules))
    tell {
      var notification = ContextNotification(.didSave, self)
      notification.insertedObjects = Set(insertions)
      notification.updatedObjects = Set(updates)
      notification.deletedObjects = Set(deletions)
      notification.nameObjects()
      notification.objectIDs.updatedObjectIDs.formUnion(byRules.updatedObjectIDs)
      notification.objectIDs.deletedObjectIDs.formUnion(byRules.deletedObjectIDs)
      return notification
    }
  }
}
