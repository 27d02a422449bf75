import CambiumKernel

extension EntityView {
  /// Lends `visit` the rows that a plan finds, the nearest first, until it answers false.
  func forEach(
    _ order: NearestOrder, _ fetch: EngineFetch, _ chosen: FetchPlan, _ reader: PathReader, _ visit: Visit
  ) throws(EngineError) {
    #if CAMBIUM_NO_SPATIAL
      // No plan has such an order.
    #else
      let plan = try store.plan(fetch.entity.id)
      let sieve = try RowSieve(self, plan, chosen.residual, includesSubentities: fetch.includesSubentities, reader)
      sieve.isCancelled = chosen.isCancelled
      let tree = order.maker.tree
      var limit = Double.infinity
      if case .around(let distance, let measure)? = order.area, distance == order.distance { limit = measure }
      let wanted = fetch.limit.map { max(0, $0).addingSaturating(max(0, fetch.offset)) } ?? .max
      let few = try nearestFew(tree, order.distance, wanted: wanted, upTo: limit)
      if let few, try !offer(few.places.map { $0.row }, plan, sieve, inPlace: true, visit) { return }
      if !(few?.isAll ?? false) {
        let isAll = try forEachNearest(
          tree, order.distance, after: few?.places.last, upTo: limit
        ) { (found) throws(EngineError) in try offer(found.row, plan, sieve, visit) }
        if !isAll { return }
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
    #endif
  }
}
