/// What a checkpoint is to write anew so that segments with little left in them become free.
struct RelocationPlan {
  private(set) var areas = AreaSet()
  private(set) var marks: [TreeID: [Relocation.Mark]] = [:]
  private(set) var extents: [(key: UInt64, extent: Extent)] = []
  private(set) var bytes: UInt64 = 0
  /// The segment of which only the end is emptied, if one is.
  private(set) var cut: SegmentCut?

  init() {}

  /// - Parameter areas: in which all of `items` lie.
  init(moving items: [LiveItem], areas: [(start: UInt64, end: UInt64)], cut: SegmentCut? = nil) {
    self.areas = AreaSet(areas)
    self.cut = cut
    for item in items {
      bytes += UInt64(item.length)
      switch item.content {
      case .page(let tree, let mark): marks[tree, default: []].append(mark)
      case .extent(let key, let extent): extents.append((key, extent))
      }
    }
    for (tree, unsorted) in marks {
      marks[tree] = unsorted.ordered { a, b in
        if a.key.head != b.key.head { return a.key.head < b.key.head }
        return a.key.bytes.withUnsafeBytes { x in
          b.key.bytes.withUnsafeBytes { y in compareBytes(x.start, x.count, y.start, y.count) < 0 }
        }
      }
    }
  }

  func relocation(_ tree: TreeID) -> Relocation? {
    if areas.isEmpty { return nil }
    return Relocation(areas: areas, marks: marks[tree] ?? [])
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
    let allowed = live / 2 + UInt64(max(options.spareBytes, 4 * SegmentTable.unitSize))
    guard total > live + allowed else { return RelocationPlan() }
    candidates.order { $0.score > $1.score }
    var excess = total - live - allowed
    // No more is moved than a fraction of what is there, so that the cost of one checkpoint stays bounded.
    var budget = max(live / 4, 4 * UInt64(max(0, min(options.spareBytes, 1 << 28))))
    var victims: [Segment] = []
    for (_, s) in candidates {
      let gain = s.wasted
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
    var items: [LiveItem] = []
    for s in victims { items += try liveItems(in: s, transaction) }
    let areas = victims.map { (start: $0.address, end: $0.address + UInt64($0.length)) }
    let plan = RelocationPlan(moving: items, areas: areas)
    counters.relocatedBytes += plan.bytes
    return plan
  }

  /// Finds what is live in the last units of `s`, as many of them as have at most `room` bytes in them; nil if that is
  /// not even one, or if what is found there is not all that was counted as live.
  func plan(cutting s: Segment, room: UInt64) throws(StoreError) -> RelocationPlan? {
    let items = try liveItems(in: s).ordered { $0.address < $1.address }
    let end = s.address + UInt64(s.length)
    let directory = directoryPages.filter { s.address <= $0.address && $0.address < end }
    let found = items.reduce(0) { $0 + $1.length } + directory.reduce(0) { $0 + $1.length }
    guard found == Int(s.live) else { return nil }
    var kept = s.units
    var moved: UInt64 = 0
    var first = items.count
    while kept > 1 {
      // What lies across the cut is moved as well.
      let cutAt = s.address + UInt64(kept - 1) * UInt64(SegmentTable.unitSize)
      var more: UInt64 = 0
      var from = first
      while from > 0, (isPlanted(.itemAcrossCutStays) ? items[from - 1].address : items[from - 1].end) > cutAt {
        from -= 1
        more += UInt64(items[from].length)
      }
      if moved + more > room { break }
      moved += more
      first = from
      kept -= 1
    }
    guard kept < s.units else { return nil }
    let cutAt = s.address + UInt64(kept) * UInt64(SegmentTable.unitSize)
    let displaced = directory.filter { $0.address + UInt64($0.length) > cutAt }.reduce(UInt64(0)) {
      $0 + UInt64($1.length)
    }
    let from = first < items.count ? min(items[first].address, cutAt) : cutAt
    let plan = RelocationPlan(
      moving: Array(items[first...]), areas: [(start: from, end: end)],
      cut: SegmentCut(start: s.start, units: kept, live: moved + displaced))
    counters.relocatedBytes += plan.bytes
    return plan
  }
}
