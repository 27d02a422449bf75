import CambiumKernel

// Links between objects. Each has two ends, and the transaction writes both: whoever changes one end by a setter, by a
// list of destinations, or by one of these methods, finds the other end changed when the call returns.
extension EntityTransaction {
  /// Links an object to a destination.
  ///
  /// A to-one relationship leads to the destination from now on, and no longer to its former one. A to-many
  /// relationship leads to one more object, in a list to the last one; a destination that is linked already changes
  /// nothing. The inverse is written too: if it is a to-one relationship, the destination leaves its former object.
  ///
  /// An edit of two unordered to-many relationships changes no row and no version, so that two writers can both add
  /// links.
  ///
  /// The destination may be inserted later in the same transaction. It must exist when the transaction ends.
  ///
  /// - Throws: ``EngineError/noSuchObject(_:)`` if the object's row has to be written and there is none;
  ///   ``EngineError/typeMismatch(entity:property:expected:found:)`` for a destination of another entity;
  ///   ``EngineError/misuse(_:)`` for a relationship that is transient or of another entity; kernel errors.
  /// - Complexity: O(log n); O(length) for a list.
  public func link(
    _ object: ObjectReference, _ relationship: RelationshipSchema, to destination: ObjectReference
  ) throws(EngineError) {
    let (plan, place) = try place(of: relationship, of: object)
    try requireDestination(destination, plan, place)
    switch RelationshipStorage(relationship, in: store.schema) {
    case .row, .rowAndTree:
      try update(object) { (row) throws(EngineError) in try row.set(toOne: key(place, plan), destination) }
    case .list:
      try editList(object, plan, place) { list in
        if list.contains(where: { $0.row == destination.row }) { return false }
        list.append(destination)
        return true
      }
    case .tree:
      guard let tree = plan.linkTree(place) else { return }
      noteEnds(object, destination)
      try adoptPendingLinks(object)
      try put([linkKey(object.row, destination.row)], tree)
      noteChanged(relationship.id, object)
      if let side = plan.side(relationship.id) { try follow(LinkEdit(side: side, added: [destination]), of: object) }
    case .derived:
      noteEnds(object, destination)
      if let side = plan.side(relationship.id) { try follow(LinkEdit(side: side, added: [destination]), of: object) }
    }
  }

  /// Takes a destination out of a relationship of an object, and the object out of the inverse. Nothing happens if
  /// there is no such link.
  ///
  /// - Throws: As ``link(_:_:to:)``.
  /// - Complexity: O(log n); O(length) for a list.
  public func unlink(
    _ object: ObjectReference, _ relationship: RelationshipSchema, from destination: ObjectReference
  ) throws(EngineError) {
    let (plan, place) = try place(of: relationship, of: object)
    switch RelationshipStorage(relationship, in: store.schema) {
    case .row, .rowAndTree:
      guard try row(object)?.reference(relationship)?.row == destination.row else { return }
      try update(object) { (row) throws(EngineError) in try row.set(toOne: key(place, plan), nil) }
    case .list:
      try editList(object, plan, place) { list in
        let count = list.count
        list.removeAll { $0.row == destination.row }
        return list.count < count
      }
    case .tree:
      guard let tree = plan.linkTree(place) else { return }
      try adoptPendingLinks(object)
      try removeLinks([linkKey(object.row, destination.row)], tree)
      noteChanged(relationship.id, object)
      if let side = plan.side(relationship.id) { try follow(LinkEdit(side: side, removed: [destination]), of: object) }
    case .derived:
      if let side = plan.side(relationship.id) { try follow(LinkEdit(side: side, removed: [destination]), of: object) }
    }
  }

  /// Moves a destination of an ordered relationship behind another one; to the front if that is nil. Nothing happens if
  /// one of the two is not in the list.
  ///
  /// - Throws: As ``link(_:_:to:)``; ``EngineError/misuse(_:)`` if the relationship is not ordered.
  /// - Complexity: O(length of the list).
  public func move(
    _ destination: ObjectReference, in relationship: RelationshipSchema, of object: ObjectReference,
    after other: ObjectReference?
  ) throws(EngineError) {
    let (plan, place) = try place(of: relationship, of: object)
    guard relationship.isOrdered else {
      throw .misuse("'\(relationship.name)' is not ordered: its objects have no places")
    }
    try editList(object, plan, place) { list in
      guard let from = list.firstIndex(where: { $0.row == destination.row }) else { return false }
      let moved = list.remove(at: from)
      guard let other else {
        list.insert(moved, at: 0)
        return from > 0
      }
      guard let behind = list.firstIndex(where: { $0.row == other.row }) else { return false }
      list.insert(moved, at: behind + 1)
      return behind + 1 != from
    }
  }

  /// Sets all destinations of a to-many relationship, in order if it is ordered. Objects that are among them stay
  /// linked; the others are unlinked.
  ///
  /// - Throws: As ``link(_:_:to:)``.
  /// - Complexity: O(old and new destinations).
  public func replace(
    _ object: ObjectReference, _ relationship: RelationshipSchema, with destinations: [ObjectReference]
  ) throws(EngineError) {
    let (plan, place) = try place(of: relationship, of: object)
    guard relationship.isToMany else {
      throw .misuse("'\(relationship.name)' leads to one object: use link(_:_:to:) or unlink(_:_:from:)")
    }
    if relationship.isOrdered {
      return try update(object) { (row) throws(EngineError) in try row.set(toMany: key(place, plan), destinations) }
    }
    for destination in destinations { try requireDestination(destination, plan, place) }
    ledger.noteDestination(object)
    try adoptPendingLinks(object)
    try setUnordered(place, of: object, plan, destinations)
  }

  /// The ends of links that were changed so far, whichever end was written: for example a list that an object left
  /// because its to-one relationship leads elsewhere. Each is told once. Ends of objects that this transaction has
  /// inserted are left out. Nothing is noted unless ``notesChangedEnds`` is set.
  public var changedEnds: [LinkEnd] { ledger.changed }

  /// The objects whose rows were written so far because the other ends of their links were, each once. Objects that
  /// this transaction has inserted are left out. Some may have been deleted since.
  public var changedByLinks: [ObjectReference] { ledger.changedObjects }

  /// The same of objects that this transaction has inserted.
  public var newChangedByLinks: [ObjectReference] { ledger.newChangedObjects }

  // MARK: Parts

  private func place(
    of relationship: RelationshipSchema, of object: ObjectReference
  ) throws(EngineError) -> (EntityPlan, Int) {
    var plan = try store.plan(object.entity)
    if plan.sharesRows, let own = try planOfRow(object) { plan = own }
    guard let place = plan.entity.allRelationships.firstIndex(where: { $0.id == relationship.id }) else {
      throw .unknownProperty(entity: plan.entity.name, name: relationship.name)
    }
    if relationship.isTransient { throw .misuse("'\(relationship.name)' is transient: no store keeps it") }
    return (plan, place)
  }

  private func key(_ place: Int, _ plan: EntityPlan) -> PropertyKey {
    PropertyKey(id: plan.entity.allRelationships[place].id, place: place)
  }

  private func requireDestination(
    _ destination: ObjectReference, _ plan: EntityPlan, _ place: Int
  ) throws(EngineError) {
    if store.schema.isEntity(destination.entity, orDescendantOf: plan.destinations[place]) { return }
    let relationship = plan.entity.allRelationships[place]
    throw .typeMismatch(
      entity: plan.entity.name, property: relationship.name, expected: .objectID,
      found: store.schema.entity(id: destination.entity)?.name ?? "an object of another model")
  }

  private func noteEnds(_ object: ObjectReference, _ destination: ObjectReference) {
    ledger.noteDestination(object)
    ledger.noteDestination(destination)
  }

  private func editList(
    _ object: ObjectReference, _ plan: EntityPlan, _ place: Int,
    _ edit: (inout [ObjectReference]) -> Bool
  ) throws(EngineError) {
    guard let row = try row(object) else { throw .noSuchObject(object) }
    var list = try row.references(plan.entity.allRelationships[place])
    if edit(&list) {
      try update(object) { (row) throws(EngineError) in try row.set(toMany: key(place, plan), list) }
    }
  }

  /// Sets the destinations of an unordered to-many relationship on both sides.
  func setUnordered(
    _ place: Int, of object: ObjectReference, _ plan: EntityPlan, _ destinations: [ObjectReference]
  ) throws(EngineError) {
    let relationship = plan.entity.allRelationships[place]
    let old = try related(object, relationship)
    let oldRows = Set(old.lazy.map { $0.row })
    var newRows = Set<UInt64>()
    var added: [ObjectReference] = []
    for destination in destinations
    where newRows.insert(destination.row).inserted && !oldRows.contains(destination.row) {
      ledger.noteDestination(destination)
      added.append(destination)
    }
    let removed = old.filter { !newRows.contains($0.row) }
    if !removed.isEmpty || !added.isEmpty { noteChanged(relationship.id, object) }
    if let tree = plan.linkTree(place) {
      try removeLinks(removed.map { linkKey(object.row, $0.row) }, tree)
      try put(added.map { $0.row }.sorted().map { linkKey(object.row, $0) }, tree)
    }
    guard let side = plan.side(relationship.id) else { return }
    // Rows that are not inserted yet are not among the old destinations.
    if case .derived = side.storage { ledger.withdrawAll(side.inverse, object) }
    try follow(LinkEdit(side: side, removed: removed, added: added), of: object)
  }
}
