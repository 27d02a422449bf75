import CambiumKernel

/// Finds the rows of an entity whose places lie in an area, or are nearest to a place, by an R-tree index.
///
/// Made by ``EntityView/spatialSearch(_:by:includesSubentities:)``. It sees what its view sees; in a transaction, also
/// what was written since it was made. One thread at a time uses it.
///
///     let places = try view.spatialSearch(airport, by: ["place.location.latitude", "place.location.longitude"])
///     let alps = try places.references(in: SpatialBox(x: 45...48, y: 6...14))
///     let near = try places.nearest(toX: 46.5, y: 8.0, limit: 10, metric: .greatCircle())
///
/// Coordinates are the doubles nearest to the values of the attributes, in the order of the paths; dates count in
/// seconds since 2001. Rows in which one is null have no place.
public final class SpatialSearch {
  /// A row and its distance.
  public struct Neighbour: Equatable, Sendable {
    /// The object.
    public var reference: ObjectReference
    /// How far away it is.
    public var distance: Double
  }

  private let view: EntityView
  private let plan: EntityPlan
  private let maker: KeyMaker
  private let includesSubentities: Bool

  init(_ view: EntityView, _ plan: EntityPlan, _ maker: KeyMaker, includesSubentities: Bool) {
    self.view = view
    self.plan = plan
    self.maker = maker
    self.includesSubentities = includesSubentities
  }

  /// The objects whose places are in a box, its edges included, by row. O(log n + objects found + those near the
  /// edges).
  public func references(in box: SpatialBox) throws(EngineError) -> [ObjectReference] {
    let rows = try view.rows(maker.tree, in: .box(box))
    var found: [ObjectReference] = []
    found.reserveCapacity(rows.count)
    for row in rows { if let reference = try reference(row) { found.append(reference) } }
    return found
  }

  /// The objects nearest to a place, the nearest first, equally near ones by row. O((limit + log n) log n) on average.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - within: Objects further away are left out.
  ///   - metric: What the distance is. In a plane, distances are told apart by their squares: coordinates beyond 1e154
  ///     are all equally far.
  /// - Throws: ``EngineError/misuse(_:)`` if a coordinate is infinite or not a number; kernel errors.
  public func nearest(
    toX x: Double, y: Double, limit: Int = .max, within: Double = .infinity, metric: SpatialMetric = .euclidean
  ) throws(EngineError) -> [Neighbour] {
    guard let distance = SpatialDistance(metric, fromX: x, y: y) else {
      throw .misuse("a search for the nearest places begins at a place with finite coordinates")
    }
    _ = try view.settle()
    var result: [Neighbour] = []
    if limit <= 0 { return result }
    let measure = within < .infinity ? distance.measure(ofDistance: max(0, within)) : .infinity
    try view.forEachNearest(maker.tree, distance, wanted: limit, upTo: measure) { (found) throws(EngineError) in
      let apart = distance.distance(found.measure)
      if !(apart <= within) { return false }
      if let reference = try reference(found.row) { result.append(Neighbour(reference: reference, distance: apart)) }
      return result.count < limit
    }
    return result
  }

  /// The object of a row; nil if it is of an entity that is not asked for.
  private func reference(_ row: UInt64) throws(EngineError) -> ObjectReference? {
    guard plan.sharesRows else { return ObjectReference(entity: plan.entity.id, row: row) }
    var reference: ObjectReference?
    try view.lendRow(plan.rows, row) { (reader) throws(EngineError) in
      if view.isMember(reader.reference.entity, plan, includesSubentities) { reference = reader.reference }
    }
    return reference
  }
}

extension EntityView {
  /// Prepares searching by places, with an R-tree index on two key paths, in its order, that is not partial.
  ///
  /// - Throws: ``EngineError/unsupported(_:)`` if the entity and its ancestors have no such index, or it is not built
  ///   yet.
  public func spatialSearch(
    _ entity: EntitySchema, by paths: [String], includesSubentities: Bool = true
  ) throws(EngineError) -> SpatialSearch {
    let plan = try store.plan(entity.id)
    let unfinished = try unfinishedIndexes(plan)
    var isBuilding = false
    for maker in plan.spatialIndexes where maker.partial == nil && maker.paths == paths {
      if !unfinished.contains(maker.tree) {
        return SpatialSearch(self, plan, maker, includesSubentities: includesSubentities)
      }
      isBuilding = true
    }
    var text = ""
    for path in paths { text += text.isEmpty ? path : ", " + path }
    if isBuilding {
      throw .unsupported(
        "the R-tree index of \(entity.name) on (\(text)) is not built yet, since a migration has put that off: finish the "
          + "deferred migration, or fetch with a predicate until then")
    }
    throw .unsupported("\(entity.name) has no R-tree index on (\(text)): fetch with a predicate instead")
  }

  /// The rows whose entries in a spatial index lie in an area, in the order of a scan.
  func rows(_ tree: TreeID, in area: SpatialArea) throws(EngineError) -> [UInt64] {
    _ = try settle()
    var rows: [UInt64] = []
    do throws(StoreError) {
      var walk = SpatialWalk(try trees.cursor(tree), area)
      try walk.run { (_, row) throws(StoreError) in
        rows.append(row)
        return true
      }
    } catch { throw .store(error) }
    rows.sort()
    return rows
  }
}
