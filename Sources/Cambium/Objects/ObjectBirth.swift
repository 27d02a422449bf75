import CambiumEngine

/// What the objects of rows of one entity are made with.
struct ObjectBirth {
  let objectClass: ManagedObject.Type
  // Kept by who has objects made.
  let home: Unmanaged<ObjectHome>
  /// That of the home.
  let twin: Unmanaged<EntityDescription>

  @inline(__always)
  init(_ objectClass: ManagedObject.Type, _ home: Unmanaged<ObjectHome>, _ twin: Unmanaged<EntityDescription>) {
    self.objectClass = objectClass
    self.home = home
    self.twin = twin
  }
}

extension ManagedObjectContext {
  /// Makes the object of a row that the context does not have.
  ///
  /// An initializer that the application's class overrides runs before the object belongs to the context: what it sets is of no effect, as
  /// of any object without a context, and nothing is read. (Core Data does not call it for rows.)
  ///
  /// - Parameter registry: That of the context, unless the initializer resets that.
  @inline(__always)
  func make(
    _ birth: ObjectBirth, _ number: UInt64, _ row: BorrowedRow?, _ registry: ObjectRegistry
  ) -> ManagedObject {
    let object = birth.twin._withUnsafeGuaranteedRef { birth.objectClass.init(entity: $0, insertInto: nil) }
    if object.state != .detached { takeBackInsertion(of: object) }
    object.become(number, birth.home, row)
    let current = registry === self.registry ? registry : self.registry
    birth.home._withUnsafeGuaranteedRef { home in
      current.add(object, home.space, ObjectReference(entity: home.entityID, row: number))
    }
    return object
  }

  /// Takes an object out of the context that its own initializer has inserted it into: it is to be that of a row.
  @inline(never)
  private func takeBackInsertion(of object: ManagedObject) {
    guard let context = object.managedObjectContext else { return }
    context.lock.run {
      context.inserted.remove(object)
      object.eventState = nil
      context.eventObjects.removeAll { $0 === object }
      context.unregister(object.objectID)
      object.dropChanges()
      object.detach()
    }
  }
}
