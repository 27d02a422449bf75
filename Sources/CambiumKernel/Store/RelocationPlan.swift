/// What a checkpoint is to write anew so that segments with little left in them become free.
struct RelocationPlan {
  var segments = SegmentSet([])
  var marks: [TreeID: [Relocation.Mark]] = [:]
  var extents: [(key: UInt64, extent: Extent)] = []
  var bytes: UInt64 = 0

  init() {}

  func relocation(_ tree: TreeID) -> Relocation? {
    if segments.isEmpty { return nil }
    return Relocation(segments: segments, marks: marks[tree] ?? [])
  }
}

extension Store {
  /// Chooses segments to be emptied by the next checkpoint, the best first by cost and benefit: `(1-u) * age / (1+u)`,
  /// where u is the part of the segment that is live. Nothing is chosen while less than a third of the file is dead.
  func planRelocation(_ transaction: WriteTransaction? = nil) throws(StoreError) -> RelocationPlan {
    var total: UInt64 = 0
    var live: UInt64 = 0
    let number = nextPublication
    var candidates: [(score: Double, segment: Segment)] = []
    for s in space.table.segments where s.kind != .log && s.dead == 0 {
      total += UInt64(s.length)
      live += UInt64(s.live)
      if s.start == pageWriter.current || s.start == valueWriter.current || s.live == 0 { continue }
      let u = Double(s.live) / Double(s.length)
      let age = Double(number - min(number, s.born)) + 1
      candidates.append(((1 - u) * age / (1 + u), s))
    }
    let allowed = live / 2 + UInt64(max(1 << 20, 16 * SegmentTable.unitSize))
    guard total > live + allowed else { return RelocationPlan() }
    candidates.sort { $0.score > $1.score }
    var excess = total - live - allowed
    // No more is moved than a fraction of what is there, so that the cost of one checkpoint stays bounded.
    var budget = max(live / 4, 4 << 20)
    var victims: [Segment] = []
    for (_, s) in candidates {
      let gain = UInt64(s.length) - UInt64(s.live)
      if excess == 0 || budget < UInt64(s.live) { break }
      if gain * 8 < UInt64(s.length) { continue }
      victims.append(s)
      budget -= UInt64(s.live)
      excess -= min(excess, gain)
    }
    return try plan(emptying: victims, transaction)
  }

  /// Finds what is live in `victims`, as a transaction sees it that is to be committed with the move.
  func plan(
    emptying victims: [Segment], _ transaction: WriteTransaction? = nil
  ) throws(StoreError) -> RelocationPlan {
    var plan = RelocationPlan()
    if victims.isEmpty { return plan }
    plan.segments = SegmentSet(victims)
    for s in victims {
      let used = Int(s.used)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(used, 64), alignment: 16)
      defer { buffer.deallocate() }
      let got = try device.read(at: s.address, into: UnsafeMutableRawBufferPointer(rebasing: buffer[0..<used]))
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[0..<got])
      switch s.kind {
      case .pages: try findLivePages(s, bytes, transaction, &plan)
      case .values: try findLiveExtents(s, bytes, transaction, &plan)
      case .log: break
      }
      plan.bytes += UInt64(s.live)
    }
    for tree in plan.marks.keys {
      let sorted = (plan.marks[tree] ?? []).sorted { a, b in
        if a.key.head != b.key.head { return a.key.head < b.key.head }
        return a.key.bytes.withUnsafeBytes { x in
          b.key.bytes.withUnsafeBytes { y in compareBytes(x.start, x.count, y.start, y.count) < 0 }
        }
      }
      plan.marks[tree] = sorted
    }
    counters.relocatedBytes += plan.bytes
    return plan
  }

  /// Walks the pages of a segment and notes those that their tree still reaches.
  private func findLivePages(
    _ s: Segment, _ bytes: UnsafeRawBufferPointer, _ transaction: WriteTransaction?, _ plan: inout RelocationPlan
  ) throws(StoreError) {
    var offset = SegmentHeader.size
    let key = UnsafeMutableRawPointer.allocate(byteCount: pageSize, alignment: 16)
    defer { key.deallocate() }
    while offset + PageHeader.size <= bytes.count {
      let p = bytes.start + offset
      let stored = roundUp(p.pageLength, to: 16)
      // Parts of a directory may be longer than a page.
      let isDirectory = p.pageKind == PageKind.directory.rawValue
      guard stored >= PageHeader.size, offset + stored <= bytes.count,
        isDirectory || Verification.relocationLength.holds(stored <= pageSize), p.pageGeneration >= s.born,
        PageCheck.isSound(p, stored: stored)
      else {
        // At `.strict`, room is left over before the next block.
        offset += 16
        continue
      }
      let address = s.address + UInt64(offset)
      offset += stored
      guard p.pageKind != PageKind.directory.rawValue,
        let state = transaction?.spilled[p.pageTree] ?? current.trees[p.pageTree], !state.root.isNone,
        Verification.relocationKind.holds(p.pageKind == state.kind.page(atLevel: p.pageLevel).rawValue)
      else { continue }
      let first: TreeKey
      switch PageKind(rawValue: p.pageKind) {
      case .integerLeaf: first = TreeKey(IntegerLeaf(p).key(0))
      case .integerInner: first = TreeKey(IntegerInner(p).low)
      case .bytesLeaf:
        first = TreeKey(UnsafeRawBufferPointer(start: key, count: BytesLeaf(p).copyKey(0, to: key)))
      case .bytesInner: first = TreeKey(BytesInner(p).low)
      case .directory, nil: continue
      }
      let isLive = try reference(p.pageTree, state, level: p.pageLevel, first)?.address == address
      if isLive {
        plan.marks[p.pageTree, default: []].append(Relocation.Mark(level: p.pageLevel, key: OwnedKey(first)))
      }
    }
  }

  /// The reference to the page of `level` in whose range `key` lies.
  private func reference(
    _ tree: TreeID, _ state: TreeState, level: UInt8, _ key: TreeKey
  ) throws(StoreError) -> PageRef? {
    var ref = state.root
    var at = state.level
    if level > at { return nil }
    let slot = cache.slots.enter(0)
    defer { cache.slots.leave(slot) }
    while at > level {
      let page = try cache.page(ref, tree: tree, level: at)
      guard Verification.relocationKind.holds(page.pageKind == state.kind.page(atLevel: at).rawValue) else {
        throw TreeDescent.wrongKind(ref, tree)
      }
      if state.kind == .integer {
        let inner = IntegerInner(page)
        ref = inner.ref(inner.child(key.head))
      } else {
        let inner = BytesInner(page)
        ref = inner.ref(inner.child(key))
      }
      at -= 1
    }
    return ref
  }

  private func findLiveExtents(
    _ s: Segment, _ bytes: UnsafeRawBufferPointer, _ transaction: WriteTransaction?, _ plan: inout RelocationPlan
  ) throws(StoreError) {
    lock.lock()
    let view = transaction ?? TreeView(core: self, generation: current, upTo: appendedSequence, hint: 0)
    lock.unlock()
    guard view.find(.extents) != nil else { return }
    var offset = SegmentHeader.size
    while offset + Extent.headerSize <= bytes.count {
      let p = bytes.start + offset
      let key = p.u64(0)
      guard let count = Int(exactly: p.u32(8)), count > 0, offset + Extent.headerSize + count <= bytes.count else {
        // At `.strict`, room is left over before the next block.
        offset = roundUp(offset + 1, to: LogWriter.strictBlock)
        continue
      }
      let address = s.address + UInt64(offset)
      offset += roundUp(Extent.headerSize + count, to: 16)
      let entry = try view.withValue(.extents, key) { (b) throws(StoreError) in Extent(b) } ?? nil
      if let entry, entry.address == address { plan.extents.append((key, entry)) }
    }
  }
}
