import CambiumEngine

// What merge policies do to relationships, in memory and on both sides: what is then written agrees, whichever of the
// two objects others have changed. The object's row is the one in the store by now, or what the parent has.
extension ManagedObject {
  /// Takes all changes back: relationships lead where they do in the store, on the other side as well. Those that are
  /// derived from the other side are the other objects' changes, and stay.
  func takeBackChanges() throws {
    attributeChanges = [:]
    for r in info.storedRelationships {
      guard !r.isDerived else { continue }
      if !r.isToMany {
        guard toOneChanges.contains(r.place) else { continue }
        try takeBack(toOne: r)
      } else if toManyChanges[r.place] != nil {
        try assignDestinations(try committedToMany(r), r)
        toManyChanges[r.place] = nil
      }
    }
  }

  /// Has a to-one relationship lead where it does in the store, which is no change. What is gone by then, and was left
  /// behind by its rule, has no other side to be kept in step.
  func takeBack(toOne r: RelationshipInfo) throws {
    _ = try currentToOne(r).map { try newest($0) }
    let other = try committedToOne(r).map { try newest($0) }
    try assignToOne(try other.flatMap { try $0.isThere() ? $0 : nil }, r)
    toOneChanges.removeValue(forKey: r.place)
  }

  /// Drops the changes of an object whose row others have deleted, and has nothing new lead to it.
  func withdrawChanges() throws {
    let context = try requireContext()
    for r in info.storedRelationships {
      var ids: [ManagedObjectID] = []
      if !r.isToMany {
        if let changed = toOneChanges[r.place], let id = changed { ids = [id] }
      } else if let change = toManyChanges[r.place] {
        ids = change.list ?? change.touched.filter { change.state(of: $0) == true }
      }
      for id in ids {
        let other = try newest(id)
        if other.isDeleted || other === self { continue }
        do { try context.withdraw(self, r, from: other) } catch let error as CambiumError
          where error.code == .managedObjectReferentialIntegrity
        { continue }
      }
    }
    dropChanges()
  }

  /// Brings the changed relationships of an object, which has a newer row than the one that they are based on, in step
  /// with that: where it led meanwhile, both sides let go, and what others have put into a list is in it.
  func rebaseRelationships(on old: Row) throws {
    guard let overlay, !overlay.toOneChanges.isEmpty || !overlay.toManyChanges.isEmpty else { return }
    for property in info.relationships where !property.isTransient {
      guard let r = property.relationship, isChanged(property) else { continue }
      if !r.isToMany {
        try merge(toOne: r, .mergeByPropertyObjectTrump, old)
      } else if r.isOrdered {
        try merge(ordered: r, .mergeByPropertyObjectTrump, old)
      }
    }
  }

  /// Decides where a to-one relationship leads that others may have changed since `cached` was read.
  func merge(toOne r: RelationshipInfo, _ kind: MergePolicy.MergePolicyType, _ cached: Row) throws {
    let base = try cached.reference(r.schema).map { ManagedObjectID(space: objectID.space, reference: $0) }
    let theirs = try committedToOne(r)
    guard base != theirs else { return }
    let isMine = toOneChanges.contains(r.place)
    guard isMine || kind == .overwrite else { return }
    let mine = try (isMine ? try currentToOne(r) : base).map { try newest($0, by: r) }
    if kind == .mergeByPropertyStoreTrump {
      try takeBack(toOne: r)
    } else {
      _ = try theirs.map { try newest($0) }
      // Seen from what is there now, so that what others have led here is let go of.
      toOneChanges.removeValue(forKey: r.place)
      try assignToOne(try mine.flatMap { try $0.isThere() ? $0 : nil }, r)
    }
  }

  /// Decides what is in an ordered relationship that others may have changed since `cached` was read. What came and
  /// went of others needs no decision: it is applied to what is there.
  func merge(ordered r: RelationshipInfo, _ kind: MergePolicy.MergePolicyType, _ cached: Row) throws {
    let base =
      try toManyChanges[r.place]?.base
      ?? cached.references(r.schema).map { ManagedObjectID(space: objectID.space, reference: $0) }
    let theirs = try committedToMany(r)
    // Also of one that nobody else has changed since: what it leads to may lead elsewhere by now.
    guard base != theirs || toManyChanges[r.place] != nil else { return }
    guard let mine = toManyChanges[r.place]?.list ?? (kind == .overwrite ? base : nil) else { return }
    var wanted = mine
    if kind != .overwrite, base != theirs {
      let (inBase, inMine, inTheirs) = (Set(base), Set(mine), Set(theirs))
      let (first, second) = kind == .mergeByPropertyStoreTrump ? (theirs, mine) : (mine, theirs)
      wanted =
        first.filter { !inBase.contains($0) || inMine.contains($0) && inTheirs.contains($0) }
        + second.filter { !inBase.contains($0) && !(inMine.contains($0) && inTheirs.contains($0)) }
    }
    // What is there now counts, as above.
    toManyChanges[r.place] = nil
    try assignDestinations(wanted, r)
  }

  private func assignDestinations(_ ids: [ManagedObjectID], _ r: RelationshipInfo) throws {
    for id in Set(try currentToMany(r)).symmetricDifference(ids) { _ = try newest(id, by: r) }
    // Of an object that the policy has decided about before, the other side may be elsewhere by now.
    let present = try currentToMany(r)
    let agreed = try present.filter { try newest($0).leads(to: self, by: r) }
    if r.isOrdered, agreed != present {
      willChange()
      toManyChanges[r.place] = ToManyChange(list: agreed)
      try requireContext().noteChange(of: self)
    }
    try assignToMany(try ids.map { try requireContext().object(with: $0) }.filter { try $0.isThere() }, r)
  }

  /// An object that a relationship leads to; what was read of it is given up, since it may be old. One that is written
  /// meets a conflict of its own if it is; one whose changes are derived from others, of which nothing is written, does
  /// not.
  private func newest(_ id: ManagedObjectID) throws -> ManagedObject {
    let context = try requireContext()
    let other = context.object(with: id)
    if other === self || other.isDeleted || other.isUpdated && other.isWrittenBySave { return other }
    switch other.state {
    case .fault: other.forgetRow()
    case .loaded, .stale:
      other.forgetRow()
      other.state = .stale
      other.fetchedValues = [:]
    case .inserted, .detached: break
    }
    return other
  }

  /// The same of an object that a relationship is going to lead to, and of what has it now and has to let go of it.
  private func newest(_ id: ManagedObjectID, by r: RelationshipInfo) throws -> ManagedObject {
    let other = try newest(id)
    guard let back = r.inverse(in: other.info), !back.isToMany, try other.isThere() else { return other }
    if let holder = try other.currentToOne(back) { _ = try newest(holder) }
    return other
  }

  /// Whether the other side of a relationship leads to an object; not if others have deleted it.
  private func leads(to object: ManagedObject, by r: RelationshipInfo) throws -> Bool {
    guard try isThere() else { return false }
    guard let name = r.inverse?.name, let back = info.properties[name]?.relationship else { return true }
    return back.isToMany ? try contains(object.objectID, back) : try currentToOne(back) == object.objectID
  }

  /// Whether a relationship may lead to the object.
  func isThere() throws -> Bool {
    if isDeleted || state == .detached { return false }
    if state == .inserted { return true }
    let context = try requireContext()
    if let parent = context.parent {
      return try parent.lock.run {
        let target = parent.object(with: objectID)
        return try target.isPresent && target.loadIfThere()
      }
    }
    let view = try context.view(of: objectID.space)
    return try mapping { () throws(EngineError) in try view.row(objectID.reference) } != nil
  }
}
