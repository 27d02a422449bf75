import CambiumEngine

/// What leads where in a context, unsaved changes included.
private struct ContextLinks: DeletionSource {
  let context: ManagedObjectContext

  func rules(of object: ManagedObject) throws -> [(relationship: RelationshipInfo, rule: DeleteRule)] {
    let followed = object.info.followedAtDeletion
    if object.state != .inserted { return followed }
    // An object that was never saved is not there when the save asks who denies: what it leads to lets go of it at
    // once.
    return followed
      + object.info.relationships.compactMap { property in
        guard !property.isTransient, let r = property.relationship, r.rules.deleteRule == .deny else { return nil }
        return (r, .nullify)
      }
  }

  func destinations(of object: ManagedObject, by r: RelationshipInfo) throws -> [ManagedObject] {
    var result: [ManagedObject] = []
    // Objects that are made meanwhile may reset the context.
    guard object.isOfContext(context) else { return [] }
    // Of one that others have deleted there is nothing left to be followed.
    try unlessGone {
      let ids = r.isToMany ? try object.currentToMany(r) : try object.currentToOne(r).map { [$0] } ?? []
      for id in ids where id != object.objectID {
        let destination = context.destination(of: id)
        if destination.isDeleted { continue }
        result.append(destination)
        // What is changed or deleted later is read now. Unordered relationships are changed without reading.
        let back = r.inverse(in: destination.info)
        guard r.rules.deleteRule == .cascade || back.map({ !$0.isToMany || $0.isOrdered }) == true else { continue }
        try unlessGone {
          if back?.isOrdered == true { try destination.takeNewestRow() }
          try destination.load()
        }
      }
    }
    return result
  }
}

// Deleting, and the delete rules of what leads to what is deleted.
extension ManagedObjectContext {
  /// Marks an object for deletion at the next save, and applies the delete rules of its relationships at once: nullify
  /// takes the object out of the other side, cascade deletes the destinations as well, deny is checked when saving, no
  /// action leaves the other side alone. An object that was not saved yet is forgotten, and nothing denies that.
  ///
  /// First the object is told (``ManagedObject/prepareForDeletion()``). Then the context reads what goes along and what
  /// is to be emptied; where that fails, nothing is deleted, the error is noted in ``recordedErrors``, and the next
  /// save throws it, once. Then those that go along are told; what they change now is not followed any further. When
  /// the changes are saved, the store applies the rules once more to what others have saved meanwhile.
  public func delete(_ object: ManagedObject) {
    lock.run {
      do { try deleteByRules([object]) } catch { record(error, losesChange: true) }
    }
  }

  /// Deletes objects, and what goes along with them.
  ///
  /// - Parameter callsHook: Whether the objects are told, which they were not by a child that has deleted them already.
  func deleteByRules(_ objects: [ManagedObject], callsHook: Bool = true) throws {
    for object in objects {
      guard object.managedObjectContext === self else {
        throw CambiumError(
          .invalidArgument, "an object of another context cannot be deleted here", objectID: object.objectID)
      }
      // What others have saved over what was saved here is a conflict, though nobody has looked at it since.
      if object.state == .stale { try unlessGone { try object.load() } }
      if callsHook, isToBeDeleted(object) { object.prepareForDeletion() }
    }
    // A hook may have deleted the object itself, or reset the context, to which the object then does not belong any
    // more.
    var asked: [ManagedObject] = []
    for object in objects where isToBeDeleted(object) {
      do {
        if object.state != .inserted { try object.load() }
        asked.append(object)
      } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity { continue }
    }
    let deletion = try Deletion(of: asked, in: ContextLinks(context: self))
    // Not if the context was reset meanwhile: what was gathered behind that hangs on objects of before.
    guard asked.allSatisfy({ $0.isOfContext(self) }) else { return }
    if callsHook {
      for object in deletion.objects.dropFirst(asked.count) where isToBeDeleted(object) { object.prepareForDeletion() }
    }
    for lead in deletion.emptied where isToBeDeleted(lead.object) && isToBeDeleted(lead.destination) {
      try withdraw(lead.object, lead.relationship, from: lead.destination)
    }
    for object in deletion.objects where isToBeDeleted(object) { remove(object) }
  }

  private func isToBeDeleted(_ object: ManagedObject) -> Bool { object.isOfContext(self) && !object.isDeleted }

  /// Takes an object out of the other side of one of its relationships.
  func withdraw(_ object: ManagedObject, _ r: RelationshipInfo, from other: ManagedObject) throws {
    guard let back = r.inverse(in: other.info) else { return }
    // Of one that others have deleted there is nothing left to take it out of.
    try unlessGone {
      if !back.isToMany {
        try other.leave(object.objectID, by: back)
      } else if !back.isDerived || back.rules.minimumCount > 0
        || other.toManyChanges.contains(back.place)
      {
        // Where nothing is written for the other side, nothing is noted of it, unless it must not have too few.
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
