import CambiumEngine

extension ManagedObjectContext {
  /// Inserts an object that has never been in a context.
  ///
  /// - Parameter entity: The object's entity, or a twin of it.
  func insertNew(_ object: ManagedObject, _ entity: EntityDescription) {
    // Running a block retains the context, which takes time.
    if lock.isHeldHere { return insertHere(object, entity) }
    lock.run { insertHere(object, entity) }
  }

  private func insertHere(_ object: ManagedObject, _ entity: EntityDescription) {
    registry.sweepIfFull()
    // From here on, nothing of the application's is called until the object is one of the context.
    if let known = knownInsertable(entity, type(of: object)) {
      adoptInserted(object, known)
      return object.awakeFromInsert()
    }
    guard let made = insertable(entity.itself) else {
      return record(persistentStoreCoordinator.uninsertable(entity.name), losesChange: true)
    }
    do { try settleClass(of: object, made) } catch { return record(error, losesChange: true) }
    adoptInserted(object, made)
    object.awakeFromInsert()
  }

  /// Throws unless a new object has its entity's class, because the objects of its row will have that class.
  ///
  /// A plain object is allowed if the model names a class, as in Core Data. Its row gives objects of the named class
  /// after the context has let go of the plain one. Contexts of a migration allow any class.
  private func settleClass(of object: ManagedObject, _ place: Insertable) throws {
    let own = type(of: object)
    if isSavedByMigration || own == ManagedObject.self && place.home.info.objectClass != nil {
      place.objectClass = own
      return
    }
    let settled = try persistentStoreCoordinator.use(own, for: place.home.info)
    guard settled == own else {
      throw persistentStoreCoordinator.mismatch(
        own, place.home.info, settled, instead: "make them by \(settled)(context:), or by their entity's name")
    }
    place.objectClass = settled
  }

  /// Adds a new object to the unsaved changes, with the values that it was given before. The caller must call
  /// ``ManagedObject/awakeFromInsert()`` afterwards.
  private func adoptInserted(_ object: ManagedObject, _ place: Insertable) {
    let (home, twin) = (place.home, place.twin)
    // An object that has a number keeps it, because the application may know the object by it.
    if object.reference.row == ObjectReference.firstTemporaryRow { object.becomeNumbered() }
    let reference = ObjectReference(entity: home.entityID, row: object.reference.row)
    var early: ManagedObject.EarlyValues?
    if object.heldOverlay != nil {
      if place.hasAttributes(of: object.info) { early = object.takeEarlyRelationships() }
      if early == nil { early = object.takeEarlyValues() }
    }
    object.become(reference.row, ObjectBirth(type(of: object), home, twin), nil)
    object.state = .inserted
    // Make room for all attributes, because most of them are usually set.
    let overlay = object.overlay ?? ObjectOverlay.make(room: home.info.attributeKeys.count)
    overlay.fields.pointee.changeOrder = nextChangeOrder()
    object.overlay = overlay
    inserted.insert(object)
    // No other object has the identifier, because it is new.
    _ = registry.addUnlessThere(object, home.space, reference)
    if events.isNoting {
      overlay.eventState = .absent
      events.objects.append(object)
    }
    if !home.info.withDefaults.isEmpty { object.setDefaults(home.info) }
    guard let early else { return }
    if let error = early.error { record(error, losesChange: true) }
    object.setAttributes(early)
    if !early.relationships.isEmpty { setRelationships(early, of: object) }
  }

  /// Sets the relationships that an object had before it was inserted, then those of the objects that they lead to, and
  /// so on. A list replaces recursion, because there may be many objects.
  private func setRelationships(_ early: ManagedObject.EarlyValues, of object: ManagedObject) {
    if making.earlyInWaiting != nil {
      making.earlyInWaiting?.append((object, early))
      return
    }
    making.earlyInWaiting = [(object, early)]
    defer { making.earlyInWaiting = nil }
    var next = 0
    while let (object, early) = making.earlyInWaiting?.dropFirst(next).first {
      next += 1
      // Observers of earlier objects may have reset the context, or deleted this object.
      guard object.isOfContext(self), !object.isDeleted else { continue }
      for (name, value) in early.relationships { object.setEarlyRelationship(value, forKey: name) }
    }
  }

  /// Where new objects of an entity, or of its twin, and of a class are inserted, if there were such objects lately.
  @inline(__always)
  private func knownInsertable(_ entity: EntityDescription, _ objectClass: ManagedObject.Type) -> Insertable? {
    making.insertable(version: persistentStoreCoordinator.storesVersion) {
      ($0.twin === entity || $0.entity === entity) && $0.objectClass == objectClass
    }
  }

  private func insertable(_ entity: EntityDescription) -> Insertable? {
    let version = persistentStoreCoordinator.storesVersion
    if let known = making.insertable(version: version, { $0.entity === entity }) { return known }
    guard let store = persistentStoreCoordinator.store(forEntity: entity.name),
      let info = store.space.info(named: entity.name), !info.schema.isAbstract
    else { return nil }
    let id = ManagedObjectID(space: store.space, reference: ObjectReference(entity: info.schema.id, row: 0))
    let home = home(of: id, info, entity)
    let made = Insertable(entity, home, twin(of: home), version: version)
    making.note(made)
    return made
  }

  /// Returns the entity that an initializer makes a new object of a class with. It is the twin of the class's entity,
  /// because retaining the twin is faster, or the entity itself if objects of it cannot be inserted.
  func birthEntity(for objectClass: ManagedObject.Type) -> EntityDescription {
    if lock.isHeldHere { return birthEntityHere(objectClass) }
    return lock.run { birthEntityHere(objectClass) }
  }

  private func birthEntityHere(_ objectClass: ManagedObject.Type) -> EntityDescription {
    let version = persistentStoreCoordinator.storesVersion
    if let known = making.insertable(version: version, { $0.birthClass == objectClass }) { return known.twin }
    let entity = persistentStoreCoordinator.entity(for: objectClass)
    guard let made = insertable(entity) else { return entity }
    made.birthClass = objectClass
    return made.twin
  }
}
