import CambiumEngine
import CambiumKernel

// A child asks its parent as a root context asks the store, then takes its own unsaved changes into account.
extension ContextFetch {
  /// The plan as the parent gets it. To the child, unsaved changes of the parent are stored.
  var askedOfParent: ContextFetchPlan {
    var asked = plan
    asked.includesPendingChanges = true
    return asked
  }

  /// Finds the objects through the parent.
  func objects(from parent: ManagedObjectContext) throws -> [ManagedObject] {
    if !concernsPendingChanges { return try taken(askedOfParent, from: parent) }
    var found: [ManagedObject] = []
    for part in plan.parts { found += try merged(part, from: parent) }
    if plan.parts.count > 1 { found = try sorted(found) }
    return cut(found)
  }

  private func merged(_ part: ContextFetchPlan.Part, from parent: ManagedObjectContext) throws -> [ManagedObject] {
    let space = part.store.space
    let changed = (context.inserted.values + context.updated.values.filter { $0.isUpdated }).filter {
      $0.objectID.space === space
    }
    let predicate = try plan.predicate?.checked(for: part.info, inMemory: true)
    var candidates = wanted(changed, part.info)
    var asked = askedOfParent
    asked.parts = [part]
    asked.offset = 0
    var found: [ManagedObject] = []
    if try leavesRow(predicate, part.info) {
      (asked.predicate, asked.sort, asked.limit) = (nil, [], nil)
      candidates =
        try taken(asked, from: parent).filter { !$0.isDeleted } + candidates.filter { $0.state == .inserted }
    } else {
      let excluded = Set((changed + context.deleted.values).map { $0.objectID })
      asked.limit = limit(surplus: excluded.count)
      found = try taken(asked, from: parent).filter { !excluded.contains($0.objectID) }
    }
    return try adding(candidates, predicate, to: found)
  }

  /// Returns the objects that the parent finds, as objects of this context. Unchanged objects show the parent's state.
  private func taken(_ plan: ContextFetchPlan, from parent: ManagedObjectContext) throws -> [ManagedObject] {
    try parent.lock.run {
      let found = try ContextFetch(parent, plan).objects()
      context.takeInMail()
      return found.map { context.take($0) }
    }
  }
}

extension ManagedObjectContext {
  /// Returns this context's object for one of the parent's. Call it with the parent's lock held.
  func take(_ found: ManagedObject) -> ManagedObject {
    let object = object(found.objectID, found.info)
    // A changed object keeps the state that its changes are based on. An object that the parent has not read is read
    // when it is needed.
    guard object.pending != .updated, object.pending != .deleted, object.state != .inserted,
      found.row != nil || found.state == .inserted
    else { return object }
    if object.state == .stale { object.state = .loaded }
    // The row may have been gone when this context read it, and the parent has it again.
    object.isDeleted = false
    object.takeState(of: found)
    return object
  }
}
