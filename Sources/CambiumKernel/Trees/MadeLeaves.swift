import Synchronization

/// Leaves on their way from the thread that makes them to the merge that takes them: a ring, which one of them fills
/// and the other empties without a lock.
final class MadeLeaves: @unchecked Sendable {
  // Unchecked: a place of the ring belongs to who fills it until `made` tells of it, and then to the merge until `done`
  // does.

  struct Leaf {
    /// Which of the leaves that changes fall into it is.
    var number: Int
    /// What it was.
    var ref: PageRef
    /// How many changes lie before those that it was made of.
    var passed: Int
    /// What it becomes; nil if it has to be taken apart.
    var patch: PatchedLeaf?
  }

  /// Leaves that fit the processor's caches together.
  private let size: Int
  private let stride: Int
  private let memory: UnsafeMutableRawPointer
  private let leaves: UnsafeMutablePointer<Leaf>
  /// How many were made, and how many are not needed any more.
  private let made = Atomic<Int>(0)
  private let done = Atomic<Int>(0)
  /// Where the merge is: at so many leaves that changes fall into.
  private let place = Atomic<Int>(0)
  /// Whether who makes them waits for room.
  private let isWaiting = Atomic<Bool>(false)
  /// Whether the merge still reads the leaf that it took last.
  private var isTaken = false

  init(pageSize: Int) {
    size = max(8, min(64, (1 << 18) / pageSize))
    // As pages are made, a few bytes behind them may be written.
    stride = pageSize + 16
    memory = .allocate(byteCount: stride * size, alignment: 16)
    leaves = .allocate(capacity: size)
  }

  deinit {
    memory.deallocate()
    leaves.deallocate()
  }

  /// Begins anew, while nobody else uses it.
  func reset() {
    made.store(0, ordering: .relaxed)
    done.store(0, ordering: .relaxed)
    place.store(0, ordering: .relaxed)
    isWaiting.store(false, ordering: .relaxed)
    isTaken = false
  }

  // MARK: The merge

  /// Goes to the next leaf; answers what was made of it, if anything was. It is good until the next time.
  func take() -> Leaf? {
    let number = place.load(ordering: .relaxed)
    place.store(number + 1, ordering: .relaxed)
    var first = done.load(ordering: .relaxed)
    if isTaken { first += 1 }
    isTaken = false
    let end = made.load(ordering: .acquiring)
    // Those that came too late.
    while first < end, leaves[first % size].number < number { first += 1 }
    // Ordered with ``isWaiting``: who begins to wait looks at this behind it.
    done.store(first, ordering: .sequentiallyConsistent)
    if first == end || leaves[first % size].number != number { return nil }
    isTaken = true
    return leaves[first % size]
  }

  /// Whether who makes them waits, and there is room for many again.
  var wantsWaking: Bool {
    isWaiting.load(ordering: .sequentiallyConsistent)
      && made.load(ordering: .relaxed) - done.load(ordering: .relaxed) <= size / 2
  }

  // MARK: Who makes them

  var isFull: Bool { made.load(ordering: .relaxed) - done.load(ordering: .acquiring) == size }

  /// Whether a leaf is so far ahead of the merge that it is worth making.
  func isAhead(_ number: Int) -> Bool { number > place.load(ordering: .relaxed) }

  /// Where the next leaf is made, where there is room.
  var room: UnsafeMutableRawPointer { memory + made.load(ordering: .relaxed) % size * stride }

  /// Hands a leaf over that was made there.
  func add(_ number: Int, _ ref: PageRef, passed: Int, _ patch: PatchedLeaf?) {
    let count = made.load(ordering: .relaxed)
    (leaves + count % size).initialize(to: Leaf(number: number, ref: ref, passed: passed, patch: patch))
    made.store(count + 1, ordering: .releasing)
  }

  /// Notes that who makes them waits; answers whether there is still no room.
  func beginWaiting() -> Bool {
    isWaiting.store(true, ordering: .sequentiallyConsistent)
    return made.load(ordering: .relaxed) - done.load(ordering: .sequentiallyConsistent) > size / 2
  }

  func endWaiting() { isWaiting.store(false, ordering: .relaxed) }
}
