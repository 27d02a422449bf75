// The step from fetched values to the results that a request promises.
extension FetchRequest {
  /// Refreshes and loads fetched objects as far as the request asks for it.
  func prepare(_ objects: [ManagedObject], in context: ManagedObjectContext) throws {
    if shouldRefreshRefetchedObjects {
      for object in objects where object.isUpdated { context.rebase(object) }
    }
    if !returnsObjectsAsFaults {
      for object in objects where object.isFault { try object.load() }
    }
  }

  /// Returns values as results of the request.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` if a value is not a `Result`.
  func cast<T>(_ values: [T]) throws -> [Result] {
    if T.self == ManagedObject.self, let objectClass = Result.self as? ManagedObject.Type {
      // The cast is safe because both are arrays of references, and every element has the class.
      let objects = unsafeBitCast(values, to: [ManagedObject].self)
      if objects.allSatisfy({ type(of: $0) == objectClass }) { return unsafeBitCast(objects, to: [Result].self) }
    }
    if let results = values as? [Result] { return results }
    throw CambiumError(
      .invalidArgument,
      "the fetch of '\(entityName ?? "")' gives \(T.self), which is not always a \(Result.self); give the entity "
        + "its class in the model, or fetch ManagedObject", entityName: entityName)
  }
}
