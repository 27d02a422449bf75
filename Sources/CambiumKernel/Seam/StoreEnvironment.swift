/// What the kernel needs of its host beside storage: locks, time, chance.
public protocol StoreEnvironment: AnyObject, Sendable {
  /// A new lock with a condition. A host with one thread may return ``SingleThreadLock``.
  func makeLock() -> any StoreLock

  /// 64 bits that no earlier run is likely to have had: sessions and logs are told apart by them.
  func randomBits() -> UInt64

  /// Milliseconds since 1970-01-01 00:00 UTC. Used for expiry dates and ages only, never for order.
  func nowMilliseconds() -> Int64

  /// A number that a forked child does not share with its parent; 0 where there are no processes.
  func processIdentifier() -> UInt64

  /// How many threads may run at the same time to good effect; 1 where there is only one.
  func processorCount() -> Int

  /// Calls `work` with each number below `count`, each on a thread of its own, at the same time if the host can;
  /// returns when all have returned. 0 is called on the calling thread. If there are no more threads to be had, others
  /// are called there behind it.
  func runConcurrently(_ count: Int, _ work: @escaping @Sendable (Int) -> Void)

  /// Lets other threads that are ready have the processor first: for work in the background, which would otherwise keep
  /// one that a sync has just woken waiting for the rest of its share. Returns soon.
  func letOthersRun()

  /// Memory for `byteCount` bytes of any content, aligned to 128 at least, to be given back by
  /// ``freeMemory(_:byteCount:)``. The page cache asks for pieces of up to 2 MiB: a host with huge pages should back
  /// these with them.
  func allocateMemory(byteCount: Int) -> UnsafeMutableRawPointer

  /// Gives back what ``allocateMemory(byteCount:)`` gave for as many bytes.
  func freeMemory(_ start: UnsafeMutableRawPointer, byteCount: Int)
}

extension StoreEnvironment {
  /// There is one process.
  public func processIdentifier() -> UInt64 { 0 }

  /// There is one thread.
  public func processorCount() -> Int { 1 }

  /// One after the other, on the calling thread.
  public func runConcurrently(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
    for i in 0..<max(0, count) { work(i) }
  }

  /// There is no other thread.
  public func letOthersRun() {}

  /// Memory of the language's own allocator.
  public func allocateMemory(byteCount: Int) -> UnsafeMutableRawPointer {
    .allocate(byteCount: byteCount, alignment: 128)
  }

  /// Gives memory of the language's own allocator back.
  public func freeMemory(_ start: UnsafeMutableRawPointer, byteCount: Int) { start.deallocate() }
}

/// A mutual exclusion lock with one condition. Not recursive.
public protocol StoreLock: AnyObject, Sendable {
  /// Waits for the lock and takes it.
  func lock()
  /// Gives the lock up.
  func unlock()
  /// Gives the lock up, waits for ``wakeAll()``, and takes the lock again. May return early.
  func wait()
  /// Wakes every thread in ``wait()``. Called with the lock held, or just after it was given up: then those who wake
  /// need not wait for it.
  func wakeAll()
  /// As ``wait()``, but for ``wakeAllAside()``: for those who wait for something else than most do, and need not be
  /// woken for what the others wait for. A lock that cannot tell them apart wakes all of them for either, as one does
  /// that has nothing else.
  func waitAside()
  /// Wakes every thread in ``waitAside()``, as ``wakeAll()`` does the others.
  func wakeAllAside()
}

extension StoreLock {
  /// ``wait()``.
  public func waitAside() { wait() }

  /// ``wakeAll()``.
  public func wakeAllAside() { wakeAll() }
}

/// The lock of a host that has one thread: it does nothing.
public final class SingleThreadLock: StoreLock {
  /// Makes a lock.
  public init() {}
  /// Does nothing.
  public func lock() {}
  /// Does nothing.
  public func unlock() {}
  /// Does nothing.
  public func wait() {}
  /// Does nothing.
  public func wakeAll() {}
}
