// What is said of groups is evaluated without objects: its variables are called after the slots that have their values.

extension Predicate {
  /// Whether a condition on slots holds.
  func holds(ofSlots slots: [Value], _ state: inout EvaluationState) throws(EngineError) -> Bool {
    state.setSlots(slots)
    do throws(PredicateEvaluationError<PredicateError>) {
      return try evaluate(&state) { (_: ObjectReference?, path: String) throws(PredicateError) -> Value in
        throw .unboundVariable(path)
      }
    } catch { throw EngineError(error) }
  }
}

extension Expression {
  /// What an expression of slots gives.
  func value(ofSlots slots: [Value], _ state: inout EvaluationState) throws(EngineError) -> Value {
    state.setSlots(slots)
    do throws(PredicateEvaluationError<PredicateError>) {
      return try read(
        &state,
        { (_: ObjectReference?, path: String) throws(PredicateError) -> Value in throw .unboundVariable(path) },
        depth: 0)
    } catch { throw EngineError(error) }
  }
}

extension EvaluationState {
  fileprivate mutating func setSlots(_ slots: [Value]) {
    for (slot, value) in slots.enumerated() { variables["\(slot)"] = value }
  }
}

extension EngineError {
  fileprivate init(_ error: PredicateEvaluationError<PredicateError>) {
    switch error {
    case .predicate(let error), .value(let error): self = .predicate(error)
    }
  }
}
