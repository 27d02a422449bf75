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
    lock.run { !inserted.isEmpty || !deleted.isEmpty || updated.values.contains { $0.isUpdated } }
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

  // MARK: Deleting

  /// Marks an object for deletion at the next save, and applies the delete rules of its relationships at once: nullify
  /// takes the object out of the other side, cascade deletes the destinations as well, deny is checked when saving, no
  /// action leaves the other side alone. An object that was not saved yet is forgotten, and nothing denies that.
  ///
  /// Where reading the relationships fails, the error is noted and the next save throws it.
  public func delete(_ object: ManagedObject) {
    do { try lock.run { try deleteCascading(object) } } catch { lock.run { record(error, losesChange: true) } }
  }

  /// - Parameter callsHook: Whether the objects are told, which they were not by a child that has deleted them already.
  func deleteCascading(_ first: ManagedObject, callsHook: Bool = true) throws {
    guard first.managedObjectContext === self else {
      throw CambiumError(
        .invalidArgument, "an object of another context cannot be deleted here", objectID: first.objectID)
    }
    oldestKnowledge.begin()
    defer { oldestKnowledge.end() }
    // What others have saved over what was saved here is a conflict, though nobody has looked at it since.
    if first.state == .stale { try unlessGone { try first.load() } }
    guard first.isOfContext(self) else { return }
    var pending = [first]
    objects: while let object = pending.popLast() {
      guard !object.isDeleted, object.state != .detached else { continue }
      // A destination that is gone, and that no rule has taken out of what goes, goes no further.
      if object !== first {
        do { try object.load() } catch let error as CambiumError
          where error.code == .managedObjectReferentialIntegrity
        { continue }
        guard object.isOfContext(self) else { continue }
      }
      if callsHook {
        object.prepareForDeletion()
        // It may have deleted the object itself, or reset the context, to which the object then does not belong any more.
        guard !object.isDeleted, object.managedObjectContext === self else { continue }
      }
      for property in object.info.relationships where !property.isTransient {
        guard let r = property.relationship else { continue }
        switch r.rules.deleteRule {
        case .nullify, .cascade: break
        // What was never saved is not there when saving asks who denies: it is let go of at once.
        case .deny where object.state == .inserted: break
        case .deny, .noAction: continue
        }
        let ids = r.isToMany ? try object.currentToMany(r) : try object.currentToOne(r).map { [$0] } ?? []
        for id in ids where id != object.objectID {
          let destination = destination(of: id)
          // The same may have happened while it was made.
          guard object.isOfContext(self) else { continue objects }
          if destination.isDeleted { continue }
          if r.rules.deleteRule == .cascade { pending.append(destination) }
          try withdraw(object, r, from: destination)
        }
      }
      guard object.isOfContext(self), !object.isDeleted else { continue }
      remove(object)
    }
  }

  /// Applies the delete rules once more to what was led to objects after they were deleted, since they will be gone.
  func applyLateDeleteRules() throws {
    let objects = deleted.values
    if objects.isEmpty { return }
    try objects.lend(areFar: true) { _, object in
      if object.changesRelationships { try applyLateDeleteRules(of: object) }
    }
    // What is deleted may have forgotten what was led to it, since it was refreshed after that.
    for list in [inserted.values, updated.values] {
      try list.lend { _, object in
        if object.changesRelationships, !object.isDeleted { try applyDeleteRules(ofWhatIsLedTo: object) }
      }
    }
  }

  /// Applies the delete rules of what an object was led to, and is deleted, to the object.
  private func applyDeleteRules(ofWhatIsLedTo object: ManagedObject) throws {
    for property in object.info.relationships where !property.isTransient {
      guard let r = property.relationship, !r.isToMany, object.isChanged(property),
        let id = try object.currentToOne(r), let other = registry.peek(permanentIDs[id] ?? id),
        other.pending == .deleted,
        other !== object, let back = r.inverse(in: other.info)
      else { continue }
      switch back.rules.deleteRule {
      case .cascade: return try deleteCascading(object)
      case .nullify: try object.recordToOne(r, nil)
      case .deny, .noAction: continue
      }
    }
  }

  private func applyLateDeleteRules(of object: ManagedObject) throws {
    for property in object.info.relationships where !property.isTransient {
      guard let r = property.relationship, object.isChanged(property),
        r.rules.deleteRule == .nullify || r.rules.deleteRule == .cascade
      else { continue }
      let ids = r.isToMany ? try object.currentToMany(r) : try object.currentToOne(r).map { [$0] } ?? []
      for id in ids where id != object.objectID {
        // A new object that is there is held by the context: of one that is not, what is deleted may still know.
        let id = permanentIDs[id] ?? id
        guard let other = id.isTemporaryID ? registered(id) : self.object(with: id), !other.isDeleted,
          let back = r.inverse(in: other.info)
        else { continue }
        var leadsBack = false
        try unlessGone {
          leadsBack =
            try back.isToMany
            ? other.contains(object.objectID, back) : other.currentToOne(back) == object.objectID
        }
        guard leadsBack else { continue }
        try withdraw(object, r, from: other)
        if r.rules.deleteRule == .cascade { try deleteCascading(other) }
      }
    }
  }

  /// Has both sides of relationships compared, and delete rules applied once more, when the changes are saved: an object may lead to another by a
  /// newer row than the one that its changes are based on.
  func doubtRelationships(in space: StoreSpace) {
    if parent == nil { oldestKnowledge.note(0, of: ObjectIdentifier(space)) }
  }

  /// Takes an object out of the other side of one of its relationships.
  func withdraw(_ object: ManagedObject, _ r: RelationshipInfo, from other: ManagedObject) throws {
    guard let back = r.inverse(in: other.info) else { return }
    // Of one that others have deleted there is nothing left to take it out of.
    try unlessGone {
      if !back.isToMany {
        try other.leave(object.objectID, by: back)
      } else if !back.isDerived || !back.rules.isOptional || back.rules.minimumCount > 0
        || other.toManyChanges.contains(back.place)
      {
        // Where nothing is written for the other side, nothing is noted of it, unless it must not have too few.
        if back.isOrdered { try other.takeNewestRow() }
        try other.recordRemove(object.objectID, back)
      }
    }
  }

  func remove(_ object: ManagedObject) {
    object.willChange()
    object.isDeleted = true
    updated.remove(object)
    if !inserted.remove(object) {
      object.changeOrder = nextChangeOrder()
      deleted.insert(object)
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
      advanceGeneration()
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
    // What a delete rule has changed of it is dropped as well.
    doubtRelationships(in: object.space)
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
      // All are read anew.
      ownCommits.forgetAll()
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
    readOwnCommits()
    let (row, state, parentState) = (object.row, object.state, object.parentState)
    object.forgetRow()
    if object.state != .fault { object.state = .stale }
    do {
      try object.load()
      // The rules were applied to what was there before.
      if !row.isSame(as: object.row) { doubtRelationships(in: object.space) }
    } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {
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
    // What is read from here on is what the context sees, and not what it has saved before.
    readOwnCommits()
    let (row, state, parentState) = (object.row, object.state, object.parentState)
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
