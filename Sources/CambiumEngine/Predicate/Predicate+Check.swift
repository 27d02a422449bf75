import CambiumKernel

extension Predicate {
  /// Checks the predicate against an entity of a schema and brings it into a normal form, which matches the same objects:
  ///
  /// - key paths exist, and both sides of each comparison can be compared;
  /// - a constant has the type of the attribute that it is compared with, wherever that does not change what is asked: an
  ///   integer becomes a double, or a double the decimal of its shortest text (0.1), text a UUID or URI, the elements of a
  ///   composite get their declared order. What the type cannot hold (1.5 for an integer) stays as it is and is compared
  ///   by its exact value;
  /// - in `constant < keyPath` and the like the key path comes first;
  /// - options are taken off where no strings are compared; `FALSE AND …`, `TRUE OR …` and the like are not folded.
  ///
  /// `$variables` are left alone, and compare with anything.
  ///
  /// - Throws: ``PredicateError`` without position: an unknown key path, a type mismatch, a part that is not supported.
  public func check(against schema: Schema, entity: UInt32) throws(PredicateError) -> Predicate {
    try PredicateChecker(schema: schema, entity: entity).check(self, depth: 0)
  }
}

/// Looks at each comparison of a predicate.
struct PredicateChecker {
  let schema: Schema
  let entity: UInt32

  func check(_ predicate: Predicate, depth: Int) throws(PredicateError) -> Predicate {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch predicate {
    case .true, .false: return predicate
    case .not(let inner): return .not(try check(inner, depth: depth + 1))
    case .and(let parts):
      var result: [Predicate] = []
      for part in parts { result.append(try check(part, depth: depth + 1)) }
      return .and(result)
    case .or(let parts):
      var result: [Predicate] = []
      for part in parts { result.append(try check(part, depth: depth + 1)) }
      return .or(result)
    case .comparison(let comparison): return .comparison(try check(comparison))
    }
  }

  private func check(_ original: Comparison) throws(PredicateError) -> Comparison {
    var comparison = original
    comparison.turnKeyPathLeft()
    if comparison.comparator == .matches {
      throw mismatch(comparison, "regular expressions are not supported; use LIKE", kind: .unsupported)
    }
    let left = try side(comparison.left, depth: 0)
    let right = try side(comparison.right, depth: 0)
    try checkCardinality(comparison, left, right)
    switch comparison.comparator {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: try checkOrder(&comparison, left, right)
    case .between: try checkList(&comparison, left, isBetween: true)
    case .in: try checkIn(&comparison, left, right)
    case .contains:
      if left.isToMany, comparison.modifier == .direct {
        comparison.right = try coerced(comparison.right, for: left, comparison)
      } else {
        try checkTextual(comparison, left, right)
      }
    case .beginsWith, .endsWith, .like: try checkTextual(comparison, left, right)
    case .matches: break
    }
    if !left.mayBeText, !right.mayBeText { comparison.options = [] }
    return comparison
  }

  // MARK: Sides

  /// What is known about a side of a comparison.
  private struct Side {
    /// `nil` if it is not known, as for variables and null.
    var type: AttributeType?
    var attribute: AttributeSchema?
    var isToMany = false
    var isPath = false
    var constant: Value?

    var mayBeText: Bool {
      switch type {
      case .string, .uri, .undefined, nil: return true
      default: return false
      }
    }
  }

  private func side(_ expression: Expression, depth: Int) throws(PredicateError) -> Side {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch expression {
    case .constant(let value): return Side(type: value.attributeType, constant: value)
    case .variable: return Side()
    case .evaluatedObject: return Side(type: .objectID, isPath: true)
    case .keyPath(let text):
      let path = try resolve(text)
      return Side(type: path.type, attribute: path.attribute, isToMany: path.isToMany, isPath: true)
    case .list(let elements):
      for element in elements { _ = try side(element, depth: depth + 1) }
      return Side()
    default: throw expression.unsupportedError
    }
  }

  private func resolve(_ text: String) throws(PredicateError) -> ResolvedPath {
    do throws(SchemaError) { return try schema.resolve(keyPath: text, from: entity) } catch {
      switch error {
      case .unknownKeyPath(_, let component, let place):
        throw PredicateError(.unknownKeyPath, text, "'\(place)' has no property '\(component)'")
      default: throw PredicateError(.unknownKeyPath, text, "the entity is not in the model")
      }
    }
  }

  private func mismatch(
    _ comparison: Comparison, _ advice: String, kind: PredicateError.Kind = .typeMismatch
  ) -> PredicateError {
    PredicateError(kind, comparison.description, advice)
  }

  // MARK: One or many

  private func checkCardinality(_ comparison: Comparison, _ left: Side, _ right: Side) throws(PredicateError) {
    if comparison.modifier != .direct {
      guard left.isToMany || !left.isPath else {
        throw mismatch(comparison, "ANY, ALL and NONE take a key path through a to-many relationship; leave it out")
      }
    } else if left.isToMany, comparison.comparator != .contains {
      throw mismatch(comparison, "the key path reads many values; put ANY, ALL or NONE before it")
    }
    if right.isToMany, comparison.comparator != .in {
      throw mismatch(comparison, "the right side reads many values; exchange the sides and use ANY, ALL or NONE")
    }
  }

  // MARK: Types

  private func checkOrder(_ comparison: inout Comparison, _ left: Side, _ right: Side) throws(PredicateError) {
    try checkComparable(comparison, left, right)
    let isEquality = comparison.comparator == .equal || comparison.comparator == .notEqual
    let hasNoOrder = left.type.map { $0.hasNoOrder } ?? false
    if hasNoOrder, !isEquality {
      throw mismatch(comparison, "such values have no order; compare them with == or !=, or an element of a composite")
    }
    comparison.right = try coerced(comparison.right, for: left, comparison)
  }

  private func checkComparable(_ comparison: Comparison, _ left: Side, _ right: Side) throws(PredicateError) {
    guard left.isPath, right.isPath, let a = left.type, let b = right.type else { return }
    guard a == b || (a.isNumeric && b.isNumeric) || a == .undefined || b == .undefined else {
      throw mismatch(comparison, "\(a.name) does not compare with \(b.name)")
    }
  }

  private func checkList(_ comparison: inout Comparison, _ left: Side, isBetween: Bool) throws(PredicateError) {
    switch comparison.right {
    case .constant(.list(let values)):
      guard !isBetween || values.count == 2 else { throw mismatch(comparison, "BETWEEN takes a list of two") }
      var result: [Value] = []
      for value in values {
        guard !isBetween || !value.isNull else { throw mismatch(comparison, "the bounds of BETWEEN are not null") }
        result.append(try coerced(value, for: left, comparison))
      }
      comparison.right = .constant(.list(result))
    case .list(let elements):
      guard !isBetween || elements.count == 2 else { throw mismatch(comparison, "BETWEEN takes a list of two") }
      var result: [Expression] = []
      for element in elements {
        try checkComparable(comparison, left, try side(element, depth: 0))
        result.append(try coerced(element, for: left, comparison))
      }
      comparison.right = .list(result)
    case .variable: break
    default: throw mismatch(comparison, isBetween ? "BETWEEN takes a list of two" : "IN takes a list")
    }
    if isBetween, left.type.map({ $0.hasNoOrder }) ?? false { throw mismatch(comparison, "such values have no order") }
  }

  private func checkIn(_ comparison: inout Comparison, _ left: Side, _ right: Side) throws(PredicateError) {
    if right.isToMany {
      try checkComparable(comparison, left, right)
      comparison.left = try coerced(comparison.left, for: right, comparison)
    } else if right.type == .string || (right.isPath && right.mayBeText) {
      // A string is IN another that contains it.
      try checkTextual(comparison, left, right)
    } else {
      try checkList(&comparison, left, isBetween: false)
    }
  }

  private func checkTextual(_ comparison: Comparison, _ left: Side, _ right: Side) throws(PredicateError) {
    guard left.mayBeText, right.mayBeText else {
      throw mismatch(comparison, "\(comparison.comparator.text) takes strings on both sides")
    }
  }

  // MARK: Constants

  private func coerced(
    _ expression: Expression, for side: Side, _ comparison: Comparison
  ) throws(PredicateError) -> Expression {
    guard case .constant(let value) = expression else { return expression }
    return .constant(try coerced(value, for: side, comparison))
  }

  /// A constant in the form of the other side's type.
  private func coerced(_ value: Value, for side: Side, _ comparison: Comparison) throws(PredicateError) -> Value {
    guard side.isPath, let type = side.type, type != .undefined, !value.isNull else { return value }
    if type.isNumeric, value.isNumeric { return type.sameNumber(value) }
    let result = if let attribute = side.attribute { attribute.coerce(value) } else { type.coerce(value) }
    if let result { return result }
    let advice: String
    switch type {
    case .date: advice = "a Date is compared with a date: give one for %@, or CAST(seconds since 2001, \"NSDate\")"
    case .objectID: advice = "an object is compared with an object, an object ID or nil"
    case .composite: advice = "the value does not fit the composite's elements; compare an element of it"
    case .transformable: advice = "transformed values are compared with nil only"
    case .uuid: advice = "the value is not a UUID, nor the text of one"
    default: advice = "\(type.name) does not compare with a \(value.kindName)"
    }
    throw mismatch(comparison, advice)
  }
}

extension Comparison {
  /// Exchanges the sides, where the comparison has a mirror image and only the right side is a key path.
  fileprivate mutating func turnKeyPathLeft() {
    guard modifier == .direct, right.isPath, !left.isPath else { return }
    switch comparator {
    case .equal, .notEqual: break
    case .less: comparator = .greater
    case .lessOrEqual: comparator = .greaterOrEqual
    case .greater: comparator = .less
    case .greaterOrEqual: comparator = .lessOrEqual
    default: return
    }
    (left, right) = (right, left)
  }
}

extension Expression {
  fileprivate var isPath: Bool {
    switch self {
    case .keyPath, .evaluatedObject: return true
    default: return false
    }
  }
}

extension Value {
  /// The attribute type that a constant is of; `nil` for null and lists, which are of none.
  fileprivate var attributeType: AttributeType? {
    switch self {
    case .null, .list: return nil
    case .boolean: return .boolean
    case .integer: return .integer64
    case .decimal: return .decimal
    case .double: return .double
    case .float: return .float
    case .string: return .string
    case .date: return .date
    case .binary: return .binary
    case .uuid: return .uuid
    case .uri: return .uri
    case .reference: return .objectID
    case .composite: return .composite
    }
  }
}

extension AttributeType {
  fileprivate var hasNoOrder: Bool {
    switch self {
    case .composite, .transformable, .objectID: return true
    default: return false
    }
  }

  /// A number in the form of this numeric type, if that is the same number, or the one that was meant by a fraction
  /// written in binary or decimal; else as it is.
  func sameNumber(_ value: Value) -> Value {
    guard let converted = coerce(value) else { return value }
    if converted.compare(to: value) == .equal { return converted }
    switch (value, converted) {
    case (.double(let number), .decimal), (.double(let number), .float): if !number.isFinite { return value }
    case (.float, .decimal), (.decimal, .double), (.decimal, .float): break
    default: return value
    }
    if let number = converted.nearestDouble, number.isFinite { return converted }
    return value
  }
}
