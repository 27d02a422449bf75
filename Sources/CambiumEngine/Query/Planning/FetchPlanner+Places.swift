import CambiumKernel

extension FetchPlanner {
  /// The ways to find rows by the places that a spatial index has.
  func places(_ conjuncts: [Conjunct], _ maker: KeyMaker) throws(EngineError) -> [Narrowing] {
    #if CAMBIUM_NO_SPATIAL
      return []
    #else
      var found: [Narrowing] = []
      for condition in SpatialCondition.all(conjuncts, maker) {
        let rows = try view.estimatedCount(maker.tree, in: condition.area)
        found.append(
          Narrowing(
            path: .places(PlaceRows(maker: maker, area: condition.area)), rows: rows,
            cost: rows * costs.place + 4 * costs.range, covered: condition.covered))
      }
      return found
    #endif
  }

  /// A plan that goes through a spatial index from a place on, and stops when there are enough; nil if the order is
  /// another one, or no index has the places.
  func nearest(
    _ sort: [EngineSort], _ conjuncts: [Conjunct], matches: Double, wanted: Int
  ) throws(EngineError) -> FetchPlan? {
    #if CAMBIUM_NO_SPATIAL
      return nil
    #else
      guard sort.count == 1, let key = sort.first, key.isAscending else { return nil }
      for maker in spatialMakers where isUsable(maker, conjuncts) {
        guard let distance = SpatialDistance(key, maker) else { continue }
        let rest = FetchPlanner.joined(conjuncts, except: [])
        let share = min(1, Double(wanted) / matches)
        // Rows without a place come last, and are looked for among all.
        let others = share < 1 ? 0 : rowCount * costs.scannedRow
        let cost =
          4 * costs.range + rowCount * share * (4 * costs.place + costs.strayRow + (rest == nil ? 0 : costs.scannedRow))
          + others
        return FetchPlan(
          path: .scan, residual: rest,
          nearest: NearestOrder(
            maker: maker, distance: distance, area: SpatialCondition.all(conjuncts, maker).first?.area),
          rows: rowCount * share, cost: cost)
      }
      return nil
    #endif
  }
}
