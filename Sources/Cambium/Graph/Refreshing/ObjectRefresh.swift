import CambiumEngine

/// Brings objects of a context up to date with the stores. Use it with the context's lock held.
struct ObjectRefresh {
  let context: ManagedObjectContext

  /// Refreshes an object. See ``ManagedObjectContext/refresh(_:mergeChanges:)``.
  func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    context.snapshots.watched[object.objectID] = nil
    if object.pending == .deleted, object.managedObjectContext === context {
      context.advance()
      return rebaseDeletion(object)
    }
    guard object.managedObjectContext === context, object.state != .inserted else { return }
    guard !object.isDeleted || context.isMissing(object) else { return }
    object.isDeleted = false
    context.advance()
    if object.changesRelationships, !mergeChanges || isChangedByOthers(object) {
      // Observers of the event that ends here may reset the context.
      inOwnEvent { if object.isOfContext(context) { renew(object, mergeChanges: mergeChanges) } }
      guard object.isOfContext(context) else { return }
    } else {
      renew(object, mergeChanges: mergeChanges)
    }
    context.events.refreshed.insert(object)
    object.awake(fromSnapshotEvents: .refresh)
  }

  private func renew(_ object: ManagedObject, mergeChanges: Bool) {
    if mergeChanges { return rebase(object) }
    takeBackRelationships(of: object)
    object.turnIntoFault()
    context.updated.remove(object)
  }

  /// Drops the unsaved relationships of an object on the other side as well. A save would otherwise write one side of
  /// them.
  private func takeBackRelationships(of object: ManagedObject) {
    guard object.changesRelationships else { return }
    context.undoManager?.forget(relationshipsOf: [object])
    object.forgetRow()
    if object.state != .fault { object.state = .stale }
    do { try object.takeBackChanges() } catch let error as CambiumError
      where error.code == .managedObjectReferentialIntegrity
    {
      do { try object.withdrawChanges() } catch { context.record(error, losesChange: false) }
    } catch {
      context.record(error, losesChange: false)
    }
  }

  /// Refreshes all objects. See ``ManagedObjectContext/refreshAllObjects()``.
  func refreshAll() {
    context.advance()
    for object in context.deleted.values { rebaseDeletion(object) }
    if context.updated.values.contains(where: { isChangedByOthers($0) }) {
      inOwnEvent { refreshPresentObjects() }
    } else {
      refreshPresentObjects()
    }
  }

  private func refreshPresentObjects() {
    for object in context.allRegistered
    where object.state != .inserted && (!object.isDeleted || context.isMissing(object)) {
      object.isDeleted = false
      context.events.refreshed.insert(object)
      if object.isUpdated {
        rebase(object)
        object.awake(fromSnapshotEvents: .refresh)
      } else {
        object.turnIntoFault()
      }
    }
  }

  /// Whether another context may have saved an object that has unsaved relationships.
  private func isChangedByOthers(_ object: ManagedObject) -> Bool {
    object.changesRelationships && (try? object.isOutdated()) != false
  }

  /// Runs `body` as an event of its own, which cannot be undone, because it takes in the saves of other contexts.
  private func inOwnEvent(_ body: () -> Void) {
    context.processEvent()
    body()
    context.events.isTakingIn = true
    context.processEvent()
    context.events.isTakingIn = false
  }

  /// Bases the deletion of an object on the present row. If the row is gone, there is nothing left to delete.
  func rebaseDeletion(_ object: ManagedObject) {
    let (row, state, parentState) = (object.row, object.state, object.parentState)
    object.forgetRow()
    if object.state != .fault { object.state = .stale }
    do { try object.load() } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {
      return
    } catch {
      (object.row, object.state, object.parentState) = (row, state, parentState)
      context.record(error, losesChange: false)
    }
  }

  /// Forgets the row of an object, and keeps the unsaved changes. If there are any, their new row is read at once, so
  /// that later saves of other contexts are conflicts.
  func rebase(_ object: ManagedObject) {
    if object.pending == .deleted { return rebaseDeletion(object) }
    if !object.isUpdated { context.link.objectObserver?.rowWillChange(of: object) }
    let (row, state, parentState) = (object.row, object.state, object.parentState)
    let composites = (try? object.basesOfChangedComposites()) ?? []
    object.forgetRow()
    if object.state != .fault { object.state = .stale }
    object.fetchedValues = [:]
    guard object.isUpdated else { return }
    do { try object.load() } catch {
      // The changes stay based on the old row. If another context has changed it, saving them is a conflict.
      (object.row, object.state, object.parentState) = (row, state, parentState)
      return context.record(error, losesChange: false)
    }
    do { try object.rebaseComposites(composites) } catch { context.record(error, losesChange: false) }
    guard context.parent == nil, let row, !Row?(row).isSame(as: object.row) else { return }
    // A failure may leave some relationships rebased and others not.
    do { try object.rebaseRelationships(on: row) } catch { context.record(error, losesChange: true) }
    // Undoing would take back a relationship that another context has saved as well.
    context.undoManager?.forget(relationshipsOf: [object])
  }

  /// Takes in a save that happened elsewhere. See ``ManagedObjectContext/mergeChanges(fromContextDidSave:)``.
  func merge(_ changes: ObjectIDNotification) {
    context.processEvent()
    context.snapshots.advanceGeneration()
    let present = changes.updatedObjectIDs.union(changes.insertedObjectIDs)
    for id in changes.updatedObjectIDs.union(changes.deletedObjectIDs) {
      if let object = context.registered(id), object.pending == .deleted { rebaseDeletion(object) }
    }
    let concerned = rebase(present).union(fault(changes.deletedObjectIDs))
    context.undoManager?.forget(relationshipsOf: concerned)
    context.events.refreshed.formUnion(concerned)
    // Results hear of the save before the event, because the event does not tell them of objects that others inserted.
    context.persistentStoreCoordinator.saveObservers.tell(
      .takenIn(ObjectIDNotification(updated: present, deleted: changes.deletedObjectIDs)), of: context)
    context.events.isTakingIn = true
    context.processEvent()
    context.events.isTakingIn = false
    context.tellChildren(changes)
    context.link.objectObserver?.didMerge(changes, in: context)
    context.tell {
      var told = ContextNotification(.didMergeChanges, context)
      told.objectIDs = changes
      return told
    }
  }

  /// Rebases the objects that were saved elsewhere, and returns them.
  private func rebase(_ identifiers: Set<ManagedObjectID>) -> Set<ManagedObject> {
    var concerned = Set<ManagedObject>()
    for id in identifiers {
      guard let object = context.registered(id), object.state != .inserted else { continue }
      guard !object.isDeleted || context.isMissing(object) else { continue }
      object.isDeleted = false
      concerned.insert(object)
      rebase(object)
      if object.isUpdated { object.awake(fromSnapshotEvents: .refresh) }
    }
    return concerned
  }

  /// Makes the unchanged objects that were deleted elsewhere faults, and returns them.
  private func fault(_ identifiers: Set<ManagedObjectID>) -> Set<ManagedObject> {
    var concerned = Set<ManagedObject>()
    for id in identifiers {
      guard let object = context.registered(id), object.state != .inserted, !object.isDeleted, !object.isUpdated
      else { continue }
      concerned.insert(object)
      object.turnIntoFault()
    }
    return concerned
  }
}
