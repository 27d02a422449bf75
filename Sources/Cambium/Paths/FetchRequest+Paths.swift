extension FetchRequest where Result: FetchPaths {
  /// Adds a condition on the class's properties to the predicate.
  @discardableResult
  public func filter(_ condition: (Result.Paths) throws -> FetchPredicate) rethrows -> FetchRequest {
    let condition = try condition(Result.paths)
    predicate = predicate.map { $0 && condition } ?? condition
    return self
  }

  /// Adds keys to the order, each less significant than those before it.
  ///
  ///     request.sort { [$0.tailNumber.ascending, $0.colorScheme.primary.descending] }
  @discardableResult
  public func sort(_ keys: (Result.Paths) throws -> [FetchSortDescriptor]) rethrows -> FetchRequest {
    sortDescriptors = (sortDescriptors ?? []) + (try keys(Result.paths))
    return self
  }
}
