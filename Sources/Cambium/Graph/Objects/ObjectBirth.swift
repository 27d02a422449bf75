import CambiumEngine

/// What the objects of rows were last made with that were asked for by where relationships lead.
struct KnownBirth {
  let birth: ObjectBirth
  /// That of ``birth``, which it keeps.
  let twin: EntityDescription
  /// How many times stores had come or gone.
  let version: Int
}

extension ManagedObjectContext {
  /// The object of an identifier that a relationship leads to. To be called with the lock held.
  func destination(of id: ManagedObjectID) -> ManagedObject {
    parent == nil && !id.isTemporaryID ? destination(id.space, id.reference) : object(with: id)
  }

  /// The object of a row of a store that the context reads, which a relationship of one of its objects leads to. Reads
  /// nothing.
  ///
  /// To be called with the lock held, of a context without a parent, for a row that is in a store.
  ///
  /// - Parameter useClass: Fixes the class of the entity. Called before an object may be the first one of its entity.
  func destination(
    _ space: StoreSpace, _ reference: ObjectReference, _ useClass: () -> Void = {}
  ) -> ManagedObject {
    if let object = registry.object(space, reference) { return object }
    if let known = making.lastBirth, known.version == persistentStoreCoordinator.storesVersion,
      known.birth.withHome({ $0.entityID == reference.entity && $0.space === space })
    {
      // An initializer may have the context forget it.
      defer { withExtendedLifetime(known.twin) {} }
      return make(known.birth, reference.row, registry)
    }
    useClass()
    let version = persistentStoreCoordinator.storesVersion
    let object = object(with: ManagedObjectID(space: space, reference: reference))
    if let home = object.home, home.space === space, home.entityID == reference.entity,
      type(of: object) == persistentStoreCoordinator.objectClass(for: home.info)
    {
      let twin = twin(of: home)
      making.lastBirth = KnownBirth(birth: ObjectBirth(type(of: object), home, twin), twin: twin, version: version)
    }
    return object
  }

  /// Makes the object of a row that the context does not have.
  ///
  /// An initializer that the application's class overrides runs before the object belongs to the context: what it sets
  /// is of no effect, and nothing is read. (Core Data does not call it for rows.)
  ///
  /// - Parameter registry: That of the context, unless the initializer resets that.
  @inline(__always)
  func make(_ birth: ObjectBirth, _ number: UInt64, _ registry: ObjectRegistry) -> ManagedObject {
    registry.sweepIfFull()
    return adopt(birth.object(), birth, number, nil, registry)
  }

  /// Has an object that was just made be that of a row, which is kept for it. Answers the row's object, which is
  /// another one if the initializer has had one made: a context has one for each row.
  @inline(__always)
  func adopt(
    _ object: ManagedObject, _ birth: ObjectBirth, _ number: UInt64, _ row: BorrowedRow?, _ registry: ObjectRegistry
  ) -> ManagedObject {
    if object.state != .detached { takeBackInsertion(of: object) }
    object.become(number, birth, row)
    let other = birth.withHome { home -> ManagedObject? in
      let reference = ObjectReference(entity: home.entityID, row: number)
      // Not one of the two by a condition: that would count references to it.
      return registry === self.registry
        ? registry.addUnlessThere(object, home.space, reference) : addAfterReset(object, home, reference)
    }
    return other.map { giveUp(object, for: $0) } ?? object
  }

  /// The same where the initializer, or another one before, has reset the context.
  @inline(never)
  private func addAfterReset(
    _ object: ManagedObject, _ home: ObjectHome, _ reference: ObjectReference
  ) -> ManagedObject? {
    keep(home)
    return registry.addUnlessThere(object, home.space, reference)
  }

  @inline(never)
  private func giveUp(_ object: ManagedObject, for other: ManagedObject) -> ManagedObject {
    object.detach()
    return other
  }

  /// Takes an object out of the context that its own initializer has inserted it into: it is to be that of a row.
  @inline(never)
  private func takeBackInsertion(of object: ManagedObject) {
    guard let context = object.managedObjectContext else { return }
    context.lock.run {
      context.inserted.remove(object)
      object.eventState = nil
      context.events.objects.removeAll { $0 === object }
      context.unregister(object.objectID)
      object.dropChanges()
      object.detach()
    }
  }
}
