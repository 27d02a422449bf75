import CambiumEngine

/// Checks the values of one object against the rules of the model, and gathers what is wrong.
struct ValueCheck {
  private enum Subject {
    case object(ManagedObject)
    case stored(entityName: String, ManagedObjectID)
  }

  /// The object. What errors tell of it is looked up when there is one, because most objects have none.
  private let subject: Subject
  /// What is wrong so far.
  var errors: [CambiumError] = []

  init(_ object: ManagedObject) { subject = .object(object) }

  init(_ entityName: String, _ objectID: ManagedObjectID) { subject = .stored(entityName: entityName, objectID) }

  /// Throws what is wrong: one error, or one with several in it.
  func throwing() throws(CambiumError) {
    guard let first = errors.first else { return }
    guard errors.count > 1 else { throw first }
    var result = error(.validationMultipleErrors, nil, "has \(errors.count) validation errors")
    result.detailedErrors = errors
    throw result
  }

  private func error(_ code: CambiumError.Code, _ key: String?, _ text: String) -> CambiumError {
    let (entityName, objectID) =
      switch subject {
      case .object(let object): (object.entity.name, object.objectID)
      case .stored(let name, let id): (name, id)
      }
    return CambiumError(code, "\(entityName) \(objectID) \(text)", entityName: entityName, key: key, objectID: objectID)
  }

  /// Notes that a property has no value though the model asks for one.
  mutating func missing(_ path: String) {
    errors.append(
      error(.validationMissingMandatoryProperty, path, "needs a value for '\(path)', which is not optional"))
  }

  /// Notes that a relationship denies the deletion of the object.
  mutating func denied(_ name: String) {
    errors.append(
      error(
        .validationRelationshipDeniedDelete, name,
        "cannot be deleted while its '\(name)' has destinations; delete or move them first"))
  }

  /// Checks the number of destinations of a to-many relationship.
  mutating func count(_ count: Int, _ rules: RelationshipSchema) {
    if count == 0, !rules.needsDestination { return }
    if count < Int(clamping: rules.minimumCount) {
      errors.append(
        error(
          .validationRelationshipLacksMinimumCount, rules.name,
          "has \(count) of at least \(rules.minimumCount) '\(rules.name)'"))
    } else if rules.maximumCount > 0, count > Int(clamping: rules.maximumCount) {
      errors.append(
        error(
          .validationRelationshipExceedsMaximumCount, rules.name,
          "has \(count) of at most \(rules.maximumCount) '\(rules.name)'"))
    }
  }

  /// Checks the value of an attribute, or of an element of a composite.
  mutating func value(_ value: Value, _ rules: AttributeSchema, _ read: ReadRules, path: String) {
    if value.isNull {
      if !rules.isOptional { missing(path) }
      return
    }
    if case .composite(let composite) = value {
      for element in rules.elements {
        self.value(composite[element.name] ?? .null, element, read, path: path + "." + element.name)
      }
      return ask(read.conditions[path], about: value, rules, path: path)
    }
    let pattern = rules.regularExpression.flatMap { read.patterns[$0] }
    guard let violation = rules.ruleViolation(of: value, pattern: pattern) else {
      if read.conditions.isEmpty { return }
      return ask(read.conditions[path], about: value, rules, path: path)
    }
    let isText: Bool
    let isDate: Bool
    switch value {
    case .string, .uri: (isText, isDate) = (true, false)
    case .date: (isText, isDate) = (false, true)
    default: (isText, isDate) = (false, false)
    }
    let text = "cannot be saved: '\(path)' \(rules.text(of: violation, by: value))"
    switch violation {
    case .tooSmall:
      let code: CambiumError.Code =
        isText ? .validationStringTooShort : isDate ? .validationDateTooSoon : .validationNumberTooSmall
      errors.append(error(code, path, text).about(value))
    case .tooLarge:
      let code: CambiumError.Code =
        isText ? .validationStringTooLong : isDate ? .validationDateTooLate : .validationNumberTooLarge
      errors.append(error(code, path, text).about(value))
    case .noMatch: errors.append(error(.validationStringPatternMatching, path, text).about(value))
    }
  }

  /// Asks the validation predicates about a value.
  private mutating func ask(
    _ conditions: [ValueCondition]?, about value: Value, _ rules: AttributeSchema, path: String
  ) {
    guard let conditions else { return }
    for condition in conditions {
      let problem: String
      do {
        if try condition.holds(for: value) { continue }
        let warning = condition.rule.warning.isEmpty ? "" : ": \(condition.rule.warning)"
        problem = "\(rules.text(of: value, unmet: condition.rule.predicate))\(warning)"
      } catch { problem = "cannot be compared with \(condition.rule.predicate): \(error)" }
      let text = "cannot be saved: '\(path)' \(problem)"
      errors.append(error(.managedObjectValidation, path, text).about(value))
    }
  }
}
