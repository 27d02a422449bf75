import CambiumEngine

/// Makes the objects of a store's rows, one batch of rows after the other. An object that the context already has is
/// reused, and shows its row from then on if it is unchanged.
final class ObjectMaker {
  private let context: ManagedObjectContext
  private let space: StoreSpace
  private let registry: ObjectRegistry
  private var objects: [ManagedObject] = []
  private var hasBegun = false
  /// The parts that new objects are made with, until a row of another entity comes.
  private var birth: ObjectBirth?
  private var entityID: UInt32?
  /// Keeps the twins alive, because the context may let go of them.
  private var twins: [EntityDescription] = []
  private var onlyClass: ManagedObject.Type?
  private var isOfOneClass = true

  init(_ context: ManagedObjectContext, _ space: StoreSpace) {
    (self.context, self.space, registry) = (context, space, context.registry)
  }

  /// The objects of the rows that were taken.
  var found: FoundObjects { FoundObjects(objects: objects, onlyClass: isOfOneClass ? onlyClass : nil) }

  /// Releases the objects, and the memory that the registry reserved for them.
  func giveUp() {
    objects = []
    if hasBegun { registry.sweep() }
  }

  /// Makes the objects of rows.
  ///
  /// - Parameter toCome: How many rows follow, as far as that is known. The number must not come from a file, because a
  ///   damaged file may state any number.
  func take(_ rows: FoundRows, toCome: Int) {
    // Move the state into local variables until the last row, because a field of the maker takes longer to reach.
    var objects = objects
    self.objects = []
    if !hasBegun {
      hasBegun = true
      objects.reserveCapacity(rows.count + toCome)
      registry.makeRoom(for: rows.count + toCome)
    }
    let (registry, space, context) = (registry, space, context)
    var birth = birth
    var entityID = entityID
    var kept = KeptTwin()
    rows.forEachRetained { row, reference in
      // A reset in the meantime leaves detached objects behind.
      if let object = registry.object(space, reference), object.state != .detached {
        // A changed object keeps the row that its changes are based on.
        if object.pending != .updated, object.pending != .deleted {
          if object.state == .stale { object.state = .loaded }
          object.take(retained: row)
        } else {
          row.release()
        }
        if context.isMissing(object) { object.isDeleted = false }
        note(type(of: object))
        objects.append(object)
        return
      }
      if entityID != reference.entity {
        guard let found = self.birth(of: reference) else { return row.release() }
        birth = found
        entityID = reference.entity
      }
      guard let birth else { return row.release() }
      registry.sweepIfFull()
      let object = context.adopt(birth.object(kept.next(birth.twin)), birth, reference.row, row, registry)
      // The context may already have an object of another class for the row.
      if type(of: object) != birth.objectClass { note(type(of: object)) }
      objects.append(object)
    }
    kept.end()
    self.objects = objects
    (self.birth, self.entityID) = (birth, entityID)
  }

  private func birth(of reference: ObjectReference) -> ObjectBirth? {
    guard let info = space.info(reference.entity) else { return nil }
    let home = context.home(of: ManagedObjectID(space: space, reference: reference), info, info.description)
    let twin = context.twin(of: home)
    if !twins.contains(where: { $0 === twin }) { twins.append(twin) }
    let objectClass = context.persistentStoreCoordinator.objectClass(for: info)
    note(objectClass)
    return ObjectBirth(objectClass, home, twin)
  }

  private func note(_ found: ManagedObject.Type) {
    if onlyClass == nil { onlyClass = found }
    if onlyClass != found { isOfOneClass = false }
  }
}

/// A twin that is retained for several objects at once.
private struct KeptTwin {
  private var twin: Unmanaged<EntityDescription>?
  private var count = 0

  /// Returns the twin, retained once for the caller.
  @inline(__always)
  mutating func next(_ wanted: Unmanaged<EntityDescription>) -> Unmanaged<EntityDescription> {
    if count == 0 || twin?.toOpaque() != wanted.toOpaque() { keep(wanted) }
    count &-= 1
    return wanted
  }

  private mutating func keep(_ wanted: Unmanaged<EntityDescription>) {
    // Retain once, because objects of several entities may alternate.
    if twin?.toOpaque() != wanted.toOpaque() {
      end()
      _ = wanted.retain()
      (twin, count) = (wanted, 1)
      return
    }
    // The compiler merges these into one retain by sixteen.
    _ = wanted.retain().retain().retain().retain().retain().retain().retain().retain()
      .retain().retain().retain().retain().retain().retain().retain().retain()
    count = 16
  }

  /// Releases the references that no object has taken.
  mutating func end() {
    while count > 0 {
      twin?.release()
      count &-= 1
    }
  }
}
