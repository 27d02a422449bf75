import CambiumEngine

extension ManagedObjectContext {
  /// Takes an event back. Both sides of a relationship were noted, so both are put back as they are noted, without
  /// rules.
  ///
  /// Objects that were saved as deleted come back as new ones, with the values they had; what is gone for good is left
  /// out. Where something fails, the error is noted, and the rest goes on.
  ///
  /// - Returns: Whether it could be taken back: not if relationships are otherwise than the event left them, since
  ///   others have saved them so, or they were changed while nothing was registered. To put back what was before would
  ///   leave these changes on one side alone.
  func revert(_ list: ChangeList) -> Bool {
    guard list.changes.allSatisfy({ areRelationshipsAsLeft($0) }) else { return false }
    var returned: [(object: ManagedObject, remains: ObjectRemains)] = []
    for change in list.changes where change.existedBefore && !change.existsAfter {
      let remains = list.remains[ObjectIdentifier(change.object)]
      if let remains = bringBack(change.object, remains) { returned.append((change.object, remains)) }
    }
    // Known before anything is put back: what others have deleted must not come into relationships either.
    let changes = list.changes.filter { change in
      !change.object.isPresent || noting { try loadIfStillThere(change.object) }
    }
    for (object, remains) in returned { restore(object, remains) }
    for change in changes where change.existedBefore && change.object.isPresent {
      for property in change.properties { noting { try restore(change.object, property) } }
    }
    for change in changes where !change.existedBefore && change.existsAfter { noting { try takeOut(change.object) } }
    for change in changes where change.object.isPresent {
      for case .toOne(let r, _, _) in change.properties { noting { try checkDestination(of: change.object, r) } }
    }
    for change in changes where change.existedBefore && change.existsAfter && change.object.isPresent {
      for property in change.properties { noting { try letGo(by: property, change.object) } }
    }
    for (object, remains) in returned {
      for (r, _) in remains.toOne { noting { try checkDestination(of: object, r) } }
      for (r, _) in remains.toMany { noting { try checkDestinations(of: object, r) } }
    }
    // What leads to these again may be what they had not any more when their deletion was saved.
    let back = Set(returned.map { $0.object })
    for change in changes where change.object.isPresent && !back.isEmpty {
      for r in change.properties.compactMap({ $0.relationship }) where r.isToMany {
        noting { try checkDestinations(of: change.object, own(r, change.object), among: back) }
      }
    }
    for change in changes {
      let object = change.object
      if object.isPresent, object.state != .inserted, !object.isUpdated { updated.remove(object) }
      if object.isDeleted {
        if change.existsAfter { object.awake(fromSnapshotEvents: .undoInsertion) }
      } else if object.state != .detached {
        object.awake(fromSnapshotEvents: change.existsAfter ? .undoUpdate : .undoDeletion)
      }
    }
    return true
  }

  /// Whether the relationships of an object are as an event left them, what is gone since aside.
  private func areRelationshipsAsLeft(_ change: ChangeList.Change) -> Bool {
    let object = change.object
    guard object.isPresent, object.managedObjectContext === self, change.existedBefore, change.existsAfter else {
      return true
    }
    func isGone(_ other: ManagedObject) -> Bool { !isThere(other) || (try? other.isThere()) == false }
    // One that is gone itself is left out, and tells so.
    return
      (try? change.properties.allSatisfy { property in
        switch property {
        case .attribute, .transient: return true
        case .toOne(let known, _, let after):
          let present = try object.currentToOne(own(known, object))
          return present == after?.objectID || present == nil && after.map(isGone) == true
        case .list(let known, _, let after):
          let present = try object.currentToMany(own(known, object))
          if present == after.map({ $0.objectID }) { return true }
          let gone = Set(after.filter(isGone).map { $0.objectID })
          return present.filter { !gone.contains($0) } == after.map { $0.objectID }.filter { !gone.contains($0) }
        case .members(let known, let added, let removed):
          let r = own(known, object)
          return try added.allSatisfy { try object.contains($0.objectID, r) || isGone($0) }
            && removed.allSatisfy { try !object.contains($0.objectID, r) }
        }
      }) ?? true
  }

  /// Reads an object, unless others have deleted it since it was read, or was saved here.
  private func loadIfStillThere(_ object: ManagedObject) throws {
    let isRead = object.state == .loaded || object.state == .stale
    if isRead, !object.isUpdated, !object.isDeleted, parent == nil, let newest = try newestView(of: object.space) {
      let version = try mapping { () throws(EngineError) in try newest.rowVersion(object.reference) }
      if version == nil {
        object.row = nil
        object.state = .stale
        throw object.goneError
      }
    }
    try object.load()
  }

  /// Runs a part of taking an event back; answers whether it did not throw. An object that is gone counts as deleted
  /// then.
  @discardableResult
  private func noting(_ body: () throws -> Void) -> Bool {
    do { try body() } catch {
      record(error, losesChange: false)
      return false
    }
    return true
  }

  // MARK: Existence

  /// Undoes a deletion. Answers what an object that was saved as deleted had.
  private func bringBack(_ object: ManagedObject, _ remains: ObjectRemains?) -> ObjectRemains? {
    if object.state == .detached {
      guard let remains else { return nil }
      let id = ManagedObjectID.temporary(object.info.schema.id, in: object.objectID.space)
      object.become(id, object.info, in: self)
      object.forgetRow()
      object.state = .inserted
      object.isDeleted = false
      object.eventState = .absent
      events.objects.append(object)
      takeInto(&inserted, object)
      return remains
    }
    guard object.isDeleted, object.managedObjectContext === self else { return nil }
    object.willChange()
    object.isDeleted = false
    if object.state == .inserted {
      object.dropChanges()
      object.transients = [:]
      takeInto(&inserted, object)
    } else {
      deleted.remove(object)
      // What others have deleted as well is gone, whatever row is known of it.
      if parent == nil, (try? object.isThere()) == false {
        object.forgetRow()
        object.state = .stale
      }
      if object.isUpdated { takeInto(&updated, object) }
    }
    return nil
  }

  private func takeInto(_ objects: inout PendingObjects, _ object: ManagedObject) {
    object.changeOrder = nextChangeOrder()
    objects.insert(object)
    register(object)
  }

  /// Undoes an insertion. What leads to the object by now is let go of, whatever the delete rules are.
  private func takeOut(_ object: ManagedObject) throws {
    guard object.isPresent, object.managedObjectContext === self else { return }
    for r in object.info.storedRelationships {
      for id in try object.objectIDs(forRelationshipNamed: r.schema.name) where id != object.objectID {
        // What leads to an object that was never saved has unsaved changes, and is here.
        if object.state == .inserted, registered(id) == nil { continue }
        let destination = self.object(with: id)
        // What does not lead back, or no longer does, has nothing to let go of.
        guard destination.isPresent, let name = r.inverse?.name,
          let back = destination.info.properties[name]?.relationship,
          try !back.isToMany || destination.contains(object.objectID, back)
        else { continue }
        try withdraw(object, r, from: destination)
      }
    }
    if object.state != .inserted {
      // It was saved meanwhile. Its row says where it leads; so that the rules let go of nothing there when this is
      // saved, it has left.
      for r in object.info.storedRelationships {
        guard !r.isToMany, try object.currentToOne(r) != nil else { continue }
        try object.recordToOne(r, nil)
      }
    }
    object.willChange()
    remove(object)
    guard object.state == .inserted else { return }
    // Its values are in the event: identifiers among them could be outdated when it comes back.
    object.dropChanges()
    object.transients = [:]
  }

  // MARK: Values

  private func isThere(_ object: ManagedObject) -> Bool {
    guard object.isPresent, object.managedObjectContext === self else { return false }
    // Of a new object that is gone nothing is left but its identifier. In a child it may be one of the parent's.
    return !object.objectID.isTemporaryID || object.state == .inserted
      || parent != nil && (try? object.load()) != nil && object.isPresent
  }

  private func restore(_ object: ManagedObject, _ remains: ObjectRemains) {
    for (attribute, value) in remains.attributes {
      guard let property = object.info.properties[attribute.name] else { continue }
      object.overlay(value, at: property.place)
    }
    object.transients = remains.transients
    for (r, destination) in remains.toOne where isThere(destination) {
      object.toOneChanges.updateValue(destination.objectID, forKey: r.place)
    }
    for (r, destinations) in remains.toMany {
      let ids = destinations.filter { isThere($0) }.map { $0.objectID }
      if r.isOrdered {
        object.toManyChanges[r.place] = ToManyChange(list: ids)
      } else if !ids.isEmpty {
        var change = ToManyChange()
        for id in ids { change.add(id) }
        object.toManyChanges[r.place] = change
      }
    }
  }

  private func restore(_ object: ManagedObject, _ property: PropertyChange) throws {
    object.willChange()
    switch property {
    case .attribute(let attribute, let before, _):
      let isCommitted = try object.committedValue(attribute) == before
      // Null, too, would be `nil`.
      guard let place = object.info.properties[attribute.name]?.place else { break }
      if isCommitted { object.takeBackOverlay(at: place) } else { object.overlay(before, at: place) }
    case .transient(let name, let before): object.transients[name] = before
    case .toOne(let known, let before, _):
      let r = own(known, object)
      let id = before.flatMap { isThere($0) ? $0.objectID : nil }
      if try object.committedToOne(r) == id {
        object.toOneChanges[r.place] = nil
      } else {
        object.toOneChanges.updateValue(id, forKey: r.place)
      }
    case .list(let known, let before, _):
      let r = own(known, object)
      let ids = before.filter { isThere($0) }.map { $0.objectID }
      let isCommitted = try object.committedToMany(r) == ids
      object.toManyChanges[r.place] = isCommitted ? nil : try object.listChange(ids, r)
    case .members(let known, let added, let removed):
      let r = own(known, object)
      for other in added where try object.contains(other.objectID, r) { try object.recordRemove(other.objectID, r) }
      for other in removed where isThere(other) {
        if try !object.contains(other.objectID, r) { try object.recordAdd(other.objectID, r) }
      }
    }
    noteChange(of: object)
  }

  /// A relationship as the object has it by now: who has it assigned to another store may find it at another place.
  private func own(_ r: RelationshipInfo, _ object: ManagedObject) -> RelationshipInfo {
    object.info.properties[r.schema.name]?.relationship ?? r
  }

  /// Sees to it that what an object was led to, and is not any more, does not lead to it either: what others had led to
  /// it already is in no event.
  private func letGo(by property: PropertyChange, _ object: ManagedObject) throws {
    guard let known = property.relationship else { return }
    let former: [ManagedObject]
    switch property {
    case .attribute, .transient: return
    case .toOne(_, _, let after): former = after.map { [$0] } ?? []
    case .list(_, _, let after): former = after
    case .members(_, let added, _): former = added
    }
    let r = own(known, object)
    for other in former where isThere(other) {
      guard let back = r.inverse(in: other.info) else { return }
      let isLedTo =
        r.isToMany ? try object.contains(other.objectID, r) : try object.currentToOne(r) == other.objectID
      if isLedTo { continue }
      if back.isToMany {
        if try other.contains(object.objectID, back) { try other.recordRemove(object.objectID, back) }
      } else if try other.currentToOne(back) == object.objectID {
        try other.leave(object.objectID, by: back)
      }
    }
  }

  /// Sees to it that the destinations of an object that is back lead to it: those that others have put there before it
  /// was deleted are in no event. What leads to another object by now is left to that.
  private func checkDestinations(
    of object: ManagedObject, _ r: RelationshipInfo, among some: Set<ManagedObject>? = nil
  ) throws {
    for id in try object.currentToMany(r) {
      let destination = self.object(with: id)
      if let some, !some.contains(destination) { continue }
      do { try loadIfStillThere(destination) } catch let error as CambiumError
        where error.code == .managedObjectReferentialIntegrity
      {
        try object.recordRemove(id, r)
        continue
      }
      guard let back = r.inverse(in: destination.info) else { return }
      if back.isToMany {
        if try !destination.contains(object.objectID, back) { try destination.recordAdd(object.objectID, back) }
        continue
      }
      let present = try destination.currentToOne(back)
      if present == nil {
        try destination.recordToOne(back, object.objectID)
      } else if present != object.objectID {
        try object.recordRemove(id, r)
      }
    }
  }

  /// Sees to it that a destination exists, and leads back. It need not do either, if others have saved meanwhile, or if
  /// the object was saved as deleted, which left a derived side nothing to note.
  private func checkDestination(of object: ManagedObject, _ r: RelationshipInfo) throws {
    guard let id = try object.currentToOne(r) else { return }
    let destination = self.object(with: id)
    do { try loadIfStillThere(destination) } catch let error as CambiumError
      where error.code == .managedObjectReferentialIntegrity
    {
      return try object.recordToOne(r, nil)
    }
    if destination.isDeleted { return try object.recordToOne(r, nil) }
    // Where it leads as saved, others may have led it elsewhere since: what has to lead back is theirs.
    guard object.toOneChanges.contains(r.place) else { return }
    guard let name = r.inverse?.name, let back = destination.info.properties[name]?.relationship else { return }
    if back.isToMany {
      if try !destination.contains(object.objectID, back) { try destination.recordAdd(object.objectID, back) }
    } else {
      let present = try destination.currentToOne(back)
      if present == object.objectID { return }
      if let present { try self.object(with: present).recordToOne(r, nil) }
      try destination.recordToOne(back, object.objectID)
    }
  }
}
