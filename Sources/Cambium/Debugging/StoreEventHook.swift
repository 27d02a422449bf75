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
  func tell(_ activity: StoreEvent.Activity, by context: ManagedObjectContext?) {
    guard isOn else { return }
    send(
      StoreEvent(
        id: Self.nextID(), activity: activity, phase: .moment, contextName: context?.name,
        author: context?.transactionAuthor))
  }

  /// Runs `body` and tells that it begins and ends.
  func run<R>(
    _ activity: StoreEvent.Activity, by context: ManagedObjectContext?, count: (R) -> Int, plan: () -> String?,
    _ body: () throws -> R
  ) throws -> R {
    try run(activity, name: context?.name, author: context?.transactionAuthor, count: count, plan: plan, body)
  }

  /// Runs `body` for a caller that is not on the queue of its context, and tells that it begins and ends.
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

extension ManagedObjectContext {
  /// Runs a request, and tells of it if anybody wants to know. No store is closed meanwhile.
  @inline(__always)
  func told<R>(
    _ activity: @autoclosure () -> StoreEvent.Activity, count: (R) -> Int, plan: () -> String? = { nil },
    _ body: () throws -> R
  ) throws -> R {
    let uses = beginUses()
    defer { for use in uses { use.end() } }
    let hook = persistentStoreCoordinator.eventHook
    guard hook.isOn else { return try body() }
    return try hook.run(activity(), by: self, count: count, plan: plan, body)
  }
}

extension ManagedObjectContext {
  /// Begins to use the stores. A child does not, because its parent does when it is asked.
  fileprivate func beginUses() -> [StoreUses] {
    guard parent == nil else { return [] }
    // One that is being closed refuses by itself, if it is asked.
    return persistentStoreCoordinator.persistentStores.compactMap { $0.uses.begin() ? $0.uses : nil }
  }
}

extension PersistentStoreCoordinator {
  /// Has a function told of what is done with the stores: their opening, requests (of history as well), saves, batches, and errors that are
  /// recorded,
  /// of all contexts of the coordinator, children too. `nil` ends it. There is one handler; without it, nothing is measured.
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
  ///     ``StoreEvent/Activity/opening(_:)``, ``StoreEvent/Activity/enumerate(entityName:predicate:)`` and asynchronous fetches): it must be
  ///     quick, and must not use contexts.
  public func setEventHandler(explainingFetches: Bool = false, _ handler: (@Sendable (StoreEvent) -> Void)?) {
    eventHook.set(handler, explains: explainingFetches)
  }
}
