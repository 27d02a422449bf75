import CambiumSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Lines that tell what stores and migrations do, and what is done wrong, for developers. Core Data:
/// `-com.apple.CoreData.SQLDebug`, `-com.apple.CoreData.MigrationDebug` and `-com.apple.CoreData.ConcurrencyDebug`.
///
/// Off until it is turned on: by the process's arguments (`-com.cambium.StoreDebug 1`, `-com.cambium.MigrationDebug 1`,
/// `-com.cambium.RequestDebug 1` or `2`, `-com.cambium.ConcurrencyDebug 1`), by the environment
/// (`CAMBIUM_STORE_DEBUG=1`, `CAMBIUM_MIGRATION_DEBUG=1`, `CAMBIUM_REQUEST_DEBUG=1`, `CAMBIUM_CONCURRENCY_DEBUG=1`), or
/// in code. Lines go to standard error, unless ``setHandler(_:)`` says otherwise. Thread-safe.
public enum DebugLog {
  /// What there are lines about.
  public enum Topic: String, Sendable, CaseIterable {
    /// Files that are made or opened, their metadata, and what of the model is laid out in them.
    case store
    /// The models that a migration is between, and every step of it.
    case migration
    /// Requests, saves and batches, with what they found or changed, and how long they took; with `2`, fetches with
    /// their plans. Predicates have their values in them.
    case request
    /// Objects whose properties are used outside of their context's queue: for one of the main queue, off the main
    /// thread; for others, not in a block of ``ManagedObjectContext/performAndWait(_:)`` or one of the `perform`s. Each
    /// property of an entity is told of once. Core Data ends the process; a handler that ends it (``setHandler(_:)``)
    /// shows who it was. Where the main actor may go on by other threads, as on Linux, a task that uses objects of the
    /// main queue is taken to be the main actor's.
    case concurrency
    /// Blocks of contexts that have not begun after 5 seconds, because those before them take long, or wait for a block
    /// behind them. On with ``concurrency`` when a process is started so.
    case stalledBlocks
  }

  private final class State: @unchecked Sendable {
    // `@unchecked`: touched with `lock` held only.
    let lock = StateLock()
    /// Asked for each request, without the lock.
    let requestLevel = Atomic(0)
    var topics: Set<Topic>
    var handler: (@Sendable (Topic, String) -> Void)?

    init() {
      let process = ProcessInfo.processInfo
      let levels = DebugLog.levels(process.arguments, process.environment)
      topics = Set(levels.keys)
      requestLevel.store(levels[.request] ?? 0, ordering: .relaxed)
      QueueCheck.turn(on: levels[.concurrency] != nil)
      BlockCheck.turn(on: levels[.stalledBlocks] != nil)
    }
  }

  /// What a process is asked to tell of, and how much; an argument goes before the environment.
  @_optimize(none)
  static func levels(_ arguments: [String], _ environment: [String: String]) -> [Topic: Int] {
    var levels: [Topic: Int] = [:]
    for (topic, argument, variable) in [
      (Topic.store, "-com.cambium.StoreDebug", "CAMBIUM_STORE_DEBUG"),
      (Topic.migration, "-com.cambium.MigrationDebug", "CAMBIUM_MIGRATION_DEBUG"),
      (Topic.request, "-com.cambium.RequestDebug", "CAMBIUM_REQUEST_DEBUG"),
      (Topic.concurrency, "-com.cambium.ConcurrencyDebug", "CAMBIUM_CONCURRENCY_DEBUG"),
      (Topic.stalledBlocks, "-com.cambium.ConcurrencyDebug", "CAMBIUM_CONCURRENCY_DEBUG"),
    ] {
      var value = environment[variable]
      if let place = arguments.firstIndex(of: argument), place + 1 < arguments.count { value = arguments[place + 1] }
      if let value, let level = Int(value), level > 0 { levels[topic] = level }
    }
    return levels
  }

  private static let state = State()

  /// Whether there are lines about a topic.
  public static func isOn(_ topic: Topic) -> Bool { state.lock.locked { state.topics.contains(topic) } }

  /// Turns the lines about a topic on or off.
  public static func set(_ topic: Topic, isOn: Bool) {
    state.lock.locked {
      if isOn { state.topics.insert(topic) } else { state.topics.remove(topic) }
      if topic == .request { state.requestLevel.store(isOn ? 1 : 0, ordering: .relaxed) }
      if topic == .concurrency { QueueCheck.turn(on: isOn) }
      if topic == .stalledBlocks { BlockCheck.turn(on: isOn) }
    }
  }

  /// How much there is to be told of requests: 0 for nothing, 2 for plans as well.
  static var requestLevel: Int { state.requestLevel.load(ordering: .relaxed) }

  /// Sends the lines elsewhere; `nil`: to standard error.
  public static func setHandler(_ handler: (@Sendable (Topic, String) -> Void)?) {
    state.lock.locked { state.handler = handler }
  }

  /// Writes a line, if there are lines about the topic.
  @_optimize(none)
  static func write(_ topic: Topic, _ line: @autoclosure () -> String) {
    guard isOn(topic) else { return }
    let text = line()
    if let handler = state.lock.locked({ state.handler }) {
      handler(topic, text)
    } else {
      StandardError.write(line: "Cambium: \(topic.rawValue): \(text)")
    }
  }
}
