import CambiumKernel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#elseif os(Windows)
  import WinSDK
#endif

#if os(Windows)
  /// A lock and a condition of the operating system. Untried.
  final class SystemLock: StoreLock, @unchecked Sendable {
    // `@unchecked`: the pointers don't change, and what they lead to is made for threads. It must not move in memory,
    // which is why it isn't held in place.
    private let mutex = UnsafeMutablePointer<SRWLOCK>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<CONDITION_VARIABLE>.allocate(capacity: 1)
    private let aside = UnsafeMutablePointer<CONDITION_VARIABLE>.allocate(capacity: 1)

    init() {
      mutex.initialize(to: SRWLOCK())
      condition.initialize(to: CONDITION_VARIABLE())
      InitializeSRWLock(mutex)
      InitializeConditionVariable(condition)
      aside.initialize(to: CONDITION_VARIABLE())
      InitializeConditionVariable(aside)
    }

    deinit {
      mutex.deallocate()
      condition.deallocate()
      aside.deallocate()
    }

    func lock() { AcquireSRWLockExclusive(mutex) }
    func unlock() { ReleaseSRWLockExclusive(mutex) }
    func wait() { _ = SleepConditionVariableSRW(condition, mutex, DWORD.max, 0) }
    func wakeAll() { WakeAllConditionVariable(condition) }
    func waitAside() { _ = SleepConditionVariableSRW(aside, mutex, DWORD.max, 0) }
    func wakeAllAside() { WakeAllConditionVariable(aside) }
  }
#elseif !os(WASI)
  /// A mutex and a condition of the operating system's threads.
  final class SystemLock: StoreLock, @unchecked Sendable {
    // `@unchecked`: the pointers don't change, and what they lead to is made for threads. It must not move in memory,
    // which is why it isn't held in place.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let aside = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
      mutex.initialize(to: pthread_mutex_t())
      condition.initialize(to: pthread_cond_t())
      aside.initialize(to: pthread_cond_t())
      // With these attributes they fail only for want of memory, which ends a Swift process anyway.
      let made = Self.makeMutex(mutex) && pthread_cond_init(condition, nil) == 0 && pthread_cond_init(aside, nil) == 0
      precondition(made, "no memory for a lock")
    }

    /// Where the system has such, one that looks for a moment whether the lock comes free before it lets the thread
    /// sleep: it is held for tens of nanoseconds, and to sleep and wake takes ten thousand.
    private static func makeMutex(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Bool {
      #if canImport(Glibc)
        var attributes = pthread_mutexattr_t()
        guard pthread_mutexattr_init(&attributes) == 0 else { return false }
        defer { pthread_mutexattr_destroy(&attributes) }
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        return pthread_mutex_init(mutex, &attributes) == 0
      #else
        return pthread_mutex_init(mutex, nil) == 0
      #endif
    }

    deinit {
      pthread_cond_destroy(condition)
      pthread_cond_destroy(aside)
      pthread_mutex_destroy(mutex)
      condition.deallocate()
      aside.deallocate()
      mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
    func wait() { SystemEnvironment.waiting { _ = pthread_cond_wait(condition, mutex) } }
    func wakeAll() { pthread_cond_broadcast(condition) }
    func waitAside() { SystemEnvironment.waiting { _ = pthread_cond_wait(aside, mutex) } }
    func wakeAllAside() { pthread_cond_broadcast(aside) }
  }
#endif
