import CambiumEngine

// What the objects of a save learn of it.
extension SaveSession {
  /// Has the objects of a save show the rows that were written. What they are given next is based on these: what others
  /// save behind them is a conflict.
  private func showSaved(_ outcome: SaveOutcome) {
    guard let rows = outcome.rows else { return }
    let (updates, insertions) = (outcome.batch.updates, outcome.batch.insertions)
    let count = updates.count + insertions.count
    var next = 0
    func show(_ row: BorrowedRow, _ reference: ObjectReference, _ object: ManagedObject) -> Bool {
      if object.reference.row != reference.row { return false }
      if !outcome.rewritten.isEmpty, let newer = outcome.rewritten[reference] {
        object.row = newer
      } else {
        object.take(retained: row.retained())
      }
      object.state = .loaded
      return true
    }
    rows.forEach { row, reference in
      // Those in between have no row here: it was not written, or is large, and is read when somebody asks for it.
      while next < count {
        let isShown =
          next < updates.count
          ? updates.lend(next) { show(row, reference, $0) }
          : insertions.lend(next - updates.count) { show(row, reference, $0) }
        next += 1
        if isShown { return }
      }
    }
    withExtendedLifetime((updates, insertions)) {}
  }

  func settle(_ outcome: SaveOutcome) {
    let batch = outcome.batch
    context.advance()
    // What is in another store, or was changed too late for this save.
    let leavesSome =
      context.deleted.count + context.inserted.count + context.updated.count
      > batch.deletions.count + batch.insertions.count + batch.updates.count
    context.deleted.remove(contentsOf: batch.deletions)
    batch.deletions.lend { _, object in
      context.registry.remove(batch.space, object.reference)
      object.dropChanges()
      object.leaveContext()
      object.state = .detached
    }
    // Who looks on, as results do, may have told of inserted objects.
    let isToldOn =
      !context.events.objects.isEmpty || !context.family.children.living.isEmpty || context.events.notesChangesBySaving
    let isRenaming = isToldOn || leavesSome
    var renamed: [ManagedObjectID: ManagedObjectID] = [:]
    if isRenaming { renamed.reserveCapacity(batch.insertions.count) }
    // Nothing in these two loops calls the application, which would find the lists half-way.
    var count = 0
    batch.insertions.lend { place, object in
      if object.pending == .inserted {
        object.pending = .none
        count += 1
      }
      let temporary = object.reference
      if temporary.isTemporary {
        object.become(permanent: outcome.permanent[place])
        context.registry.rename(object, batch.space, from: temporary, to: outcome.permanent[place])
      }
      if isRenaming { renamed[ManagedObjectID(space: batch.space, reference: temporary)] = object.objectID }
      object.dropChanges()
      if object.heldRow != nil { object.row = nil }
      object.state = .stale
    }
    context.inserted.forget(count)
    count = 0
    batch.updates.lend { _, object in
      if object.pending == .updated {
        object.pending = .none
        count += 1
      }
      object.dropChanges()
      // What was not written is read anew.
      if object.state != .fault { object.state = .stale }
      if object.heldRow != nil { object.row = nil }
    }
    context.updated.forget(count)
    context.updated.removeAll { $0.space === batch.space && !$0.isUpdated }
    showSaved(outcome)
    for id in outcome.changedByRules + outcome.deletedByRules {
      guard let object = context.registered(id), object.isPresent, !object.isUpdated else { continue }
      object.row = nil
      if object.state == .loaded { object.state = .stale }
    }
    if leavesSome { context.renameChanges(renamed) }
    if !isToldOn { return }
    // The event may have begun in the save, with who was told of the one before.
    context.renameEventStates(renamed)
    // To children they are told, which notes them. Of very many, nobody has been told one by one.
    let isFollowed =
      context.events.notesChangesBySaving && context.family.children.living.isEmpty
      && renamed.count <= context.family.permanentIDs.limit
    if isFollowed { context.family.permanentIDs.merge(renamed) }
    context.tellChildren(permanent: renamed)
  }
}
