import CambiumEngine

/// A result, with what its place follows from as of when it was evaluated. The object's own values may be newer.
struct ResultsEntry<Result: ManagedObject> {
  let object: Result
  /// The values of the order's keys; none if the request is always fetched again.
  let keys: [Value]
  let section: String
  /// What the object's identifier ends with, by which equal keys are ordered: another one when it is saved.
  let number: UInt64
  /// The row that the object showed, and what the parent had over it.
  let row: Row?
  let parentState: ParentState?
  /// Whether the object had unsaved changes.
  let isPending: Bool

  init(_ object: Result, keys: [Value], section: String) {
    self.object = object
    self.keys = keys
    self.section = section
    number = object.reference.row
    row = object.row
    parentState = object.parentState
    isPending = object.isPending
  }
}

extension ManagedObject {
  /// Whether the object has something that the next save inserts or changes.
  fileprivate var isPending: Bool { isInserted || isUpdated }
}

/// What results come to be.
struct ResultsUpdate<Result: ManagedObject> {
  let entries: [ResultsEntry<Result>]
  /// The objects that were looked at, and may have another place.
  let evaluated: Set<Result>
  /// Those of them that are told as changed, if they keep their place.
  let updated: Set<Result>
  /// Whether the objects and their places are what they were.
  let isInPlace: Bool
}

/// What can change results.
private enum ResultsScope {
  /// What happens to an object decides about that object alone.
  case object
  /// What happens to objects of the entity decides about all of them.
  case entity
  /// Anything may change them.
  case everything
}

extension FetchedResultsController {
  /// The results by a fetch; what is looked at later is looked at by the same request.
  func allEntries(of request: FetchRequest<Result>) throws -> [ResultsEntry<Result>] {
    let plan = try ContextFetchPlan(request, in: managedObjectContext)
    let isOfObjects = try scope(plan) == .object
    let sort = isOfObjects ? plan.sort.map { $0.engine } : []
    let unsavedNow = isOfObjects ? unsavedObjects(plan) : []
    let result = try managedObjectContext.fetch(request).map { try entry($0, sort) }
    // Not before: if the fetch throws, the entries stay that there are.
    (self.request, hasKeys, unsaved) = (request, isOfObjects, unsavedNow)
    return result
  }

  private func entry(_ object: Result, _ sort: [EngineSort]) throws -> ResultsEntry<Result> {
    let keys = try sort.map { $0.key(try object.engineValue(keyPath: $0.keyPath)) }
    return ResultsEntry(object, keys: keys, section: try sectionName(object))
  }

  private func sectionName(_ object: Result) throws -> String {
    guard let sectionNameKeyPath else { return "" }
    do {
      let value = try object.get(keyPath: sectionNameKeyPath)
      // As Core Data's numbers, of which a Boolean is one, are put into words.
      if let isSet = value as? Bool { return isSet ? "1" : "0" }
      return value.map { "\($0)" } ?? ""
    } catch let error as CambiumError {
      // An unsaved relationship may lead to what another context has deleted.
      if error.code == .managedObjectReferentialIntegrity { return "" }
      throw error
    }
  }

  private func unsavedObjects(_ plan: ContextFetchPlan) -> Set<ManagedObject> {
    guard let part = plan.parts.first else { return [] }
    let context = managedObjectContext
    let all = context.inserted.values + context.updated.values + context.deleted.values
    return Set(all.filter { isOfRequest($0.objectID, plan, part) })
  }

  private func isOfRequest(
    _ id: ManagedObjectID, _ plan: ContextFetchPlan, _ part: (store: PersistentStore, info: EntityInfo)
  ) -> Bool {
    let own = part.store.space
    // What another coordinator has saved into the store may be told by identifiers of its own.
    guard id.space === own || id.space.identifier == own.identifier, let info = own.info(id.reference.entity) else {
      return false
    }
    return plan.includesSubentities ? info.isKind(of: part.info) : info === part.info
  }

  private func scope(_ plan: ContextFetchPlan) throws -> ResultsScope {
    guard plan.parts.count == 1, let part = plan.parts.first else { return .everything }
    // What others save is not seen yet where a generation is read, and would be forgotten.
    var context: ManagedObjectContext? = managedObjectContext
    while let next = context {
      if next.snapshots.generation.token != nil { return .everything }
      context = next.parent
    }
    var looked = plan
    // A transient attribute is the object's own.
    if let sectionNameKeyPath, part.info.properties[sectionNameKeyPath]?.isTransient != true {
      looked.sort.append(FetchSortDescriptor(key: sectionNameKeyPath))
    }
    let predicate = try plan.predicate?.checked(for: part.info, inMemory: true)
    if predicate?.isVolatile == true { return .everything }
    if try ContextFetch(managedObjectContext, looked).leavesRow(predicate, part.info) { return .everything }
    return plan.limit == nil && plan.offset == 0 && plan.includesPendingChanges ? .object : .entity
  }

  /// The results after what was told; `nil` if it does not concern them.
  func update(for news: WaitingChanges) throws -> ResultsUpdate<Result>? {
    let context = managedObjectContext
    context.takeInMail()
    // An event alone shows nothing of what others have saved.
    if news.isOfStores { context.advance() }
    let told = ToldObjects(news, unsaved: unsaved, followsEvents: request.includesPendingChanges, context)
    // The rows that the context has of what others saved are old ones. What they deleted may be here still, changed.
    // Its own save has given up the rows it replaced: who has been told before has read the new ones.
    for id in news.saved.updatedObjectIDs.union(news.saved.deletedObjectIDs) {
      guard let object = context.registered(id), object.pending != .updated, object.pending != .deleted else {
        continue
      }
      if object.state == .loaded { context.rebase(object) } else { object.forgetRow() }
    }
    let plan = try ContextFetchPlan(request, in: context)
    let scope = try scope(plan)
    guard scope != .everything, let part = plan.parts.first else { return try fetchedUpdate(told) }
    let concerned = told.all.filter { isOfRequest($0, plan, part) }
    if scope == .object, !hasKeys { return try fetchedUpdate(told) }
    guard !concerned.isEmpty else { return nil }
    return scope == .object ? try evaluatedUpdate(told, concerned, plan, part.info) : try fetchedUpdate(told)
  }

  /// The results by a fetch.
  private func fetchedUpdate(_ told: ToldObjects) throws -> ResultsUpdate<Result> {
    var old: [ObjectIdentifier: ResultsEntry<Result>] = [:]
    for entry in entries { old[ObjectIdentifier(entry.object)] = entry }
    let new = try allEntries(of: request)
    var evaluated = Set<Result>()
    var updated = Set<Result>()
    for entry in new {
      let before = old[ObjectIdentifier(entry.object)]
      // Whatever the fetch has read anew is known from now on, and would not be told later.
      if told.all.contains(entry.object.objectID) {
        evaluated.insert(entry.object)
        if let before, told.isUpdate(entry, of: before) { updated.insert(entry.object) }
      } else if let before, entry.isOfAnotherRow(than: before) {
        evaluated.insert(entry.object)
        updated.insert(entry.object)
      }
    }
    return ResultsUpdate(entries: new, evaluated: evaluated, updated: updated, isInPlace: false)
  }

  /// The results, of which only some objects are looked at.
  private func evaluatedUpdate(
    _ told: ToldObjects, _ concerned: Set<ManagedObjectID>, _ plan: ContextFetchPlan, _ info: EntityInfo
  ) throws -> ResultsUpdate<Result>? {
    let context = managedObjectContext
    // As they are now: predicates and comparators are the application's, and may fetch.
    let entries = entries
    let sort = plan.sort.map { $0.engine }
    let predicate = try plan.predicate?.checked(for: info, inMemory: true)
    var state = FetchPredicate.evaluationState(for: predicate)
    var added: [ResultsEntry<Result>] = []
    var pending: [ManagedObject] = []
    for id in concerned {
      // In a child, an object that nobody holds may be one that the parent has not saved yet.
      let mayBeFound = (!id.isTemporaryID || context.parent != nil) && !told.deleted.contains(id)
      guard let object = context.registered(id) ?? (mayBeFound ? context.object(with: id) : nil) else { continue }
      if object.pending != .none { pending.append(object) }
      guard !object.isDeleted, object.state != .detached else { continue }
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
    if told.isOwnSave { unsaved = [] } else { unsaved = unsaved.filter { !concerned.contains($0.objectID) } }
    unsaved.formUnion(pending)

    var old: [ObjectIdentifier: (entry: ResultsEntry<Result>, place: Int)] = [:]
    var isGone = false
    for (place, entry) in entries.enumerated() {
      if concerned.contains(entry.object.objectID) {
        old[ObjectIdentifier(entry.object)] = (entry, place)
      } else if entry.object.state == .detached {
        isGone = true
      }
    }
    if old.isEmpty, added.isEmpty, !isGone { return nil }
    let updated = Set(
      added.lazy.filter { new in
        old[ObjectIdentifier(new.object)].map { told.isUpdate(new, of: $0.entry) } ?? false
      }.map { $0.object })
    let evaluated = Set(added.lazy.map { $0.object })
    // As a rule, a change keeps an object where it is.
    let isInPlace =
      !isGone && old.count == added.count
      && added.allSatisfy { new in old[ObjectIdentifier(new.object)].map { new.isAlike($0.entry, sort) } ?? false }
    if isInPlace {
      var result = entries
      for new in added { if let known = old[ObjectIdentifier(new.object)] { result[known.place] = new } }
      return ResultsUpdate(entries: result, evaluated: evaluated, updated: updated, isInPlace: true)
    }
    added.sort { precedes($0, $1, sort) }
    let unchanged = entries.filter { !concerned.contains($0.object.objectID) && $0.object.state != .detached }
    return ResultsUpdate(
      entries: merged(unchanged, added, sort), evaluated: evaluated, updated: updated, isInPlace: false)
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
    // All have as many keys, but for those that somebody fetched meanwhile by another order.
    for (index, key) in sort.enumerated() where index < min(a.keys.count, b.keys.count) {
      let order = key.order(a.keys[index], b.keys[index])
      if order != 0 { return key.isAscending ? order < 0 : order > 0 }
    }
    return a.number < b.number
  }
}

extension ResultsEntry {
  /// Whether the object, which has no unsaved changes by either, shows another row than by another entry of it.
  fileprivate func isOfAnotherRow(than other: ResultsEntry) -> Bool {
    guard !isPending, !other.isPending, let row, let before = other.row else { return false }
    return !row.isSame(as: before)
  }

  /// Whether the object has the same place among the others by this as by another entry of it.
  fileprivate func isAlike(_ other: ResultsEntry, _ sort: [EngineSort]) -> Bool {
    number == other.number && section == other.section && min(keys.count, other.keys.count) >= sort.count
      && sort.indices.allSatisfy { sort[$0].order(keys[$0], other.keys[$0]) == 0 }
  }
}

/// Who has changed what, by identifiers as they are now.
struct ToldObjects {
  let isOwnSave: Bool
  /// Those that somebody has told of, or that may have lost the changes that they had.
  private(set) var all: Set<ManagedObjectID>
  /// Those of which it is new that they have changed.
  private let changed: Set<ManagedObjectID>
  /// Those that are gone, unless the context has them still.
  let deleted: Set<ManagedObjectID>
  /// Those that the controller's context has saved.
  private let own: Set<ManagedObjectID>
  /// Whether unsaved changes were told when they were made.
  private let followsEvents: Bool

  init(_ news: WaitingChanges, unsaved: Set<ManagedObject>, followsEvents: Bool, _ context: ManagedObjectContext) {
    self.followsEvents = followsEvents
    // An object that has got its permanent identifier meanwhile, or has come to be another one, is told of by both.
    func known(_ ids: Set<ManagedObjectID>) -> Set<ManagedObjectID> {
      ids.contains { $0.isTemporaryID } ? Set(ids.lazy.map { context.family.permanentIDs[$0] ?? $0 }) : ids
    }
    isOwnSave = news.isOwnSave
    own = known(news.own.updatedObjectIDs.union(news.own.deletedObjectIDs))
    changed = known(news.own.refreshedObjectIDs).union(known(Set(news.changed.lazy.map { $0.objectID })))
    let saved = known(news.saved.updatedObjectIDs)
    let gone = known(news.saved.deletedObjectIDs.union(news.own.deletedObjectIDs))
    // What was deleted and is there again, as a parent may have it, counts as changed.
    deleted = gone.isEmpty ? [] : gone.subtracting(saved).subtracting(known(news.own.updatedObjectIDs))
    all = saved.union(gone).union(own).union(changed)
    all.formUnion(known(Set(news.refreshed.lazy.map { $0.objectID })))
    if news.isOwnSave { all.formUnion(unsaved.lazy.map { $0.objectID }) }
  }

  /// Whether there is something to be told of an object that was among the results before.
  func isUpdate<Result>(_ new: ResultsEntry<Result>, of old: ResultsEntry<Result>) -> Bool {
    let id = new.object.objectID
    if changed.contains(id) { return true }
    let isSameRow = new.row.isSame(as: old.row) && new.parentState === old.parentState
    guard old.isPending, followsEvents else { return !isSameRow }
    guard own.contains(id) else { return !isSameRow || !new.isPending }
    // Its changes were told when they were made. Others have changed it as well if the row has come further than by one
    // write.
    guard let version = old.row?.version, let newVersion = new.row?.version else { return false }
    return newVersion != version && newVersion != version &+ 1
  }
}
