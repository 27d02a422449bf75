import Synchronization

/// Who does what of a list of keys whose pages threads bring into the cache while one of them tells the entries: the list is done by
/// chunks, each brought by whoever comes to it first, the teller included.
///
/// Chunks are brought at most ``window`` ahead of the one that is told, so that none is driven out before.
final class ListAhead: @unchecked Sendable {
  // `@unchecked`: what is not atomic is used with the lock held.
  private let lock: any StoreLock
  private let count: Int
  private let window: Int
  /// What the teller is at.
  private var told = 0
  /// The first chunk that nobody has come to.
  private var next = 0
  private var isBrought: [Bool]
  private var waiting = 0
  private let hasEnded = Atomic(false)

  init(chunks: Int, window: Int, _ lock: any StoreLock) {
    count = chunks
    self.window = window
    self.lock = lock
    isBrought = Array(repeating: false, count: chunks)
  }

  /// Whether nothing more is told. Asked without the lock.
  var isOver: Bool { hasEnded.load(ordering: .relaxed) }

  /// What the teller should bring before it tells a chunk; nil as soon as it should tell that, which is brought by then, or nobody
  /// else's to bring. Called until it answers nil, with one chunk after the other.
  func chunkToBring(beforeTelling chunk: Int) -> Int? {
    lock.lock()
    defer { lock.unlock() }
    if told != chunk {
      told = chunk
      if waiting > 0 { lock.wakeAll() }
    }
    while !isBrought[chunk] {
      if next <= chunk {
        next = chunk + 1
        return nil
      }
      // Another thread is at it.
      if let other = takeNext() { return other }
      waiting += 1
      lock.wait()
      waiting -= 1
    }
    return nil
  }

  /// What another thread should bring; nil if nothing is left for it. Waits until the teller has come far enough.
  func chunkToBring() -> Int? {
    lock.lock()
    defer { lock.unlock() }
    while !isOver, next < count {
      if let chunk = takeNext() { return chunk }
      waiting += 1
      lock.wait()
      waiting -= 1
    }
    return nil
  }

  /// A chunk was brought, or could not be: then the teller finds out why.
  func noteBrought(_ chunk: Int) {
    lock.lock()
    defer { lock.unlock() }
    isBrought[chunk] = true
    if waiting > 0 { lock.wakeAll() }
  }

  /// Nothing more is told.
  func end() {
    lock.lock()
    defer { lock.unlock() }
    hasEnded.store(true, ordering: .relaxed)
    lock.wakeAll()
  }

  private func takeNext() -> Int? {
    guard next < min(count, told + window) else { return nil }
    next += 1
    return next - 1
  }
}
