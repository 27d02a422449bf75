import CambiumEngine

extension ManagedObjectContext {
  // MARK: What changed

  /// The objects that the next save will put into the stores.
  public var insertedObjects: Set<ManagedObject> { lock.run { Set(inserted.values) } }
  /// The objects of the stores that have unsaved changes.
  public var updatedObjects: Set<ManagedObject> { lock.run { Set(updated.values.filter { $0.isUpdated }) } }
  /// The objects that the next save will delete.
  public var deletedObjects: Set<ManagedObject> { lock.run { Set(deleted.values) } }
  /// The objects that the context has at the moment.
  public var registeredObjects: Set<ManagedObject> { lock.run { Set(allRegistered) } }

  /// Whether there is anything to save.
  public var hasChanges: Bool {
    lock.run {
      !inserted.isEmpty || !deleted.isEmpty || updated.values.contains { $0.isUpdated }
    }
  }

  // MARK: Finding

  /// The object of an identifier. Reads nothing: if the context does not have the object yet, it is a fault, whether or
  /// not there is such a row. If there is none, reading a property fails with
  /// ``CambiumError/Code/managedObjectReferentialIntegrity``.
  public func object(with id: ManagedObjectID) -> ManagedObject {
    lock.run {
      // What the parent has renamed has to be found by its new name, or there would be two objects of a row. Not while a save
      // into the parent, or of a child into this one, is under way: that takes it in where it may be.
      if !isPushing, pushingChild == nil { takeInMail() }
      let id = id.isTemporaryID ? permanentIDs[id] ?? id : id
      if let object = registered(id) { return object }
      if let known = knownHome(of: id) { return object(id, known) }
      let version = persistentStoreCoordinator.storesVersion
      let space = persistentStoreCoordinator.store(of: id.space)?.space ?? id.space
      let info = space.info(id.reference.entity) ?? EntityInfo.unknown
      let object = object(ManagedObjectID(space: space, reference: id.reference), info)
      if space === id.space { noteHome(of: object, version: version) }
      return object
    }
  }

  /// The object of an identifier, its row read.
  ///
  /// - Throws: ``CambiumError/Code/managedObjectReferentialIntegrity`` if there is none, or the context will delete it; what
  ///   reading throws.
  public func existingObject(with id: ManagedObjectID) throws -> ManagedObject {
    try lock.run {
      let object = object(with: id)
      guard !object.isDeleted || isMissing(object) else {
        throw CambiumError(.managedObjectReferentialIntegrity, "\(id) is deleted", objectID: id)
      }
      try object.load()
      return object
    }
  }

  /// The object of an identifier if the context has it; reads nothing.
  public func registeredObject(for id: ManagedObjectID) -> ManagedObject? {
    lock.run {
      takeInMail()
      return registered(permanentIDs[id] ?? id)
    }
  }

  // MARK: Inserting

  /// Inserts a new object of an entity.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for an entity that the model does not have, or an abstract one.
  public func insertNewObject(forEntityName name: String) throws -> ManagedObject {
    try lock.run {
      guard let store = persistentStoreCoordinator.store(forEntity: name), let info = store.space.info(named: name),
        !info.schema.isAbstract
      else {
        throw CambiumError(
          .invalidArgument,
          "'\(name)' is not an entity that objects can be inserted of: it is abstract, unknown to the "
            + "model, or in no store that is loaded", entityName: name)
      }
      return persistentStoreCoordinator.objectClass(for: info).init(entity: info.description, insertInto: self)
    }
  }

  /// Inserts an object that was made without a context. An object that has a context, or had one, is left alone.
  ///
  /// What the object was given before comes along, as with Core Data: attributes, and relationships, which keep their inverses from now on. Objects
  /// that these lead to, and that were made without a context as well, are inserted with it, as they are where an object of a context is led to
  /// them. (If the model was not in use by any coordinator when the object was
  /// made, it had no values, and took none.)
  ///
  /// An entity that is abstract, or in none of the context's stores, is noted as ``CambiumError/Code/invalidArgument``, and
  /// the next save throws it.
  public func insert(_ object: ManagedObject) {
    lock.run {
      // What ends may insert the object.
      registry.sweepIfFull()
      guard object.isEarly else { return }
      insertNew(object, object.entity)
    }
  }

  // MARK: Forgetting

  /// Drops all unsaved changes: inserted objects leave the context, deleted ones are back, changed ones have their saved
  /// values. Reads nothing. Noted errors are forgotten.
  public func rollback() {
    lock.run {
      // What was inserted and deleted again is in none of the lists, but results may have it until the event is told, which it
      // never is.
      let unlisted = allRegistered.filter { $0.isDeleted && $0.state == .inserted }
      let pending = inserted.values + updated.values + deleted.values
      let dropped = Set((pending + unlisted + eventObjects).map { $0.objectID })
      // Children may have been told of these, and have objects of them.
      var gone = ObjectIDNotification()
      gone.deletedObjectIDs = Set(inserted.values.map { $0.objectID })
      for object in inserted.values {
        unregister(object.objectID)
        object.detach()
      }
      for object in deleted.values {
        object.isDeleted = false
        object.dropChanges()
      }
      for object in updated.values { object.dropChanges() }
      for object in unlisted {
        unregister(object.objectID)
        object.detach()
      }
      watched = [:]
      undoManager?.removeAllActions()
      forgetEvent()
      let restored = updated.values + deleted.values
      forgetPending()
      forgetErrors()
      for object in restored { object.awake(fromSnapshotEvents: .rollback) }
      refreshed.formUnion(restored)
      persistentStoreCoordinator.saveObservers.tell(takenIn: SavedObjects(changed: dropped), in: self)
      processEvent()
      if !gone.deletedObjectIDs.isEmpty { tellChildren(gone) }
    }
  }

  /// Forgets everything: objects of the context are of no use afterwards. They are told as
  /// ``ContextNotification/invalidatedObjects``, if anybody listens.
  public func reset() {
    lock.run {
      let gone = isObserved ? Set(allRegistered).union(inserted.values).union(deleted.values) : []
      for object in allRegistered { object.detach() }
      for object in inserted.values { object.detach() }
      for object in deleted.values { object.detach() }
      forgetPending()
      forgetRegistry()
      forgetErrors()
      snapshots.advanceGeneration()
      undoManager?.removeAllActions()
      forgetEvent()
      refreshed = []
      tell {
        var notification = ContextNotification(.objectsDidChange, self)
        notification.isInvalidatedAll = true
        notification.invalidatedObjects = gone
        notification.nameObjects()
        return notification
      }
    }
  }

  /// Brings an object up to date with the store. With `mergeChanges` unsaved changes are kept, and are based on the new
  /// row from then on, which is read at once (if that fails, the error is noted and they stay based on the old one);
  /// without, they are dropped, those of relationships on the other side as well, and the object is a fault. An object that the next save will
  /// delete stays so; what others save after this is a conflict. Does nothing for an object that is not saved.
  ///
  /// If relationships of the object have unsaved changes, and these are dropped, or others have saved it, the event ends before, and another
  /// with it.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    lock.run {
      watched[object.objectID] = nil
      if object.pending == .deleted, object.managedObjectContext === self {
        advance()
        return rebaseDeletion(object)
      }
      guard object.managedObjectContext === self, object.state != .inserted else { return }
      guard !object.isDeleted || isMissing(object) else { return }
      object.isDeleted = false
      advance()
      if object.changesRelationships, !mergeChanges || takesIn(object) {
        // Who is told of the event before may have reset the context.
        takingIn { if object.isOfContext(self) { renew(object, mergeChanges: mergeChanges) } }
        guard object.isOfContext(self) else { return }
      } else {
        renew(object, mergeChanges: mergeChanges)
      }
      refreshed.insert(object)
      object.awake(fromSnapshotEvents: .refresh)
    }
  }

  private func renew(_ object: ManagedObject, mergeChanges: Bool) {
    if mergeChanges { return rebase(object) }
    takeBackRelationships(of: object)
    object.turnIntoFault()
    updated.remove(object)
  }

  /// Drops the unsaved changes of an object's relationships on the other side as well: what is saved then would lead one way only.
  private func takeBackRelationships(of object: ManagedObject) {
    guard object.changesRelationships else { return }
    undoManager?.forget(relationshipsOf: [object])
    object.forgetRow()
    if object.state != .fault { object.state = .stale }
    do { try object.takeBackChanges() } catch let error as CambiumError
      where error.code == .managedObjectReferentialIntegrity
    {
      do { try object.withdrawChanges() } catch { record(error, losesChange: false) }
    } catch {
      record(error, losesChange: false)
    }
  }

  /// Makes all objects without unsaved changes faults, and reads the newest commit from then on. The end of the event tells them as
  /// ``ContextNotification/refreshedObjects``.
  public func refreshAllObjects() {
    lock.run {
      advance()
      for object in deleted.values { rebaseDeletion(object) }
      func refreshAll() {
        for object in allRegistered where object.state != .inserted && (!object.isDeleted || isMissing(object)) {
          object.isDeleted = false
          refreshed.insert(object)
          if object.isUpdated {
            rebase(object)
            object.awake(fromSnapshotEvents: .refresh)
          } else {
            object.turnIntoFault()
          }
        }
      }
      if updated.values.contains(where: { takesIn($0) }) { takingIn { refreshAll() } } else { refreshAll() }
    }
  }

  /// Whether others may have changed relationships of an object that have unsaved changes.
  private func takesIn(_ object: ManagedObject) -> Bool {
    object.changesRelationships && (try? object.isOutdated()) != false
  }

  /// Takes in what others have saved, in an event of its own: what that does to changed relationships is the others', and is not undone.
  func takingIn(_ body: () -> Void) {
    processEvent()
    body()
    isTakingIn = true
    processEvent()
    isTakingIn = false
  }

  /// Bases the deletion of an object on the row as it is now; if that is gone, there is nothing left to be deleted.
  func rebaseDeletion(_ object: ManagedObject) {
    let (row, state, parentState) = (object.row, object.state, object.parentState)
    let composites = (try? object.basesOfChangedComposites()) ?? []
    object.forgetRow()
    if object.state != .fault { object.state = .stale }
    do { try object.load() } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {
      return
    } catch {
      (object.row, object.state, object.parentState) = (row, state, parentState)
      record(error, losesChange: false)
    }
  }

  /// Gives up the row that the context has of an object, but not the unsaved changes. Where there are some, the row that
  /// they are based on from now on is read at once: what others save after this is a conflict.
  func rebase(_ object: ManagedObject) {
    if object.pending == .deleted { return rebaseDeletion(object) }
    let (row, state, parentState) = (object.row, object.state, object.parentState)
    let composites = (try? object.basesOfChangedComposites()) ?? []
    object.forgetRow()
    if object.state != .fault { object.state = .stale }
    object.fetchedValues = [:]
    guard object.isUpdated else { return }
    do { try object.load() } catch {
      // Based on the row as it was, the changes meet a conflict when they are saved, if others have changed it.
      object.row = row
      object.state = state
      object.parentState = parentState
      return record(error, losesChange: false)
    }
    do { try object.rebaseComposites(composites) } catch { record(error, losesChange: false) }
    guard parent == nil, let row, !Row?(row).isSame(as: object.row) else { return }
    // What was begun of this cannot be taken back.
    do { try object.rebaseRelationships(on: row) } catch { record(error, losesChange: true) }
    // What is the others' now must not be undone with what was the same here.
    undoManager?.forget(relationshipsOf: [object])
  }
}

/// Does something to an object, unless its row is gone.
func unlessGone(_ body: () throws -> Void) throws {
  do { try body() } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {}
}

extension EntityDescription {
  /// Inserts a new object of an entity. Core Data: `NSEntityDescription.insertNewObject(forEntityName:into:)`.
  ///
  /// Where ``ManagedObjectContext/insertNewObject(forEntityName:)`` throws and Core Data raises, the object is of no use; the
  /// context notes the error, and its next save throws it.
  public static func insertNewObject(
    forEntityName name: String, into context: ManagedObjectContext
  ) -> ManagedObject {
    do { return try context.insertNewObject(forEntityName: name) } catch {
      context.lock.run { context.record(error, losesChange: true) }
      return ManagedObject(entity: EntityDescription(name), insertInto: nil)
    }
  }

  /// The entity of a name in a context's model.
  public static func entity(forEntityName name: String, in context: ManagedObjectContext) -> EntityDescription? {
    context.persistentStoreCoordinator.managedObjectModel.entitiesByName[name]
  }
}
