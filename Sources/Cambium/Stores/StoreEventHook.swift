import Synchronization

/// Who is told of what a coordinator's stores are asked. Thread-safe.
final class StoreEventHook: @unchecked Sendable {
  // `@unchecked`: `handler` and `explains` are touched with `lock` held only.
  private let lock = StateLock()
  private let hasHandler = Atomic(false)
  private var handler: (@Sendable (StoreEvent) -> Void)?
  private var explains = false
  private static let lastID = Atomic<UInt64>(0)

  /// Whether anybody wants to know. All that it costs who does not.
  var isOn: Bool { hasHandler.load(ordering: .relaxed) || DebugLog.requestLevel > 0 }

  func set(_ handler: (@Sendable (StoreEvent) -> Void)?, explains: Bool) {
    lock.locked {
      self.handler = handler
      self.explains = explains
      hasHandler.store(handler != nil, ordering: .relaxed)
    }
  }

  /// Tells of something that takes no time.
  ///
  /// - Parameters:
  ///   - name: The name of the context that does it.
  ///   - author: The author of the context's changes.
  func tell(_ activity: StoreEvent.Activity, name: String?, author: String?) {
    guard isOn else { return }
    send(StoreEvent(id: Self.nextID(), activity: activity, phase: .moment, contextName: name, author: author))
  }

  /// Runs `body` and tells that it begins and ends.
  func run<R>(
    _ activity: StoreEvent.Activity, name: String?, author: String?, count: (R) -> Int, plan: () -> String?,
    _ body: () throws -> R
  ) throws -> R {
    let call = begin(activity, name, author)
    do {
      let result = try body()
      var outcome = StoreEvent.Outcome(duration: call.clock.now - call.start)
      outcome.count = count(result)
      if call.explains { outcome.plan = plan() }
      send(call, .end(outcome))
      return result
    } catch {
      fail(call, error)
      throw error
    }
  }

  /// A call that has begun.
  private struct Call {
    var id: UInt64
    var activity: StoreEvent.Activity
    var name: String?
    var author: String?
    var explains: Bool
    let clock = ContinuousClock()
    var start: ContinuousClock.Instant
  }

  @inline(never)
  private func begin(_ activity: StoreEvent.Activity, _ name: String?, _ author: String?) -> Call {
    let explains = lock.locked { self.explains } || DebugLog.requestLevel > 1
    var call = Call(
      id: Self.nextID(), activity: activity, name: name, author: author, explains: explains,
      start: ContinuousClock().now)
    send(call, .begin)
    call.start = call.clock.now
    return call
  }

  @inline(never)
  private func fail(_ call: Call, _ error: any Error) {
    var outcome = StoreEvent.Outcome(duration: call.clock.now - call.start)
    outcome.error = error as? CambiumError ?? CambiumError(.coreData, "\(error)", underlying: [error])
    send(call, .end(outcome))
  }

  @inline(never)
  private func send(_ call: Call, _ phase: StoreEvent.Phase) {
    send(
      StoreEvent(id: call.id, activity: call.activity, phase: phase, contextName: call.name, author: call.author))
  }

  private func send(_ event: StoreEvent) {
    if let handler = lock.locked({ self.handler }) { handler(event) }
    if case .begin = event.phase { return }
    DebugLog.write(.request, event.description)
  }

  private static func nextID() -> UInt64 { lastID.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension PersistentStoreCoordinator {
  /// Has a function told of what is done with the stores: their opening, requests (of history as well), saves, batches,
  /// and errors that are recorded, of all contexts of the coordinator, children too. `nil` ends it. There is one
  /// handler; without it, nothing is measured.
  ///
  /// ```swift
  /// let signposter = OSSignposter(subsystem: "app", category: "store")
  /// let running = Mutex<[UInt64: OSSignpostIntervalState]>([:])
  /// coordinator.setEventHandler { event in
  ///   switch event.phase {
  ///   case .begin: running.withLock { $0[event.id] = signposter.beginInterval("store") }
  ///   case .end:
  ///     if let state = running.withLock({ $0.removeValue(forKey: event.id) }) {
  ///       signposter.endInterval("store", state, "\(event)")
  ///     }
  ///   case .moment: signposter.emitEvent("store", "\(event)")
  ///   }
  /// }
  /// ```
  ///
  /// For lines in a log without code, see ``DebugLog``.
  ///
  /// - Parameters:
  ///   - explainingFetches: Whether the end of a fetch has its plan, which takes as long as a small fetch.
  ///   - handler: Called on the thread that does what it tells of, which as a rule holds the context's lock (not for
  ///     ``StoreEvent/Activity/opening(_:)``, ``StoreEvent/Activity/enumerate(entityName:predicate:)`` and asynchronous
  ///     fetches): it must be quick, and must not use contexts.
  public func setEventHandler(explainingFetches: Bool = false, _ handler: (@Sendable (StoreEvent) -> Void)?) {
    eventHook.set(handler, explains: explainingFetches)
  }
}
