import CambiumEngine

/// What the rules of an attribute, and of its elements, were read as: once, and not for every value.
struct ReadRules: Sendable {
  /// The patterns that strings have to match, by their texts.
  private(set) var patterns: [String: StringPattern] = [:]
  /// The validation predicates, by the path of what they are about: the name of the attribute, with those of the
  /// elements behind it.
  private(set) var conditions: [String: [ValueCondition]] = [:]

  init() {}

  /// The model was checked: all of it can be read. As deep as the schema.
  init(_ rules: AttributeSchema) { add(rules, path: rules.name) }

  private mutating func add(_ rules: AttributeSchema, path: String) {
    if let text = rules.regularExpression, patterns[text] == nil { patterns[text] = try? StringPattern(text) }
    if !rules.validationRules.isEmpty {
      conditions[path] = rules.validationRules.compactMap { ValueCondition($0, rules) }
    }
    for element in rules.elements { add(element, path: path + "." + element.name) }
  }
}

/// A validation predicate, read and checked.
final class ValueCondition: @unchecked Sendable {
  // `@unchecked`: the state is used with the lock held.
  let rule: ValidationRule
  private let predicate: CambiumEngine.Predicate
  private let isVolatile: Bool
  private let lock = StateLock()
  /// Keeps regular expressions from one value to the next.
  private var state = EvaluationState()

  /// Nil for one that cannot be used, which no model in use has.
  init?(_ rule: ValidationRule, _ attribute: AttributeSchema) {
    guard let predicate = try? rule.checked(for: attribute) else { return nil }
    self.rule = rule
    self.predicate = predicate
    isVolatile = predicate.isVolatile
  }

  /// Whether a value, which is not null, meets the condition.
  ///
  /// - Throws: `PredicateError`, as evaluating does.
  func holds(for value: Value) throws -> Bool {
    if isVolatile {
      var state = FetchPredicate.evaluationState(for: predicate)
      return try predicate.holds(for: value, &state)
    }
    return try lock.locked { try predicate.holds(for: value, &state) }
  }
}
