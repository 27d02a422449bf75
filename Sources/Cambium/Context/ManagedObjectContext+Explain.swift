import CambiumEngine

extension ManagedObjectContext {
  /// How a fetch is done by the stores, for people to read: which indexes are used, what is asked of each object, and about how
  /// many there are to it. What is pending in the context is no part of it.
  ///
  ///     print(try context.explain(request))
  ///     // one value of index 'byTail' on (tailNumber), about 12 rows
  ///     // of these, those for which minutes > 60
  ///
  /// Of several stores, each has a part of its own, under its file's name. Core Data has no counterpart; SQLite's is
  /// `EXPLAIN QUERY PLAN`. The text may change from version to version.
  ///
  /// - Parameters:
  ///   - request: What would be fetched.
  ///   - running: Whether to fetch it as well, and to say how many objects were found.
  /// - Throws: what ``fetch(_:)`` throws for a request that cannot be done.
  /// - Complexity: O(log n) without `running`.
  @_optimize(none)
  public func explain<Result: FetchRequestResult>(
    _ request: FetchRequest<Result>, running: Bool = false
  ) throws -> String {
    try lock.run {
      let plan = try plan(request)
      advance()
      return try plan.parts.map { try explain($0, plan, running: running) }.joined(separator: "\n")
    }
  }

  @_optimize(none)
  private func explain(
    _ part: (store: PersistentStore, info: EntityInfo), _ plan: FetchPlan, running: Bool
  ) throws -> String {
    var fetch = try engineFetch(plan, part.info)
    if plan.parts.count == 1 {
      fetch.offset = plan.offset
      fetch.limit = plan.limit
    }
    let view = try view(of: part.store.space)
    let explanation = try mappingFetch { () throws(EngineError) in try view.explain(fetch, running: running) }
    let name = plan.parts.count > 1 ? (part.store.url?.lastPathComponent ?? "in memory") + ":\n" : ""
    return name + explanation.description
  }
}
