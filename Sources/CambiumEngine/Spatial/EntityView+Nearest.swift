import CambiumKernel

extension ResolvedPath {
  /// Whether the path leads to a composite that `distanceToLocation:fromLocation:` takes.
  var isPlace: Bool {
    guard !isToMany, let attribute, attribute.type == .composite else { return false }
    return attribute.element(named: "latitude")?.type.isNumeric ?? false
      && attribute.element(named: "longitude")?.type.isNumeric ?? false
  }
}

extension EntityView {
  /// Lends `visit` the rows that a plan finds, the nearest first, until it answers false.
  func forEach(
    _ order: NearestOrder, _ fetch: EngineFetch, _ chosen: FetchPlan, _ reader: PathReader, _ visit: Visit
  ) throws(EngineError) {
    let plan = try store.plan(fetch.entity.id)
    let sieve = try RowSieve(self, plan, chosen.residual, includesSubentities: fetch.includesSubentities, reader)
    sieve.isCancelled = chosen.isCancelled
    let tree = order.maker.tree
    let cursor = try storing { () throws(StoreError) in try trees.cursor(tree) }
    var limit = Double.infinity
    if case .around(let distance, let measure)? = order.area, distance == order.distance { limit = measure }
    var places = NearestPlaces(cursor, order.distance, upTo: limit)
    while true {
      let found: NearestPlaces.Found?
      do throws(StoreError) { found = try places.next() } catch { throw .store(error) }
      guard let found else { break }
      if try !offer(found.row, plan, sieve, visit) { return }
    }
    // Those without a distance, by row.
    guard let key = fetch.sort.first else { return }
    var rest = chosen
    if let area = order.area { rest.path = .places(PlaceRows(maker: order.maker, area: area)) }
    try candidates(
      rest, plan, includesSubentities: fetch.includesSubentities, reader, readsElsewhere: true
    ) { (row) throws(EngineError) in
      let value = try reader.value(key.keyPath, row.record, row.layout, row.reference)
      return key.key(value) == .double(.infinity) ? try visit(row) : true
    }
  }
}
