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
    let observer = context.link.objectObserver
    var birth = birth
    var entityID = entityID
    rows.forEach { row, reference in
      // A reset in the meantime leaves detached objects behind.
      if let object = registry.object(space, reference), object.state != .detached {
        // A changed object keeps the row that its changes are based on.
        if object.pending != .updated, object.pending != .deleted {
          if let observer, object.rowVersion != row.version { observer.rowWillChange(of: object) }
          if object.state == .stale { object.state = .loaded }
          object.take(retained: row.retained())
        }
        if context.isMissing(object) { object.isDeleted = false }
        note(type(of: object))
        objects.append(object)
        return
      }
      if entityID != reference.entity {
        guard let found = self.birth(of: reference) else { return }
        birth = found
        entityID = reference.entity
      }
      guard let birth else { return }
      registry.sweepIfFull()
      let object = context.adopt(birth.object(), birth, reference.row, row.retained(), registry)
      // The context may already have an object of another class for the row.
      if type(of: object) != birth.objectClass { note(type(of: object)) }
      objects.append(object)
    }
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
