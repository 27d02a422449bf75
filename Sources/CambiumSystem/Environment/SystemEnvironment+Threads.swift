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
}
