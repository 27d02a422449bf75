import CambiumEngine
import CambiumKernel

// Both sides of a relationship are kept in step in memory.
extension ManagedObject {
  private func inverse(of r: RelationshipInfo, on other: ManagedObject) -> RelationshipInfo? {
    other.withHome { r.inverse(in: $0.info) }
  }

  private func object(_ id: ManagedObjectID?) throws -> ManagedObject? {
    guard let id else { return nil }
    return try requireContext().object(with: id)
  }

  /// The row that an object shows which is no fault: of one that was saved and not looked at since, the one that was
  /// saved.
  private func shownRow() throws -> Row? {
    if state == .stale { try load() }
    return state == .loaded ? row : nil
  }

  /// Reads the object where changing a relationship of it has to know what it leads to: one that is gone is found
  /// before anything is changed.
  private func loadIfRead(by back: RelationshipInfo?) throws {
    if let back, !back.isToMany || back.isOrdered { try load() }
  }

  /// Shows the newest row that the context has seen, if there are no unsaved changes: what is to be changed by a rule
  /// is no conflict with what others have saved before.
  func takeNewestRow() throws {
    if try !isUpdated && isOutdated() { managedObjectContext?.rebase(self) }
  }

  /// Whether the context has seen a newer row than the one that the object has, or that it is gone.
  func isOutdated() throws -> Bool {
    guard let context = managedObjectContext, context.parent == nil, let row = try shownRow() else { return false }
    let view = try context.view(of: space)
    return try mapping { () throws(EngineError) in
      guard let version = try view.rowVersion(reference) else { return !context.snapshots.generation.isPinned }
      return try context.snapshots.isNewer(version, than: row, in: space, view.row(reference))
    }
  }

  /// Has a to-one relationship lead to an object no longer, if it does.
  func leave(_ id: ManagedObjectID, by r: RelationshipInfo) throws {
    if try currentToOne(r) == id { try recordToOne(r, nil) }
  }

  /// Shows the newest row that the context has seen, if there are no unsaved changes, and a to-one relationship leads
  /// to an object already by the row that there is.
  private func requireNewestRow(at id: ManagedObjectID, by back: RelationshipInfo?) throws {
    guard let back, !back.isToMany, try currentToOne(back) == id else { return }
    try takeNewestRow()
    try load()
  }

  /// Reads the object if it may have been deleted without being taken out of what leads to it: what is gone must not be
  /// changed, since nothing else would read it.
  private func loadIfLeftBehind(by r: RelationshipInfo) throws {
    if r.rules.deleteRule == .noAction { try load() }
  }

  /// Has an object that was made without a context come to be in that of what leads to it, as in Core Data. It may be a
  /// destination.
  func bringAlong(_ object: ManagedObject, _ r: RelationshipInfo) throws {
    guard object.isEarly, let managedObjectContext else { return }
    managedObjectContext.insert(object)
    // Whatever the application did when it was told.
    try checkDestination(object, r)
  }

  /// Checks that an object may be a destination. One that was made without a context may, if it can be brought along.
  func checkDestination(_ object: ManagedObject, _ r: RelationshipInfo) throws {
    let name = r.schema.name
    if isOfBatch { try requireSettableInBatch(r) }
    if object.isEarly, let managedObjectContext {
      let entityName = object.entity.name
      guard let info = space.info(named: entityName), info.entityID == r.destination || info.isKind(of: r.destination)
      else { throw wrongDestination(object, r) }
      guard !info.schema.isAbstract,
        managedObjectContext.persistentStoreCoordinator.store(forEntity: entityName)?.space === space
      else {
        throw CambiumError(
          .managedObjectExternalRelationship,
          "'\(name)' of '\(entity.name)' cannot lead to an object of '\(entityName)' that is not inserted, and would be in another "
            + "store; insert it, and assign it to this one", entityName: entity.name, key: name)
      }
      return
    }
    guard isOfSameContext(as: object) else {
      throw CambiumError(
        .invalidArgument,
        "'\(name)' of '\(entity.name)' cannot lead to an object of another context; use object(with:) on this one",
        entityName: entity.name, key: name, objectID: object.objectID)
    }
    guard !object.isDeleted else {
      throw CambiumError(
        .managedObjectReferentialIntegrity,
        "'\(name)' of '\(entity.name)' cannot lead to \(object.objectID), which is deleted; lead it elsewhere, or undo the deletion",
        entityName: entity.name, key: name, objectID: object.objectID)
    }
    guard object.withHome({ $0.space === space }) == true else {
      throw CambiumError(
        .managedObjectExternalRelationship, "'\(name)' of '\(entity.name)' cannot lead to an object of another store",
        entityName: entity.name, key: name, objectID: object.objectID)
    }
    guard object.isDestination(of: r) else { throw wrongDestination(object, r) }
  }

  /// Whether a relationship leads to the entity of the object, or to one that it inherits from.
  private func isDestination(of r: RelationshipInfo) -> Bool {
    withHome { $0.info.entityID == r.destination || $0.info.isKind(of: r.destination) } == true
  }

  func wrongDestination(_ object: ManagedObject, _ r: RelationshipInfo) -> CambiumError {
    CambiumError(
      .invalidArgument,
      "'\(r.schema.name)' of '\(entity.name)' leads to '\(r.schema.destination)', not to '\(object.entity.name)'",
      entityName: entity.name, key: r.schema.name, objectID: object.objectID)
  }

  func assignToOne(_ new: ManagedObject?, _ r: RelationshipInfo) throws {
    if isOfBatch { return try assignInBatch(new, r) }
    var back: RelationshipInfo?
    if let new {
      try checkDestination(new, r)
      try loadIfRead(by: r)
      try bringAlong(new, r)
      back = inverse(of: r, on: new)
      try new.loadIfRead(by: back)
      // Nothing is changed before it is known that it is there.
      if let back, !back.isToMany, try currentToOne(r) != new.objectID {
        try new.requireNewestRow(at: objectID, by: back)
      }
    }
    let old = try object(try currentToOne(r))
    if old === new { return }
    if let old, let back = inverse(of: r, on: old) {
      // Of one that is gone, and that no rule has taken out of this, there is nothing left.
      try unlessGone {
        if back.isToMany {
          try old.loadIfLeftBehind(by: back)
          try old.recordRemove(objectID, back)
        } else {
          try old.leave(objectID, by: back)
        }
      }
    }
    if let new, let back {
      if back.isToMany {
        try new.recordAdd(objectID, back)
      } else {
        if let previous = try object(try new.currentToOne(back)), previous !== self {
          try unlessGone { try previous.leave(new.objectID, by: r) }
        }
        try new.recordToOne(back, objectID)
      }
    }
    try recordToOne(r, new?.objectID)
  }

  /// - Parameters:
  ///   - isAbsent: Whether the caller knows that the object is no destination yet, which need not be looked up then.
  func addDestination(_ new: ManagedObject, _ r: RelationshipInfo, isAbsent: Bool = false) throws {
    try checkDestination(new, r)
    try loadIfRead(by: r)
    try bringAlong(new, r)
    try new.loadIfRead(by: inverse(of: r, on: new))
    guard let back = inverse(of: r, on: new) else {
      if try isAbsent || !contains(new.objectID, r) { try recordAdd(new.objectID, r) }
      return
    }
    if back.isToMany {
      guard try isAbsent || !contains(new.objectID, r) else { return }
      try recordAdd(new.objectID, r)
      if new !== self || back.schema.name != r.schema.name { try new.recordAdd(objectID, back) }
    } else {
      try new.requireNewestRow(at: objectID, by: back)
      let previous = try object(try new.currentToOne(back))
      if previous === self { return }
      if let previous {
        try unlessGone {
          try previous.loadIfLeftBehind(by: r)
          try previous.recordRemove(new.objectID, r)
        }
      }
      try recordAdd(new.objectID, r)
      try new.recordToOne(back, objectID)
    }
  }

  func removeDestination(_ old: ManagedObject, _ r: RelationshipInfo) throws {
    guard let back = inverse(of: r, on: old) else {
      if try contains(old.objectID, r) { try recordRemove(old.objectID, r) }
      return
    }
    if back.isToMany {
      guard try contains(old.objectID, r) else { return }
      try recordRemove(old.objectID, r)
      // Of one that is gone there is nothing left to be taken out of.
      if old !== self || back.schema.name != r.schema.name { try unlessGone { try old.recordRemove(objectID, back) } }
    } else {
      if try old.currentToOne(back) != objectID {
        try old.takeNewestRow()
        guard try old.currentToOne(back) == objectID else { return }
      }
      try recordRemove(old.objectID, r)
      try old.recordToOne(back, nil)
    }
  }

  func assignToMany(_ new: [ManagedObject], _ r: RelationshipInfo) throws {
    if isOfBatch { try requireSettableInBatch(r) }
    for object in new { try checkDestination(object, r) }
    let context = try requireContext()
    try loadIfRead(by: r)
    // Nothing changes of the destinations that stay, so that they need not be read.
    var present = Set(try currentToMany(r))
    for object in new where !object.isEarly && !present.contains(object.objectID) {
      try object.loadIfRead(by: inverse(of: r, on: object))
    }
    let early = new.filter { $0.isEarly }
    for object in early {
      try bringAlong(object, r)
      try object.loadIfRead(by: inverse(of: r, on: object))
    }
    // The application was told, and may have changed the relationship.
    if !early.isEmpty { present = Set(try currentToMany(r)) }
    var ids: [ManagedObjectID] = []
    ids.reserveCapacity(new.count)
    var added: [ManagedObject] = []
    var wanted = Set<ManagedObjectID>(minimumCapacity: new.count)
    for object in new {
      let id = object.objectID
      if !wanted.insert(id).inserted { continue }
      ids.append(id)
      if !present.contains(id) { added.append(object) }
    }
    for id in present.subtracting(wanted).ordered(by: { $0.reference < $1.reference }) {
      try unlessGone { try removeDestination(context.object(with: id), r) }
    }
    for object in added { try addDestination(object, r, isAbsent: true) }
    guard r.isOrdered else { return }
    try load()
    if try currentToMany(r) != ids {
      willChangeRelationship(r)
      toManyChanges[r.place] = try listChange(ids, r)
      context.noteChange(of: self)
    }
  }

  /// Adds an object to a to-many relationship, at the end if it is ordered, and keeps the other side in step. For an
  /// unordered relationship whose inverse is to-one the present destinations are not read. A transient relationship,
  /// and any of an object that is not inserted yet, has no other side.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; ``CambiumError/Code/invalidArgument`` for an object of another context
  ///   or entity.
  public func add(_ object: ManagedObject, toRelationship key: String) throws {
    let (property, r) = try toMany(key)
    if property.isTransient {
      return try changeHeldObjects(property) { if !$0.contains(object) { $0.append(object) } }
    }
    try addDestination(object, r)
  }

  /// Takes an object out of a to-many relationship, and keeps the other side in step. Nothing happens if it is not in
  /// it.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; ``CambiumError/Code/invalidArgument`` for an object of another
  ///   context.
  public func remove(_ object: ManagedObject, fromRelationship key: String) throws {
    let (property, r) = try toMany(key)
    if property.isTransient { return try changeHeldObjects(property) { $0.removeAll { $0 === object } } }
    if let own = managedObjectContext {
      // What is deleted, or not inserted yet, has none.
      let other = object.managedObjectContext
      // What was taken back before it was saved is nowhere.
      if other == nil, object.objectID.isTemporaryID, !object.isEarly { return }
      guard other === own || other == nil && (object.isEarly || object.isDeleted) else {
        throw CambiumError(
          .invalidArgument,
          "'\(key)' of '\(entity.name)' cannot lead to an object of another context; use object(with:) on this one",
          entityName: entity.name, key: key, objectID: object.objectID)
      }
      // Of another entity, it may have a property of the inverse's name all the same. A store that was opened anew is
      // the same one.
      guard object.isEarly || object.space === space || object.space.identifier == space.identifier,
        object.isDestination(of: r)
      else { return }
    }
    try removeDestination(object, r)
  }

  /// The number of destinations of a relationship, unsaved changes included. Builds no objects.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; what reading throws.
  public func count(ofRelationship key: String) throws -> Int {
    let property = try property(key)
    guard let r = property.relationship else { throw notARelationship(key) }
    if property.isTransient { return heldObjects(property).count }
    return r.isToMany ? try currentToMany(r).count : try currentToOne(r) == nil ? 0 : 1
  }

  /// The identifiers of the destinations of a relationship, unsaved changes included. Builds no objects.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; what reading throws.
  @_disfavoredOverload public func objectIDs(forRelationshipNamed key: String) throws -> [ManagedObjectID] {
    let property = try property(key)
    guard let r = property.relationship else { throw notARelationship(key) }
    if property.isTransient { return heldObjects(property).map { $0.objectID } }
    return r.isToMany ? try currentToMany(r) : try currentToOne(r).map { [$0] } ?? []
  }

  private func toMany(_ key: String) throws -> (PropertyInfo, RelationshipInfo) {
    let property = try property(key)
    guard let r = property.relationship, r.isToMany else { throw notARelationship(key) }
    return (property, r)
  }

  private func notARelationship(_ key: String) -> CambiumError {
    CambiumError(
      .invalidArgument, "'\(key)' of '\(entity.name)' is not such a relationship", entityName: entity.name, key: key)
  }
}
