import CambiumEngine
import CambiumKernel
import CambiumSystem
import Synchronization

/// The requests and saves that use a store, so that it is closed after them and refuses what comes later. Thread-safe.
final class StoreUses: @unchecked Sendable {
  // `@unchecked`: `threads` and `isEnding` are touched with `lock` held only.
  private let lock: any StoreLock = SystemEnvironment().makeLock()
  /// The thread of each use.
  private var threads: [UInt] = []
  private var isEnding = false
  private let hasEnded = Atomic(false)
  /// The uses of the store that this is a snapshot of.
  private let origin: StoreUses?

  init(origin: StoreUses? = nil) { self.origin = origin }

  /// Whether nothing can be read or written any more.
  var isClosed: Bool { hasEnded.load(ordering: .acquiring) || origin?.isClosed == true }

  /// Begins a use, which ``end()`` is to end; false if the store is being closed. Within another use of the same thread
  /// it is never refused.
  func begin() -> Bool {
    if let origin, !origin.begin() { return false }
    lock.lock()
    defer { lock.unlock() }
    let thread = SystemEnvironment.currentThread()
    if isEnding, !threads.contains(thread) {
      origin?.end()
      return false
    }
    threads.append(thread)
    return true
  }

  /// Ends a use, on the thread that began it.
  func end() {
    lock.lock()
    if let place = threads.lastIndex(of: SystemEnvironment.currentThread()) { threads.remove(at: place) }
    if isEnding, threads.isEmpty { lock.wakeAll() }
    lock.unlock()
    origin?.end()
  }

  /// Runs `body` as a use.
  ///
  /// - Throws: `StoreError.closed` if the store is being closed; what `body` throws.
  func run<R>(_ body: () throws(EngineError) -> R) throws(EngineError) -> R {
    guard begin() else { throw .store(.closed) }
    defer { end() }
    return try body()
  }

  /// Whether the calling thread uses the store.
  var isHere: Bool {
    lock.lock()
    defer { lock.unlock() }
    return threads.contains(SystemEnvironment.currentThread())
  }

  /// How many stores were closed in this process. A view that was open at the same number still is, so that hot paths
  /// need not ask its store.
  static var closings: Int {
    @inline(__always) get { storeClosings.load(ordering: .relaxed) }
  }

  /// Refuses further uses, and waits for those that there are. The calling thread must have none.
  func close() {
    lock.lock()
    isEnding = true
    while !threads.isEmpty { lock.wait() }
    lock.unlock()
    hasEnded.store(true, ordering: .releasing)
    storeClosings.add(1, ordering: .releasing)
  }
}

private let storeClosings = Atomic(0)
