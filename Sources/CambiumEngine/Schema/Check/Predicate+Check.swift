import CambiumKernel

extension Predicate {
  /// Checks the predicate against an entity of a schema and brings it into a normal form, which matches the same
  /// objects:
  ///
  /// - key paths exist, and both sides of each comparison can be compared;
  /// - a constant has the type of the attribute that it is compared with, wherever that does not change what is asked:
  ///   an integer becomes a double, or a double the decimal of its shortest text (0.1), text a UUID or URI, or a date
  ///   as ``ISODate`` reads it, the elements of a composite get their declared order. What the type cannot hold (1.5
  ///   for an integer) stays as it is and is compared by its exact value;
  /// - in `constant < keyPath` and the like the key path comes first, and `{…} CONTAINS keyPath` is `keyPath IN {…}`;
  /// - operators, functions and casts of constants alone are computed;
  /// - operands of operators and arguments of functions have kinds that these take, and regular expressions can be
  ///   read;
  /// - options are taken off where no strings are compared; `FALSE AND …`, `TRUE OR …` and the like are not folded.
  ///
  /// `$variables` are left alone, and compare with anything.
  ///
  /// - Throws: ``PredicateError`` without position: an unknown key path, a type mismatch, a part that is not supported.
  public func check(against schema: Schema, entity: UInt32) throws(PredicateError) -> Predicate {
    #if CAMBIUM_NO_PREDICATES
      throw .leftOut
    #else
      return try PredicateChecker(schema: schema, entity: entity).check(self, depth: 0)
    #endif
  }
}

/// Looks at each comparison of a predicate.
struct PredicateChecker {
  /// Nil if what is looked at is a value.
  let schema: Schema?
  let entity: UInt32
  /// The attribute whose values are looked at, in place of objects of the entity.
  let valuesOf: AttributeSchema?
  /// What is known of the variables that subqueries have an element of, the innermost last.
  var scope: [(name: String, side: Side)] = []

  init(schema: Schema, entity: UInt32) {
    self.schema = schema
    self.entity = entity
    valuesOf = nil
  }

  /// - Parameter attribute: What key paths are about.
  init(valuesOf attribute: AttributeSchema) {
    schema = nil
    entity = 0
    valuesOf = attribute
  }

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
    case .comparison(let comparison): return .comparison(try check(comparison, depth: depth))
    }
  }

  private func check(_ original: Comparison, depth: Int) throws(PredicateError) -> Comparison {
    var comparison = original
    comparison.turnPathLeft { name in scope.contains { $0.name == name } }
    var left: Side
    var right: Side
    (comparison.left, left) = try side(comparison.left, depth: depth + 1)
    // Each part is looked at once: what is nested in it would else be looked at twice for each level.
    var elements: [Side] = []
    if case .list(let parts) = comparison.right, comparison.comparator == .in || comparison.comparator == .between {
      var checked: [Expression] = []
      for (expression, side) in try self.elements(parts, depth: depth + 1) {
        checked.append(expression)
        elements.append(side)
      }
      comparison.right = .list(of: checked)
      right = Side(nil)
    } else {
      (comparison.right, right) = try side(comparison.right, depth: depth + 1)
    }
    // What was to be computed on the left may have come to be a value.
    if case .constant = comparison.left, comparison.turnPathLeft({ name in scope.contains { $0.name == name } }) {
      swap(&left, &right)
    }
    try checkCardinality(comparison, left, right)
    switch comparison.comparator {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: try checkOrder(&comparison, left, right)
    case .between: try checkList(&comparison, left, isBetween: true, elements)
    case .in: try checkIn(&comparison, left, right, elements)
    case .contains:
      if left.isToMany, comparison.modifier == .direct {
        comparison.right = try coerced(comparison.right, for: left, comparison)
      } else if comparison.modifier != .direct || !left.mayBeList {
        try checkTextual(comparison, left, right)
      }
    case .beginsWith, .endsWith, .like: try checkTextual(comparison, left, right)
    case .matches:
      try checkTextual(comparison, left, right)
      if case .constant(let value) = comparison.right, let text = value.text {
        _ = try RegularExpression(text, comparison.options)
      }
    }
    if !left.mayBeText, !right.mayBeText { comparison.options = [] }
    return comparison
  }

  func mismatch(
    _ comparison: Comparison, _ advice: String, kind: PredicateError.Kind = .typeMismatch
  ) -> PredicateError {
    PredicateError(kind, comparison.description, advice)
  }

  // MARK: One or many

  private func checkCardinality(_ comparison: Comparison, _ left: Side, _ right: Side) throws(PredicateError) {
    if comparison.modifier != .direct {
      guard left.isToMany || !left.isTyped else {
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
    guard left.isTyped, right.isTyped, let a = left.type, let b = right.type else { return }
    guard a == b || (a.isNumeric && b.isNumeric) || a == .undefined || b == .undefined else {
      throw mismatch(comparison, "\(a.name) does not compare with \(b.name)")
    }
  }

  private func checkList(
    _ comparison: inout Comparison, _ left: Side, isBetween: Bool, _ elementSides: [Side]
  ) throws(PredicateError) {
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
      for (place, element) in elements.enumerated() {
        if place < elementSides.count { try checkComparable(comparison, left, elementSides[place]) }
        result.append(try coerced(element, for: left, comparison))
      }
      comparison.right = .list(result)
    case .variable: break
    default: throw mismatch(comparison, isBetween ? "BETWEEN takes a list of two" : "IN takes a list")
    }
    if isBetween, left.type.map({ $0.hasNoOrder }) ?? false { throw mismatch(comparison, "such values have no order") }
  }

  private func checkIn(
    _ comparison: inout Comparison, _ left: Side, _ right: Side, _ elementSides: [Side]
  ) throws(PredicateError) {
    if right.isToMany {
      try checkComparable(comparison, left, right)
      comparison.left = try coerced(comparison.left, for: right, comparison)
    } else if right.type == .string || (right.isTyped && right.mayBeText) {
      // A string is IN another that contains it.
      try checkTextual(comparison, left, right)
    } else {
      try checkList(&comparison, left, isBetween: false, elementSides)
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
    guard side.isTyped, let type = side.type, type != .undefined, !value.isNull else { return value }
    if type.isNumeric, value.isNumeric { return type.sameNumber(value) }
    if type == .date, case .string(let text) = value {
      do throws(ISODate.Problem) { return .date(try ISODate.seconds(of: text)) } catch {
        throw mismatch(comparison, error.detail)
      }
    }
    let result = if let attribute = side.attribute { attribute.coerce(value) } else { type.coerce(value) }
    if let result { return result }
    let advice: String
    switch type {
    case .date:
      advice =
        "a Date is compared with a date: give one for %@, or text such as \"2001-03-01\" or \"2001-03-01T14:30:00Z\", or "
        + "CAST(seconds since 2001, \"NSDate\")"
    case .objectID: advice = "an object is compared with an object, an object ID or nil"
    case .composite: advice = "the value does not fit the composite's elements; compare an element of it"
    case .transformable: advice = "transformed values are compared with nil only"
    case .uuid: advice = "the value is not a UUID, nor the text of one"
    default: advice = "\(type.name) does not compare with \(value.kindWithArticle)"
    }
    throw mismatch(comparison, advice)
  }
}

extension Comparison {
  /// Exchanges the sides, where the comparison has a mirror image and only the right side is a key path, or only the
  /// right one has to be computed, and answers whether it did. Variables of which something is known are like key paths
  /// beside a value. A list CONTAINS what is IN it.
  @discardableResult
  fileprivate mutating func turnPathLeft(_ isKnown: (String) -> Bool) -> Bool {
    func isKnownVariable(_ side: Expression) -> Bool {
      if case .variable(let name) = side { return isKnown(name) }
      return false
    }
    if modifier == .direct, comparator == .contains, left.isList {
      comparator = .in
      (left, right) = (right, left)
      return true
    }
    let isComputed = !right.isGiven || (isKnownVariable(right) && !isKnownVariable(left))
    guard modifier == .direct, right.isPath ? !left.isPath : left.isGiven && isComputed else {
      return false
    }
    guard let mirrored = comparator.mirrored else { return false }
    comparator = mirrored
    (left, right) = (right, left)
    return true
  }
}

extension Expression {
  fileprivate var isPath: Bool {
    switch self {
    case .keyPath, .evaluatedObject: return true
    default: return false
    }
  }

  fileprivate var isList: Bool {
    switch self {
    case .list, .constant(.list): return true
    default: return false
    }
  }

  /// Whether this is a value, or will be one before an object is looked at.
  fileprivate var isGiven: Bool {
    switch self {
    case .constant, .variable: return true
    default: return false
    }
  }
}

extension Value {
  /// The attribute type that a constant is of; `nil` for null and lists, which are of none.
  var attributeType: AttributeType? {
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
  var hasNoOrder: Bool {
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
