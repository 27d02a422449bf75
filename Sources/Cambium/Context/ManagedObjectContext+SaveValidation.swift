// What a save asks of its objects before it writes them.
extension ManagedObjectContext {
  /// The objects that a save is about.
  struct PendingLists {
    var deletions: [ManagedObject]
    var insertions: [ManagedObject]
    var updates: [ManagedObject]
    /// How often anything had been taken out of where these are from.
    fileprivate let departures: Int
    /// How many changes there had been.
    fileprivate let changeCount: UInt64

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && updates.isEmpty }
  }

  /// What there is to save now.
  func pendingLists() -> PendingLists {
    let (deletions, insertions, updates) = (deleted.ordered(), inserted.ordered(), updated.orderedUpdates())
    return PendingLists(
      deletions: deletions, insertions: insertions, updates: updates, departures: departures, changeCount: changeCount)
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
  /// come to the save by that are told that they will be saved, and validated themselves.
  ///
  /// - Parameters:
  ///   - lists: What the save is about; with what has come to it when it returns.
  ///   - derive: Brings what is derived up to date with what was set.
  /// - Throws: What the methods throw; ``CambiumError/Code/persistentStoreSave`` if one of them has taken back or deleted what is being saved,
  ///   or if there is no end to what they change.
  func validate(_ lists: inout PendingLists, deriving derive: () throws -> Void) throws {
    var known: UInt64 = 0
    for _ in 0..<100 {
      let seen = changeCount
      hasChangedWhileValidating = false
      try validate(lists, since: known)
      guard isPending(lists) else {
        throw CambiumError(
          .persistentStoreSave,
          "a method that validates has taken back what is being saved (by rolling back, resetting, undoing, or refreshing), or has deleted it; "
            + "do that in willSave(), or before the save")
      }
      guard hasChangedWhileValidating || changeCount != seen else { return }
      if changeCount != seen {
        if parent == nil, !deleted.isEmpty { try applyLateDeleteRules() }
        changedWhileTold = []
        defer { changedWhileTold = nil }
        try callWillSave(isFurther: true)
      }
      try derive()
      lists = pendingLists()
      known = seen
    }
    throw CambiumError(
      .persistentStoreSave,
      "methods that validate bring further objects into the save whenever they are called, and were called in 100 rounds; change objects "
        + "in willSave(), or before the save")
  }

  /// Calls the methods that validate for objects that changed after a number. What is taken back meanwhile is not asked any more.
  private func validate(_ lists: PendingLists, since known: UInt64) throws {
    var errors: [CambiumError] = []
    // An error of the application's own is thrown as it is if it is the only one.
    var foreign: (any Error)?
    @inline(never)
    func note(_ error: any Error, of object: ManagedObject) {
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
    isValidating = true
    deletionCheck = DeletionCheck()
    defer {
      isValidating = false
      deletionCheck = nil
    }
    lists.deletions.lend(areFar: true) { _, object in
      if object.pending != .deleted || object.changeOrder <= known { return }
      do { try object.validateForDelete() } catch { note(error, of: object) }
    }
    deletionCheck = nil
    lists.insertions.lend { _, object in
      if object.pending != .inserted || object.changeOrder <= known { return }
      do { try object.validateForInsert() } catch { note(error, of: object) }
    }
    lists.updates.lend { _, object in
      if object.pending != .updated || object.changeOrder <= known { return }
      do { try object.validateForUpdate() } catch { note(error, of: object) }
    }
    guard let first = errors.first else { return }
    guard errors.count > 1 else { throw foreign ?? first }
    var result = CambiumError(.validationMultipleErrors, "\(errors.count) validation errors; see detailedErrors")
    result.detailedErrors = errors
    result.affectedObjectIDs = errors.compactMap { $0.objectID }
    throw result
  }
}
