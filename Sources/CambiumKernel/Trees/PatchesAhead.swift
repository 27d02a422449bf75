import Synchronization

/// Leaves made anew by another thread, ahead of the merge that takes them into its tree.
///
///     leaves that changes fall into, in turn   | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | ...
///     the merge                                  `- makes and writes 3
///     the ring                                             | 5 | 6 |
///     another thread                                                 `- makes 7
///
/// The other thread goes through the pages that the merge starts from with a copy of its changes, and makes of each
/// leaf that changes fall into what ``LeafPatch`` makes of it. The merge takes what is there when it comes to the leaf,
/// and else makes it itself: neither waits for the other, and the outcome is the same. The changes that both look at
/// stay as they are: a merge that ends, however it ends, waits until the other thread has let go of them. The pages do
/// as well, but for those that the same transaction has made and the merge has replaced, whose room may be used again
/// while the other thread still is to read them: it finds by the checksum that they are not what they were, and ends.
final class PatchesAhead: @unchecked Sendable {
  // Unchecked: all of it is used with the lock held.

  /// The time for which a thread helps.
  final class Shift: @unchecked Sendable {
    // Unchecked: with the lock of its ``PatchesAhead``.
    fileprivate var isOver = false
    fileprivate init() {}
  }

  private let lock: any StoreLock
  private let cache: PageCache
  private let pageSize: Int
  /// Threads that help, or are about to.
  private var helpers = 0
  /// What nobody has taken on yet.
  private var waiting: Job?
  /// That of a merge that has ended, while somebody helps.
  private var spare: MadeLeaves?
  /// How many leaves merges have taken, in all.
  private(set) var takenCount = 0

  init(_ cache: PageCache, _ lock: any StoreLock, pageSize: Int) {
    self.cache = cache
    self.lock = lock
    self.pageSize = pageSize
  }

  /// What is made for one merge.
  fileprivate final class Job {
    let tree: TreeID
    let source: TreeState
    let generation: UInt64
    let leaves: MadeLeaves
    /// The other thread's alone, once it has taken the job on, until that is over.
    var changes: ChangeStream
    let isCancelled = Atomic<Bool>(false)
    /// Whether the other thread has let go of the changes. With the lock.
    var isOver = false

    init(_ tree: TreeID, _ source: TreeState, _ changes: ChangeStream, generation: UInt64, _ leaves: MadeLeaves) {
      self.tree = tree
      self.source = source
      self.changes = changes
      self.generation = generation
      self.leaves = leaves
    }
  }

  // MARK: The merge

  /// Has another thread make what a merge is going to need, if one helps, or is about to. Each is ended before the next
  /// one begins.
  func begin(_ tree: TreeID, _ source: TreeState, _ changes: ChangeStream, generation: UInt64) -> Taker? {
    lock.lock()
    defer { lock.unlock() }
    if helpers == 0 || waiting != nil { return nil }
    let leaves = spare ?? MadeLeaves(pageSize: pageSize)
    spare = nil
    leaves.reset()
    let job = Job(tree, source, changes, generation: generation, leaves)
    waiting = job
    lock.wakeAll()
    return Taker(self, job)
  }

  /// The merge's end of it. One thread uses it.
  final class Taker {
    private let ahead: PatchesAhead
    private let job: Job
    /// Whether nothing is made for it any more.
    private(set) var isEnded = false
    private var takenCount = 0

    fileprivate init(_ ahead: PatchesAhead, _ job: Job) {
      self.ahead = ahead
      self.job = job
    }

    deinit { end() }

    /// What the next leaf that changes fall into becomes, good until the one behind it is asked for; without bytes if
    /// it has to be taken apart. Nil if it was not made. To be asked for each such leaf, in order.
    ///
    /// - Parameter passed: How many of the changes lie before those that fall into it.
    func take(_ ref: PageRef, passed: Int) -> PatchedLeaf? {
      if isEnded { return nil }
      guard let made = job.leaves.take() else {
        if job.leaves.wantsWaking { ahead.wake() }
        return nil
      }
      if job.leaves.wantsWaking { ahead.wake() }
      if made.ref != ref || made.passed != passed {
        // Of a tree that is damaged: keys or separators are out of order.
        end()
        return nil
      }
      takenCount += 1
      return made.patch ?? .takenApart
    }

    /// Returns when the other thread has let go of the changes.
    func end() {
      if isEnded { return }
      isEnded = true
      ahead.end(job, takenCount)
    }
  }

  private func wake() {
    lock.lock()
    lock.wakeAll()
    lock.unlock()
  }

  private func end(_ job: Job, _ taken: Int) {
    job.isCancelled.store(true, ordering: .relaxed)
    lock.lock()
    defer { lock.unlock() }
    takenCount += taken
    if waiting === job {
      waiting = nil
      job.isOver = true
    }
    lock.wakeAll()
    while !job.isOver { lock.wait() }
    if helpers > 0 { spare = job.leaves }
  }

  // MARK: The other thread

  /// Begins a shift, for a thread that is going to help for it: what is asked for by then waits for it.
  func makeShift() -> Shift {
    lock.lock()
    helpers += 1
    lock.unlock()
    return Shift()
  }

  /// Makes what is asked for until the shift is over. Once for each shift.
  func help(_ shift: Shift) {
    lock.lock()
    defer { lock.unlock() }
    let walk = LeafWalk(cache, pageSize: pageSize)
    let patch = LeafPatch(pageSize: pageSize, inlineLimit: MergeContext.inlineLimit(pageSize: pageSize))
    // Behind the end of its shift nobody it helps has asked for anything.
    while !shift.isOver {
      if let job = waiting {
        waiting = nil
        lock.unlock()
        make(job, walk, patch)
        lock.lock()
        job.isOver = true
        lock.wakeAll()
      } else {
        lock.wait()
      }
    }
    helpers -= 1
    // Memory that only whoever helps has a use for.
    if helpers == 0 { spare = nil }
  }

  /// Ends the shift of a thread.
  func end(_ shift: Shift) {
    lock.lock()
    shift.isOver = true
    lock.wakeAll()
    lock.unlock()
  }

  private func make(_ job: Job, _ walk: LeafWalk, _ patch: LeafPatch) {
    let leaves = job.leaves
    let kind = job.source.kind
    var number = 0
    // An error is left to the merge, which meets it as well, unless it passes.
    do throws(StoreError) {
      let isCancelled = { job.isCancelled.load(ordering: .relaxed) }
      try walk.run(job.tree, job.source, &job.changes, isCancelled) { (ref, changes, high) throws(StoreError) in
        defer { number += 1 }
        while leaves.isFull, waitForRoom(job) {}
        if isCancelled() { return false }
        // The merge is there, or makes it before this thread could.
        if !leaves.isAhead(number) { return true }
        let made = try walk.withPage(ref, job.tree, level: 0, kind) { (page) in
          patch.make(page, kind, changes, high: high, generation: job.generation, to: leaves.room)
        }
        leaves.add(number, ref, passed: changes.passed, made)
        return true
      }
    } catch {}
    job.changes = ChangeStream([])
  }

  /// Waits for the merge to take some leaves; answers whether to look once more.
  private func waitForRoom(_ job: Job) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if job.isCancelled.load(ordering: .relaxed) { return false }
    if job.leaves.beginWaiting() { lock.wait() }
    job.leaves.endWaiting()
    return true
  }
}
