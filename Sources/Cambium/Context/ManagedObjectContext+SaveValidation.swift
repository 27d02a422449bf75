// What a save asks of its objects before it writes them.
extension ManagedObjectContext {
  /// The objects that a save is about.
  struct PendingLists {
    var deletions: [ManagedObject]
    var insertions: [ManagedObject]
    var updates: [ManagedObject]
    /// How often anything had been taken out of where these are from.
    fileprivate let departures: Int

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && updates.isEmpty }

    /// Those that are not known. One may be known as changed, and not as deleted.
    fileprivate func without(_ known: Known, butFor again: Set<ObjectIdentifier> = []) -> PendingLists {
      func rest(_ list: [ManagedObject], _ known: Set<ObjectIdentifier>) -> [ManagedObject] {
        list.filter { !known.contains(ObjectIdentifier($0)) || again.contains(ObjectIdentifier($0)) }
      }
      return PendingLists(
        deletions: rest(deletions, known.deletions), insertions: rest(insertions, known.others),
        updates: rest(updates, known.others), departures: departures)
    }
  }

  /// Objects that were validated.
  fileprivate struct Known {
    var deletions: Set<ObjectIdentifier> = []
    var others: Set<ObjectIdentifier> = []

    mutating func add(_ lists: PendingLists) {
      deletions.formUnion(lists.deletions.lazy.map { ObjectIdentifier($0) })
      others.formUnion(lists.insertions.lazy.map { ObjectIdentifier($0) })
      others.formUnion(lists.updates.lazy.map { ObjectIdentifier($0) })
    }
  }

  /// What there is to save now.
  func pendingLists() -> PendingLists {
    let (deletions, insertions, updates) = (deleted.ordered(), inserted.ordered(), updated.orderedUpdates())
    return PendingLists(deletions: deletions, insertions: insertions, updates: updates, departures: departures)
  }

  private var departures: Int { deleted.departures &+ inserted.departures &+ updated.departures }

  /// Whether all that a save is about is still to be saved as it was. O(1) as long as nothing was taken back.
  func isPending(_ lists: PendingLists) -> Bool {
    departures == lists.departures
      || lists.insertions.allSatisfy { $0.pending == .inserted }
        && lists.deletions.allSatisfy { $0.pending == .deleted }
        && lists.updates.allSatisfy { $0.pending == .updated }
  }

  /// What is found out once for all deletions of a save.
  struct DeletionCheck {
    /// Objects that go with them by what others have done since the delete rules were applied; `nil` if nobody has asked.
    var goingAlong: Set<ManagedObjectID>?
  }

  /// Calls the methods that validate. They are there to look; what they set all the same, of whatever object, is saved as well: objects that
  /// come to the save by that are told that they will be saved, and validated themselves; those that others change after they were validated are
  /// validated once more.
  ///
  /// - Parameters:
  ///   - lists: What the save is about; with what has come to it when it returns.
  ///   - derive: Brings what is derived up to date with what was set.
  /// - Throws: What the methods throw; ``CambiumError/Code/persistentStoreSave`` if one of them has taken back or deleted what is being saved,
  ///   or if there is no end to what comes to the save.
  func validate(_ lists: inout PendingLists, deriving derive: () throws -> Void) throws {
    // By identity: what only comes to be changed now may have been noted before, and what derives is noted anew each time.
    var known = Known()
    // Not more than twice: two objects may change one another whenever they are asked.
    var twice: Set<ObjectIdentifier> = []
    var fresh = lists
    // What is stored comes to an end; what is inserted need not.
    var insertingRounds = 0
    defer { changesOfValidation = nil }
    while insertingRounds < 100 {
      let seen = (changeCount, inserted.count)
      changesOfValidation = ValidationChanges()
      try callValidation(fresh)
      guard isPending(lists) else {
        throw CambiumError(
          .persistentStoreSave,
          "a method that validates has taken back what is being saved (by rolling back, resetting, undoing, or refreshing), or has deleted it; "
            + "do that in willSave(), or before the save")
      }
      if !unfinishedDeletions.isEmpty { try finishDeletions() }
      // As a rule, nothing was changed. Of what has changed in an event that is not told yet, nobody can say.
      guard changesOfValidation?.isAny == true || changeCount != seen.0 || !eventObjects.isEmpty else { return }
      if parent == nil, !deleted.isEmpty { try applyLateDeleteRules() }
      var again = changesOfValidation?.behind(fresh) ?? []
      again.formUnion(eventObjects.lazy.map { ObjectIdentifier($0) })
      known.add(fresh)
      // What was in the save for what it derives alone is not told of it, unless it has other changes by now.
      let untold = lists.updates.filter { $0.toldOfSave != saveNumber }
      if !pendingLists().without(known).isEmpty || untold.contains(where: { $0.hasOwnChanges }) {
        for object in untold where !object.hasOwnChanges { object.noteTold(ofSave: saveNumber) }
        changesOfValidation = ValidationChanges()
        changedWhileTold = []
        defer { changedWhileTold = nil }
        try callWillSave(isFurther: true)
        again.formUnion(changesOfValidation?.behind(nil) ?? [])
      }
      try derive()
      lists = pendingLists()
      again.subtract(twice)
      twice.formUnion(again)
      fresh = lists.without(known, butFor: again)
      if fresh.isEmpty { return }
      if inserted.count > seen.1 { insertingRounds += 1 }
    }
    throw CambiumError(
      .persistentStoreSave,
      "methods that validate insert further objects whenever they are called, and were called in 100 rounds; insert objects in willSave(), or "
        + "before the save")
  }

  /// Calls the methods that validate. What is taken back meanwhile is not asked any more.
  private func callValidation(_ lists: PendingLists) throws {
    var errors = ValidationErrors()
    isValidating = true
    deletionCheck = DeletionCheck()
    defer {
      isValidating = false
      deletionCheck = nil
    }
    lists.deletions.lend(areFar: true) { _, object in
      changesOfValidation?.begin(object)
      if object.pending != .deleted { return }
      do { try object.validateForDelete() } catch { errors.note(error, of: object) }
    }
    deletionCheck = nil
    lists.insertions.lend { _, object in
      changesOfValidation?.begin(object)
      if object.pending != .inserted { return }
      do { try object.validateForInsert() } catch { errors.note(error, of: object) }
    }
    lists.updates.lend { _, object in
      changesOfValidation?.begin(object)
      if object.pending != .updated { return }
      do { try object.validateForUpdate() } catch { errors.note(error, of: object) }
    }
    changesOfValidation?.end()
    try errors.throwing()
  }
}

/// What was changed while methods that validate were called.
struct ValidationChanges {
  private(set) var isAny = false
  /// How many objects were asked, or are being asked.
  private var asked = 0
  private var current: ObjectIdentifier?
  /// Objects that others have changed, and how many had been asked then.
  private var byOthers: [(object: ObjectIdentifier, asked: Int)] = []

  @inline(__always) mutating func begin(_ object: ManagedObject) {
    asked += 1
    current = ObjectIdentifier(object)
  }

  mutating func end() { current = nil }

  mutating func note(_ object: ManagedObject) {
    isAny = true
    if current != ObjectIdentifier(object) { byOthers.append((ObjectIdentifier(object), asked)) }
  }

  /// Those that were changed after they were asked, in the order of some lists; all of them if they were asked before.
  func behind(_ lists: ManagedObjectContext.PendingLists?) -> Set<ObjectIdentifier> {
    if byOthers.isEmpty { return [] }
    var places: [ObjectIdentifier: Int] = [:]
    if let lists {
      for object in [lists.deletions, lists.insertions, lists.updates].joined() {
        places[ObjectIdentifier(object)] = places.count
      }
    }
    return Set(byOthers.lazy.filter { places[$0.object, default: -1] < $0.asked }.map { $0.object })
  }
}

/// What methods that validate have thrown.
private struct ValidationErrors {
  private var errors: [CambiumError] = []
  /// An error of the application's own is thrown as it is if it is the only one.
  private var foreign: (any Error)?

  @inline(never)
  mutating func note(_ error: any Error, of object: ManagedObject) {
    if let error = error as? CambiumError {
      errors += error.code == .validationMultipleErrors ? error.detailedErrors : [error]
      return
    }
    foreign = foreign ?? error
    errors.append(
      CambiumError(
        .managedObjectValidation, "\(error)", entityName: object.entity.name, objectID: object.objectID,
        underlying: [error]))
  }

  func throwing() throws {
    guard let first = errors.first else { return }
    guard errors.count > 1 else { throw foreign ?? first }
    var result = CambiumError(.validationMultipleErrors, "\(errors.count) validation errors; see detailedErrors")
    result.detailedErrors = errors
    result.affectedObjectIDs = errors.compactMap { $0.objectID }
    throw result
  }
}
