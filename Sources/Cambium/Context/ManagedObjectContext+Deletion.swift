/// A deletion, as far as it has not come yet.
struct UnfinishedDeletion {
  /// What is still to be deleted, the last one first.
  var objects: [ManagedObject]
  /// What the application has deleted; the others go along.
  let first: ManagedObject
  let callsHook: Bool
  /// Whether the next one was told already that it will be deleted.
  var isNextTold = false
  /// Whether an event has ended since it was begun, with which it is undone; or it is of none.
  var isOfEvent = false
  /// By which the event knows it.
  let mark = Mark()

  final class Mark {}
}

// Deleting, and the delete rules of what is led to what is deleted.
extension ManagedObjectContext {
  /// Marks an object for deletion at the next save, and applies the delete rules of its relationships at once: nullify
  /// takes the object out of the other side, cascade deletes the destinations as well, deny is checked when saving, no
  /// action leaves the other side alone. An object that was not saved yet is forgotten, and nothing denies that.
  ///
  /// Where reading the relationships fails, the error is noted in ``recordedErrors``, and the next save goes on with the deletion before anything
  /// else: it throws if they cannot be read then either, and saves nothing. ``rollback()`` and ``undo()`` give it up.
  public func delete(_ object: ManagedObject) {
    lock.run {
      do { try deleteCascading(object) } catch {
        record(error, losesChange: !unfinishedDeletions.contains { $0.first === object })
      }
    }
  }

  /// - Parameter callsHook: Whether the objects are told, which they were not by a child that has deleted them already.
  func deleteCascading(_ first: ManagedObject, callsHook: Bool = true) throws {
    guard first.managedObjectContext === self else {
      throw CambiumError(
        .invalidArgument, "an object of another context cannot be deleted here", objectID: first.objectID)
    }
    oldestKnowledge.begin()
    defer { oldestKnowledge.end() }
    var deletion = UnfinishedDeletion(objects: [first], first: first, callsHook: callsHook)
    try carryOut(&deletion)
  }

  /// Goes on with deletions that something could not be read of: half of one must not be saved.
  ///
  /// - Throws: What reading throws; what is left then is kept.
  func finishDeletions() throws {
    oldestKnowledge.begin()
    defer { oldestKnowledge.end() }
    while !unfinishedDeletions.isEmpty {
      var deletion = unfinishedDeletions.removeFirst()
      do { try carryOut(&deletion) } catch var error as CambiumError {
        error.message =
          "\(deletion.first.objectID) is deleted, and what belongs to it cannot be read: \(error.message); save once more, or roll back"
        throw error
      }
    }
  }

  /// The deletions that something could not be read of within the event that ends, with which they are undone.
  func marksOfUnfinishedDeletions() -> [UnfinishedDeletion.Mark] {
    var marks: [UnfinishedDeletion.Mark] = []
    for place in unfinishedDeletions.indices where !unfinishedDeletions[place].isOfEvent {
      unfinishedDeletions[place].isOfEvent = true
      marks.append(unfinishedDeletions[place].mark)
    }
    return marks
  }

  /// Gives up deletions whose event is undone, as far as they are not finished. Answers whether there were any.
  func giveUpDeletions(_ marks: [UnfinishedDeletion.Mark]) -> Bool {
    let count = unfinishedDeletions.count
    unfinishedDeletions.removeAll { deletion in marks.contains { $0 === deletion.mark } }
    return unfinishedDeletions.count < count
  }

  /// Deletes the objects of a deletion, and what goes along with them.
  ///
  /// - Throws: What reading throws; what is left is kept in ``unfinishedDeletions``.
  private func carryOut(_ deletion: inout UnfinishedDeletion) throws {
    do {
      // What others have saved over what was saved here is a conflict, though nobody has looked at it since.
      if deletion.first.state == .stale { try unlessGone { try deletion.first.load() } }
      guard deletion.first.isOfContext(self) else { return }
      while let object = deletion.objects.popLast() {
        do { try carryOut(&deletion, of: object) } catch {
          // Of one that is gone there is nothing left to be done.
          if (error as? CambiumError)?.code == .managedObjectReferentialIntegrity {
            deletion.isNextTold = false
          } else {
            deletion.objects.append(object)
          }
          throw error
        }
        deletion.isNextTold = false
      }
    } catch {
      // What is asked once more may have been listed before.
      var seen: Set<ObjectIdentifier> = []
      deletion.objects = deletion.objects.reversed().filter { seen.insert(ObjectIdentifier($0)).inserted }.reversed()
      // What a save does is of no event.
      if !isNotingEvents { deletion.isOfEvent = true }
      if !deletion.objects.isEmpty { unfinishedDeletions.append(deletion) }
      throw error
    }
  }

  private func carryOut(_ deletion: inout UnfinishedDeletion, of object: ManagedObject) throws {
    guard !object.isDeleted, object.state != .detached else { return }
    // A destination that is gone, and that no rule has taken out of what goes, goes no further.
    if object !== deletion.first {
      do { try object.load() } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {
        return
      }
      guard object.isOfContext(self) else { return }
    }
    if deletion.callsHook, !deletion.isNextTold {
      deletion.isNextTold = true
      object.prepareForDeletion()
      // It may have deleted the object itself, or reset the context, to which the object then does not belong any more.
      guard !object.isDeleted, object.managedObjectContext === self else { return }
    }
    for property in object.info.relationships where !property.isTransient {
      guard let r = property.relationship else { continue }
      switch r.rules.deleteRule {
      case .nullify, .cascade: break
      // What was never saved is not there when saving asks who denies: it is let go of at once.
      case .deny where object.state == .inserted: break
      case .deny, .noAction: continue
      }
      let ids = r.isToMany ? try object.currentToMany(r) : try object.currentToOne(r).map { [$0] } ?? []
      for id in ids where id != object.objectID {
        let destination = destination(of: id)
        // The same may have happened while it was made.
        guard object.isOfContext(self) else { return }
        if destination.isDeleted { continue }
        // Before it is taken out of what leads to it, since nothing would find it then.
        if r.rules.deleteRule == .cascade { deletion.objects.append(destination) }
        try withdraw(object, r, from: destination)
      }
    }
    if object.isOfContext(self), !object.isDeleted { remove(object) }
  }

  /// Applies the delete rules once more to what was led to objects after they were deleted, since they will be gone.
  func applyLateDeleteRules() throws {
    let objects = deleted.values
    if objects.isEmpty { return }
    try objects.lend(areFar: true) { _, object in
      if object.changesRelationships { try applyLateDeleteRules(of: object) }
    }
    // What is deleted may have forgotten what was led to it, since it was refreshed after that.
    for list in [inserted.values, updated.values] {
      try list.lend { _, object in
        if object.changesRelationships, !object.isDeleted { try applyDeleteRules(ofWhatIsLedTo: object) }
      }
    }
  }

  /// Applies the delete rules of what an object was led to, and is deleted, to the object.
  private func applyDeleteRules(ofWhatIsLedTo object: ManagedObject) throws {
    for property in object.info.relationships where !property.isTransient {
      guard let r = property.relationship, !r.isToMany, object.isChanged(property),
        let id = try object.currentToOne(r), let other = registry.peek(permanentIDs[id] ?? id),
        other.pending == .deleted,
        other !== object, let back = r.inverse(in: other.info)
      else { continue }
      switch back.rules.deleteRule {
      case .cascade: return try deleteCascading(object)
      case .nullify: try object.recordToOne(r, nil)
      case .deny, .noAction: continue
      }
    }
  }

  private func applyLateDeleteRules(of object: ManagedObject) throws {
    for property in object.info.relationships where !property.isTransient {
      guard let r = property.relationship, object.isChanged(property),
        r.rules.deleteRule == .nullify || r.rules.deleteRule == .cascade
      else { continue }
      let ids = r.isToMany ? try object.currentToMany(r) : try object.currentToOne(r).map { [$0] } ?? []
      for id in ids where id != object.objectID {
        // A new object that is there is held by the context: of one that is not, what is deleted may still know.
        let id = permanentIDs[id] ?? id
        guard let other = id.isTemporaryID ? registered(id) : self.object(with: id), !other.isDeleted,
          let back = r.inverse(in: other.info)
        else { continue }
        var leadsBack = false
        try unlessGone {
          leadsBack =
            try back.isToMany
            ? other.contains(object.objectID, back) : other.currentToOne(back) == object.objectID
        }
        guard leadsBack else { continue }
        try withdraw(object, r, from: other)
        if r.rules.deleteRule == .cascade { try deleteCascading(other) }
      }
    }
  }

  /// Has both sides of relationships compared, and delete rules applied once more, when the changes are saved: an object may lead to another by a
  /// newer row than the one that its changes are based on.
  func doubtRelationships(in space: StoreSpace) {
    if parent == nil { oldestKnowledge.note(0, of: ObjectIdentifier(space)) }
  }

  /// Takes an object out of the other side of one of its relationships.
  func withdraw(_ object: ManagedObject, _ r: RelationshipInfo, from other: ManagedObject) throws {
    guard let back = r.inverse(in: other.info) else { return }
    // Of one that others have deleted there is nothing left to take it out of.
    try unlessGone {
      if !back.isToMany {
        try other.leave(object.objectID, by: back)
      } else if !back.isDerived || !back.rules.isOptional || back.rules.minimumCount > 0
        || other.toManyChanges.contains(back.place)
      {
        // Where nothing is written for the other side, nothing is noted of it, unless it must not have too few.
        if back.isOrdered { try other.takeNewestRow() }
        try other.recordRemove(object.objectID, back)
      }
    }
  }

  func remove(_ object: ManagedObject) {
    object.willChange()
    object.isDeleted = true
    updated.remove(object)
    if !inserted.remove(object) {
      object.changeOrder = nextChangeOrder()
      deleted.insert(object)
    }
  }
}
