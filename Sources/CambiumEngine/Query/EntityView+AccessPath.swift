import CambiumKernel

/// Finding the rows of plans.
extension EntityView {
  /// The rows that a way gives, each once and in the order of a scan, so that a fetch without order gives the same
  /// whatever way is taken; nil if that is all of them.
  func rows(
    of path: AccessPath, isCancelled: (@Sendable () -> Bool)? = nil
  ) throws(EngineError) -> [UInt64]? {
    if let isCancelled, isCancelled() { throw .cancelled }
    switch path {
    case .scan: return nil
    case .nothing: return []
    case .rows(let rows), .skipped(_, let rows): return rows
    case .ranges(let ranges): return try rows(of: ranges)
    case .places(let places):
      #if CAMBIUM_NO_SPATIAL
        return []
      #else
        return try rows(places.maker.tree, in: places.area)
      #endif
    case .union(let alternatives):
      var all: [UInt64] = []
      for alternative in alternatives {
        guard let rows = try rows(of: alternative.path, isCancelled: isCancelled) else { return nil }
        all += rows
      }
      return Self.ascending(all, isAscending: alternatives.count < 2)
    case .intersection(let parts):
      var common: [UInt64]?
      for part in parts {
        guard let rows = try rows(of: part.path, isCancelled: isCancelled) else { continue }
        common = common.map { Self.common($0, rows) } ?? rows
        if common?.isEmpty ?? false { break }
      }
      return common
    case .related(let related): return try rows(of: related, isCancelled)
    }
  }

  /// Rows in ascending order, each once.
  static func ascending(_ rows: [UInt64], isAscending: Bool) -> [UInt64] {
    if isAscending { return rows }
    if let result = marked(rows) { return result }
    var result: [UInt64] = []
    result.reserveCapacity(rows.count)
    for row in rows.sorted() where row != result.last { result.append(row) }
    return result
  }

  /// The same where they lie so densely that a bit for each row number between them costs less than sorting; else nil.
  private static func marked(_ rows: [UInt64]) -> [UInt64]? {
    guard rows.count > 32, var least = rows.first else { return nil }
    var greatest = least
    for row in rows {
      least = min(least, row)
      greatest = max(greatest, row)
    }
    // A word for each row is about what sorting a row takes.
    let words = (greatest - least) / 64 + 1
    guard words <= UInt64(rows.count) * 4 else { return nil }
    var marks: [UInt64] = Array(repeating: 0, count: Int(words))
    for row in rows { marks[Int((row - least) / 64)] |= 1 &<< ((row - least) % 64) }
    var result: [UInt64] = []
    result.reserveCapacity(rows.count)
    for (place, word) in marks.enumerated() {
      var rest = word
      while rest != 0 {
        result.append(least + UInt64(place * 64 + rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
    return result
  }

  /// Those that occur so often at least, ascending, each once.
  private static func occurring(_ rows: [UInt64], _ least: Int) -> [UInt64] {
    var result: [UInt64] = []
    var times = 0
    var last: UInt64?
    for row in rows.sorted() {
      times = row == last ? times + 1 : 1
      last = row
      if times == least { result.append(row) }
    }
    return result
  }

  /// The rows that are in both.
  private static func common(_ a: [UInt64], _ b: [UInt64]) -> [UInt64] {
    var result: [UInt64] = []
    var i = 0
    var j = 0
    while i < a.count, j < b.count {
      if a[i] == b[j] {
        result.append(a[i])
        i += 1
        j += 1
      } else if a[i] < b[j] {
        i += 1
      } else {
        j += 1
      }
    }
    return result
  }

  private func rows(of ranges: IndexRanges) throws(EngineError) -> [UInt64] {
    var rows: [UInt64] = []
    var isAscending = true
    _ = try settle()
    if ranges.ranges.count == 1 {
      let found = try storing { () throws(StoreError) in try trees.rowIDs(ranges.maker.tree, in: ranges.ranges[0]) }
      return Self.ascending(found.ids, isAscending: found.isAscending)
    }
    try storing { () throws(StoreError) in
      var last: UInt64?
      try trees.forEachKey(ranges.maker.tree, in: ranges.ranges) { (key) throws(StoreError) in
        let row = try KeyDecoder.rowID(atEndOf: key).id
        if let last, row <= last { isAscending = false }
        last = row
        rows.append(row)
        return true
      }
    }
    return Self.ascending(rows, isAscending: isAscending)
  }

  private func rows(
    of related: RelatedRows, _ isCancelled: (@Sendable () -> Bool)?
  ) throws(EngineError) -> [UInt64] {
    switch (related.way, related.ends) {
    case (.toOne(let tree), .rows(let ends)): return try sources(of: ends, tree)
    case (.toOne(let tree), .found(let destination, let plan)):
      if let known = related.known { return try sources(of: known, tree) }
      var ends: [UInt64] = []
      try find(plan, in: destination, isCancelled) { (row) throws(EngineError) in
        ends.append(row.reference.row)
        return true
      }
      return try sources(of: ends, tree)
    case (.toMany(let inverse), .found(let destination, let plan)):
      var rows: [UInt64] = []
      var known: (layout: UInt16, field: Int?)?
      try find(plan, in: destination, isCancelled) { (row) throws(EngineError) in
        if known?.layout != row.layoutID { known = (row.layoutID, row.layout.fieldByName[inverse.name]) }
        guard let field = known?.field else { return true }
        let record = row.record
        let owner = try storing { () throws(StoreError) in try record.reference(at: field) }
        if let owner { rows.append(PackedReference.unpack(owner).row) }
        return true
      }
      return related.least > 1 ? Self.occurring(rows, related.least) : Self.ascending(rows, isAscending: false)
    case (.inverse(let inverse), .found(let destination, let plan)):
      var ends: [UInt64] = related.known ?? []
      if related.known == nil {
        try find(plan, in: destination, isCancelled) { (row) throws(EngineError) in
          ends.append(row.reference.row)
          return true
        }
      }
      let rows = try sources(of: ends, destination, inverse)
      return related.least > 1 ? Self.occurring(rows, related.least) : Self.ascending(rows, isAscending: false)
    case (.toMany, .rows(let ends)), (.inverse, .rows(let ends)): return ends
    }
  }

  /// The rows that an inverse leads to from some objects.
  private func sources(
    of ends: [UInt64], _ destination: EntitySchema, _ inverse: RelationshipSchema
  ) throws(EngineError) -> [UInt64] {
    let reader = try destinations(of: inverse)
    var rows: [UInt64] = []
    for end in ends {
      try reader.forEachID(from: ObjectReference(entity: destination.id, row: end)) { (row) in
        rows.append(row)
        return true
      }
    }
    return rows
  }

  /// The rows that a relationship's tree leads back to.
  private func sources(of ends: [UInt64], _ tree: TreeID) throws(EngineError) -> [UInt64] {
    _ = try settle()
    let found = try storing { () throws(StoreError) in try trees.rowIDs(tree, leadingFrom: ends) }
    return Self.ascending(found.ids, isAscending: found.isAscending)
  }

  /// Lends `visit` the rows of an entity and its descendants that a plan finds.
  func find(
    _ plan: FetchPlan, in entity: EntitySchema, _ isCancelled: (@Sendable () -> Bool)?, _ visit: Visit
  ) throws(EngineError) {
    var plan = plan
    plan.isCancelled = isCancelled
    let reader = reader(for: plan)
    try candidates(plan, try store.plan(entity.id), includesSubentities: true, reader, readsElsewhere: false, visit)
  }

  // MARK: Rows of a plan

  /// Lends `visit` every row that a plan finds, in the order of a scan, until it answers false. `readsElsewhere` says
  /// that it reads other rows meanwhile.
  func candidates(
    _ chosen: FetchPlan, _ plan: EntityPlan, includesSubentities: Bool, _ reader: PathReader, readsElsewhere: Bool,
    _ visit: Visit
  ) throws(EngineError) {
    let sieve = try sieve(chosen, plan, includesSubentities: includesSubentities, reader)
    try candidates(chosen, plan, sieve, readsElsewhere: readsElsewhere, visit)
  }

  /// The sieve for ``candidates(_:_:_:readsElsewhere:_:)``. Where rows are not all looked at, what is asked of objects
  /// related to them is asked before them, and of many at once.
  func sieve(
    _ chosen: FetchPlan, _ plan: EntityPlan, includesSubentities: Bool, _ reader: PathReader
  ) throws(EngineError) -> RowSieve {
    var residual = chosen.residual
    var tests: [RelatedTest] = []
    if !chosen.path.isScan, let predicate = residual, let conjuncts = Conjunct.all(of: predicate) {
      var asked: [Int] = []
      for (place, conjunct) in conjuncts.enumerated() {
        guard let test = RelatedTest(conjunct.predicate, plan.entity, reader), test.isForAnyRow || !plan.sharesRows
        else {
          continue
        }
        tests.append(test)
        asked.append(place)
      }
      if !tests.isEmpty { residual = FetchPlanner.joined(conjuncts, except: asked) }
    }
    let sieve = try RowSieve(self, plan, residual, includesSubentities: includesSubentities, reader)
    sieve.tests = tests
    return sieve
  }

  /// The same by a sieve that is made already.
  func candidates(
    _ chosen: FetchPlan, _ plan: EntityPlan, _ sieve: RowSieve, readsElsewhere: Bool, _ visit: Visit
  ) throws(EngineError) {
    sieve.isCancelled = chosen.isCancelled
    guard let rows = try rows(of: chosen.path, isCancelled: chosen.isCancelled) else {
      var failure: EngineError?
      try storing { () throws(StoreError) in
        try trees.forEachRun(plan.rows, isSparse: sieve.readsSparsely) { (run) throws(StoreError) -> Bool in
          do throws(EngineError) { return try sieve.offer(run, visit) } catch {
            failure = error
            return false
          }
        }
      }
      if let failure { throw failure }
      return
    }
    if sieve.tests.isEmpty {
      try offer(rows, plan, sieve, inPlace: !readsElsewhere, visit)
      return
    }
    var goesOn = true
    var rest = rows[...]
    // Who wants few rows should not have much done for them.
    var size = 32
    while goesOn, !rest.isEmpty {
      if let isCancelled = chosen.isCancelled, isCancelled() { throw .cancelled }
      var part = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      size = min(2 * size, 1024)
      for test in sieve.tests where !part.isEmpty { part = try test.holding(part[...], plan.entity.id) }
      try offer(part, plan, sieve, inPlace: !readsElsewhere) { (row) throws(EngineError) in
        goesOn = try visit(row)
        return goesOn
      }
    }
  }

  /// Offers each of some rows, best ascending, until `visit` has enough. Answers whether to go on. A row is lent in
  /// place only where nothing else is read meanwhile: pages that are read while one is lent cannot be kept in the
  /// cache.
  @discardableResult
  func offer(
    _ rows: [UInt64], _ plan: EntityPlan, _ sieve: RowSieve, inPlace: Bool, _ visit: Visit
  ) throws(EngineError) -> Bool {
    if let range = Self.denseRange(rows) { return try offer(rows, in: range, plan, sieve, visit) }
    var rest = rows[...]
    if inPlace, !sieve.readsElsewhere {
      var failure: EngineError?
      var goesOn = true
      var isDone = true
      try storing { () throws(StoreError) in
        try trees.forEach(plan.rows, of: rest) { (row, bytes) throws(StoreError) -> Bool in
          do throws(EngineError) { goesOn = try sieve.offerSingle(bytes, row, visit) } catch { failure = error }
          if failure != nil || !goesOn { return false }
          // Rows of other layouts may have to be asked elsewhere; the others then follow by themselves.
          if !sieve.readsElsewhere { return true }
          rest = rest.firstIndex(of: row).map { rest[($0 + 1)...] } ?? []
          isDone = false
          return false
        }
      }
      if let failure { throw failure }
      if isDone || !goesOn { return goesOn }
    }
    for row in rest where try !offer(row, plan, sieve, visit) { return false }
    return true
  }

  /// The numbers from the first row to the last one, if the rows ascend and are many of these numbers; else nil.
  private static func denseRange(_ rows: [UInt64]) -> ClosedRange<UInt64>? {
    guard rows.count >= 64, let first = rows.first, let last = rows.last, first < last,
      last - first < 8 * UInt64(rows.count)
    else { return nil }
    for i in rows.indices.dropFirst() where rows[i - 1] >= rows[i] { return nil }
    return first...last
  }

  /// Offers rows that lie so close to one another that going through all rows between them costs less than seeking
  /// each.
  private func offer(
    _ rows: [UInt64], in range: ClosedRange<UInt64>, _ plan: EntityPlan, _ sieve: RowSieve, _ visit: Visit
  ) throws(EngineError) -> Bool {
    var next = 0
    var goesOn = true
    var failure: EngineError?
    try storing { () throws(StoreError) in
      try trees.forEachRun(plan.rows, keys: range, isSparse: false) { (run) throws(StoreError) -> Bool in
        var i = run.indices.lowerBound
        let last = run.indices.upperBound - 1
        while i <= last {
          let key = run.key(i)
          while next < rows.count, rows[next] < key { next &+= 1 }
          if next == rows.count { return false }
          let wanted = rows[next]
          if wanted != key {
            // Numbers ascend, so the wanted row is at most so many entries away: exactly so many if none is missing.
            let away = Int(truncatingIfNeeded: min(wanted &- key, UInt64(truncatingIfNeeded: last &- i)))
            let found = away == 0 ? key : run.key(i &+ away)
            i &+= found <= wanted ? max(1, away) : 1
            if found != wanted { continue }
          }
          do throws(EngineError) { goesOn = try sieve.offerSingle(run.value(i), wanted, visit) } catch {
            failure = error
          }
          if failure != nil || !goesOn { return false }
          i &+= 1
        }
        return true
      }
    }
    if let failure { throw failure }
    return goesOn
  }

  /// Offers a copy of a row. Answers whether to go on.
  func offer(
    _ row: UInt64, _ plan: EntityPlan, _ sieve: RowSieve, _ visit: Visit
  ) throws(EngineError) -> Bool {
    let copy = try storing { () throws(StoreError) in try trees.value(plan.rows, row) }
    guard let copy else { return true }
    return try copy.withUnsafeBytesEngine { (b) throws(EngineError) in try sieve.offerSingle(b, row, visit) }
  }
}
