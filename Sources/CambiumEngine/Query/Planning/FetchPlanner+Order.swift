import CambiumKernel

extension FetchPlanner {
  /// The cost of sorting rows, and of reading those that are shown. With a limit, most rows come behind as
  /// many as are wanted, which their first key tells.
  func sortingCost(_ sort: [EngineSort], matches: Double, wanted: Int?, shown: Double) -> Double {
    if sort.isEmpty { return 0 }
    let kept = min(matches, wanted.map { 2 * Double($0) } ?? .infinity)
    return (kept * Double(sort.count) + (matches - kept) * 0.5) * costs.sortedRow + min(shown, matches) * costs.lateRow
  }

  /// A plan that goes through an index in the order asked for, or in that of its first keys, and stops when there are
  /// enough rows; nil if no index has it.
  func ordered(
    _ sort: [EngineSort], _ conjuncts: [Conjunct], matches: Double, wanted: Int?, shown: Double
  ) throws(EngineError) -> FetchPlan? {
    var best: FetchPlan?
    for maker in makers {
      guard let ranges = ranges(of: maker, conjuncts), ranges.ranges.count == 1, let order = order(sort, ranges) else {
        continue
      }
      let entries = ranges.isSingle ? 1 : try entries(ranges)
      // The walk passes as many entries as it takes to find the wanted rows, and all entries that come with the last
      // one.
      var passed = min(entries, entries * (wanted.map { Double($0) / matches } ?? 1))
      if passed < entries, order.isOfSomeParts || !order.sortsAll {
        passed = min(entries, try OrderWalk.count(view, order, toReach: passed))
      }
      let rest = FetchPlanner.joined(conjuncts, except: ranges.covered)
      var cost = costs.range + passed * costs.key + min(shown, passed) * costs.lateRow
      if rest != nil || !order.sortsAll || plan.sharesRows {
        let asked = rest.map { askingCost($0) } ?? 0
        cost += passed * (costs.soughtRow + asked)
        cost += min(passed, wanted.map { 2 * Double($0) } ?? passed) * Double(sort.count) * costs.sortedRow
      }
      if cost < best?.cost ?? .infinity {
        best = FetchPlan(path: .ranges(ranges), residual: rest, order: order, rows: passed, cost: cost)
      }
    }
    return best
  }

  /// How the entries of a range are gone through in the order asked for, or in that of its first keys; nil if they
  /// stand in neither.
  private func order(_ sort: [EngineSort], _ ranges: IndexRanges) -> OrderedIndex? {
    let maker = ranges.maker
    let fixed = maker.paths[..<ranges.equalParts]
    var part = ranges.equalParts
    var direction: Bool?
    var sortsAll = true
    for key in sort {
      // What is the same for all makes no difference; text is the same only to the order of its scalars.
      if fixed.contains(key.keyPath), case .scalars = key.textOrder { continue }
      guard key.origin == nil, part < maker.paths.count, maker.paths[part] == key.keyPath, let type = maker.types[part],
        type.isOrderedByKeys, type != .string && type != .uri || key.textOrder.isOfScalars
      else {
        sortsAll = false
        break
      }
      let isReversed = maker.ascending[part] != key.isAscending
      if let direction, direction != isReversed {
        sortsAll = false
        break
      }
      direction = isReversed
      part += 1
    }
    // An order by nothing but what is the same for all is that of a scan.
    if direction == nil, part < maker.paths.count || !sortsAll { return nil }
    return OrderedIndex(ranges: ranges, isReversed: direction ?? false, parts: part, sortsAll: sortsAll)
  }
}

extension EngineTextOrder {
  fileprivate var isOfScalars: Bool {
    if case .scalars = self { return true }
    return false
  }
}

extension AttributeType {
  /// Whether keys order values of the type as sorting does.
  var isOrderedByKeys: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .boolean, .double, .float, .decimal, .date, .string, .uri, .uuid:
      return true
    default: return false
    }
  }
}
