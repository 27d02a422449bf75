/// Leaves of keys without values that are made ahead of those who know where they come to lie.
final class PackedLeaves: @unchecked Sendable {
  // `@unchecked`: made by one thread, and then used by another.

  private var bytes: UnsafeMutableRawPointer
  private var capacity: Int
  private var used = 0
  /// Where each ends.
  private var ends: [Int] = []
  private let pageSize: Int

  init(pageSize: Int) {
    self.pageSize = pageSize
    capacity = pageSize * 16
    bytes = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { bytes.deallocate() }

  /// Makes leaves of what changes put, in place of those before.
  ///
  /// - Parameter atEnd: Whether no keys follow, so that the last leaf but one is full: more are likely to come behind
  ///   them.
  func fill(_ changes: KeyCursor, tree: TreeID, generation: UInt64, atEnd: Bool) throws(StoreError) {
    used = 0
    ends.removeAll(keepingCapacity: true)
    var run = EntryRun(lentKeys: .bytes)
    while let (change, bytes) = changes.next() {
      if !change.isPut { continue }
      run.append(lent: change.key(in: bytes))
      while run.payload > pageSize * 2 + 512 { try encode(&run, run.filling(pageSize), tree, generation) }
    }
    while !run.isEmpty { try encode(&run, run.lastFilling(pageSize, atEnd: atEnd), tree, generation) }
  }

  private func encode(
    _ run: inout EntryRun, _ filling: EntryRun.Filling, _ tree: TreeID, _ generation: UInt64
  ) throws(StoreError) {
    let size = roundUp(filling.layout.size, to: 16)
    guard size <= pageSize else { throw .misuse("an entry does not fit a page") }
    reserve(size)
    used += PageEncoder.encode(
      run, 0..<filling.count, layout: filling.layout, level: 0, tree: tree, generation: generation, to: bytes + used)
    ends.append(used)
    run.removeFirst(filling.count)
  }

  private func reserve(_ count: Int) {
    // As pages are encoded, a few bytes behind them may be written.
    if count + 16 <= capacity - used { return }
    var grown = capacity
    while count + 16 > grown - used { grown *= 2 }
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 16)
    fresh.copyMemory(from: bytes, byteCount: used)
    bytes.deallocate()
    bytes = fresh
    capacity = grown
  }

  /// Lends `body` each leaf, in order.
  func forEach(_ body: (UnsafeMutableRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) {
    var start = 0
    for end in ends {
      try body(UnsafeMutableRawBufferPointer(start: bytes + start, count: end - start))
      start = end
    }
  }
}

/// A tree of keys without values that is built from nothing: several threads make its leaves, of batches that are
/// sorted, and one writes them.
struct LeafBuild {
  /// Fewer keys are taken on the calling thread: to make threads takes about as long.
  private static let leastKeys = 1 << 15
  /// A part has no fewer keys than this, if the keys of all batches are mixed.
  private static let leastPart = 1 << 12
  private static let partsPerThread = 8
  /// A part has keys of about so many bytes at most, likewise.
  private static let mostBytes = 2 << 20

  private let batches: [ChangeBatch]
  /// Where the parts of each batch begin, and where the last one ends.
  private let places: [[Int]]
  private let store: Store

  /// Nil where the calling thread had better do it alone.
  init?(_ batches: [ChangeBatch], _ store: Store) {
    guard store.threadCount > 1, let largest = batches.max(by: { $0.count < $1.count }) else { return nil }
    let count = batches.reduce(0) { $0 + $1.count }
    if count < Self.leastKeys { return nil }
    let bytes = batches.reduce(0) { $0 + $1.keyBytes }
    let parts = max(store.threadCount * Self.partsPerThread, bytes / Self.mostBytes + 1)
    let inPart = max(Self.leastPart, count / parts)
    let wanted = max(1, count / inPart)
    let few = max(1, (largest.count + wanted - 1) / wanted)
    var places = batches.map { _ in [0] }
    for first in stride(from: few, to: largest.count, by: few) {
      let key = largest.key(at: first)
      for i in batches.indices { places[i].append(batches[i].lowerBound(key)) }
    }
    for i in batches.indices { places[i].append(batches[i].count) }
    self.batches = batches
    self.places = places
    self.store = store
  }

  func run(into merge: TreeMerge, tree: TreeID, generation: UInt64) throws(StoreError) {
    // Batches are in order by now, and threads only read them.
    nonisolated(unsafe) let build = self
    let pageSize = store.pageSize
    let parts = (places.first?.count ?? 1) - 1
    try store.inOrder(parts) { (part, spare: PackedLeaves?) throws(StoreError) in
      let leaves = spare ?? PackedLeaves(pageSize: pageSize)
      let ranges = build.places.map { $0[part]..<$0[part + 1] }
      try leaves.fill(
        KeyCursor(build.batches, within: ranges), tree: tree, generation: generation, atEnd: part == parts - 1)
      return leaves
    } use: { (leaves: PackedLeaves) throws(StoreError) in
      try leaves.forEach { (leaf) throws(StoreError) in try merge.take(leaf: leaf) }
    }
  }
}
