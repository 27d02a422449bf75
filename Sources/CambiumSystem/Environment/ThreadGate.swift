#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock at which threads wait for a time, and by which they are started. It belongs to those who divide work among
/// threads.
///
/// Where this package cannot start threads (WASI and Windows) ``startThread(_:)`` answers false, and nobody waits.
public final class ThreadGate: @unchecked Sendable {
  // `@unchecked`: the pointers don't change, and what they lead to is made for threads.
  #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// A gate that nobody waits at.
    public init() {
      mutex.initialize(to: pthread_mutex_t())
      condition.initialize(to: pthread_cond_t())
      // These fail only for want of memory, which ends a Swift process anyway.
      let made = pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(condition, nil) == 0
      precondition(made, "no memory for a lock")
    }

    deinit {
      pthread_cond_destroy(condition)
      pthread_mutex_destroy(mutex)
      condition.deallocate()
      mutex.deallocate()
    }

    /// Takes the lock.
    public func lock() { pthread_mutex_lock(mutex) }
    /// Gives the lock up.
    public func unlock() { pthread_mutex_unlock(mutex) }
    /// Wakes a thread that waits, if there is one. The caller need not hold the lock.
    public func wakeOne() { pthread_cond_signal(condition) }

    /// Gives the lock up, waits to be woken, and takes the lock again. May return early.
    ///
    /// - Returns: False if the time is over.
    public func wait(milliseconds: Int) -> Bool {
      var end = timespec()
      clock_gettime(CLOCK_REALTIME, &end)
      let nanoseconds = Int(end.tv_nsec) + milliseconds % 1_000 * 1_000_000
      end.tv_sec += time_t(milliseconds / 1_000 + nanoseconds / 1_000_000_000)
      end.tv_nsec = .init(nanoseconds % 1_000_000_000)
      return pthread_cond_timedwait(condition, mutex, &end) != ETIMEDOUT
    }

    /// Starts a thread that runs `work` and ends with it.
    ///
    /// - Returns: False if there is no thread to be had.
    public func startThread(_ work: @escaping @Sendable () -> Void) -> Bool { SystemEnvironment.startThread(work) }
  #else
    /// A gate that nobody waits at.
    public init() {}

    /// Does nothing.
    public func lock() {}
    /// Does nothing.
    public func unlock() {}
    /// Does nothing.
    public func wakeOne() {}
    /// Does not wait.
    public func wait(milliseconds: Int) -> Bool { false }
    /// Answers false.
    public func startThread(_ work: @escaping @Sendable () -> Void) -> Bool { false }
  #endif
}
