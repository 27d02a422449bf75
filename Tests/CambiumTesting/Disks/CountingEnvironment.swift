import CambiumKernel
import Synchronization

/// An environment that counts how often threads are asked for.
public final class CountingEnvironment: StoreEnvironment {
  private let inner: TestEnvironment
  private let callsWork: Bool
  private let count = Atomic<Int>(0)

  /// How often threads were asked for.
  public var calls: Int { count.load(ordering: .relaxed) }

  /// Makes an environment.
  ///
  /// - Parameter callsWork: Whether what is to be done concurrently is done at all: a host that is faulty does not.
  public init(processors: Int, hasThreads: Bool = true, callsWork: Bool = true) {
    inner = TestEnvironment(seed: 4, processors: processors, hasThreads: hasThreads)
    self.callsWork = callsWork
  }

  /// As many as it was made with.
  public func processorCount() -> Int { inner.processorCount() }

  /// On threads, if there are any, and counted.
  public func runConcurrently(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
    self.count.wrappingAdd(1, ordering: .relaxed)
    if callsWork { inner.runConcurrently(count, work) }
  }

  /// A lock that really excludes and waits.
  public func makeLock() -> any StoreLock { ThreadLock() }
  /// The next bits that follow from the seed.
  public func randomBits() -> UInt64 { inner.randomBits() }
  /// The time that stands.
  public func nowMilliseconds() -> Int64 { inner.nowMilliseconds() }
}
