import Synchronization

extension Store {
  /// How many threads the work of one call may be divided among. It is asked once: who keeps something for each thread
  /// counts on it.
  static func threadCount(
    _ device: any StorageDevice, _ environment: any StoreEnvironment, _ options: StoreOptions
  ) -> Int {
    #if hasFeature(Embedded)
      return 1
    #else
      if device.isForOneThread { return 1 }
      let most = options.maximumThreads
      return max(1, min(most <= 0 ? Int.max : most, environment.processorCount()))
    #endif
  }

  /// Calls `work` with each number below `count`, several at a time on threads of the host's, in order where there is
  /// one thread; ends when all have ended. After an error no further ones begin. `work` is told as well which thread it
  /// is on, less than ``threadCount``: what is kept for a thread is used by one call at a time.
  ///
  /// - Throws: of the errors that `work` threw the one with the lowest number.
  public func concurrently<Failure: Error>(
    _ count: Int, _ work: @escaping @Sendable (_ number: Int, _ thread: Int) throws(Failure) -> Void
  ) throws(Failure) {
    let threads = min(threadCount, count)
    if threads <= 1 {
      for i in 0..<max(0, count) { try work(i, 0) }
      return
    }
    let turns = Turns<Failure>(threads)
    environment.runConcurrently(threads) { (thread) in
      while let i = turns.next(below: count) {
        do throws(Failure) { try work(i, thread) } catch { turns.fail(thread, i, error) }
      }
    }
    if let error = turns.firstError { throw error }
  }
}

extension Store {
  /// Has `make` called with each number below `count`, several at a time on threads of the host's, and `use` with what
  /// it made, in the order of the numbers and on the calling thread, which makes some itself where nothing is there to
  /// be used. Made are no more than a few ahead. After an error no further ones begin.
  ///
  /// What `use` is done with is handed to `make` again, so that memory need not be had anew.
  ///
  /// - Parameter mostThreads: No more threads take part, and made are two more than they are ahead.
  /// - Throws: of the errors of both the one with the lowest number.
  public func inOrder<Made: Sendable, Failure: Error>(
    _ count: Int, mostThreads: Int = .max,
    make: @escaping @Sendable (_ number: Int, _ spare: Made?) throws(Failure) -> Made,
    use: @escaping (Made) throws(Failure) -> Void
  ) throws(Failure) {
    let threads = min(threadCount, count, mostThreads)
    var spare: Made?
    if threads <= 1 {
      for i in 0..<max(0, count) {
        let made = try make(i, spare)
        try use(made)
        spare = made
      }
      return
    }
    let line = AssemblyLine<Made, Failure>(count, ahead: threads + 2, environment.makeLock())
    // Called on the calling thread alone. It escapes, as far as anybody knows: who has a thread may hold what it did
    // for a while.
    nonisolated(unsafe) let use = use
    environment.runConcurrently(threads) { (thread) in
      while let step = line.next(mayUse: thread == 0) {
        switch step {
        case .make(let number, let spare):
          do throws(Failure) { line.put(number, try make(number, spare)) } catch { line.fail(number, error) }
        case .use(let number, let made):
          do throws(Failure) {
            try use(made)
            line.takeBack(made)
          } catch { line.fail(number, error) }
        }
      }
    }
    if let error = line.failure?.error { throw error }
  }
}

/// What is made by several threads and used by one, in order.
private final class AssemblyLine<Made: Sendable, Failure: Error>: @unchecked Sendable {
  // `@unchecked`: all of it is used with the lock held.

  enum Step {
    case make(Int, spare: Made?)
    case use(Int, Made)
  }

  private let lock: any StoreLock
  private let count: Int
  private let ahead: Int
  private var nextToMake = 0
  private var nextToUse = 0
  private var made: [Int: Made] = [:]
  private var spares: [Made] = []
  private(set) var failure: (number: Int, error: Failure)?

  init(_ count: Int, ahead: Int, _ lock: any StoreLock) {
    self.count = count
    self.ahead = ahead
    self.lock = lock
  }

  /// What a thread is to do next; nil if nothing is left for it. Waits until there is something.
  func next(mayUse: Bool) -> Step? {
    lock.lock()
    defer { lock.unlock() }
    while failure == nil {
      if mayUse, let ready = made.removeValue(forKey: nextToUse) {
        nextToUse += 1
        lock.wakeAll()
        return .use(nextToUse - 1, ready)
      }
      if nextToMake < min(count, nextToUse + ahead) {
        nextToMake += 1
        return .make(nextToMake - 1, spare: spares.popLast())
      }
      if mayUse ? nextToUse == count : nextToMake == count { return nil }
      lock.wait()
    }
    return nil
  }

  func put(_ number: Int, _ what: Made) {
    lock.lock()
    made[number] = what
    lock.wakeAll()
    lock.unlock()
  }

  func takeBack(_ what: Made) {
    lock.lock()
    spares.append(what)
    lock.unlock()
  }

  func fail(_ number: Int, _ error: Failure) {
    lock.lock()
    if failure.map({ number < $0.number }) ?? true { failure = (number, error) }
    lock.wakeAll()
    lock.unlock()
  }
}

/// Who does what of work that is divided among threads.
private final class Turns<Failure: Error>: @unchecked Sendable {
  private let taken = Atomic<Int>(0)
  // `@unchecked`: each thread has a place of its own, and they are read when all have ended.
  private let failures: UnsafeMutablePointer<(number: Int, error: Failure)?>
  private let threads: Int

  init(_ threads: Int) {
    self.threads = threads
    failures = .allocate(capacity: threads)
    failures.initialize(repeating: nil, count: threads)
  }

  deinit {
    failures.deinitialize(count: threads)
    failures.deallocate()
  }

  func next(below count: Int) -> Int? {
    let i = taken.wrappingAdd(1, ordering: .relaxed).oldValue
    return i < count ? i : nil
  }

  func fail(_ thread: Int, _ number: Int, _ error: Failure) {
    // A thread fails once.
    failures[thread] = (number, error)
    taken.store(Int.max / 2, ordering: .relaxed)
  }

  var firstError: Failure? {
    var first: (number: Int, error: Failure)?
    for thread in 0..<threads {
      guard let failure = failures[thread] else { continue }
      if let known = first, known.number < failure.number { continue }
      first = failure
    }
    return first?.error
  }
}
