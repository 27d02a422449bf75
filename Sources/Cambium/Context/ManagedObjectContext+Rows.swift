import CambiumEngine

// Rows that were read become objects.
extension ManagedObjectContext {
  /// What a fetch finds.
  struct FoundObjects {
    var objects: [ManagedObject]
    /// The class of all of them; nil if there are several, or that is not known. To look at each of many objects once more takes
    /// longer than to note it.
    var onlyClass: ManagedObject.Type?
  }

  /// What a fetch finds in a store, with the rows of the commit that the context reads. Where rows are very many, they are copied by other
  /// threads while those before them become objects.
  func foundRows(_ fetch: EngineFetch, _ store: PersistentStore) throws -> FoundObjects {
    let view = try view(of: store.space)
    let maker = ObjectMaker(self, store.space)
    // An initializer of the application's may remove the store, which is not closed before its view is done with.
    defer { withExtendedLifetime(store) {} }
    do {
      try mappingFetch { () throws(EngineError) in
        try view.forEachFound(fetch) { rows, toCome in maker.take(rows, toCome: toCome) }
      }
    } catch {
      maker.giveUp()
      throw error
    }
    return maker.found
  }

  /// The objects of references to a store, with the rows of the commit that the context reads; those without are left out.
  func objects(of references: [ObjectReference], in space: StoreSpace) throws -> [ManagedObject] {
    let view = try view(of: space)
    let rows = try mappingFetch { () throws(EngineError) in try view.findRows(of: references) }
    return objects(of: rows, in: space).objects
  }

  /// The objects of rows, which unchanged ones show from now on.
  func objects(of rows: FoundRows, in space: StoreSpace) -> FoundObjects {
    let maker = ObjectMaker(self, space)
    maker.take(rows, toCome: 0)
    return maker.found
  }
}

/// Makes the objects of rows of a store, some after the others, or finds those that the context has: these show the rows from then on, if
/// they are unchanged.
private final class ObjectMaker {
  private let context: ManagedObjectContext
  private let space: StoreSpace
  private let registry: ObjectRegistry
  private var objects: [ManagedObject] = []
  private var hasBegun = false
  /// What new objects are made of: the same until one is of another entity.
  private var birth: ObjectBirth?
  private var entityID: UInt32?
  /// The context keeps its twins, but not all of those that it ever had.
  private var twins: [EntityDescription] = []
  private var onlyClass: ManagedObject.Type?
  private var isOfOneClass = true

  init(_ context: ManagedObjectContext, _ space: StoreSpace) {
    (self.context, self.space, registry) = (context, space, context.registry)
  }

  var found: ManagedObjectContext.FoundObjects {
    ManagedObjectContext.FoundObjects(objects: objects, onlyClass: isOfOneClass ? onlyClass : nil)
  }

  /// Lets go of what was made, which nobody else holds, and of the room that it had.
  func giveUp() {
    objects = []
    if hasBegun { registry.sweep() }
  }

  /// - Parameter toCome: How many rows come behind these, as far as that is known: no number that a damaged file may say.
  func take(_ rows: FoundRows, toCome: Int) {
    // Moved out, and back behind the last row: what each row asks for is not to be looked for in the maker.
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
    rows.forEach { row, reference in
      // What a reset meanwhile has left behind is nobody's.
      if let object = registry.object(space, reference), object.state != .detached {
        // A changed object stays on the row that its changes are based on.
        if object.pending != .updated, object.pending != .deleted {
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
      let object = context.adopt(birth.object(birth.twin.retain()), birth, reference.row, row.retained(), registry)
      // Another one that there is for the row may be of another class.
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
