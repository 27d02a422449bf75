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

extension SystemEnvironment {
  /// A number of the calling thread that no other thread has while it lives; never 0. On WASI, which has one thread,
  /// always the same.
  public static func currentThread() -> UInt {
    #if os(Windows)
      return UInt(GetCurrentThreadId())
    #elseif os(WASI)
      return 1
    #elseif canImport(Darwin) || canImport(Musl)
      return UInt(bitPattern: pthread_self())
    #else
      return UInt(truncatingIfNeeded: pthread_self())
    #endif
  }

  /// Whether the calling thread is the main thread. False also where the system does not tell (Windows): who asks has
  /// to be right, if slower, with that answer on the main thread.
  public static func isMainThread() -> Bool {
    #if os(WASI)
      return true
    #elseif canImport(Darwin)
      return pthread_main_np() != 0
    #elseif canImport(Android)
      return gettid() == getpid()
    #elseif canImport(Glibc) || canImport(Musl)
      // The main thread has the number of the process. `gettid` is out of Swift's reach; but Linux makes the clock of a
      // thread from its number, the lower three bits saying that it is a thread's.
      var clock = clockid_t()
      return pthread_getcpuclockid(pthread_self(), &clock) == 0 && clock == clockid_t(~getpid()) << 3 | 6
    #else
      return false
    #endif
  }
}
