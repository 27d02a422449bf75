import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Which of what is found is wanted, over all stores.
struct HistoryPage {
  private var skipped = 0
  private var left = Int.max

  init(_ request: PersistentHistoryChangeRequest) {
    var limits = [request.fetchLimit]
    skipped = max(0, request.fetchOffset)
    switch request.task {
    case .fetchTransactions(_, let limit, let offset), .fetchChanges(_, let limit, let offset):
      limits.append(limit)
      skipped = skipped.addingReportingOverflow(max(0, offset)).overflow ? .max : skipped + max(0, offset)
    case .fetch, .delete: break
    }
    left = limits.filter { $0 > 0 }.min() ?? .max
  }

  var isFull: Bool { left <= 0 }

  /// Whether the next one that is found is wanted.
  mutating func takes() -> Bool {
    if skipped > 0 {
      skipped -= 1
      return false
    }
    if left <= 0 { return false }
    left -= 1
    return true
  }
}

/// Reads the history of a store for a request.
struct HistoryReader {
  let store: PersistentStore
  let request: PersistentHistoryChangeRequest
  private var space: StoreSpace { store.space }

  init(_ store: PersistentStore, _ request: PersistentHistoryChangeRequest) {
    self.store = store
    self.request = request
  }

  private var readsChanges: Bool {
    switch request.resultType {
    case .statusOnly, .count, .transactionsOnly: return false
    case .objectIDs, .changesOnly, .transactionsAndChanges: return true
    }
  }

  func read(
    after place: PersistentHistoryChangeRequest.Place, _ page: inout HistoryPage,
    into result: inout PersistentHistoryResult
  ) throws {
    if page.isFull { return }
    let view = try mapping { () throws(EngineError) in try store.view() }
    let bounds = try mapping { () throws(EngineError) in try view.historyBounds() }
    var start = bounds.deletedTo
    var time: Double?
    switch place {
    case .token(let token?):
      try Self.requireKnown(token, store, bounds)
      // A store that the token does not know is new to it.
      start = token.positions[store.identifier].map { UInt64(clamping: $0) } ?? bounds.deletedTo
    case .token(nil): break
    case .date(let date): time = date.timeIntervalSinceReferenceDate
    }
    let predicate = try request.predicate?.ofHistory(in: store.identifier)
    var state = FetchPredicate.evaluationState(for: predicate)
    var failure: (any Error)?
    try mapping { () throws(EngineError) in
      try view.forEachHistoryTransaction(after: start, readsChanges: readsChanges) { (entry) in
        if let time, entry.timestamp <= time { return true }
        do {
          if try holds(predicate, entry, &state), page.takes() { take(entry, into: &result) }
        } catch {
          failure = error
          return false
        }
        return !page.isFull
      }
    }
    if let failure { throw failure }
  }

  /// Refuses a token whose place is not in the store's history any more, or not yet.
  static func requireKnown(
    _ token: PersistentHistoryToken, _ store: PersistentStore, _ bounds: HistoryBounds
  ) throws {
    guard let position = token.positions[store.identifier] else { return }
    let known = UInt64(clamping: position)
    if known >= bounds.deletedTo, known <= bounds.last { return }
    var error = CambiumError(
      .persistentHistoryTokenExpired,
      known > bounds.last
        ? "the token names transaction \(known) of the store's history, which has come to \(bounds.last): another file has "
          + "taken the store's place"
        : "the transactions behind \(known) were deleted up to \(bounds.deletedTo); fetch everything anew")
    error.storeURL = store.url
    throw error
  }

  /// Those for which a predicate holds, of the transactions, or of their changes.
  func read(
    where predicate: FetchPredicate?, _ page: inout HistoryPage, into result: inout PersistentHistoryResult
  ) throws {
    if page.isFull { return }
    let view = try mapping { () throws(EngineError) in try store.view() }
    let bounds = try mapping { () throws(EngineError) in try view.historyBounds() }
    let predicate = try predicate?.ofHistory(in: store.identifier)
    var state = FetchPredicate.evaluationState(for: predicate)
    var failure: (any Error)?
    var isOfChanges = false
    if case .fetchChanges = request.task { isOfChanges = true }
    let start = max(bounds.deletedTo, isOfChanges ? 0 : predicate?.lastTransactionBefore ?? 0)
    try mapping { () throws(EngineError) in
      try view.forEachHistoryTransaction(after: start, readsChanges: isOfChanges || readsChanges) {
        (entry) in
        do {
          if isOfChanges {
            for change in transaction(entry).changes ?? [] where try holds(predicate, change, &state) {
              if page.isFull { return false }
              guard page.takes() else { continue }
              result.count += 1
              if request.resultType != .count, request.resultType != .statusOnly { result.changes.append(change) }
            }
          } else if try holds(predicate, entry, &state), page.takes() {
            take(entry, into: &result)
          }
          return !page.isFull
        } catch {
          failure = error
          return false
        }
      }
    }
    if let failure { throw failure }
  }

  private func take(_ entry: HistoryTransaction, into result: inout PersistentHistoryResult) {
    result.count += 1
    switch request.resultType {
    case .statusOnly, .count: break
    case .changesOnly: result.changes += transaction(entry).changes ?? []
    case .objectIDs, .transactionsOnly, .transactionsAndChanges: result.transactions.append(transaction(entry))
    }
  }

  private func transaction(_ entry: HistoryTransaction) -> PersistentHistoryTransaction {
    var changes: [PersistentHistoryChange]?
    if entry.changes.count == entry.changeCount {
      changes = entry.changes.enumerated().map { change($1, $0 + 1, entry.number) }
    }
    return PersistentHistoryTransaction(
      transactionNumber: Int64(clamping: entry.number),
      timestamp: Date(timeIntervalSinceReferenceDate: entry.timestamp), author: entry.author,
      contextName: entry.contextName, bundleID: entry.programName, processID: entry.processName,
      storeID: store.identifier, changes: changes, changeCount: entry.changeCount)
  }

  private func change(_ change: HistoryChange, _ place: Int, _ number: UInt64) -> PersistentHistoryChange {
    let info = space.info(change.reference.entity)
    let schema = info?.schema
    var updated: Set<String>?
    if change.kind == .update {
      let ids = Set(change.properties)
      updated = []
      for attribute in schema?.allAttributes ?? [] where ids.contains(attribute.id) { updated?.insert(attribute.name) }
      for relationship in schema?.allRelationships ?? [] where ids.contains(relationship.id) {
        updated?.insert(relationship.name)
      }
    }
    var kept: [String: PersistentHistoryChange.KeptValue] = [:]
    for attribute in schema?.allAttributes ?? [] {
      guard let value = change.tombstone[attribute.id] else { continue }
      kept[attribute.name] = PersistentHistoryChange.KeptValue(
        value: value, type: attribute.type,
        rules: info?.properties[attribute.name].flatMap { $0.isTransformed ? $0.rules : nil })
    }
    return PersistentHistoryChange(
      changeID: Int64(place), changeType: PersistentHistoryChangeType(rawValue: Int(change.kind.rawValue)) ?? .update,
      changedObjectID: ManagedObjectID(space: space, reference: change.reference), updatedProperties: updated,
      transactionNumber: Int64(clamping: number), kept: kept)
  }

  // MARK: Predicates

  private func holds(
    _ predicate: CambiumEngine.Predicate?, _ entry: HistoryTransaction, _ state: inout EvaluationState
  ) throws -> Bool {
    try holds(predicate, &state, of: "transaction") { path in
      switch path {
      case "transactionNumber": .integer(Int64(clamping: entry.number))
      case "timestamp": .date(entry.timestamp)
      case "author": entry.author.map { .string($0) } ?? .null
      case "contextName": entry.contextName.map { .string($0) } ?? .null
      case "bundleID": entry.programName.map { .string($0) } ?? .null
      case "processID": entry.processName.map { .string($0) } ?? .null
      case "storeID": .string(store.identifier)
      default: nil
      }
    }
  }

  private func holds(
    _ predicate: CambiumEngine.Predicate?, _ change: PersistentHistoryChange, _ state: inout EvaluationState
  ) throws -> Bool {
    try holds(predicate, &state, of: "change") { path in
      switch path {
      case "changeID": .integer(change.changeID)
      case "changeType": .integer(Int64(change.changeType.rawValue))
      case "changedEntity": .string(change.changedObjectID.entityName)
      case "changedObjectID", "self": .reference(change.changedObjectID.reference)
      default: nil
      }
    }
  }

  private func holds(
    _ predicate: CambiumEngine.Predicate?, _ state: inout EvaluationState, of what: String, _ value: (String) -> Value?
  ) throws -> Bool {
    guard let predicate else { return true }
    do throws(PredicateEvaluationError<any Error>) {
      return try predicate.evaluate(&state) { (_, path) throws(any Error) in
        if let found = value(path) { return found }
        throw CambiumError(
          .invalidPredicate, "a \(what) of history has no property '\(path)'; its documentation lists those that it has"
        )
      }
    } catch {
      switch error {
      case .predicate(let error): throw CambiumError(.invalidPredicate, "\(error)", underlying: [error])
      case .value(let error): throw error
      }
    }
  }
}
