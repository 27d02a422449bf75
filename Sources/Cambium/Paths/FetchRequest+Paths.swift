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

extension FetchRequest {
  /// Adds a condition on a class's properties to the predicate of a request for something else than its objects: for
  /// identifiers, values, or objects of a superclass.
  ///
  ///     let request = FetchRequest<ManagedObjectID>(entityName: "Aircraft")
  ///     request.filter(of: Aircraft.self) { $0.tailNumber.beginsWith("N") }
  @discardableResult
  public func filter<Object: FetchPaths>(
    of type: Object.Type, _ condition: (Object.Paths) throws -> FetchPredicate
  ) rethrows -> FetchRequest {
    let condition = try condition(Object.paths)
    predicate = predicate.map { $0 && condition } ?? condition
    return self
  }

  /// Adds keys of a class's properties to the order, each less significant than those before it: see ``filter(of:_:)``.
  @discardableResult
  public func sort<Object: FetchPaths>(
    of type: Object.Type, _ keys: (Object.Paths) throws -> [FetchSortDescriptor]
  ) rethrows -> FetchRequest {
    sortDescriptors = (sortDescriptors ?? []) + (try keys(Object.paths))
    return self
  }
}
