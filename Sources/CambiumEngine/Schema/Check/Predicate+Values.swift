// Predicates about a value, and not about an object: what an attribute is validated by.
extension Predicate {
  /// Checks the predicate as one about the values of an attribute, and brings it into a normal form, as
  /// ``check(against:entity:)`` does for objects. `SELF` is the value; `length` is how many characters a text has, or
  /// bytes a piece of data; any other key path names elements of a composite.
  ///
  /// - Throws: ``PredicateError`` without position: another key path, a type mismatch, a variable, a part that is not
  ///   supported, an attribute whose values are of no type that is known here.
  public func check(valuesOf attribute: AttributeSchema) throws(PredicateError) -> Predicate {
    switch attribute.type {
    case .transformable, .undefined, .objectID:
      throw PredicateError(
        .typeMismatch, attribute.name,
        "values of type \(attribute.type.name) are not looked into; check them in the application")
    default: break
    }
    #if CAMBIUM_NO_PREDICATES
      throw .leftOut
    #else
      let result = try PredicateChecker(valuesOf: attribute).check(self, depth: 0)
      if let variable = try result.variableNames().first {
        throw PredicateError(.unboundVariable, "$" + variable, "a condition on values has no variables")
      }
      return result
    #endif
  }

  /// Whether a value, which is not null, meets a predicate that ``check(valuesOf:)`` has given.
  ///
  /// - Throws: ``PredicateError`` as evaluating does.
  public func holds(for value: Value, _ state: inout EvaluationState) throws(PredicateError) -> Bool {
    do throws(PredicateEvaluationError<PredicateError>) {
      // Objects that a constant names are not looked into.
      return try evaluate(&state) { (object, path) throws(PredicateError) in object == nil ? value.part(path) : .null }
    } catch {
      switch error {
      case .value(let error), .predicate(let error): throw error
      }
    }
  }
}

extension Value {
  /// What a predicate about the value asks for.
  fileprivate func part(_ path: String) -> Value {
    if asciiUppercase(path) == "SELF" { return self }
    switch self {
    case .composite:
      var found = self
      for name in keyPathNames(path) {
        guard case .composite(let composite) = found else { return .null }
        found = composite[String(name)] ?? .null
      }
      return found
    case .string, .uri, .binary: return path == "length" ? measured : .null
    default: return .null
    }
  }
}

extension PredicateChecker {
  /// What is known of a part of a value of an attribute.
  @inline(never)
  func side(ofPart path: String, of attribute: AttributeSchema) throws(PredicateError) -> Side {
    if asciiUppercase(path) == "SELF" { return Side(valuesOf: attribute) }
    guard attribute.type == .composite else {
      if path == "length", attribute.limitType != attribute.type { return Side(.integer64) }
      throw PredicateError(
        .unknownKeyPath, path,
        "a condition on '\(attribute.name)' is about its value, SELF, which has no property '\(path)'")
    }
    var found = attribute
    for name in keyPathNames(path) {
      guard let element = found.element(named: String(name)) else {
        throw PredicateError(.unknownKeyPath, path, "'\(found.name)' has no element '\(name)'")
      }
      found = element
    }
    return Side(valuesOf: found)
  }
}

extension PredicateChecker.Side {
  /// A value of an attribute.
  init(valuesOf attribute: AttributeSchema) {
    self.init(attribute.type)
    self.attribute = attribute
  }
}
