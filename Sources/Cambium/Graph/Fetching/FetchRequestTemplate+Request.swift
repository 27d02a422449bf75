extension FetchRequestTemplate {
  /// Makes a request with values for all variables of the predicate. See
  /// ``FetchPredicate/withSubstitutionVariables(_:)``.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate`` for a predicate that cannot be read, or a variable without a
  ///   value.
  public func request<R: FetchRequestResult>(
    substituting variables: [String: Any?] = [:], as type: R.Type = ManagedObject.self
  ) throws -> FetchRequest<R> {
    let request = FetchRequest<R>(entityName: entityName)
    request.fetchLimit = fetchLimit
    for (name, value) in userInfo { Self.set(name, value, in: request) }
    if let predicateFormat {
      request.predicate = try FetchPredicate(format: predicateFormat).withSubstitutionVariables(variables)
      if let open = request.predicate?.variableNames.first {
        throw CambiumError(
          .invalidPredicate, "the predicate '\(predicateFormat)' needs a value for $\(open)", entityName: entityName)
      }
    }
    return request
  }

  /// Sets what a model file says of a request; what is not known, or has another value, changes nothing.
  private static func set<R: FetchRequestResult>(_ name: String, _ value: String, in request: FetchRequest<R>) {
    if name == "fetchBatchSize" {
      if let size = Int(value), size >= 0 { request.fetchBatchSize = size }
      return
    }
    let isOn: Bool
    switch value {
    case "YES", "true", "1": isOn = true
    case "NO", "false", "0": isOn = false
    default: return
    }
    // Versions of the model editor spell them with and without s.
    switch name {
    case "includeSubentities", "includesSubentities": request.includesSubentities = isOn
    case "includePropertyValues", "includesPropertyValues": request.includesPropertyValues = isOn
    case "includePendingChanges", "includesPendingChanges": request.includesPendingChanges = isOn
    case "returnObjectsAsFault", "returnObjectsAsFaults", "returnsObjectsAsFaults":
      request.returnsObjectsAsFaults = isOn
    case "returnDistinctResults", "returnsDistinctResults": request.returnsDistinctResults = isOn
    default: break
    }
  }
}

extension ManagedObjectModel {
  /// A request made of a stored one, with values for all its variables (`["NAME": "Ada"]` for `$NAME`; `nil` and values
  /// that are not mentioned are allowed). `nil` if the model has no template of the name.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate`` for a variable without a value (Core Data raises), or a value
  ///   that no attribute can have.
  public func fetchRequestFromTemplate<R: FetchRequestResult>(
    withName name: String, substitutionVariables: [String: Any?], as type: R.Type = ManagedObject.self
  ) throws -> FetchRequest<R>? {
    guard let template = storedTemplates[name] else { return nil }
    do { return try template.request(substituting: substitutionVariables, as: type) } catch var error as CambiumError {
      error.message = "fetch request template '\(name)': " + error.message
      throw error
    }
  }
}
