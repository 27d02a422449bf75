import CambiumEngine

/// A result, with what its place follows from as of when it was evaluated. The object's own values may be newer.
struct ResultsEntry<Result: ManagedObject> {
  let object: Result
  /// The values of the order's keys; none if the request is always fetched again.
  let keys: [Value]
  let section: String
}

extension FetchedResultsController {
  /// The results by a fetch.
  func allEntries() throws -> [ResultsEntry<Result>] {
    unsaved = unsavedIDs()
    let plan = try managedObjectContext.plan(fetchRequest)
    hasKeys = try isByRow(plan)
    let sort = hasKeys ? plan.sort.map { $0.engine } : []
    return try managedObjectContext.fetch(fetchRequest).map { try entry($0, sort) }
  }

  private func entry(_ object: Result, _ sort: [EngineSort]) throws -> ResultsEntry<Result> {
    let keys = try sort.map { $0.key(try object.engineValue(keyPath: $0.keyPath)) }
    return ResultsEntry(object: object, keys: keys, section: try sectionName(object))
  }

  private func sectionName(_ object: Result) throws -> String {
    guard let sectionNameKeyPath else { return "" }
    do { return try object.get(keyPath: sectionNameKeyPath).map { "\($0)" } ?? "" } catch let error as CambiumError {
      // An unsaved relationship may lead to what another context has deleted.
      if error.code == .managedObjectReferentialIntegrity { return "" }
      throw error
    }
  }

  private func unsavedIDs() -> Set<ManagedObjectID> {
    let context = managedObjectContext
    return Set((context.inserted.values + context.updated.values + context.deleted.values).map { $0.objectID })
  }

  /// Whether an object's place follows from its own row.
  private func isByRow(_ plan: ManagedObjectContext.FetchPlan) throws -> Bool {
    guard plan.parts.count == 1, let part = plan.parts.first, plan.limit == nil, plan.offset == 0,
      plan.includesPendingChanges
    else { return false }
    // What others save is not seen yet where a generation is read, and would be forgotten.
    var context: ManagedObjectContext? = managedObjectContext
    while let next = context {
      if next.generation.token != nil { return false }
      context = next.parent
    }
    var looked = plan
    // A transient attribute is the object's own.
    if let sectionNameKeyPath, part.info.properties[sectionNameKeyPath]?.isTransient != true {
      looked.sort.append(FetchSortDescriptor(key: sectionNameKeyPath))
    }
    let predicate = try plan.predicate?.checked(for: part.info, inMemory: true)
    if predicate?.isVolatile == true { return false }
    return try !managedObjectContext.leavesRow(looked, predicate, part.info)
  }

  /// The results after a save, and those of which values may have changed; `nil` if it does not concern them.
  func updatedEntries(_ saved: SavedObjects) throws -> (entries: [ResultsEntry<Result>], changed: Set<Result>)? {
    let context = managedObjectContext
    context.takeInMail()
    context.advance()
    // An object that has got its permanent identifier meanwhile is told of by both.
    let touched = Set(
      saved.changed.union(saved.deleted).union(unsaved).union(unsavedIDs()).map { context.permanentIDs[$0] ?? $0 })
    // The rows that the context has of what others saved are old ones. What they deleted may be here still, changed.
    for id in saved.changed.union(saved.deleted) {
      guard let object = context.registered(id), object.pending != .updated, object.pending != .deleted else {
        continue
      }
      if object.state == .loaded { context.rebase(object) } else { object.forgetRow() }
    }
    let plan = try context.plan(fetchRequest)
    guard try hasKeys && isByRow(plan), let part = plan.parts.first else {
      let new = try allEntries()
      return (new, Set(new.lazy.map { $0.object }.filter { touched.contains($0.objectID) }))
    }
    let concerned = touched.filter { id in
      guard id.space === part.store.space, let info = id.space.info(id.reference.entity) else { return false }
      return plan.includesSubentities ? info.isKind(of: part.info) : info === part.info
    }
    guard !concerned.isEmpty else { return nil }

    let sort = plan.sort.map { $0.engine }
    let predicate = try plan.predicate?.checked(for: part.info, inMemory: true)
    var state = FetchPredicate.evaluationState(for: predicate)
    var added: [ResultsEntry<Result>] = []
    for id in concerned {
      // In a child, an object that nobody holds may be one that the parent has not saved yet.
      let mayBeFound = !id.isTemporaryID || context.parent != nil
      guard let object = context.registered(id) ?? (mayBeFound ? context.object(with: id) : nil),
        !object.isDeleted, object.state != .detached
      else { continue }
      do {
        try object.load()
        guard try predicate.map({ try FetchPredicate.evaluate($0, object, &state) }) ?? true else { continue }
        guard let result = object as? Result else {
          throw object.misread("self", "a \(type(of: object))", "\(Result.self)")
        }
        added.append(try entry(result, sort))
      } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {
        // Deleted by a later save, of which the controller has yet to be told.
        continue
      }
    }
    added.sort { precedes($0, $1, sort) }
    let unchanged = entries.filter { !concerned.contains($0.object.objectID) && $0.object.state != .detached }
    unsaved = unsavedIDs()
    return (merged(unchanged, added, sort), Set(added.map { $0.object }))
  }

  private func merged(
    _ a: [ResultsEntry<Result>], _ b: [ResultsEntry<Result>], _ sort: [EngineSort]
  ) -> [ResultsEntry<Result>] {
    var result: [ResultsEntry<Result>] = []
    result.reserveCapacity(a.count + b.count)
    var place = 0
    for entry in b {
      // Few come into many: their places are searched for.
      var low = place
      var high = a.count
      while low < high {
        let middle = (low + high) / 2
        if precedes(a[middle], entry, sort) { low = middle + 1 } else { high = middle }
      }
      result += a[place..<low]
      result.append(entry)
      place = low
    }
    result += a[place...]
    return result
  }

  private func precedes(_ a: ResultsEntry<Result>, _ b: ResultsEntry<Result>, _ sort: [EngineSort]) -> Bool {
    for (index, key) in sort.enumerated() {
      let order = key.order(a.keys[index], b.keys[index])
      if order != 0 { return key.isAscending ? order < 0 : order > 0 }
    }
    return a.object.objectID.reference.row < b.object.objectID.reference.row
  }
}
