import Synchronization

/// The logical changes to all trees since a checkpoint, held in memory: what the log holds, indexed.
///
/// One thread at a time writes (who has the turn); any number read beside it, without locks. A table is never shrunk;
/// it is dropped whole when the checkpoint that took it in has been published and the last view that needs it is gone.
final class DeltaTable: @unchecked Sendable {
  // `@unchecked`: written by who has the turn; what others read beside it is reached by atomic pointers.
  /// What every change touches lies behind a pointer: the properties of a class are guarded against overlapping access.
  private struct State: ~Copyable {
    var arena: Arena
    var nodeCount = 0
  }

  private let state: UnsafeMutablePointer<State>
  private let buckets: UnsafeMutablePointer<Atomic<UInt>>
  private let bucketCount: Int
  /// Number of nodes, the rolled-back ones included. For the writer.
  var nodeCount: Int { state.pointee.nodeCount }
  /// Trees that have a list here, in the order of their first change. For the writer: others ask ``listedTrees()``.
  @exclusivity(unchecked) private(set) var trees: [TreeID] = []

  /// - Parameters:
  ///   - bucketCount: a power of two.
  ///   - largestChunk: the memory that is asked for at a time at most; see ``StoreOptions/largestDeltaChunk``.
  init(bucketCount: Int = 64, largestChunk: Int) {
    self.bucketCount = bucketCount
    state = .allocate(capacity: 1)
    state.initialize(to: State(arena: Arena(largestChunk: largestChunk)))
    buckets = .allocate(capacity: bucketCount)
    for i in 0..<bucketCount { (buckets + i).initialize(to: Atomic(0)) }
  }

  deinit {
    buckets.deinitialize(count: bucketCount)
    buckets.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Empties a table that nobody else holds, and keeps some of its memory for the next use.
  func reset() {
    for i in 0..<bucketCount { buckets[i].store(0, ordering: .relaxed) }
    state.pointee.arena.reset()
    state.pointee.nodeCount = 0
    trees.removeAll(keepingCapacity: true)
  }

  /// Bytes of memory held. For the writer.
  var bytes: Int { state.pointee.arena.bytes }

  @inline(__always)
  func list(_ tree: TreeID) -> DeltaList? {
    let bucket = Int(truncatingIfNeeded: tree.rawValue) & (bucketCount &- 1)
    var list = UnsafeMutableRawPointer(bitPattern: buckets[bucket].load(ordering: .acquiring)).map(DeltaList.init(p:))
    while let l = list {
      if l.tree == tree { return l }
      list = l.nextInBucket
    }
    return nil
  }

  /// The same in the order of their identifiers.
  func sortedTrees() -> [TreeID] {
    for i in trees.indices.dropFirst() where trees[i] < trees[i - 1] { return trees.ordered() }
    return trees
  }

  /// Trees that have a list here, in no order. Unlike ``trees``, for anyone, beside the writer.
  func listedTrees() -> [TreeID] {
    var found: [TreeID] = []
    for i in 0..<bucketCount {
      var list = UnsafeMutableRawPointer(bitPattern: buckets[i].load(ordering: .acquiring)).map(DeltaList.init(p:))
      while let l = list {
        found.append(l.tree)
        list = l.nextInBucket
      }
    }
    return found
  }

  /// The list of `tree`, made if there is none yet. For the writer.
  func makeList(_ tree: TreeID, _ kind: TreeKind) -> DeltaList {
    if let l = list(tree) { return l }
    let bucket = Int(truncatingIfNeeded: tree.rawValue) & (bucketCount &- 1)
    let made = DeltaList.initialize(
      state.pointee.arena.allocate(DeltaList.size), tree: tree, kind: kind,
      next: buckets[bucket].load(ordering: .relaxed))
    buckets[bucket].store(UInt(bitPattern: made.p), ordering: .releasing)
    trees.append(tree)
    return made
  }

  /// Adds a change. For the writer.
  @discardableResult
  func add(
    _ list: DeltaList, sequence: UInt64, key: TreeKey, value: UnsafeRawBufferPointer, op: DeltaOp, effect: Int
  ) -> DeltaNode {
    let node = makeNode(sequence: sequence, key: key, value: value, op: op, effect: effect)
    list.insert(node, &state.pointee.arena)
    return node
  }

  /// Adds a change whose place in the list is known. For the writer.
  @inline(__always)
  func add(
    _ list: DeltaList, at place: DeltaList.WritePlace, sequence: UInt64, key: TreeKey, value: UnsafeRawBufferPointer,
    op: DeltaOp, effect: Int
  ) -> DeltaNode {
    let node = makeNode(sequence: sequence, key: key, value: value, op: op, effect: effect)
    list.insert(node, at: place, &state.pointee.arena)
    return node
  }

  /// A change among many that are put in order.
  private struct Ordered: RadixSorted {
    let head: UInt64
    let ordinal: Int
  }

  /// So many changes ahead of the one that is added, the next ones are brought from memory: they lie in the order in
  /// which they were made.
  private static let ahead = 8

  /// Adds many changes, given in the order in which they were made, all newer than those in the list. Sorting them
  /// first takes a fraction of what finding the place of each would. For the writer.
  func add(_ list: DeltaList, _ nodes: [DeltaNode]) {
    let count = nodes.count
    if count == 0 { return }
    var ordered = UnsafeMutablePointer<Ordered>.allocate(capacity: count)
    defer { ordered.deallocate() }
    for i in 0..<count { (ordered + i).initialize(to: Ordered(head: nodes[i].head, ordinal: i)) }
    func precedes(_ a: Ordered, _ b: Ordered) -> Bool {
      if a.head != b.head { return a.head < b.head }
      let sign = TreeKey.compareBehindHead(nodes[a.ordinal].key, nodes[b.ordinal].key)
      return sign != 0 ? sign < 0 : a.ordinal < b.ordinal
    }
    var isSorted = true
    for i in 1..<count where !precedes(ordered[i - 1], ordered[i]) {
      isSorted = false
      break
    }
    if !isSorted {
      ordered = RadixSort.sort(ordered, count, count)
      // What agrees in its first eight bytes.
      var from = 0
      while from < count {
        var to = from + 1
        while to < count, ordered[to].head == ordered[from].head { to += 1 }
        if to - from > 1 {
          var some = UnsafeMutableBufferPointer(start: ordered + from, count: to - from)
          some.sort(by: precedes)
        }
        from = to
      }
    }
    for i in 0..<count {
      if i &+ Self.ahead < count { MemoryTouch.touch(nodes[ordered[i &+ Self.ahead].ordinal].p) }
      list.insert(nodes[ordered[i].ordinal], &state.pointee.arena)
    }
  }

  /// Makes a change that is not in its list yet. For the writer.
  @inline(__always)
  func makeNode(
    sequence: UInt64, key: TreeKey, value: UnsafeRawBufferPointer, op: DeltaOp, effect: Int
  ) -> DeltaNode {
    let p = state.pointee.arena.allocate(DeltaNode.size(keyCount: key.count, valueCount: value.count))
    state.pointee.nodeCount &+= 1
    return DeltaNode.initialize(p, sequence: sequence, key: key, value: value, op: op, effect: effect)
  }

  /// Adds an event: the tree was made or dropped, or its count changed. For the writer.
  func addEvent(_ list: DeltaList, _ kind: DeltaEvent.Kind, sequence: UInt64, total: Int64) {
    addEvent(to: list.events(kind), sequence: sequence, total: total)
  }

  /// Notes what counter `index` comes to. For the writer.
  func addCounterEvent(_ list: DeltaList, _ index: UInt32, sequence: UInt64, total: Int64) {
    let counter: DeltaCounter
    if let known = list.counter(index) {
      counter = known
    } else {
      counter = DeltaCounter.initialize(
        state.pointee.arena.allocate(DeltaCounter.size), next: list.counters.pointee.load(ordering: .relaxed), index)
      list.counters.pointee.store(UInt(bitPattern: counter.p), ordering: .releasing)
    }
    addEvent(to: counter.newest, sequence: sequence, total: total)
  }

  private func addEvent(to newest: UnsafeMutablePointer<Atomic<UInt>>, sequence: UInt64, total: Int64) {
    let p = state.pointee.arena.allocate(DeltaEvent.size)
    _ = DeltaEvent.initialize(p, next: newest.pointee.load(ordering: .relaxed), sequence: sequence, total: total)
    newest.pointee.store(UInt(bitPattern: p), ordering: .releasing)
  }
}
