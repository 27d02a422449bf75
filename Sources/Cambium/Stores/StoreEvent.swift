#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is done with a coordinator's stores, as it happens: for logs, metrics, and intervals like those of
/// `os_signpost`. See ``PersistentStoreCoordinator/setEventHandler(explainingFetches:_:)``.
///
/// What takes time is told twice, when it begins and when it ends, with one ``id``; what doesn't, once.
public struct StoreEvent: Sendable {
  /// What is done.
  public enum Activity: Sendable {
    /// A store is opened, and migrated if need be.
    case opening(URL?)
    /// A fetch or a count; of an ``AsynchronousFetchRequest`` that is done beside the context, the search, without the
    /// making of objects. The predicate has its values in it: mind what may be in logs.
    case fetch(entityName: String, predicate: String?, resultType: FetchRequestResultType)
    /// Objects are gone through (``ManagedObjectContext/enumerate(_:batchSize:allowEscapingMutations:block:)``), which
    /// takes as long as what is done with each. Told without the context's lock.
    case enumerate(entityName: String, predicate: String?)
    /// A context saves, with so many objects inserted, changed and to be deleted when it begins.
    case save(inserted: Int, updated: Int, deleted: Int)
    /// A ``PersistentHistoryChangeRequest``: it reads history, or deletes it. The count is of transactions, or changes
    /// if those are fetched.
    case history(isDeletion: Bool)
    /// A batch request.
    case batch(Batch, entityName: String?)
    /// Something went wrong in a call that cannot throw; see ``ManagedObjectContext/recordedErrors``.
    case recordedError(CambiumError)
  }

  /// What a batch request does.
  public enum Batch: String, Sendable {
    /// It inserts.
    case insert
    /// It changes.
    case update
    /// It deletes.
    case delete
  }

  /// Where in its course something is.
  public enum Phase: Sendable {
    /// It begins.
    case begin
    /// It has ended.
    case end(Outcome)
    /// It takes no time.
    case moment
  }

  /// What came of it.
  public struct Outcome: Sendable {
    /// How long it took.
    public var duration: Duration
    /// How many objects were found, saved or changed; 0 if it failed.
    public var count = 0
    /// How a fetch was done by the stores, if that is asked for; see ``ManagedObjectContext/explain(_:running:)``.
    public var plan: String?
    /// Why it failed.
    public var error: CambiumError?
  }

  /// The same for the beginning and the end of something, and for nothing else of this process.
  public let id: UInt64
  /// What is done.
  public let activity: Activity
  /// Where in its course it is.
  public let phase: Phase
  /// The name of the context that does it.
  public let contextName: String?
  /// Who makes the context's changes, as it says.
  public let author: String?
}

extension StoreEvent: CustomStringConvertible {
  /// A line for a log.
  @_optimize(none)
  public var description: String {
    var text: String
    switch activity {
    case .opening(let url): text = "open \(url?.lastPathComponent ?? "in memory")"
    case .fetch(let entity, let predicate, let type):
      text = "\(type == .count ? "count" : "fetch") \(entity)" + (predicate.map { " where \($0)" } ?? "")
    case .enumerate(let entity, let predicate):
      text = "enumerate \(entity)" + (predicate.map { " where \($0)" } ?? "")
    case .save(let inserted, let updated, let deleted):
      text = "save \(inserted) inserted, \(updated) updated, \(deleted) deleted"
    case .history(let isDeletion): text = isDeletion ? "delete history" : "fetch history"
    case .batch(let batch, let entity): text = "batch \(batch.rawValue) \(entity ?? "")"
    case .recordedError(let error): text = "recorded \(error)"
    }
    if let contextName { text = "[\(contextName)] " + text }
    guard case .end(let outcome) = phase else { return text }
    let (seconds, attoseconds) = outcome.duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    text += outcome.error.map { ": failed, \($0)" } ?? ": \(outcome.count)"
    text += ", \(microseconds) us"
    return text + (outcome.plan.map { "\n" + $0 } ?? "")
  }
}
