import CambiumKernel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
  extension SystemEnvironment {
    /// The processors that the operating system had in use when it was first asked.
    public func processorCount() -> Int { Self.processorsInUse }

    // Asked once, since it reads a file.
    private static let processorsInUse = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// On threads of the operating system that are made for it: tens of microseconds each, which whoever divides work
    /// has to bear in mind.
    public func runConcurrently(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
      var threads: [pthread_t] = []
      var left: [Int] = []
      for i in 1..<max(1, count) {
        if let thread = Self.start(ThreadWork(i, work), stackBytes: Self.stackBytes) {
          threads.append(thread)
        } else {
          left.append(i)
        }
      }
      if count > 0 { work(0) }
      for i in left { work(i) }
      for thread in threads { pthread_join(thread, nil) }
    }

    /// Starts a thread that runs `work` and ends with it; false if there is none to be had.
    ///
    /// The thread runs what an application gives, so that it has a stack of 8 MiB, as the threads of Swift's
    /// concurrency runtime have.
    static func startThread(_ work: @escaping @Sendable () -> Void) -> Bool {
      guard let thread = start(ThreadWork(0) { _ in work() }, stackBytes: 8 << 20) else { return false }
      pthread_detach(thread)
      return true
    }

    /// `sched_yield`.
    public func letOthersRun() { sched_yield() }

    /// Predicates may be deep, and some systems give threads little.
    private static let stackBytes = 2 << 20

    /// A thread that does the work; nil if there is none to be had.
    private static func start(_ work: ThreadWork, stackBytes: Int) -> pthread_t? {
      let handed = Unmanaged.passRetained(work)
      var attributes = pthread_attr_t()
      guard pthread_attr_init(&attributes) == 0 else {
        handed.release()
        return nil
      }
      defer { pthread_attr_destroy(&attributes) }
      // If it is refused, the thread has what the system gives.
      pthread_attr_setstacksize(&attributes, stackBytes)
      #if canImport(Darwin)
        var thread: pthread_t?
        let made = pthread_create(
          &thread, &attributes,
          { (p) in
            Unmanaged<ThreadWork>.fromOpaque(p).takeRetainedValue().run()
            return nil
          }, handed.toOpaque())
      #else
        var thread = pthread_t()
        let made = pthread_create(
          &thread, &attributes,
          { (p) in
            if let p { Unmanaged<ThreadWork>.fromOpaque(p).takeRetainedValue().run() }
            return nil
          }, handed.toOpaque())
      #endif
      if made == 0 { return thread }
      handed.release()
      return nil
    }
  }

  /// What a thread is started with.
  private final class ThreadWork: Sendable {
    private let number: Int
    private let work: @Sendable (Int) -> Void

    init(_ number: Int, _ work: @escaping @Sendable (Int) -> Void) {
      self.number = number
      self.work = work
    }

    func run() { work(number) }
  }
#endif
