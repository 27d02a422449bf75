import CambiumKernel

extension FetchPlanner {
  /// A plan that goes through an index in the order asked for, and stops when there are enough; nil if no index has it.
  func ordered(
    _ sort: [EngineSort], _ conjuncts: [Conjunct], matches: Double, wanted: Int?
  ) throws(EngineError) -> FetchPlan? {
    var best: FetchPlan?
    let limit = view.store.kernel.maxKeyLength
    for maker in makers where isUsable(maker, conjuncts) {
      let ranges = IndexRanges(maker, conjuncts, keyLimit: limit) ?? IndexRanges(all: maker)
      guard ranges.ranges.count == 1, let (isReversed, parts) = direction(sort, ranges, conjuncts) else { continue }
      let order = OrderedIndex(ranges: ranges, isReversed: isReversed, parts: parts)
      let entries = ranges.shape == .open ? rowCount : ranges.isSingle ? 1 : try entries(ranges)
      // Of the entries, as many are gone through as it takes to find what is wanted.
      let share = wanted.map { min(1, Double($0) / matches) } ?? 1
      let rest = FetchPlanner.joined(conjuncts, except: ranges.covered)
      // Rows that are equal to the order are put by their number first, however many there are: maybe a quarter of all.
      let gathered = order.isOfSomeParts ? max(0, 0.25 - share) * entries * costs.key : 0
      let cost =
        costs.range + gathered + entries * share * (costs.key + costs.strayRow + (rest == nil ? 0 : costs.scannedRow))
      if cost < best?.cost ?? .infinity {
        best = FetchPlan(
          path: .ranges(ranges), residual: rest, order: order, rows: entries * share, cost: cost)
      }
    }
    return best
  }

  /// Whether the entries of a range stand in the order asked for, or in its reverse, which is true, and by how many of their
  /// parts that is; nil if they stand in neither.
  private func direction(
    _ sort: [EngineSort], _ ranges: IndexRanges, _ conjuncts: [Conjunct]
  ) -> (isReversed: Bool, parts: Int)? {
    let maker = ranges.maker
    let fixed = maker.paths[..<ranges.equalParts]
    var part = ranges.equalParts
    var direction: Bool?
    for key in sort {
      // What is the same for all makes no difference; text is the same only to the order of its scalars.
      if fixed.contains(key.keyPath), case .scalars = key.textOrder { continue }
      guard key.origin == nil, part < maker.paths.count, maker.paths[part] == key.keyPath, let type = maker.types[part],
        type.isOrderedByKeys
      else { return nil }
      if type == .string || type == .uri {
        guard case .scalars = key.textOrder else { return nil }
      }
      let isReversed = maker.ascending[part] != key.isAscending
      if let direction, direction != isReversed { return nil }
      direction = isReversed
      part += 1
    }
    // An order by nothing but what is the same for all is that of a scan.
    if direction == nil, part < maker.paths.count { return nil }
    return (direction ?? false, part)
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
