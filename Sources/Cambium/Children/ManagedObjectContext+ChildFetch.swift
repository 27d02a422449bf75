import CambiumEngine
import CambiumKernel

// A child's fetch asks the parent as another's asks the store, then takes its own unsaved changes into account.
extension ManagedObjectContext {
  func objects(_ plan: FetchPlan, from parent: ManagedObjectContext) throws -> [ManagedObject] {
    // To the child, the parent's unsaved state is what is stored.
    var asked = plan
    asked.includesPendingChanges = true
    if !hasPendingChanges(plan) { return try take(asked, from: parent) }
    var found: [ManagedObject] = []
    for part in plan.parts {
      asked.parts = [part]
      found += try merged(plan, asked, part, from: parent)
    }
    if plan.parts.count > 1 { found = try sorted(found, plan.sort) }
    let end = plan.limit.map { plan.offset.addingReportingOverflow($0) }
    let upper = end.map { $0.overflow ? found.count : min($0.partialValue, found.count) } ?? found.count
    return plan.offset >= upper ? [] : Array(found[plan.offset..<upper])
  }

  private func merged(
    _ plan: FetchPlan, _ asked: FetchPlan, _ part: (store: PersistentStore, info: EntityInfo),
    from parent: ManagedObjectContext
  ) throws -> [ManagedObject] {
    let space = part.store.space
    let changed = (inserted.values + updated.values.filter { $0.isUpdated }).filter {
      $0.objectID.space === space
    }
    let excluded = Set((changed + deleted.values).map { $0.objectID })
    let predicate = try plan.predicate?.checked(for: part.info, inMemory: true)
    var candidates = changed.filter { isWanted($0, plan, part.info) }.ordered { $0.changeOrder < $1.changeOrder }
    var asked = asked
    asked.offset = 0
    var found: [ManagedObject] = []
    if try leavesRow(plan, predicate, part.info) {
      (asked.predicate, asked.sort, asked.limit) = (nil, [], nil)
      candidates =
        try take(asked, from: parent).filter { !$0.isDeleted } + candidates.filter { $0.state == .inserted }
    } else {
      if let limit = plan.limit {
        let (end, overflow) = plan.offset.addingReportingOverflow(limit)
        let (total, more) = end.addingReportingOverflow(excluded.count)
        asked.limit = overflow || more ? nil : total
      }
      found = try take(asked, from: parent).filter { !excluded.contains($0.objectID) }
    }
    var state = FetchPredicate.evaluationState(for: predicate)
    let matching = try candidates.filter { object in
      try predicate.map { try FetchPredicate.evaluate($0, object, &state) } ?? true
    }
    return matching.isEmpty ? found : try sorted(found + matching, plan.sort)
  }

  /// What the parent finds, as objects of this context. Those without changes show what the parent has.
  func take(_ plan: FetchPlan, from parent: ManagedObjectContext) throws -> [ManagedObject] {
    try parent.lock.run {
      let found = try parent.objects(plan)
      takeInMail()
      return found.map { take($0) }
    }
  }

  /// The object of this context for one of the parent's, whose lock is held.
  func take(_ found: ManagedObject) -> ManagedObject {
    let object = object(found.objectID, found.info)
    // A changed object stays on what its changes are based on. What the parent has not read is read when it is needed.
    guard object.pending != .updated, object.pending != .deleted, object.state != .inserted,
      found.row != nil || found.state == .inserted
    else { return object }
    if object.state == .stale { object.state = .loaded }
    // It was gone when it was read, and is back in the parent.
    object.isDeleted = false
    object.takeState(of: found)
    return object
  }
}
