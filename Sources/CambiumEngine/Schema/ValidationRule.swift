/// A condition on the values of an attribute, checked when saving, besides its limits and its pattern.
public struct ValidationRule: Equatable, Hashable, Sendable {
  /// In the format syntax, about a value: `SELF`; its `length`, of texts and data; the elements of a composite by their
  /// names. See ``Predicate/check(valuesOf:)``.
  public var predicate: String
  /// What is said of a value that does not meet it; may be empty.
  public var warning: String

  /// A condition, and what is said where it is not met.
  public init(_ predicate: String, warning: String = "") {
    self.predicate = predicate
    self.warning = warning
  }

  /// The condition, read and checked for the values of an attribute.
  ///
  /// - Throws: ``PredicateError`` for one that cannot be read, and as ``Predicate/check(valuesOf:)``.
  public func checked(for attribute: AttributeSchema) throws(PredicateError) -> Predicate {
    try Predicate(format: predicate, arguments: []).check(valuesOf: attribute)
  }

  /// Whether a value of an attribute meets the condition; nil if that depends on the time or on chance, or it cannot be
  /// used.
  func meets(_ value: Value, of attribute: AttributeSchema) -> Bool? {
    var state = EvaluationState()
    do throws(PredicateError) {
      let condition = try checked(for: attribute)
      return condition.isVolatile ? nil : try condition.holds(for: value, &state)
    } catch { return nil }
  }
}
