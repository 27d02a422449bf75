import CambiumKernel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(WASILibc)
  import WASILibc
#elseif os(Windows)
  import WinSDK
#endif

/// Locks, chance and time from the operating system. It has no state: one serves all stores, from any thread.
public final class SystemEnvironment: StoreEnvironment {
  /// Makes an environment.
  public init() {}

  /// A lock of the operating system. On WASI, which has one thread, one that does nothing.
  public func makeLock() -> any StoreLock {
    #if os(WASI)
      return SingleThreadLock()
    #else
      return SystemLock()
    #endif
  }

  /// 64 bits from the operating system's generator.
  public func randomBits() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }

  /// The operating system's number of this process.
  public func processIdentifier() -> UInt64 {
    #if os(Windows)
      return UInt64(GetCurrentProcessId())
    #elseif os(WASI)
      return 0
    #else
      return UInt64(truncatingIfNeeded: getpid())
    #endif
  }

  /// Milliseconds since 1970-01-01 00:00 UTC by the host's clock, which may be set back.
  public func nowMilliseconds() -> Int64 {
    #if os(Windows)
      var time = FILETIME()
      GetSystemTimePreciseAsFileTime(&time)
      // Counted in 100 ns from 1601-01-01.
      let ticks = Int64(time.dwHighDateTime) << 32 | Int64(time.dwLowDateTime)
      return ticks / 10_000 - 11_644_473_600_000
    #else
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    #endif
  }
}
