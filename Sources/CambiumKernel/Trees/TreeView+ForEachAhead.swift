extension TreeView {
  /// Keys of a list that are brought into the cache together.
  private static let chunk = 64
  /// Keys of a list that the teller is ahead of at most by chunks.
  private static let mostAhead = 32
  /// More threads wait for each other's pages.
  private static let mostThreads = 4

  /// Keys whose misses decide whether those behind them are brought by several threads.
  static let stretch = 1024

  /// Whether it may pay to have other threads bring the pages that so many keys lead to: to make a thread takes as long as a few dozen
  /// pages.
  final func mayBringAhead(_ keys: Int) -> Bool {
    keys >= 4 * Self.stretch && core.threadCount > 1 && allowsConcurrentReads && core.cache.capacity >= 8 * Self.chunk
  }

  /// Whether so many misses in a stretch of keys are many.
  static func areMany(_ misses: UInt64) -> Bool { misses >= UInt64(stretch / 4) }

  /// Tells the entries of keys as ``forEach(_:of:_:)`` does, on the calling thread, while others bring the pages of those behind into
  /// the cache. What takes long of a page that is not there is the system's call and its checksum, which several threads can do at a time.
  final func forEachAhead(
    _ access: TreeAccess, _ keys: ArraySlice<UInt64>,
    _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let chunks = (keys.count + Self.chunk - 1) / Self.chunk
    let window = max(2, min(Self.mostAhead, core.cache.capacity / (8 * Self.chunk)))
    let line = ListAhead(chunks: chunks, window: window, core.environment.makeLock())
    // Snapshots may be read by any number of threads, and what a tree was found as does not change.
    nonisolated(unsafe) let (view, access) = (self, access)
    // Who made threads may hold what they did for a while, but not what is called here.
    try withoutActuallyEscaping(body) { (body) throws(StoreError) in
      nonisolated(unsafe) let teller = Teller(body)
      defer { teller.body = nil }
      core.environment.runConcurrently(min(core.threadCount, Self.mostThreads)) { (thread) in
        if thread == 0 {
          teller.tell(view, access, keys, line)
          line.end()
          return
        }
        while let chunk = line.chunkToBring() { view.bring(access, keys, chunk, line, thread) }
      }
      if let failure = teller.failure { throw failure }
      if !teller.hasTold { throw .misuse("the host did not call the work that it was given") }
    }
  }

  /// The keys of a chunk.
  private static func part(_ keys: ArraySlice<UInt64>, _ chunk: Int) -> ArraySlice<UInt64> {
    keys.dropFirst(chunk * Self.chunk).prefix(Self.chunk)
  }

  /// Has the pages that the keys of a chunk lead to in the cache, if they can be read.
  private final func bring(
    _ access: TreeAccess, _ keys: ArraySlice<UInt64>, _ chunk: Int, _ line: ListAhead, _ thread: Int
  ) {
    defer { line.noteBrought(chunk) }
    var rest = Self.part(keys, chunk)
    // No more in one epoch than the teller reads: the cache has so many frames ready for each.
    while !rest.isEmpty, !line.isOver {
      if !bring(access, rest.prefix(Self.batch), thread) { return }
      rest = rest.dropFirst(Self.batch)
    }
  }

  /// The same for a few keys, in one epoch of the cache. Answers whether they could be read: whoever tells the entries meets what is wrong
  /// with them, behind those that can be.
  private final func bring(_ access: TreeAccess, _ keys: ArraySlice<UInt64>, _ thread: Int) -> Bool {
    let cache = core.cache
    let slot = cache.slots.enter(hint &+ thread)
    defer { cache.slots.leave(slot) }
    var near = NearPages()
    do throws(StoreError) {
      for key in keys { _ = try access.find(TreeKey(key), cache, near: &near) }
    } catch { return false }
    return true
  }

  /// Who is told the entries, until the call ends: used by the calling thread alone.
  private final class Teller {
    var body: ((UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool)?
    private(set) var failure: StoreError?
    private(set) var hasTold = false

    init(_ body: @escaping (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool) { self.body = body }

    func tell(_ view: TreeView, _ access: TreeAccess, _ keys: ArraySlice<UInt64>, _ line: ListAhead) {
      guard let body else { return }
      hasTold = true
      var found: [FoundValue?] = []
      var chunk = 0
      var rest = keys
      do throws(StoreError) {
        while !rest.isEmpty {
          while let other = line.chunkToBring(beforeTelling: chunk) { view.bring(access, keys, other, line, 0) }
          let part = rest.prefix(TreeView.chunk)
          rest = rest.dropFirst(part.count)
          chunk += 1
          if try !view.forEach(access, part, &found, body) { return }
        }
      } catch { failure = error }
    }
  }
}
