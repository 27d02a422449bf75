/// What the kernel needs of its host beside storage: locks, time, chance.
public protocol StoreEnvironment: AnyObject, Sendable {
  /// A new lock with a condition. A host with one thread may return ``SingleThreadLock``.
  func makeLock() -> any StoreLock

  /// 64 bits that no earlier run is likely to have had: sessions and segments are salted with them.
  func randomBits() -> UInt64

  /// Milliseconds since 1970-01-01 00:00 UTC. Used for expiry dates and ages only, never for order.
  func nowMilliseconds() -> Int64

  /// A number that a forked child does not share with its parent; 0 where there are no processes.
  func processIdentifier() -> UInt64
}

extension StoreEnvironment {
  /// There is one process.
  public func processIdentifier() -> UInt64 { 0 }
}

/// A mutual exclusion lock with one condition. Not recursive.
public protocol StoreLock: AnyObject, Sendable {
  /// Waits for the lock and takes it.
  func lock()
  /// Gives the lock up.
  func unlock()
  /// Gives the lock up, waits for ``wakeAll()``, and takes the lock again. May return early.
  func wait()
  /// Wakes every thread in ``wait()``. Called with the lock held.
  func wakeAll()
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
