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

  /// Calls a block with each object that the context has at the moment. Takes less time than to make a set of them.
  package func forEachObject(_ body: (ManagedObject) -> Void) {
    lock.run { for object in allRegistered { body(object) } }
  }

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
      // Take in new identifiers from the parent, or there would be two objects of a row. A save into the parent, or of
      // a child into this context, takes them in itself.
      if parent != nil, !family.isPushing, family.pushingChild == nil { takeInMail() }
      let id = id.isTemporaryID ? family.permanentIDs[id] ?? id : id
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
  /// - Throws: ``CambiumError/Code/managedObjectReferentialIntegrity`` if there is none, or the context will delete it;
  ///   what reading throws.
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
      return registered(family.permanentIDs[id] ?? id)
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
        throw persistentStoreCoordinator.uninsertable(name)
      }
      return persistentStoreCoordinator.objectClass(for: info).init(entity: info.description, insertInto: self)
    }
  }

  /// Inserts an object that was made without a context. An object that has a context, or had one, is left alone.
  ///
  /// The object keeps the attributes and relationships that it was given before, as with Core Data. Relationships keep
  /// their inverses from now on. Destinations that were made without a context are inserted with the object, as they
  /// are whenever an object of a context is led to them. (If no coordinator used the model when the object was made, it
  /// had no values, and took none.)
  ///
  /// An entity that is abstract, or in none of the context's stores, is noted as ``CambiumError/Code/invalidArgument``,
  /// and the next save throws it.
  public func insert(_ object: ManagedObject) {
    lock.run {
      // An object that ends here may insert this one.
      registry.sweepIfFull()
      guard object.isEarly else { return }
      insertNew(object, object.entity)
    }
  }

  // MARK: Forgetting

  /// Drops all unsaved changes: inserted objects leave the context, deleted ones are back, changed ones have their
  /// saved values. Reads nothing. Noted errors are forgotten.
  public func rollback() {
    lock.run {
      // An object that was inserted and deleted again is in none of the lists. Results may still have it, because the
      // event is never told.
      let unlisted = allRegistered.filter { $0.isDeleted && $0.state == .inserted }
      let pending = inserted.values + updated.values + deleted.values
      let dropped = Set((pending + unlisted + events.objects).map { $0.objectID })
      // Children may have objects of the inserted ones.
      let gone = ObjectIDNotification(deleted: inserted.values.map { $0.objectID })
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
      snapshots.watched = [:]
      undoManager?.removeAllActions()
      forgetEvent()
      let restored = updated.values + deleted.values
      forgetPending()
      forgetErrors()
      for object in restored { object.awake(fromSnapshotEvents: .rollback) }
      events.refreshed.formUnion(restored)
      persistentStoreCoordinator.saveObservers.tell(.takenIn(ObjectIDNotification(updated: dropped)), of: self)
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
      events.refreshed = []
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
  /// without, they are dropped, those of relationships on the other side as well, and the object is a fault. An object
  /// that the next save will delete stays so; what others save after this is a conflict. Does nothing for an object
  /// that is not saved.
  ///
  /// The event ends before the refresh, and another one ends with it, if relationships of the object have unsaved
  /// changes and these are dropped or others have saved the object.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    lock.run { ObjectRefresh(context: self).refresh(object, mergeChanges: mergeChanges) }
  }

  /// Makes all objects without unsaved changes faults, and reads the newest commit from then on. The end of the event
  /// tells them as ``ContextNotification/refreshedObjects``.
  public func refreshAllObjects() { lock.run { ObjectRefresh(context: self).refreshAll() } }

  /// Forgets the row of an object, and keeps the unsaved changes. See ``ObjectRefresh/rebase(_:)``.
  func rebase(_ object: ManagedObject) { ObjectRefresh(context: self).rebase(object) }
}

/// Runs `body`, and ignores the error that the row of an object is gone.
func unlessGone(_ body: () throws -> Void) throws {
  do { try body() } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {}
}

extension EntityDescription {
  /// Inserts a new object of an entity. Core Data: `NSEntityDescription.insertNewObject(forEntityName:into:)`.
  ///
  /// Where ``ManagedObjectContext/insertNewObject(forEntityName:)`` throws and Core Data raises, the object is of no
  /// use; the context notes the error, and its next save throws it.
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
