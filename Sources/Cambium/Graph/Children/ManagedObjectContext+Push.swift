import CambiumEngine

// Saving a child puts its changes into the parent, as unsaved changes of that: values as they are, relationships by way
// of the parent's own rules, so that both sides of them agree there whatever the parent and its other children did
// meanwhile.
extension ManagedObjectContext {
  /// Puts the context's changes into its parent. When it throws, the parent is as it was.
  func push(to parent: ManagedObjectContext, in session: SaveSession) throws {
    // What a policy decides is of no event, as in other saves.
    let wasNotingEvents = events.isNoting
    defer { events.isNoting = wasNotingEvents }
    for _ in 0..<100 {
      do {
        events.isNoting = false
        return try pushChanges(to: parent, in: session)
      } catch let found as ParentConflicts {
        try parent.lock.run {
          let objects = found.conflicts.map { $0.sourceObject }
          let states = objects.map { ($0.row, $0.parentState) }
          do { try mergePolicy.resolve(optimisticLockingConflicts: found.conflicts) } catch {
            // They stay conflicts.
            for (object, state) in zip(objects, states) where object.managedObjectContext === self {
              (object.row, object.parentState) = state
            }
            throw error
          }
          for conflict in found.conflicts { settle(conflict, in: parent) }
        }
      } catch is Overtaken {}
    }
    throw CambiumError(
      .managedObjectMerge, "the merge policy resolved conflicts a hundred times, and there were others")
  }

  /// Conflicts that are to be resolved in the child: by a policy of the application's own, or by dropping changes.
  private struct ParentConflicts: Error {
    let conflicts: [MergeConflict]
  }

  /// Objects of the save are not to be saved any more, or not by themselves, by what the parent has saved meanwhile.
  private struct Overtaken: Error {}

  /// Bases an object's changes on what the parent has.
  private func settle(_ conflict: MergeConflict, in parent: ManagedObjectContext) {
    let object = conflict.sourceObject
    let target = parent.object(with: conflict.objectID)
    guard object.managedObjectContext === self else { return }
    noteChangeBySaving(object)
    if target.hasState {
      object.takeState(of: target)
    } else if !object.isDeleted {
      object.dropChanges()
    }
    snapshots.watched[object.objectID] = nil
    if !object.isDeleted, !object.isUpdated { updated.remove(object) }
  }

  private func pushChanges(to parent: ManagedObjectContext, in session: SaveSession) throws {
    try session.validate()
    let saved = pendingObjects
    guard !saved.isEmpty else {
      updated.removeAll()
      return
    }
    let remains = try remains(of: saved.deleted)
    // A fault whose relationships were set was never read: its changes are based on what the parent has now.
    for object in saved.updated { _ = try object.loadIfThere() }
    family.isPushing = true
    defer {
      family.isPushing = false
      takeInMail()
    }
    var identifiers = ObjectIDNotification()
    // A child with the main queue is on the main thread, or in a block that vouches for it.
    let tellsLater = concurrencyType != .mainQueue && !parent.isOnQueue
    try parent.lock.run {
      takeInMail()
      let (outer, toldLater) = (parent.family.pushingChild, parent.events.tellsLater)
      parent.events.tellsLater = toldLater || tellsLater
      defer { parent.events.tellsLater = toldLater }
      // What those who are told change is no part of what is taken back if this fails.
      parent.processEvents()
      guard isPending(saved) else { throw Overtaken() }
      parent.family.pushingChild = self
      defer { parent.family.pushingChild = outer }
      var faults: [ManagedObject] = []
      do { try apply(saved, to: parent, &faults) } catch {
        parent.revertEvent()
        for object in faults {
          object.dropChanges()
          object.become(object.objectID, object.info, in: parent)
          parent.register(object)
        }
        throw error
      }
      snapshots.watched = [:]
      settlePushed(saved)
      undoManager?.keep(remains)
      let changes = saved.identifiers
      identifiers = changes
      parent.processEvent()
      // The parent's objects have other values.
      parent.telling { parent.persistentStoreCoordinator.saveObservers.tell(.takenIn(changes), of: parent) }
    }
    events.isNoting = true
    for object in saved.all { object.didSave() }
    tellDidSave(saved)
    identifiers.refreshedObjectIDs = takeChangedBySaving()
    persistentStoreCoordinator.saveObservers.tell(.pushed(identifiers), of: self)
  }

  private func settlePushed(_ saved: SavedObjects) {
    deleted.remove(contentsOf: saved.deleted)
    inserted.remove(contentsOf: saved.inserted)
    updated.remove(contentsOf: saved.updated)
    for object in saved.deleted {
      unregister(object.objectID)
      object.dropChanges()
      object.leaveContext()
      object.state = .detached
    }
    for object in saved.inserted + saved.updated {
      object.dropChanges()
      object.forgetRow()
      if object.state != .fault { object.state = .stale }
    }
    updated.removeAll { !$0.isUpdated }
  }

  // MARK: In the parent

  /// A changed object, the parent's object for it, and what of it others changed in the parent meanwhile.
  private struct Pushed {
    let object: ManagedObject
    let target: ManagedObject
    let changedElsewhere: Set<String>
  }

  /// - Parameter faults: Gets the objects that the parent had already of what is inserted.
  private func apply(
    _ saved: SavedObjects, to parent: ManagedObjectContext, _ faults: inout [ManagedObject]
  ) throws {
    let kind = mergePolicy.isPlain ? mergePolicy.mergeType : .error
    var conflicts: [MergeConflict] = []
    var dropped: [MergeConflict] = []
    var pushed: [Pushed] = []
    var doomed: [(object: ManagedObject, target: ManagedObject)] = []
    for object in saved.updated + saved.deleted {
      let target = parent.object(with: object.objectID)
      let isThere = try target.isPresent && target.loadIfThere()
      let changedElsewhere = isThere ? try object.namesChanged(in: target) : []
      if kind == .error, isThere ? !changedElsewhere.isEmpty : !object.isDeleted {
        conflicts.append(MergeConflict(object, parent: isThere ? target : nil))
      }
      if !isThere { continue }
      if object.isDeleted {
        doomed.append((object, target))
      } else if !changedElsewhere.isEmpty, kind == .rollback {
        dropped.append(MergeConflict(object, parent: target))
      } else {
        pushed.append(Pushed(object: object, target: target, changedElsewhere: changedElsewhere))
      }
    }
    for one in watchedObjects {
      let object = one.object
      let target = parent.object(with: object.objectID)
      let isThere = try target.isPresent && target.loadIfThere()
      if isThere, try one.namesChanged(in: target).isEmpty { continue }
      conflicts.append(MergeConflict(object, parent: isThere ? target : nil))
    }
    if !conflicts.isEmpty {
      throw mergePolicy.isPlain ? CambiumError(mergeConflicts: conflicts) : ParentConflicts(conflicts: conflicts)
    }
    // What their relationships lead to is pushed otherwise, and would take these along.
    if !dropped.isEmpty { throw ParentConflicts(conflicts: dropped) }

    parent.registry.sweepIfFull()
    for object in saved.inserted {
      let known = parent.registered(object.objectID)
      if let known { faults.append(known) }
      // With a twin, so that what an initializer sets is of no effect: it was in the child.
      let twin = parent.twin(of: parent.home(of: object.objectID, object.info, object.info.description))
      let target =
        known ?? parent.persistentStoreCoordinator.objectClass(for: object.info).init(entity: twin, insertInto: nil)
      parent.adoptPushed(target, object)
      pushed.append(Pushed(object: object, target: target, changedElsewhere: []))
    }
    for one in pushed { try pushAttributes(one) }
    for one in pushed { try pushRelationships(one, parent) }
    for one in pushed { try pushOrders(one) }
    // What was taken away from an object before it was deleted must not go with it.
    for (object, target) in doomed {
      try pushDepartures(of: object, target, parent)
    }
    let last = parent.changeCount
    try parent.deleteByRules(doomed.map { $0.target }, callsHook: false)
    // What goes along in the parent, or leads there, may be what the child has not seen: the parent could not save
    // that.
    if doomed.isEmpty { return }
    for object in parent.deleted.values where object.changeOrder > last { try object.validateDeletion() }
  }

  /// The attributes that are pushed: those that changed, as far as the policy lets them; all, if the object's state
  /// counts.
  private func pushAttributes(_ one: Pushed) throws {
    for property in one.object.info.ordered where !property.isTransient && !property.isDerived {
      guard property.isAttribute else { continue }
      let isChangedElsewhere = one.changedElsewhere.contains(property.name)
      if var value = one.object.changedAttribute(at: property.place) {
        if isChangedElsewhere {
          let (base, theirs) = (try one.object.committedValue(property), try one.target.currentValue(property))
          value = value.merged(with: theirs, base: base, by: mergePolicy.mergeType)
        }
        try one.target.assign(value, to: property)
      } else if mergePolicy.mergeType == .overwrite, isChangedElsewhere {
        try one.target.assign(try one.object.currentValue(property), to: property)
      }
    }
  }

  /// Whether the policy lets a change of this context stand.
  private func isKept(_ name: String, _ one: Pushed) -> Bool {
    mergePolicy.mergeType != .mergeByPropertyStoreTrump || !one.changedElsewhere.contains(name)
  }

  private func pushRelationships(_ one: Pushed, _ parent: ManagedObjectContext) throws {
    func present(_ ids: [ManagedObjectID]) throws -> [ManagedObject] {
      try ids.compactMap { id in
        let other = parent.object(with: id)
        // A new object that the parent has no more, for having deleted it, is not there.
        if other.objectID.isTemporaryID, other.isFault, try !other.loadIfThere() { return nil }
        return other.isPresent ? other : nil
      }
    }
    for r in one.object.info.storedRelationships {
      let name = r.schema.name
      if !r.isToMany {
        let isChanged = one.object.toOneChanges.contains(r.place)
        let overwrites = mergePolicy.mergeType == .overwrite && one.changedElsewhere.contains(name)
        guard isChanged && isKept(name, one) || overwrites else { continue }
        let id = try one.object.currentToOne(r)
        try one.target.assignToOne(try id.flatMap { try present([$0]).first }, r)
      } else if !r.isOrdered {
        // What is derived from the other side comes from there.
        guard !r.isDerived, let change = one.object.toManyChanges[r.place] else { continue }
        let (added, removed) = change.difference(from: ToManyChange())
        for other in try present(removed) { try one.target.removeDestination(other, r) }
        for other in try present(added) { try one.target.addDestination(other, r) }
      } else if r.inverse?.isToMany != false, let ids = one.object.toManyChanges[r.place]?.list {
        try one.target.assignToMany(try present(ids), r)
      }
    }
  }

  /// Takes out of the relationships of an object that is going to be deleted what the child has taken out of them
  /// before.
  private func pushDepartures(of object: ManagedObject, _ target: ManagedObject, _ parent: ManagedObjectContext) throws
  {
    for r in object.info.storedRelationships {
      if !r.isToMany {
        guard object.toOneChanges.contains(r.place) else { continue }
        // What others have led it to since goes with it.
        let old = try object.committedToOne(r)
        if try old != nil && object.currentToOne(r) != old && target.currentToOne(r) == old {
          try target.assignToOne(nil, r)
        }
      } else if r.inverse?.isToMany != false, object.toManyChanges[r.place] != nil {
        // What leads to one object only says itself that it was taken out, as pushed or as deleted.
        let kept = Set(try object.currentToMany(r))
        for id in try target.currentToMany(r) where !kept.contains(id) && wasTakenOut(id, of: object, r) {
          try target.removeDestination(parent.object(with: id), r)
        }
      }
    }
  }

  /// Whether it was the child that took an object out of a list, which says only what is in it now: others may have put
  /// it there since.
  private func wasTakenOut(_ id: ManagedObjectID, of object: ManagedObject, _ r: RelationshipInfo) -> Bool {
    guard r.isOrdered, r.inverse != nil else { return true }
    guard let other = registered(id), let back = r.inverse(in: other.info) else { return false }
    guard let change = other.toManyChanges[back.place] else { return other.isDeleted }
    return change.list.map { !$0.contains(object.objectID) } ?? (change.state(of: object.objectID) == false)
  }

  /// Puts ordered relationships into the child's order. What is in them follows from the other side by now.
  private func pushOrders(_ one: Pushed) throws {
    for r in one.object.info.storedRelationships {
      guard r.isOrdered, r.inverse?.isToMany == false,
        let ids = one.object.toManyChanges[r.place]?.list
      else { continue }
      let present = try one.target.currentToMany(r)
      let (known, wanted) = (Set(present), Set(ids))
      let ordered = ids.filter { known.contains($0) } + present.filter { !wanted.contains($0) }
      if ordered == present { continue }
      one.target.willChange()
      one.target.toManyChanges[r.place] = ToManyChange(list: ordered)
      one.target.managedObjectContext?.noteChange(of: one.target)
    }
  }

  /// Takes in an object that a child inserted, with the same identifier. If that was a permanent one, the context may
  /// have been asked for the object already, and have it as a fault without a row, changed perhaps: it is that from now
  /// on.
  private func adoptPushed(_ target: ManagedObject, _ object: ManagedObject) {
    if target.eventState == nil { events.objects.append(target) }
    target.dropChanges()
    target.become(object.objectID, object.info, in: self)
    target.state = .inserted
    target.isDeleted = false
    target.changeOrder = nextChangeOrder()
    target.eventState = .absent
    updated.remove(target)
    deleted.remove(target)
    inserted.insert(target)
    register(target)
  }
}

extension ManagedObject {
  /// Reads the row; false if there is none any more.
  func loadIfThere() throws -> Bool {
    do { try load() } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {
      return false
    }
    return true
  }

  /// The attributes and to-one relationships that the parent's object has otherwise than this one read them.
  func namesChanged(in target: ManagedObject) throws -> Set<String> {
    if row == nil, parentState == nil { return [] }
    if parentState == nil, target.parentState == nil, !target.changesAttributes, target.toOneChanges.isEmpty,
      row.isSame(as: target.row)
    {
      return []
    }
    var result: Set<String> = []
    for property in info.ordered where !property.isTransient && !property.isDerived {
      switch property.kind {
      case .attribute(let attribute, _):
        if try committedValue(attribute) != target.currentValue(attribute) { result.insert(property.name) }
      case .relationship(let r) where !r.isToMany:
        if try committedToOne(r) != target.currentToOne(r) { result.insert(property.name) }
      case .relationship: break
      }
    }
    return result
  }
}
