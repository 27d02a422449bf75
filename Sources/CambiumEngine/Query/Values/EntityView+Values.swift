import CambiumKernel

extension EntityView {
  /// The results of a fetch of values: for each the values of its columns. Rows are gone through once, and no objects
  /// are built.
  ///
  /// Where the order leaves it open, results come in the order in which the first of their objects does in a fetch.
  /// Distinct results without offset and limit may come in any order there, because an index has another one.
  ///
  /// - Throws: as ``EngineValuesFetch/check(against:)`` and ``fetch(_:)``.
  public func fetchValues(_ request: EngineValuesFetch) throws(EngineError) -> [[Value]] {
    var results: [[Value]] = []
    try forEachValues(request) { (values) throws(EngineError) in
      results.append(values)
      return true
    }
    return results
  }

  /// Hands `body` the results of ``fetchValues(_:)``, one by one, until it answers false.
  ///
  /// Where there are neither groups nor an order, each is handed over as soon as it is found and then forgotten (of a
  /// distinct fetch, known); so it is in an order that an index has. Of a distinct fetch without a limit, they are
  /// handed over in the end. `body` must not write through a transaction whose view this is.
  ///
  /// - Throws: as ``fetchValues(_:)``, and what `body` throws.
  public func forEachValues(
    _ request: EngineValuesFetch, _ body: ([Value]) throws(EngineError) -> Bool
  ) throws(EngineError) {
    let design = try ValuesDesign(request, store.schema)
    if let limit = request.fetch.limit, limit <= 0 { return }
    var state = evaluationState()
    var collector = ValuesCollector(design, request, state)
    let objects = objects(of: request, design)
    if let groups = try indexGroups(request, design), let found = try slots(of: groups, request, design) {
      for slots in found where try design.having?.holds(ofSlots: slots, &state) ?? true {
        if try !collector.add(slots) { break }
      }
    } else if isDistinctOfAll(request, design), let index = try distinctIndex(request, design),
      let found = try distinctSlots(by: index, request, design)
    {
      collector.hasDistinctSlots(design)
      if index.isInOrder { collector.comesInOrder() }
      for slots in found where try !collector.add(slots) { break }
    } else if design.isGrouped || isDistinctOfAll(request, design) {
      if !design.isGrouped { collector.hasDistinctSlots(design) }
      for slots in try groups(objects.fetch, design) where try design.having?.holds(ofSlots: slots, &state) ?? true {
        if try !collector.add(slots) { break }
      }
    } else {
      let reader = ValuesReader(self, design.read)
      var place = 0
      try forEach(objects.fetch) { (row) throws(EngineError) in
        var slots: [Value] = []
        slots.reserveCapacity(design.read.count)
        try reader.read(row, into: &slots)
        if !objects.isInOrder { return try collector.add(slots) }
        guard let values = try collector.values(of: slots) else { return true }
        if objects.isPart { return try body(values) }
        place += 1
        if place <= collector.offset { return true }
        if try !body(values) { return false }
        return collector.wanted.map { place < $0 } ?? true
      }
      if objects.isInOrder { return }
    }
    for values in collector.finish() where try !body(values) { return }
  }

  /// Whether results are wanted once each, and all of them have to be known before the first one. They are groups
  /// then, of which nothing is gathered.
  private func isDistinctOfAll(_ request: EngineValuesFetch, _ design: ValuesDesign) -> Bool {
    !design.isGrouped && request.isDistinct && !design.read.isEmpty
      && (request.fetch.limit == nil || !design.order.isEmpty)
  }

  /// Of which objects results are made: whether they come in the order of the results, and whether they are those of
  /// the results alone, offset and limit taken into account.
  private func objects(
    of request: EngineValuesFetch, _ design: ValuesDesign
  ) -> (fetch: EngineFetch, isInOrder: Bool, isPart: Bool) {
    var fetch = request.fetch
    fetch.sort = []
    let order = design.isGrouped ? nil : design.orderOfObjects
    // Of equal results the first counts, wherever its object stands in an order.
    let isInOrder = order.map { $0.isEmpty || !request.isDistinct } ?? false
    let isPart = isInOrder && !request.isDistinct
    if isInOrder { fetch.sort = order ?? [] }
    if !isPart {
      fetch.offset = 0
      fetch.limit = nil
    }
    return (fetch, isInOrder, isPart)
  }

  /// How a fetch of values is done: how its objects are found, and what is made of them; with `running`, also how many
  /// results there are, for which it is done.
  ///
  /// - Throws: what ``fetchValues(_:)`` throws.
  public func explain(
    _ request: EngineValuesFetch, running: Bool = false
  ) throws(EngineError) -> QueryExplanation {
    let design = try ValuesDesign(request, store.schema)
    let objects = objects(of: request, design)
    var explanation: QueryExplanation
    var isInOrder = objects.isInOrder
    // Whether there are too many groups is known once they were looked for.
    if let groups = try indexGroups(request, design), try slots(of: groups, request, design) != nil {
      explanation = QueryExplanation(groups)
    } else if isDistinctOfAll(request, design), let index = try distinctIndex(request, design),
      try distinctSlots(by: index, request, design) != nil
    {
      explanation = QueryExplanation(index)
      isInOrder = index.isInOrder
    } else {
      explanation = try explain(objects.fetch)
    }
    if design.isGrouped {
      var paths = ""
      for path in request.groupBy { paths += paths.isEmpty ? path : ", " + path }
      explanation.add(paths.isEmpty ? "taken together" : "grouped by " + paths, nil, 0)
      if let having = request.having { explanation.add("of the groups, those for which " + having.description, nil, 0) }
    }
    if request.isDistinct { explanation.add("equal results left out", nil, 0) }
    if !isInOrder, !design.order.isEmpty {
      explanation.addOrder(of: request.fetch)
    }
    if running { explanation.actualRows = try fetchValues(request).count }
    return explanation
  }

  /// The slots of each group, the groups in the order in which their first objects come.
  private func groups(_ objects: EngineFetch, _ design: ValuesDesign) throws(EngineError) -> [[Value]] {
    let gatherer = GroupGatherer(self, design, try store.plan(objects.entity.id).layout)
    try forEach(objects) { (row) throws(EngineError) in
      try gatherer.take(row)
      return true
    }
    return gatherer.finish()
  }
}
