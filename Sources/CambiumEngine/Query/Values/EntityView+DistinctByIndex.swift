import CambiumKernel

extension EntityView {
  /// Returns the index that begins with the distinct values of a request; nil if none does, or if the results depend on
  /// which object of each comes first: an order that leaves some open, with an offset or a limit.
  func distinctIndex(_ request: EngineValuesFetch, _ design: ValuesDesign) throws(EngineError) -> DistinctIndex? {
    let fetch = request.fetch
    guard fetch.usesIndexes, (fetch.limit == nil && fetch.offset <= 0) || design.ordersAll else { return nil }
    let plan = try store.plan(fetch.entity.id)
    // Rows of other entities stand among the entries.
    if plan.sharesRows { return nil }
    guard let conjuncts = try checked(fetch).map({ Conjunct.all(of: $0) }) ?? [] else { return nil }
    _ = try settle()
    let planner = try FetchPlanner(self, fetch.entity, costs: fetch.costs, fetch.isCancelled)
    var best: DistinctIndex?
    for maker in planner.makers {
      guard let ranges = planner.ranges(of: maker, conjuncts),
        let index = DistinctIndex(design, ranges, conjuncts, keyLimit: store.kernel.maxKeyLength)
      else { continue }
      if index.residual == nil { return index }
      // Of two that ask rows, the one that is confined asks fewer.
      if best == nil || (best?.tail == nil && index.tail != nil) { best = index }
    }
    return best
  }

  /// Returns the slots of each distinct result, in the order of the index. Nil if keys were cut, or if the walk has
  /// cost half as much as going through the rows.
  func distinctSlots(
    by index: DistinctIndex, _ request: EngineValuesFetch, _ design: ValuesDesign
  ) throws(EngineError) -> [[Value]]? {
    let fetch = request.fetch
    var unordered = fetch
    unordered.sort = []
    unordered.limit = nil
    let usual = try choose(unordered)
    // To put a row into a group costs about as much as to look at it.
    let cost = usual.cost + usual.rows * fetch.costs.scannedRow
    let walk = try DistinctWalk(self, index, design, fetch, budget: cost / 2)
    var wanted = Int.max
    if index.isInOrder, design.hasColumnsOfAllSlots, let limit = fetch.limit {
      wanted = max(0, limit).addingSaturating(max(0, fetch.offset))
    }
    var found: [[Value]] = []
    while found.count < wanted {
      guard let slots = try walk.next() else { break }
      found.append(slots)
    }
    return walk.gaveUp ? nil : found
  }
}

/// Goes from one distinct value to the next by an index.
private final class DistinctWalk {
  private let view: EntityView
  private let index: DistinctIndex
  private let plan: EntityPlan
  private let costs: PlanCosts
  private let isCancelled: (@Sendable () -> Bool)?
  private let cursor: Cursor
  private let range: KeyRange
  /// Asks rows; nil if the index decides.
  private let sieve: RowSieve?
  private let reader: ValuesReader
  /// Longer keys may have been cut.
  private let longestWhole: Int
  private var budget: Double
  private var isAtEntry: Bool
  /// The beginning of the keys with the present values.
  @exclusivity(unchecked) private var prefix: [UInt8] = []
  /// After so many entries of the same values the walk seeks the next one: fewer where that was in vain.
  private var steps = mostSteps
  private var count = 0
  /// Whether the rest has to be found among the rows.
  private(set) var gaveUp = false

  private static let mostSteps = 8

  init(
    _ view: EntityView, _ index: DistinctIndex, _ design: ValuesDesign, _ fetch: EngineFetch, budget: Double
  ) throws(EngineError) {
    self.view = view
    self.index = index
    self.budget = budget
    costs = fetch.costs
    isCancelled = fetch.isCancelled
    let plan = try view.store.plan(fetch.entity.id)
    self.plan = plan
    let paths = PathReader(view: view)
    paths.isCancelled = fetch.isCancelled
    paths.prepare(for: index.residual)
    sieve = try index.residual.map { (residual) throws(EngineError) in
      try RowSieve(view, plan, residual, includesSubentities: fetch.includesSubentities, paths)
    }
    reader = ValuesReader(view, design.read)
    longestWhole = view.store.kernel.maxKeyLength - 48
    range = index.ranges.ranges[0]
    let (range, isReversed) = (range, index.isReversed)
    let cursor = try storing { () throws(StoreError) in try view.trees.cursor(index.ranges.maker.tree) }
    self.cursor = cursor
    isAtEntry = try storing { () throws(StoreError) in try cursor.move(toStartOf: range, reversed: isReversed) }
  }

  /// Returns the slots of the next result; nil if there is none, or the walk gave up.
  func next() throws(EngineError) -> [Value]? {
    while isAtEntry, isInRange {
      count &+= 1
      if count & 63 == 0, let isCancelled, isCancelled() { throw .cancelled }
      let key = cursor.key
      let found = try storing { () throws(StoreError) -> DistinctIndex.Values? in
        let end = try KeyDecoder.rowID(atEndOf: key).start
        return end > longestWhole ? nil : try index.values(of: key, end)
      }
      budget -= costs.key
      guard let found, budget >= 0 else {
        gaveUp = true
        return nil
      }
      prefix.removeAll(keepingCapacity: true)
      prefix.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[..<found.end]))
      var slots: [Value]?
      if sieve == nil, index.tail == nil, !found.isOfRow, !found.isOfFirstRow {
        slots = index.slots(of: found)
      } else {
        slots = try look(for: found)
        if gaveUp { return nil }
      }
      try skip()
      if let slots { return slots }
    }
    return nil
  }

  private var isInRange: Bool {
    if index.isReversed { return range.lower.withUnsafeBytes { compareKeys(cursor.key, $0) >= 0 } }
    return range.upper.map { upper in upper.withUnsafeBytes { compareKeys(cursor.key, $0) < 0 } } ?? true
  }

  /// Looks for an entry with these values that the conditions hold for.
  private func look(for found: DistinctIndex.Values) throws(EngineError) -> [Value]? {
    guard let ranges = index.entries(behind: prefix, longestWhole: longestWhole) else {
      gaveUp = true
      return nil
    }
    var first: UInt64?
    for range in ranges {
      budget -= costs.range / 2
      isAtEntry = try storing { () throws(StoreError) in
        try range.lower.withUnsafeBytesEngine { (b) throws(StoreError) in try cursor.seek(b) }
      }
      while isAtEntry,
        range.upper.map({ upper in upper.withUnsafeBytes { compareKeys(cursor.key, $0) < 0 } }) ?? true
      {
        let key = cursor.key
        let (row, end) = try storing { () throws(StoreError) in try KeyDecoder.rowID(atEndOf: key) }
        budget -= sieve == nil ? costs.key : costs.key + costs.strayRow
        if end > longestWhole || budget < 0 {
          gaveUp = true
          return nil
        }
        let holds = try holds(row)
        if holds {
          if !found.isOfRow, !found.isOfFirstRow { return index.slots(of: found) }
          first = min(first ?? row, row)
          if !found.isOfFirstRow || index.isByRow { break }
        }
        if !holds, isPlanted(.distinctRowsPassedOver) { break }
        count &+= 1
        if count & 63 == 0, let isCancelled, isCancelled() { throw .cancelled }
        isAtEntry = try storing { () throws(StoreError) in try cursor.next() }
      }
      if first != nil, !found.isOfFirstRow || index.isByRow { break }
    }
    guard let first else { return nil }
    var slots: [Value] = []
    let isThere = try view.lendRow(plan.rows, first) { (row) throws(EngineError) in
      try reader.read(row, into: &slots)
    }
    guard isThere else { throw .corrupt("an index of \(plan.entity.name) names a row that is not there") }
    return slots
  }

  private func holds(_ row: UInt64) throws(EngineError) -> Bool {
    guard let sieve else { return true }
    var holds = false
    _ = try view.offer(row, plan, sieve) { (_) throws(EngineError) in
      holds = true
      return false
    }
    return holds
  }

  /// Moves to an entry with the next values.
  private func skip() throws(EngineError) {
    if index.isOne {
      isAtEntry = false
      return
    }
    isAtEntry = try storing { () throws(StoreError) in
      if index.isReversed {
        budget -= costs.range / 2
        return try prefix.withUnsafeBytesEngine { (b) throws(StoreError) in try cursor.seek(before: b) }
      }
      var isAtEntry = self.isAtEntry
      for _ in 0..<steps where isAtEntry {
        guard prefix.withUnsafeBytes({ hasPrefix(cursor.key, $0) }) else {
          steps = Self.mostSteps
          return true
        }
        budget -= costs.key / 2
        isAtEntry = try cursor.next()
      }
      guard isAtEntry, makeUpperBound() else { return false }
      if steps > 1 { steps /= 2 }
      budget -= costs.range / 2
      return try prefix.withUnsafeBytesEngine { (b) throws(StoreError) in try cursor.seek(b) }
    }
  }

  /// Makes the least key behind all that begin with the prefix out of it; false if there is none.
  private func makeUpperBound() -> Bool {
    while let last = prefix.last {
      if last < 0xFF {
        prefix[prefix.count - 1] = last + 1
        return true
      }
      prefix.removeLast()
    }
    return false
  }
}
