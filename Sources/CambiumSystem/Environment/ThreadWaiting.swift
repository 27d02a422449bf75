#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// Learns when threads wait, so that other threads can use the processor meanwhile. Made to be inherited from.
open class ThreadWaiting {
  /// One that does nothing.
  public init() {}

  /// The calling thread is about to wait. It may hold any lock of a store, so this must not wait for anything of a
  /// store's.
  open func threadWillWait() {}
  /// The calling thread goes on.
  open func threadDidWait() {}
}

extension SystemEnvironment {
  /// Names who learns when the calling thread waits for a lock's condition, a sync of a file, or another process; nil
  /// names nobody.
  ///
  /// The thread does not retain it. Who names it keeps it until the thread names nobody, or ends.
  public static func tellWaits(to waiting: ThreadWaiting?) {
    #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
      guard let key = waitingKey else { return }
      pthread_setspecific(key, waiting.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
    #endif
  }

  /// Runs a call that may wait, and tells who wants to know.
  @inline(__always)
  static func waiting<R>(_ body: () -> R) -> R {
    #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
      guard let key = waitingKey, let found = pthread_getspecific(key) else { return body() }
      let waiting = Unmanaged<ThreadWaiting>.fromOpaque(found).takeUnretainedValue()
      waiting.threadWillWait()
      defer { waiting.threadDidWait() }
    #endif
    return body()
  }
}

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
  /// The place that each thread has for who learns of its waits; nil if the system has no more places, and nobody
  /// learns of any.
  private let waitingKey: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()
#endif
