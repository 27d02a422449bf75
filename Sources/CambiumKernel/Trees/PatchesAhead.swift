import Synchronization

/// Leaves made anew by another thread, ahead of the merge that takes them into its tree.
///
///     the merge        | takes and writes leaves 1 to 16  | leaves 17 to 32 | ...
///     another thread   | makes leaves 17 to 32            | leaves 33 to 48 | ...
///
/// The other thread goes through the pages that the merge starts from with a copy of its changes, and makes of each leaf that changes
/// fall into what ``LeafPatch`` makes of it. What it has made is used if it is of the very leaf that the merge has come to; otherwise, and
/// where it met an error, the merge goes on by itself, and comes to the same outcome. Nothing that both look at changes meanwhile: the
/// pages are those of before, and a merge that ends, however it ends, waits until the other thread has let go of its changes.
final class PatchesAhead: @unchecked Sendable {
  // Unchecked: all of it is used with the lock held, but for the leaves of a chunk, which belong to who fills or takes it.

  /// The time for which a thread helps.
  final class Shift: @unchecked Sendable {
    // Unchecked: with the lock of its ``PatchesAhead``.
    fileprivate var isOver = false
  }

  /// Some leaves in turn.
  fileprivate final class Chunk {
    static let leaves = 16
    private let memory: UnsafeMutableRawPointer
    private let stride: Int
    let made: UnsafeMutablePointer<MadeLeaf>
    var count = 0

    init(pageSize: Int) {
      // As pages are made, a few bytes behind them may be written.
      stride = pageSize + 16
      memory = .allocate(byteCount: stride * Self.leaves, alignment: 16)
      made = .allocate(capacity: Self.leaves)
    }

    deinit {
      memory.deallocate()
      made.deallocate()
    }

    /// Where a leaf is made.
    func room(_ i: Int) -> UnsafeMutableRawPointer { memory + i * stride }
  }

  /// A leaf that changes fall into.
  fileprivate struct MadeLeaf {
    /// What it was.
    var ref: PageRef
    /// Nil if it has to be taken apart.
    var patch: PatchedLeaf?
  }

  /// What is made for one merge.
  fileprivate final class Job {
    let tree: TreeID
    let source: TreeState
    let generation: UInt64
    var changes: ChangeStream
    let isCancelled = Atomic<Bool>(false)
    /// Whether the other thread has let go of the changes, and hands nothing over any more. With the lock.
    var isOver = false

    init(_ tree: TreeID, _ source: TreeState, _ changes: ChangeStream, generation: UInt64) {
      self.tree = tree
      self.source = source
      self.changes = changes
      self.generation = generation
    }
  }

  /// To be waited for by a merge, and far enough ahead of it.
  private static let mostChunks = 4

  private let lock: any StoreLock
  private let cache: PageCache
  private let pageSize: Int
  private var helpers = 0
  /// What nobody has taken on yet.
  private var waiting: Job?
  /// Those that are made, in turn, and those to be filled.
  private var ready: [Chunk] = []
  private var spare: [Chunk] = []
  private var chunks = 0

  init(_ cache: PageCache, _ lock: any StoreLock, pageSize: Int) {
    self.cache = cache
    self.lock = lock
    self.pageSize = pageSize
  }

  // MARK: The merge

  /// Has another thread make what a merge is going to need, if one helps. Each is ended before the next one begins.
  func begin(_ tree: TreeID, _ source: TreeState, _ changes: ChangeStream, generation: UInt64) -> Taker? {
    lock.lock()
    defer { lock.unlock() }
    if helpers == 0 || waiting != nil { return nil }
    let job = Job(tree, source, changes, generation: generation)
    waiting = job
    lock.wakeAll()
    return Taker(self, job)
  }

  /// The merge's end of it. One thread uses it.
  final class Taker {
    private let ahead: PatchesAhead
    private let job: Job
    private var chunk: Chunk?
    private var next = 0
    private var isEnded = false

    fileprivate init(_ ahead: PatchesAhead, _ job: Job) {
      self.ahead = ahead
      self.job = job
    }

    deinit { end() }

    /// What a leaf that changes fall into becomes, good until the next one is asked for; without bytes if it has to be taken apart. Nil
    /// if it was not made.
    func take(_ ref: PageRef) -> PatchedLeaf? {
      if isEnded { return nil }
      if chunk == nil || next == chunk?.count {
        chunk = ahead.exchange(chunk, job)
        next = 0
      }
      guard let chunk, chunk.made[next].ref == ref else {
        // Of a tree that is damaged, or met an error.
        end()
        return nil
      }
      defer { next += 1 }
      return chunk.made[next].patch ?? .takenApart
    }

    /// Returns when the other thread has let go of the changes.
    func end() {
      if isEnded { return }
      isEnded = true
      ahead.end(job, chunk)
      chunk = nil
    }
  }

  /// Gives a chunk back that was gone through, and answers the next one; nil if there is none.
  private func exchange(_ used: Chunk?, _ job: Job) -> Chunk? {
    lock.lock()
    defer { lock.unlock() }
    if let used {
      spare.append(used)
      lock.wakeAll()
    }
    while ready.isEmpty, !job.isOver { lock.wait() }
    return ready.isEmpty ? nil : ready.removeFirst()
  }

  private func end(_ job: Job, _ used: Chunk?) {
    job.isCancelled.store(true, ordering: .relaxed)
    lock.lock()
    defer { lock.unlock() }
    if waiting === job {
      waiting = nil
      job.isOver = true
    }
    if let used { spare.append(used) }
    lock.wakeAll()
    while !job.isOver { lock.wait() }
    spare += ready
    ready.removeAll()
    if helpers == 0 { dropSpare() }
  }

  // MARK: The other thread

  /// Makes what is asked for until the shift is over.
  func help(_ shift: Shift) {
    lock.lock()
    defer { lock.unlock() }
    helpers += 1
    let walk = LeafWalk(cache, pageSize: pageSize)
    while true {
      if let job = waiting {
        waiting = nil
        lock.unlock()
        make(job, walk)
        lock.lock()
      } else if shift.isOver {
        break
      } else {
        lock.wait()
      }
    }
    helpers -= 1
    if helpers == 0 { dropSpare() }
  }

  /// Ends the shift of a thread.
  func end(_ shift: Shift) {
    lock.lock()
    shift.isOver = true
    lock.wakeAll()
    lock.unlock()
  }

  /// Gives memory back that only whoever helps has a use for.
  private func dropSpare() {
    chunks -= spare.count
    spare.removeAll()
  }

  private func make(_ job: Job, _ walk: LeafWalk) {
    var chunk: Chunk?
    // An error is left to the merge, which meets it as well.
    do throws(StoreError) {
      try walk.run(job.tree, job.source, &job.changes) { (ref, page, changes, high) in
        if job.isCancelled.load(ordering: .relaxed) { return false }
        if let full = chunk, full.count == Chunk.leaves {
          handOver(full)
          chunk = nil
        }
        if chunk == nil { chunk = takeSpare(job) }
        guard let chunk else { return false }
        let patch = walk.patch.make(
          page, job.source.kind, changes, high: high, generation: job.generation, to: chunk.room(chunk.count))
        (chunk.made + chunk.count).initialize(to: MadeLeaf(ref: ref, patch: patch))
        chunk.count += 1
        return true
      }
    } catch {}
    job.changes = ChangeStream([])
    lock.lock()
    if let chunk { ready.append(chunk) }
    job.isOver = true
    lock.wakeAll()
    lock.unlock()
  }

  private func handOver(_ chunk: Chunk) {
    lock.lock()
    ready.append(chunk)
    lock.wakeAll()
    lock.unlock()
  }

  /// A chunk to be filled; nil if the merge has ended.
  private func takeSpare(_ job: Job) -> Chunk? {
    lock.lock()
    defer { lock.unlock() }
    while spare.isEmpty {
      if job.isCancelled.load(ordering: .relaxed) { return nil }
      if chunks < Self.mostChunks {
        chunks += 1
        return Chunk(pageSize: pageSize)
      }
      lock.wait()
    }
    let chunk = spare.removeLast()
    chunk.count = 0
    return chunk
  }
}
