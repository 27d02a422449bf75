/// What to fetch.
public struct EngineFetch: Sendable {
  /// The entity.
  public var entity: EntitySchema
  /// Whether objects of its descendants count as well.
  public var includesSubentities = true
  /// Which objects; nil for all.
  public var predicate: Predicate?
  /// The order; where that leaves it open, by row.
  public var sort: [EngineSort] = []
  /// How many to leave out at the start.
  public var offset = 0
  /// How many at most; nil for all.
  public var limit: Int?
  /// Whether indexes and the like may be used; else every row is looked at. The results are the same: for who doubts
  /// that.
  public var usesIndexes = true
  /// Asked now and then, also by several threads at a time, whether the fetch is to end with ``EngineError/cancelled``;
  /// also while no object is found.
  public var isCancelled: (@Sendable () -> Bool)?
  /// What the plan is chosen by.
  var costs = PlanCosts.measured

  /// A fetch of all objects of an entity.
  public init(_ entity: EntitySchema, predicate: Predicate? = nil) {
    self.entity = entity
    self.predicate = predicate
  }
}
