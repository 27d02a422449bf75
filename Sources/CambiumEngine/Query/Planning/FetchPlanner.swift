import CambiumKernel

/// Chooses how a fetch is done, by how many entries of its indexes the conditions are about (which the trees tell in
/// O(log n)), and by what steps cost.
struct FetchPlanner {
  let view: EntityView
  let plan: EntityPlan
  let entity: EntitySchema
  let costs: PlanCosts
  /// How many relationships and alternatives this is inside of.
  private let depth: Int
  /// The share of the work that may be done while planning: each of several alternatives gets a part.
  let share: Double
  /// Whether to end; see ``EngineFetch/isCancelled``.
  let isCancelled: (@Sendable () -> Bool)?
  /// The number of rows in the entity's tree.
  let rowCount: Double
  let makers: [KeyMaker]
  /// Indexes of places.
  let spatialMakers: [KeyMaker]

  /// Alternatives and relationships inside of each other, and alternatives beside each other, beyond which a scan is
  /// done.
  private static let mostDepth = 6
  private static let mostAlternatives = 100
  /// Ways to narrow down that are tried together.
  private static let mostCombined = 32
  /// Ranges of which the entries are counted; there are about as many in each of the others.
  private static let mostCountedRanges = 16

  init(
    _ view: EntityView, _ entity: EntitySchema, costs: PlanCosts, depth: Int = 0, share: Double = 1,
    _ isCancelled: (@Sendable () -> Bool)? = nil
  ) throws(EngineError) {
    self.share = share
    self.isCancelled = isCancelled
    self.view = view
    self.entity = entity
    self.costs = costs
    self.depth = depth
    plan = try view.store.plan(entity.id)
    let unfinished = try view.unfinishedIndexes(plan)
    makers = (plan.constraints + plan.indexes).filter { !unfinished.contains($0.tree) }
    spatialMakers = plan.spatialIndexes.filter { !unfinished.contains($0.tree) }
    let rows = plan.rows
    rowCount = Double(try storing { () throws(StoreError) in try view.trees.count(rows) })
  }

  // MARK: Choosing

  /// The cheapest plan. `wanted` is how many results are, nil for all, and `shown` of how many the rows are looked at
  /// when they are in order; `sort` is the order that is asked for.
  func choose(
    _ predicate: Predicate?, wanted: Int? = nil, shown: Int = .max, sort: [EngineSort] = [], isCount: Bool = false
  ) throws(EngineError) -> FetchPlan {
    guard let conjuncts = predicate.map({ Conjunct.all(of: $0) }) ?? [] else {
      return FetchPlan(path: .nothing, residual: nil, rows: 0, cost: 0)
    }
    var shares: [Int: Double] = [:]
    let narrowings = try narrowings(
      conjuncts, isCount: isCount && !plan.sharesRows, wantsAll: wanted == nil, &shares)
    if isCount, narrowings.count == 1, let only = narrowings.first, Set(only.covered).count == conjuncts.count,
      let cost = countingCost(only), !plan.sharesRows
    {
      return FetchPlan(path: only.path, residual: nil, rows: only.rows, cost: cost)
    }
    var asking = conjuncts.map { askingCost($0.predicate) }
    // Reading some rows tells what a condition costs that no index knows. It is not worth while where little is
    // asked.
    var usual = rowCount
    for narrowing in narrowings { usual = min(usual, narrowing.rows) }
    if usual * (costs.scannedRow + asking.reduce(0, +)) >= costs.sampled {
      // What is related makes the difference, and nothing else.
      for place in asking.indices where asking[place] >= costs.links {
        asking[place] = askingCost(conjuncts[place].predicate, closely: true, share: shares[place])
      }
    }
    let best = combined(narrowings, asking)
    // How many rows there are to be found: none that was said to be covered or not is left out in any narrowing.
    let matches = best.map { max($0.rows, 0.5) } ?? max(rowCount, 1)
    let asked = asking.reduce(0, +)
    let sorting = sortingCost(sort, matches: matches, wanted: wanted, shown: Double(shown))
    // Without an order, whoever wants few stops early.
    let share = sort.isEmpty ? wanted.map { min(1, Double($0) / matches) } ?? 1 : 1
    var narrowed: FetchPlan?
    if let best {
      let rest = conjuncts.indices.filter { !best.covered.contains($0) }
      // Identifiers alone need no rows, if no condition is left.
      let isDecided = rest.isEmpty && shown == 0 && sort.isEmpty && !plan.sharesRows && !best.path.mayNameMissingRows
      let perRow = isDecided ? 0 : costs.soughtRow + rest.reduce(0) { $0 + asking[$1] }
      narrowed = FetchPlan(
        path: best.path, residual: Self.joined(conjuncts, except: best.covered), rows: best.rows * share,
        cost: best.cost + best.rows * share * perRow + sorting)
    }
    var chosen: FetchPlan
    if let narrowed, narrowed.cost < rowCount * share * costs.siftedRow + sorting {
      chosen = narrowed
    } else {
      // A number or text of the row itself is looked at in many rows at once, and most rows end there.
      let perRow =
        conjuncts.contains { sifts($0) }
        ? costs.siftedRow + costs.passing * (costs.scannedRow + asked) : costs.scannedRow + asked
      chosen = FetchPlan(
        path: .scan, residual: Self.joined(conjuncts, except: []), rows: rowCount * share,
        cost: rowCount * share * perRow + sorting)
      if let narrowed, narrowed.cost < chosen.cost { chosen = narrowed }
    }
    if isCount, !plan.sharesRows {
      for narrowing in narrowings where Set(narrowing.covered).count == conjuncts.count {
        guard let cost = countingCost(narrowing), cost < chosen.cost else { continue }
        chosen = FetchPlan(path: narrowing.path, residual: nil, rows: narrowing.rows, cost: cost)
      }
    }
    if let wanted, let nearest = try nearest(sort, conjuncts, matches: matches, wanted: wanted),
      nearest.cost < chosen.cost
    {
      chosen = nearest
    }
    if let first = sort.first, first.origin == nil,
      var ordered = try ordered(sort, conjuncts, matches: matches, wanted: wanted, shown: Double(shown)),
      ordered.cost < chosen.cost
    {
      if chosen.nearest == nil { ordered.sorting = [chosen] }
      chosen = ordered
    }
    if let best, best.isCounted { chosen.matches = best.rows }
    return chosen
  }

  /// What it costs to tell from the trees alone how many rows a narrowing gives; nil if its rows have to be found.
  private func countingCost(_ narrowing: Narrowing) -> Double? {
    switch narrowing.path {
    case .ranges(let ranges): return Double(ranges.ranges.count) * 2 * costs.range
    case .skipped: return 0
    case .related(let related):
      guard case .toOne = related.way, let ends = related.known else { return nil }
      return narrowing.cost - narrowing.rows * costs.key + Double(ends.count) * 2 * costs.range
    default: return nil
    }
  }

  /// What is left to ask when the covered conditions hold; nil if nothing is.
  static func joined(_ conjuncts: [Conjunct], except covered: [Int]) -> Predicate? {
    var rest: [Predicate] = []
    for place in conjuncts.indices where !covered.contains(place) { rest.append(conjuncts[place].predicate) }
    return rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .and(rest)
  }

  /// Whether a scan tells rows apart by a condition before it looks at them more closely.
  private func sifts(_ conjunct: Conjunct) -> Bool {
    guard let about = conjunct.about, conjunct.isPlain else { return false }
    switch about.comparator {
    case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .between: break
    case .notEqual where about.value.isNull: break
    default: return false
    }
    if view.store.column(about.path, of: plan) != nil { return true }
    return entity.relationship(named: about.path).map { !$0.isToMany } ?? false
  }

  /// What asking a row a condition costs, besides looking at it.
  ///
  /// - Parameter closely: Whether rows may be read to find out.
  /// - Parameter share: Of a condition of related objects, the share of these that it holds for, if that is known.
  func askingCost(_ predicate: Predicate, closely: Bool = false, share: Double? = nil) -> Double {
    if case .comparison(let c) = predicate, isOfOwnColumn(c) { return listCost(c) }
    if let condition = DestinationCondition(predicate, of: entity) { return destinationCost(condition.relationship) }
    switch predicate {
    case .true, .false: return 0
    case .and(let parts), .or(let parts): return parts.reduce(0) { $0 + askingCost($1, closely: closely) }
    case .not(let inner): return askingCost(inner, closely: closely)
    case .comparison(let comparison): return askingCost(comparison, closely, share)
    }
  }

  /// True for a comparison of a column of the row itself with a constant, which most are.
  private func isOfOwnColumn(_ c: Comparison) -> Bool {
    guard c.modifier == .direct, case .keyPath(let path) = c.left, case .constant = c.right else { return false }
    let dot = path.utf8.firstIndex(of: UInt8(ascii: "."))
    return entity.relationship(named: dot.map { String(path[..<$0]) } ?? path) == nil
  }

  /// Lists are gone through, unless a row's own value is looked up in them.
  private func listCost(_ c: Comparison) -> Double {
    guard c.comparator == .in, case .constant(.list(let list)) = c.right, !isLookedUp(c) else { return 0 }
    return Double(list.count) * costs.listed
  }

  private func askingCost(_ c: Comparison, _ closely: Bool, _ share: Double?) -> Double {
    if let cost = collectionCost(c, closely, share) { return cost }
    var cost = max(computingCost(c.left), computingCost(c.right))
    cost += listCost(c)
    do throws(PredicateError) {
      let reads = try Predicate.comparison(c).reads()
      if reads.otherObjects { cost += costs.readElsewhere }
      for path in reads.keyPaths {
        let dot = path.utf8.firstIndex(of: UInt8(ascii: "."))
        guard let relationship = entity.relationship(named: dot.map { String(path[..<$0]) } ?? path) else { continue }
        if relationship.isToMany {
          cost += costs.readElsewhere * (1 + objectsPerRow(relationship))
        } else if dot != nil {
          // A program knows them for most rows.
          cost += c.modifier == .direct && cost < costs.computed ? destinationCost(relationship) : costs.readElsewhere
        }
      }
      return cost
    } catch { return cost + costs.readElsewhere }
  }

  /// The cost of asking about the object that a to-one relationship leads to: the more rows lead to the same object,
  /// the less.
  private func destinationCost(_ relationship: RelationshipSchema) -> Double {
    costs.destination + (costs.readElsewhere - costs.destination) * min(1, objectsPerRow(relationship))
  }

  /// The cost of following a to-many relationship from a row: to count its links, to look at all of its objects, or
  /// to look at them until a condition holds for one. Nil for other comparisons.
  private func collectionCost(_ c: Comparison, _ closely: Bool, _ known: Double?) -> Double? {
    // That there are some of a kind a comparison of their number may say as well.
    let conditions = RelatedConditions(entity: entity, schema: view.store.schema)
    if let (relationship, condition) = conditions.toMany(.comparison(c)),
      case .derived = RelationshipStorage(relationship, in: view.store.schema)
    {
      let objects = objectsPerRow(relationship)
      let share = known ?? (closely ? share(of: condition, relationship) : 0)
      return costs.links + min(objects, 1 / max(share, 0.000_1)) * costs.soughtRow
    }
    if case .aggregate(_, let collection, let path) = c.left, case .constant = c.right, c.modifier == .direct {
      let name: String
      switch collection {
      case .keyPath(let path): name = path
      case .subquery(.keyPath(let path), _, _): name = path
      default: return nil
      }
      guard let relationship = entity.relationship(named: name), relationship.isToMany else { return nil }
      var perObject = costs.soughtRow
      if case .keyPath = collection, path == nil { perObject = costs.key }
      return costs.links + objectsPerRow(relationship) * perObject
    }
    return nil
  }

  /// The share of the objects of a relationship's destination for which a condition holds: as an index tells, or some
  /// objects from here and there.
  private func share(of condition: Predicate, _ relationship: RelationshipSchema) -> Double {
    guard depth < Self.mostDepth, let destination = view.store.schema.entity(named: relationship.destination) else {
      return 0
    }
    do throws(EngineError) {
      let inner = try FetchPlanner(view, destination, costs: costs, depth: depth + 1, share: share, isCancelled)
      guard inner.rowCount > 0 else { return 0 }
      if let (narrowing, _) = try inner.narrow(condition) {
        if narrowing.isCounted { return min(1, narrowing.rows / inner.rowCount) }
      }
      return try inner.sampledShare(of: condition)
    } catch { return 0 }
  }

  /// So many rows are read to estimate a share.
  private static let sample = 48

  private func sampledShare(of condition: Predicate) throws(EngineError) -> Double {
    if condition.isVolatile { return 0 }
    let sieve = try RowSieve(view, plan, condition, includesSubentities: true, PathReader(view: view))
    var rows: [UInt64] = []
    // Rows are numbered from 1 on, and most of them are there.
    for i in 0..<Self.sample { rows.append(UInt64(rowCount * (Double(i) + 0.5) / Double(Self.sample)) + 1) }
    var holding = 0.0
    _ = try view.offer(rows, plan, sieve, inPlace: !sieve.readsElsewhere) { (_) throws(EngineError) in
      holding += 1
      return true
    }
    return holding / Double(Self.sample)
  }

  /// What it takes to compute an expression of columns, for which there are programs, or the evaluator.
  private func computingCost(_ expression: Expression) -> Double {
    switch expression {
    case .arithmetic, .negated, .ternary: return costs.programmed
    // The layout of a row tells.
    case .function where expression.isCastOfEvaluatedObject: return 0
    case .function(let name, _):
      switch PredicateFunction(name) {
      case .add, .subtract, .multiply, .divide, .modulus, .absolute, .length, .noIndex, .minimum, .maximum:
        return costs.programmed
      default: return costs.computed
      }
    default: return 0
    }
  }

  /// Whether a list is made ready for values to be looked up in it; see ``MemberTable``.
  private func isLookedUp(_ c: Comparison) -> Bool {
    guard c.modifier == .direct, c.options.isEmpty, case .keyPath(let path) = c.left else { return false }
    return view.store.column(path, of: plan).map { MemberTable.holds($0.attribute.type) } ?? false
  }

  /// About how many objects a to-many relationship leads to.
  private func objectsPerRow(_ relationship: RelationshipSchema) -> Double {
    guard rowCount > 0, let destination = view.store.schema.entity(named: relationship.destination) else { return 1 }
    do throws(EngineError) {
      let rows = try view.store.plan(destination.id).rows
      return Double(try storing { () throws(StoreError) in try view.trees.count(rows) }) / rowCount
    } catch { return 1 }
  }

  // MARK: Narrowing

  /// The best way to narrow the rows down by an index or the like; nil if there is none.
  func narrow(_ predicate: Predicate) throws(EngineError) -> (narrowing: Narrowing, isExact: Bool)? {
    guard let conjuncts = Conjunct.all(of: predicate) else {
      return (Narrowing(path: .nothing, rows: 0, cost: 0, covered: []), true)
    }
    var shares: [Int: Double] = [:]
    let narrowings = try narrowings(conjuncts, &shares)
    guard let best = combined(narrowings, conjuncts.map { askingCost($0.predicate) }) else { return nil }
    return (best, Set(best.covered).count == conjuncts.count)
  }

  /// Each way to narrow the rows down.
  ///
  /// - Parameter isCount: Whether only the number of rows is wanted, so that nothing costs less than a range that
  ///   decides.
  /// - Parameter wantsAll: Whether all rows are wanted that are found.
  /// - Parameter shares: Of conditions of related objects, by place, the share of these that the condition holds for,
  ///   if it becomes known on the way.
  private func narrowings(
    _ conjuncts: [Conjunct], isCount: Bool = false, wantsAll: Bool = true, _ shares: inout [Int: Double]
  ) throws(EngineError) -> [Narrowing] {
    var found: [Narrowing] = []
    for (place, conjunct) in conjuncts.enumerated() {
      if let narrowing = identity(conjunct, place) { found.append(narrowing) }
      if neverEquals(conjunct) { found.append(Narrowing(path: .nothing, rows: 0, cost: 0, covered: [place])) }
      if case .or(let parts) = conjunct.predicate, let narrowing = try union(parts, place) { found.append(narrowing) }
    }
    for maker in makers {
      guard let ranges = ranges(of: maker, conjuncts, orWhole: false) else { continue }
      let rows = ranges.isSingle ? 1 : try entries(ranges)
      found.append(
        Narrowing(
          path: .ranges(ranges), rows: rows,
          cost: rows * costs.key + Double(ranges.ranges.count) * costs.range, covered: ranges.covered))
    }
    if isCount {
      for narrowing in found where Set(narrowing.covered).count == conjuncts.count {
        if case .ranges = narrowing.path { return [narrowing] }
      }
    }
    try skip(conjuncts, wantsAll: wantsAll, &found)
    for maker in spatialMakers where isUsable(maker, conjuncts) { found += try places(conjuncts, maker) }
    if depth < Self.mostDepth {
      var usual = rowCount * costs.scannedRow
      for narrowing in found { usual = min(usual, narrowing.cost + narrowing.rows * costs.soughtRow) }
      found += try related(conjuncts, depth: depth, usual: usual, &shares)
    }
    return found
  }

  /// Whether an integer is compared for equality with a number that is none.
  private func neverEquals(_ conjunct: Conjunct) -> Bool {
    guard let about = conjunct.about, about.comparator == .equal, about.value.isFraction else { return false }
    do throws(SchemaError) {
      let path = try view.store.schema.resolve(keyPath: about.path, from: entity.id)
      return !path.isToMany && path.type.isInteger
    } catch { return false }
  }

  /// The part of an index that the conditions confine a fetch to; nil if the index leaves out rows that the conditions
  /// hold for. A condition that a partial index has as well holds for all of its rows.
  ///
  /// - Parameter orWhole: Whether it may be the whole index. A partial index may always be, because its own condition
  ///   confines it.
  func ranges(of maker: KeyMaker, _ conjuncts: [Conjunct], orWhole: Bool = true) -> IndexRanges? {
    guard isUsable(maker, conjuncts) else { return nil }
    let confined = IndexRanges(maker, conjuncts, keyLimit: view.store.kernel.maxKeyLength)
    if confined == nil, !orWhole, maker.partial == nil { return nil }
    var ranges = confined ?? IndexRanges(all: maker)
    guard let partial = maker.partial, let own = Conjunct.all(of: partial) else { return ranges }
    for (place, conjunct) in conjuncts.enumerated() where !ranges.covered.contains(place) {
      if own.contains(where: { $0.predicate == conjunct.predicate }) { ranges.covered.append(place) }
    }
    return ranges
  }

  /// Whether an index has all rows that the conditions hold for.
  func isUsable(_ maker: KeyMaker, _ conjuncts: [Conjunct]) -> Bool {
    guard let partial = maker.partial else { return true }
    guard let conditions = Conjunct.all(of: partial) else { return false }
    for condition in conditions {
      var isImplied = false
      for conjunct in conjuncts where conjunct.implies(condition) { isImplied = true }
      if !isImplied { return false }
    }
    return true
  }

  /// About how many entries there are in the ranges.
  func entries(_ ranges: IndexRanges) throws(EngineError) -> Double {
    let all = ranges.ranges
    if all.isEmpty { return 0 }
    if ranges.shape == .open {
      if ranges.maker.partial == nil { return rowCount }
      return Double(try storing { () throws(StoreError) in try view.trees.count(ranges.maker.tree) })
    }
    let step = max(1, all.count / Self.mostCountedRanges)
    var sum = 0.0
    var counted = 0.0
    var i = 0
    while i < all.count {
      let range = all[i]
      sum += Double(
        try storing { () throws(StoreError) in try view.trees.estimatedCount(ranges.maker.tree, in: range) })
      counted += 1
      i += step
    }
    return sum * Double(all.count) / counted
  }

  private func identity(_ conjunct: Conjunct, _ place: Int) -> Narrowing? {
    guard case .comparison(let c) = conjunct.predicate, c.modifier == .direct else { return nil }
    let isSelf: Bool
    switch c.left {
    case .evaluatedObject: isSelf = true
    case .keyPath(let path): isSelf = path == "self" || path == "SELF" || path == "objectID"
    default: isSelf = false
    }
    guard isSelf, case .constant(let value) = c.right else { return nil }
    var references: [ObjectReference] = []
    switch (c.comparator, value) {
    case (.equal, .reference(let reference)): references = [reference]
    case (.in, .list(let list)):
      for case .reference(let reference) in list { references.append(reference) }
    default: return nil
    }
    // Rows of other hierarchies have the same numbers. An object that is named with its ancestor's entity equals none,
    // which the rows tell.
    let schema = view.store.schema
    var rows: Set<UInt64> = []
    var isExact = true
    for reference in references {
      guard schema.entity(id: reference.entity)?.rootID == entity.rootID else { continue }
      if plan.sharesRows || reference.entity != entity.id { isExact = false }
      rows.insert(reference.row)
    }
    return Narrowing(
      path: .rows(rows.sorted()), rows: Double(rows.count), cost: 0, covered: isExact ? [place] : [])
  }

  /// What any of several conditions holds for, if all of them can be narrowed down.
  private func union(_ parts: [Predicate], _ place: Int) throws(EngineError) -> Narrowing? {
    guard depth < Self.mostDepth, parts.count <= Self.mostAlternatives else { return nil }
    let inner = FetchPlanner(self, depth: depth + 1, share: share / Double(max(1, parts.count)))
    var alternatives: [AccessPath.Alternative] = []
    var rows = 0.0
    var cost = 0.0
    var isExact = true
    for part in parts {
      guard let (narrowing, isDecided) = try inner.narrow(part) else { return nil }
      if !isDecided { isExact = false }
      rows += narrowing.rows
      cost += narrowing.cost
      alternatives.append(AccessPath.Alternative(path: narrowing.path, rows: narrowing.rows))
    }
    return Narrowing(path: .union(alternatives), rows: min(rows, rowCount), cost: cost, covered: isExact ? [place] : [])
  }

  private init(_ other: FetchPlanner, depth: Int, share: Double) {
    self.share = share
    isCancelled = other.isCancelled
    view = other.view
    plan = other.plan
    entity = other.entity
    costs = other.costs
    rowCount = other.rowCount
    makers = other.makers
    spatialMakers = other.spatialMakers
    self.depth = depth
  }

  /// The cheapest narrowing, or several of which only the rows that all of them give are read.
  ///
  /// - Parameter costOfEach: What asking a row each of the conditions costs.
  private func combined(_ narrowings: [Narrowing], _ costOfEach: [Double]) -> Narrowing? {
    let costOfAll = costOfEach.reduce(0, +)
    func total(_ n: Narrowing) -> Double {
      var asking = costOfAll
      for place in Set(n.covered) { asking -= costOfEach[place] }
      return n.cost + n.rows * (costs.soughtRow + asking)
    }
    var best: Narrowing?
    var bestCost = Double.infinity
    for narrowing in narrowings {
      let cost = total(narrowing)
      if cost < bestCost { (best, bestCost) = (narrowing, cost) }
    }
    guard var chosen = best, narrowings.count > 1, rowCount > 0 else { return best }
    // Of very many, those that give the fewest rows.
    var narrowings = narrowings
    if narrowings.count > Self.mostCombined {
      narrowings.order { $0.rows < $1.rows }
      narrowings.removeLast(narrowings.count - Self.mostCombined)
    }
    var parts = [chosen]
    var isBetter = true
    while isBetter, parts.count < 3 {
      isBetter = false
      for other in narrowings {
        // What tells nothing new does not make fewer.
        var isNew = false
        for place in other.covered where !chosen.covered.contains(place) { isNew = true }
        if !isNew { continue }
        let together = Narrowing(
          path: .intersection(parts + [other]), rows: chosen.rows * min(1, other.rows / rowCount),
          cost: chosen.cost + other.cost + chosen.rows * costs.key * 0.2,
          covered: chosen.covered + other.covered.filter { !chosen.covered.contains($0) })
        let cost = total(together)
        if cost < bestCost * 0.9 {
          (chosen, bestCost, isBetter) = (together, cost, true)
          parts.append(other)
          break
        }
      }
    }
    return chosen
  }
}
