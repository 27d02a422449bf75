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
  /// How many are looked for at first when it is not known how many are wanted.
  private static let firstNearest = 16

  /// The places of a spatial index that are nearest to one, or nil if it is not worth while to look for them by
  /// themselves; and whether there are no others. `wanted` is about how many that will be.
  func nearestFew(
    _ tree: TreeID, _ distance: SpatialDistance, wanted: Int, upTo limit: Double
  ) throws(EngineError) -> (places: [NearestPlaces.Found], isAll: Bool)? {
    let count = wanted == .max ? Self.firstNearest : wanted
    return try storing { () throws(StoreError) in
      let places = try NearestFew.find(trees, tree, distance, wanted: count, upTo: limit)
      return places.map { ($0, $0.count < count) }
    }
  }

  /// Tells `visit` the places of a spatial index that come after one, or all of them, the nearest first, equally near
  /// ones by row, until it answers false. Answers whether it has seen all.
  func forEachNearest(
    _ tree: TreeID, _ distance: SpatialDistance, after last: NearestPlaces.Found?, upTo limit: Double,
    _ visit: (NearestPlaces.Found) throws(EngineError) -> Bool
  ) throws(EngineError) -> Bool {
    var places = NearestPlaces(try storing { () throws(StoreError) in try trees.cursor(tree) }, distance, upTo: limit)
    while true {
      let next: NearestPlaces.Found?
      do throws(StoreError) { next = try places.next() } catch { throw .store(error) }
      guard let next else { return true }
      if let last, !last.precedes(next) { continue }
      if try !visit(next) { return false }
    }
  }

  /// The same from the nearest on; `wanted` is about how many that will be.
  func forEachNearest(
    _ tree: TreeID, _ distance: SpatialDistance, wanted: Int, upTo limit: Double,
    _ visit: (NearestPlaces.Found) throws(EngineError) -> Bool
  ) throws(EngineError) {
    let few = try nearestFew(tree, distance, wanted: wanted, upTo: limit)
    if let few {
      for found in few.places where try !visit(found) { return }
      if few.isAll { return }
    }
    _ = try forEachNearest(tree, distance, after: few?.places.last, upTo: limit, visit)
  }
}
