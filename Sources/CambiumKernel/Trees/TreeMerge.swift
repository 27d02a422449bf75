/// Takes the changes of one tree into its pages: one streaming pass in key order that rewrites the leaves that changes
/// fall into, and the paths to them, and keeps every other page where it is.
///
/// The pass works level by level from below: `runs[0]` gathers the entries of the leaf under way, `runs[n]` the
/// references of the inner page of level n under way. An untouched subtree is passed on as a reference, once the runs
/// below it have been written out; if they hold too little for a page of their own, the subtree's first page is taken
/// in instead. So after a pass only the last page of each level can be small.
///
/// The same pass copies pages forward (`relocation`), builds trees from nothing, and takes a transaction's changes that
/// have outgrown memory into pages of its own.
final class TreeMerge {
  private struct Frame {
    var level: UInt8
    var count: Int
    var index: Int
    var hasHigh: Bool
  }

  private let context: MergeContext
  private let tree: TreeID
  private let kind: TreeKind
  @exclusivity(unchecked) private var state: TreeState
  private let source: TreeState
  @exclusivity(unchecked) private var changes: ChangeStream
  private let relocation: Relocation?
  private let conversion: ValueConversion?
  private let isBulk: Bool
  /// Of which changes a run is made.
  private let part: RunPart

  // Exclusive access is not checked at run time where every entry goes through: one caller at a time takes a pass
  // further, and nothing that it calls comes back to it.
  @exclusivity(unchecked) private var runs: [UnsafeMutablePointer<LevelRun>] = []
  @exclusivity(unchecked) private var frames: [Frame] = []
  /// Copies of the inner pages on the path, by level; and the upper bound and lower bound of each.
  @exclusivity(unchecked) private var pages: [UnsafeMutableRawPointer] = []
  @exclusivity(unchecked) private var highs: [KeySlot] = []
  @exclusivity(unchecked) private var lows: [KeySlot] = []
  /// A leaf that is taken apart, and one that is patched.
  private let leafPage: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var leafKey: KeySlot
  private let out: UnsafeMutableRawPointer
  private let patch: LeafPatch
  /// Leaves that another thread makes meanwhile.
  @exclusivity(unchecked) private var ahead: PatchesAhead.Taker?
  private var started = false
  private(set) var isFinished = false
  @exclusivity(unchecked) private var childLow: KeySlot
  @exclusivity(unchecked) private var childHigh: KeySlot
  @exclusivity(unchecked) private var lastLeafKey: KeySlot
  @exclusivity(unchecked) private var hasLastLeafKey = false
  @exclusivity(unchecked) private var runLow: KeySlot
  /// The leaf read last still takes changes, up to its upper bound.
  @exclusivity(unchecked) private var taking = false
  @exclusivity(unchecked) private var takingHigh: KeySlot
  @exclusivity(unchecked) private var takingHasHigh = false
  /// The leaf read last was not in the cache, and those that its entries go to need not be.
  @exclusivity(unchecked) private var isCold = false

  /// - Parameters:
  ///   - source: the tree as it is.
  ///   - changes: what to take in, in key order.
  ///   - relocation: pages to write anew although nothing in them changed.
  ///   - conversion: values to write in another form; of a tree whose keys are integers.
  ///   - isBulk: whether leaves that changes make need not be in the cache: there are more of them than anybody is
  ///     about to read, and they would take the place of what others do read, or memory that is made ready for them
  ///     first.
  ///   - part: which of the changes become entries, where `source` is empty and the result is a run.
  init(
    context: MergeContext, tree: TreeID, source: TreeState, changes: ChangeStream, relocation: Relocation? = nil,
    conversion: ValueConversion? = nil, isBulk: Bool = false, part: RunPart = .all
  ) {
    self.isBulk = isBulk
    self.part = part
    self.context = context
    self.tree = tree
    self.source = source
    self.kind = source.kind
    self.changes = changes
    self.relocation = relocation
    self.conversion = conversion
    state = source
    leafPage = .allocate(byteCount: context.pageSize + 16, alignment: 16)
    out = .allocate(byteCount: context.pageSize + 16, alignment: 16)
    patch = LeafPatch(pageSize: context.pageSize, inlineLimit: context.inlineLimit)
    leafKey = KeySlot()
    childLow = KeySlot()
    childHigh = KeySlot()
    lastLeafKey = KeySlot()
    runLow = KeySlot()
    takingHigh = KeySlot()
  }

  deinit {
    leafPage.deallocate()
    out.deallocate()
    for p in pages { p.deallocate() }
    for key in lows + highs + [leafKey, childLow, childHigh, lastLeafKey, runLow, takingHigh] { key.deallocate() }
    for run in runs {
      run.deinitialize(count: 1)
      run.deallocate()
    }
  }

  /// The tree afterwards.
  var result: TreeState { state }

  /// A page under construction at one level.
  private struct LevelRun: ~Copyable {
    var run: EntryRun
    var emitted = 0
    init(kind: TreeKind, isLeaf: Bool, pageSize: Int) { run = EntryRun(kind: kind, isLeaf: isLeaf, pageSize: pageSize) }
  }

  // MARK: Steps

  /// Goes on until about `budget` pages have been read or written; answers whether the pass is finished.
  func step(budget: inout Int) throws(StoreError) -> Bool {
    if isFinished { return true }
    // Whoever helps does so no longer than its caller waits.
    defer {
      ahead?.end()
      ahead = nil
    }
    if !started { try start(budget) }
    while budget > 0 {
      if taking {
        try takeOpenChanges(&budget)
        continue
      }
      guard let top = frames.indices.last else {
        try finish()
        isFinished = true
        return true
      }
      if frames[top].index >= frames[top].count {
        frames.removeLast()
        continue
      }
      try visitChild(top, &budget)
    }
    return false
  }

  private func start(_ budget: Int) throws(StoreError) {
    started = true
    ensureLevel(0)
    changes.begin()
    if source.root.isNone {
      // Nothing below: every change is an entry of the first leaves.
      take(upTo: nil)
      return
    }
    makeAhead(budget)
    try descend(source.root, level: source.level, low: TreeKey(0), high: nil, isChanged: true)
  }

  /// Has another thread make leaves from here on, if one helps, and where that is worth being waited for.
  private func makeAhead(_ budget: Int) {
    if budget < Self.leastPagesAhead || conversion != nil || part != .all || isBulk || tree == .extents { return }
    if source.level == 0 || source.pages < UInt64(Self.leastPagesAhead) || !changes.canBeCopied { return }
    ahead = context.ahead?.begin(tree, source, changes, generation: context.generation)
  }

  /// Trees of fewer pages are merged alone, and so are others where no more are to be merged in a step.
  private static let leastPagesAhead = 256

  /// Has the leaf read last take changes up to its upper bound.
  private func take(upTo high: TreeKey?) {
    taking = true
    takingHasHigh = high != nil
    if let high { takingHigh.set(high) }
  }

  private func ensureLevel(_ level: Int) {
    while runs.count <= level {
      let run = UnsafeMutablePointer<LevelRun>.allocate(capacity: 1)
      run.initialize(to: LevelRun(kind: kind, isLeaf: runs.isEmpty, pageSize: context.pageSize))
      runs.append(run)
    }
  }

  private func visitChild(_ top: Int, _ budget: inout Int) throws(StoreError) {
    let frame = frames[top]
    let level = Int(frame.level)
    let page = UnsafeRawPointer(pages[level])
    let i = frame.index
    frames[top].index += 1
    // The child's bounds.
    let low: TreeKey
    if i == 0 {
      low = lows[level].key
    } else {
      childLow.set(separator: i, of: page, kind)
      low = childLow.key
    }
    let high: TreeKey?
    if i + 1 < frame.count {
      childHigh.set(separator: i + 1, of: page, kind)
      high = childHigh.key
    } else {
      high = frame.hasHigh ? highs[level].key : nil
    }
    let ref: PageRef
    let below: UInt64
    if kind == .integer {
      let inner = IntegerInner(page)
      ref = inner.ref(i)
      below = inner.entries(i)
      // The next ones, as far as changes fall into them, are waited for otherwise.
      if i &+ 2 < inner.count { context.cache.touchPlace(inner.ref(i &+ 2)) }
      if i &+ 1 < inner.count { context.cache.touchFrame(inner.ref(i &+ 1)) }
    } else {
      let inner = BytesInner(page)
      ref = inner.ref(i)
      below = inner.entries(i)
      if i &+ 2 < inner.count { context.cache.touchPlace(inner.ref(i &+ 2)) }
      if i &+ 1 < inner.count { context.cache.touchFrame(inner.ref(i &+ 1)) }
    }
    let isChanged = changes.key.map { (key) in high.map { TreeKey.compare(key, $0) < 0 } ?? true } ?? false
    let isRead = isChanged ? true : try isConcerned(ref, level: frame.level - 1, low: low, high: high)
    if !isRead, canWriteOut(levels: level) {
      try writeOut(levels: level, atEnd: false)
      ensureLevel(level)
      runs[level].pointee.run.append(low, ref: ref, below: below)
      try trim(level)
      hasLastLeafKey = false
      return
    }
    budget -= 1
    try descend(ref, level: frame.level - 1, low: low, high: high, isChanged: isChanged)
  }

  /// Whether a page into which no change falls has to be read all the same.
  private func isConcerned(_ ref: PageRef, level: UInt8, low: TreeKey, high: TreeKey?) throws(StoreError) -> Bool {
    if covers(high) { return true }
    guard let relocation else { return false }
    return try relocation.touches(ref, level: level, low: low, high: high)
  }

  /// Whether values of a page may have to be converted that holds keys below `high`.
  @inline(__always)
  private func covers(_ high: TreeKey?) -> Bool {
    guard let conversion else { return false }
    return conversion.covers(below: high?.head)
  }

  /// Reads the page of `ref`: an inner page becomes a frame, a leaf is merged with the changes that fall into it.
  ///
  /// - Parameter isChanged: Whether changes do.
  private func descend(
    _ ref: PageRef, level: UInt8, low: TreeKey, high: TreeKey?, isChanged: Bool
  ) throws(StoreError) {
    if level > 0 {
      let n = Int(level)
      while pages.count <= n {
        pages.append(.allocate(byteCount: context.pageSize, alignment: 16))
        highs.append(KeySlot())
        lows.append(KeySlot())
      }
      try context.copy(ref, tree: tree, level: level, kind: kind, to: pages[n])
      lows[n].set(low)
      if let high { highs[n].set(high) }
      frames.append(
        Frame(level: level, count: UnsafeRawPointer(pages[n]).pageCount, index: 0, hasHigh: high != nil))
      release(ref)
      return
    }
    if covers(high) {
      isCold = try !context.copyPassing(ref, tree: tree, level: 0, kind: kind, to: leafPage)
      if !isCold { conversion?.replaced.append(ref) }
    } else {
      isCold = false
      if try patchLeaf(ref, isChanged ? ahead?.take(ref, passed: changes.passed) : nil, low: low, high: high) { return }
      try context.copy(ref, tree: tree, level: 0, kind: kind, to: leafPage)
    }
    release(ref)
    if runs[0].pointee.run.isEmpty, !hasLastLeafKey { runLow.set(low) }
    try mergeLeaf(high: high)
  }

  /// Makes the leaf of `ref` anew in one go, if that is possible: what was gathered before is written out, and the new
  /// page takes the old one's place under the same lower bound.
  ///
  /// - Parameter made: What another thread has made of it; nil if none has.
  private func patchLeaf(
    _ ref: PageRef, _ made: PatchedLeaf?, low: TreeKey, high: TreeKey?
  ) throws(StoreError) -> Bool {
    // Extents are counted one by one.
    if tree == .extents || !canWriteOut(levels: 1) { return false }
    let patched: PatchedLeaf
    if let made {
      if made.page.isEmpty { return false }
      context.noteRead()
      patched = made
    } else {
      guard let own = try makePatch(ref, high: high) else { return false }
      patched = own
    }
    try writeOut(levels: 1, atEnd: false)
    release(ref)
    let new = try context.write(patched.page)
    state.pages &+= 1
    state.bytes &+= UInt64(patched.page.count)
    state.count = UInt64(bitPattern: Int64(bitPattern: state.count) &+ patched.growth)
    ensureLevel(1)
    runs[1].pointee.run.append(low, ref: new, below: UInt64(patched.count))
    hasLastLeafKey = false
    try trim(1)
    let context = self.context
    for _ in 0..<patched.changeCount {
      changes.next { superseded in
        if superseded.op == .putStub, let stub = LargeValueStub(superseded.value) { context.freeValue(stub.id) }
      }
    }
    return true
  }

  private func makePatch(_ ref: PageRef, high: TreeKey?) throws(StoreError) -> PatchedLeaf? {
    let slot = context.cache.slots.enter(0)
    defer { context.cache.slots.leave(slot) }
    let page = try context.page(ref, tree: tree, level: 0, kind: kind)
    return patch.make(page, kind, changes, high: high, generation: context.generation, to: leafPage)
  }

  private func release(_ ref: PageRef) {
    context.release(ref)
    state.pages &-= 1
    state.bytes &-= UInt64(ref.length)
  }

  private func mergeLeaf(high: TreeKey?) throws(StoreError) {
    let page = UnsafeRawPointer(leafPage)
    let count = page.pageCount
    let conversion = self.conversion
    if let conversion, kind == .integer, try convertLeaf(IntegerLeaf(page), conversion) {
      take(upTo: high)
      return
    }
    let leaf = runs[0]
    for i in 0..<count {
      let key: TreeKey
      let found: FoundValue
      if kind == .integer {
        let leaf = IntegerLeaf(page)
        key = TreeKey(leaf.key(i))
        found = FoundValue(bytes: leaf.value(i), isStub: leaf.isStub(i))
      } else {
        let leaf = BytesLeaf(page)
        leafKey.set(entry: i, of: leaf)
        key = leafKey.key
        found = FoundValue(bytes: leaf.value(i), isStub: leaf.isStub(i))
      }
      var replaced = false
      while let change = changes.key {
        let order = TreeKey.compare(change, key)
        if order > 0 { break }
        if order == 0 { replaced = true }
        try takeChange(replacing: order == 0 ? found : nil)
        if order == 0 { break }
      }
      if !replaced {
        if let conversion, try conversion.converts(key.head, found.bytes, isStub: found.isStub) {
          try append(key, conversion.value.bytes)
        } else {
          leaf.pointee.run.append(key, value: found.bytes, isStub: found.isStub)
        }
        if leaf.pointee.run.payload > context.pageSize * 2 + 512 { try trim(0) }
      }
    }
    take(upTo: high)
  }

  /// Takes the entries of a leaf in their other form; answers false, having done nothing, if there are changes among
  /// them.
  private func convertLeaf(_ leaf: IntegerLeaf, _ conversion: ValueConversion) throws(StoreError) -> Bool {
    if leaf.count > 0, let change = changes.key, change.head <= leaf.key(leaf.count - 1) { return false }
    let level = runs[0]
    var next = 0
    while next < leaf.count {
      let isLong = try conversion.add(
        leaf, &next, to: &level.pointee.run, inline: context.inlineLimit, atMost: context.pageSize * 2 + 512)
      if isLong {
        try append(TreeKey(leaf.key(next)), conversion.value.bytes)
        next += 1
      }
      if level.pointee.run.payload > context.pageSize * 2 + 512 { try trim(0) }
    }
    return true
  }

  /// Takes the changes behind the last entry of a leaf, up to its upper bound.
  private func takeOpenChanges(_ budget: inout Int) throws(StoreError) {
    var taken = 0
    let high = takingHasHigh ? takingHigh.key : nil
    while let change = changes.key {
      if let high, TreeKey.compare(change, high) >= (isPlanted(.leafTakesKeyBehindBound) ? 1 : 0) { break }
      try takeChange(replacing: nil)
      taken += 1
      if taken == 64 {
        budget -= 1
        return
      }
    }
    taking = false
  }

  private func takeChange(replacing old: FoundValue?) throws(StoreError) {
    guard let change = changes.change else { return }
    if part != .all, try takeForRun(change) { return }
    if let old {
      if old.isStub {
        state.largeValues &-= 1
        if let stub = LargeValueStub(old.bytes), !isPlanted(.replacedValueNotFreed) { context.freeValue(stub.id) }
      }
      if tree == .extents { context.releaseExtent(old.bytes) }
      if change.op == .delete { state.count &-= 1 }
    } else if change.op != .delete {
      state.count &+= 1
    }
    switch change.op {
    case .delete: break
    case .putStub:
      state.largeValues &+= 1
      _ = try conversion?.converts(change.key.head, change.value, isStub: true)
      runs[0].pointee.run.append(change.key, value: change.value, isStub: true)
      try trim(0)
    case .put:
      if let conversion, try conversion.converts(change.key.head, change.value, isStub: false) {
        try append(change.key, conversion.value.bytes)
      } else {
        try append(change.key, change.value)
      }
      try trim(0)
    }
    let context = self.context
    let isExtents = tree == .extents
    changes.next { superseded in
      // An extent that came and went between two checkpoints was counted when it was written.
      if isExtents, superseded.op != .delete { context.releaseExtent(superseded.value) }
      if superseded.op == .putStub, let stub = LargeValueStub(superseded.value) { context.freeValue(stub.id) }
    }
  }

  /// Passes over a change that does not belong to the run, or takes the key of one that does, but puts nothing; answers
  /// false if it is to be taken as ever.
  private func takeForRun(_ change: MergeChange) throws(StoreError) -> Bool {
    if (change.op == .delete) != (part == .deletions) {
      // What it supersedes is told where it is taken: the part that it belongs to is made as well.
      changes.next { _ in }
      return true
    }
    if part == .puts { return false }
    state.count &+= 1
    runs[0].pointee.run.append(change.key, value: UnsafeRawBufferPointer(start: nil, count: 0), isStub: false)
    try trim(0)
    let context = self.context
    changes.next { superseded in
      if superseded.op == .putStub, let stub = LargeValueStub(superseded.value) { context.freeValue(stub.id) }
    }
    return true
  }

  /// Adds an entry to the leaf under way; a long value goes to extents of its own.
  @inline(__always)
  private func append(_ key: TreeKey, _ value: UnsafeRawBufferPointer) throws(StoreError) {
    if value.count <= context.inlineLimit { return runs[0].pointee.run.append(key, value: value, isStub: false) }
    let stub = try context.storeLarge(value)
    state.largeValues &+= 1
    withUnsafeTemporary(LargeValueStub.size) { p in
      stub.write(to: p, 0)
      runs[0].pointee.run.append(key, value: UnsafeRawBufferPointer(start: p, count: LargeValueStub.size), isStub: true)
    }
  }

  // MARK: Writing pages

  /// Whether what the levels below `levels` hold may be written out: each holds nothing, or enough for a page.
  private func canWriteOut(levels: Int) -> Bool {
    let least = context.pageSize / 3
    var coming = 0
    for level in 0..<min(levels, runs.count) {
      let r = runs[level]
      let size = r.pointee.run.payload + coming * 24
      if size == 0 { continue }
      if size < least { return false }
      coming = size / context.pageSize + 1
    }
    return true
  }

  /// Writes out everything that the levels below `levels` hold.
  private func writeOut(levels: Int, atEnd: Bool) throws(StoreError) {
    for level in 0..<levels {
      if level >= runs.count { break }
      try writeRun(level, atEnd: atEnd)
      if level == 0 { hasLastLeafKey = false }
    }
  }

  /// Writes full pages while a level holds more than two pages' worth.
  private func trim(_ level: Int) throws(StoreError) {
    while runs[level].pointee.run.payload > context.pageSize * 2 + 512 {
      try emit(level, runs[level].pointee.run.filling(context.pageSize))
    }
  }

  /// Writes all entries of a level.
  private func writeRun(_ level: Int, atEnd: Bool) throws(StoreError) {
    while !runs[level].pointee.run.isEmpty {
      try emit(level, runs[level].pointee.run.lastFilling(context.pageSize, atEnd: atEnd))
    }
  }

  /// Writes the first entries of a level as a page and passes its reference on.
  private func emit(_ level: Int, _ filling: EntryRun.Filling) throws(StoreError) {
    let r = runs[level]
    let (n, layout, below) = (filling.count, filling.layout, filling.below)
    guard roundUp(layout.size, to: 16) <= context.pageSize else { throw .misuse("an entry does not fit a page") }
    let stored = PageEncoder.encode(
      r.pointee.run, 0..<n, layout: layout, level: UInt8(level), tree: tree, generation: context.generation, to: out)
    let ref = try context.write(
      UnsafeMutableRawBufferPointer(start: out, count: stored), cached: level > 0 || !(isCold || isBulk))
    state.pages &+= 1
    state.bytes &+= UInt64(stored)
    if level == 0 {
      try link(ref, from: r.pointee.run.key(0), below)
      lastLeafKey.set(r.pointee.run.key(n - 1))
      hasLastLeafKey = true
    } else {
      ensureLevel(level + 1)
      runs[level + 1].pointee.run.append(r.pointee.run.key(0), ref: ref, below: below)
    }
    r.pointee.emitted += 1
    r.pointee.run.removeFirst(n)
    try trim(level + 1)
  }

  /// Passes the reference of a leaf on whose first key is `first`.
  private func link(_ ref: PageRef, from first: TreeKey, _ below: UInt64) throws(StoreError) {
    ensureLevel(1)
    let parent = runs[1]
    if hasLastLeafKey {
      parent.pointee.run.append(separatorKey(lastLeafKey.key, first), ref: ref, below: below)
    } else {
      parent.pointee.run.append(runLow.key, ref: ref, below: below)
    }
  }

  /// Takes a leaf in that was encoded elsewhere, behind those before it: for trees of byte strings that are built from
  /// nothing. It does not come into the cache, as those of `isBulk` do not. Before the first step.
  func take(leaf bytes: UnsafeMutableRawBufferPointer) throws(StoreError) {
    guard let p = bytes.baseAddress, case let leaf = BytesLeaf(UnsafeRawPointer(p)), leaf.count > 0 else { return }
    let ref = try context.write(bytes, cached: false)
    state.pages &+= 1
    state.bytes &+= UInt64(bytes.count)
    state.count &+= UInt64(leaf.count)
    leafKey.set(entry: 0, of: leaf)
    try link(ref, from: leafKey.key, UInt64(leaf.count))
    lastLeafKey.set(entry: leaf.count &- 1, of: leaf)
    hasLastLeafKey = true
    try trim(1)
  }

  /// The shortest key that is greater than `last` and not greater than `first`.
  private func separatorKey(_ last: TreeKey, _ first: TreeKey) -> TreeKey {
    if kind == .integer { return first }
    let shared = sharedPrefix(last.bytes, last.count, first.bytes, first.count)
    return TreeKey(UnsafeRawBufferPointer(start: first.bytes, count: min(first.count, shared + 1)))
  }

  private func finish() throws(StoreError) {
    if let failure = changes.failure { throw failure }
    conversion?.end()
    var level = 0
    while true {
      ensureLevel(level + 1)
      try writeRun(level, atEnd: true)
      let parent = runs[level + 1]
      let above = runs.dropFirst(level + 2).contains { $0.pointee.emitted > 0 || !$0.pointee.run.isEmpty }
      if parent.pointee.emitted == 0, !above {
        if parent.pointee.run.isEmpty {
          state.root = .none
          state.level = 0
          break
        }
        if parent.pointee.run.count == 1 {
          state.root = parent.pointee.run.ref(0)
          // A single untouched child keeps its own level.
          state.level = UInt8(level)
          break
        }
      }
      level += 1
      if level > Int(TreeDescent.highest) { throw .misuse("tree too high") }
    }
  }
}
