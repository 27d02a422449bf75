import CambiumEngine

extension FetchPredicate {
  /// Whether an object matches, by its present values.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate`` for a key path that the entity does not have, or a part that is
  ///   not supported; what reading the object throws.
  @_disfavoredOverload public func evaluate(with object: ManagedObject) throws -> Bool {
    let predicate = try checked(for: object.info, inMemory: true)
    var state = Self.evaluationState(for: predicate)
    return try Self.evaluate(predicate, object, &state)
  }

  static func evaluate(
    _ predicate: CambiumEngine.Predicate, _ object: ManagedObject, _ state: inout EvaluationState
  ) throws -> Bool {
    do throws(PredicateEvaluationError<any Error>) {
      return try predicate.evaluate(&state) { reference, path in
        guard let reference else { return try object.engineValue(keyPath: path) }
        return try object.engineValue(of: reference, keyPath: path)
      }
    } catch {
      switch error {
      case .predicate(let error): throw CambiumError(.invalidPredicate, "\(error)", underlying: [error])
      case .value(let error): throw error
      }
    }
  }
}
