import CambiumEngine

/// What the object of a row is made of. It waits in the entity (a home's twin of it) for the object's initializer, which an application's
/// class may override, and which is told of no row: so the object comes to its row, its home and its context at once.
struct ObjectBirth {
  let objectClass: ManagedObject.Type
  // Kept by who has the object made.
  let home: Unmanaged<ObjectHome>
  let registry: Unmanaged<ObjectRegistry>
  let number: UInt64
  /// The row, if it has been read.
  let row: BorrowedRow?

  @inline(__always)
  init(
    _ objectClass: ManagedObject.Type, _ home: Unmanaged<ObjectHome>, _ registry: ObjectRegistry, _ number: UInt64,
    _ row: BorrowedRow?
  ) {
    self.objectClass = objectClass
    self.home = home
    self.registry = .passUnretained(registry)
    self.number = number
    self.row = row
  }

  /// Has its context know the object, which has become that of the row.
  @inline(__always)
  func register(_ object: ManagedObject) {
    registry._withUnsafeGuaranteedRef { registry in
      home._withUnsafeGuaranteedRef { home in
        registry.add(object, home.space, ObjectReference(entity: home.entityID, row: number))
      }
    }
  }
}

extension ManagedObjectContext {
  /// Makes the object of a row that the context does not have.
  ///
  /// - Parameter twin: That of the home, which nobody else uses meanwhile.
  @inline(__always)
  func make(_ birth: ObjectBirth, _ twin: Unmanaged<EntityDescription>) -> ManagedObject {
    let object = twin._withUnsafeGuaranteedRef {
      $0.birth = birth
      return birth.objectClass.init(entity: $0, insertInto: nil)
    }
    if object.state == .detached { adopt(object, birth, twin) }
    if object.overlay != nil { forgetInitialValues(of: object) }
    return object
  }

  /// Makes an object the one of a row whose initializer handed another entity on, or had others made of the same one before.
  @inline(never)
  private func adopt(_ object: ManagedObject, _ birth: ObjectBirth, _ twin: Unmanaged<EntityDescription>) {
    twin._withUnsafeGuaranteedRef { $0.birth = nil }
    let home = birth.home.takeUnretainedValue()
    object.become(ManagedObjectID(space: home.space, reference: .init(entity: home.entityID, row: birth.number)), home)
    if let row = birth.row { object.take(row) }
    register(object)
  }

  /// Takes back what the initializer of the application's class has set: an object of a row has the row's values. Core Data does not
  /// call the initializer then.
  @inline(never)
  private func forgetInitialValues(of object: ManagedObject) {
    object.eventState = nil
    if let place = eventObjects.lastIndex(where: { $0 === object }) { eventObjects.remove(at: place) }
    object.dropChanges()
    updated.remove(object)
  }
}
