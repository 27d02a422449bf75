import CambiumKernel

extension PredicateChecker {
  // MARK: Arithmetic

  @inline(never)
  func arithmetic(
    _ operation: ArithmeticOperator, _ a: Expression, _ b: Expression, depth: Int
  ) throws(PredicateError) -> (Expression, Side) {
    let (left, x) = try side(a, depth: depth + 1)
    try requireSingle(x, left, operation.text)
    let (right, y) = try side(b, depth: depth + 1)
    try requireSingle(y, right, operation.text)
    let result = Expression.arithmetic(operation, left, right)
    return folded(result, Side(try type(of: operation, x, y, result)))
  }

  /// The type of what an operator gives, whichever way it is written.
  @inline(never)
  private func type(
    of operation: ArithmeticOperator, _ x: Side, _ y: Side, _ result: Expression
  ) throws(PredicateError) -> AttributeType? {
    if x.type == .date || y.type == .date {
      guard let type = dates(operation, x.type, y.type) else {
        throw mismatch(result, "dates can be subtracted from each other, and seconds added to or taken from one")
      }
      return type
    }
    for side in [x, y] {
      if let type = side.type, type != .undefined, !type.isNumeric {
        throw mismatch(result, "\(operation.text) takes numbers, and one of these is a \(type.name)")
      }
    }
    return Self.joined(x.type, y.type)
  }

  private func dates(_ operation: ArithmeticOperator, _ a: AttributeType?, _ b: AttributeType?) -> AttributeType? {
    func isSeconds(_ type: AttributeType?) -> Bool { type.map { $0.isNumeric || $0 == .undefined } ?? true }
    switch (operation, a, b) {
    case (.subtract, .date, .date): return .double
    // A variable may be a date or a number.
    case (.subtract, .date, nil), (.subtract, .date, .undefined): return .undefined
    case (.subtract, .date, _) where isSeconds(b), (.add, .date, _) where isSeconds(b): return .date
    case (.add, _, .date) where isSeconds(a): return .date
    case (.subtract, nil, .date), (.subtract, .undefined, .date): return .double
    default: return nil
    }
  }

  /// The type of a number that is made of two.
  static func joined(_ a: AttributeType?, _ b: AttributeType?) -> AttributeType? {
    guard let a, let b, a != .undefined, b != .undefined else { return nil }
    if a == .decimal || b == .decimal { return .decimal }
    return a.isReal || b.isReal ? .double : .integer64
  }

  // MARK: Functions

  @inline(never)
  func function(
    _ name: String, _ arguments: [Expression], depth: Int
  ) throws(PredicateError) -> (Expression, Side) {
    let (function, ordered) = try PredicateFunction.resolve(name, arguments)
    if function == .castToEntity { return try castToEntity(ordered, depth: depth) }
    var checked: [Expression] = []
    var sides: [Side] = []
    for argument in ordered {
      let (expression, side) = try self.side(argument, depth: depth + 1)
      try require(side, expression, of: function)
      checked.append(expression)
      sides.append(side)
    }
    return try called(function, checked, sides)
  }

  /// A function of arguments that have been looked at.
  @inline(never)
  private func called(
    _ function: PredicateFunction, _ checked: [Expression], _ sides: [Side]
  ) throws(PredicateError) -> (Expression, Side) {
    let result = Expression.function(function.name, checked)
    let first = sides.first ?? Side(nil)
    let type: AttributeType?
    switch function {
    case .add, .subtract, .multiply, .divide, .raise:
      guard let operation = function.arithmetic, let last = sides.last else { return (result, Side(nil)) }
      type = try self.type(of: operation, first, last, result)
    case .modulus: type = Self.joined(first.type, sides.last?.type)
    case .sum: type = sides.count == 1 ? Self.joined(first.type, .integer64) : nil
    case .average: type = first.type == .decimal ? nil : sides.count == 1 && first.type != nil ? .double : nil
    case .count, .length, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement, .randomBelow:
      type = .integer64
    case .minimum, .maximum, .mode: type = sides.count == 1 ? first.type : nil
    case .median: type = nil
    case .squareRoot, .logarithm, .naturalLogarithm, .exponential, .standardDeviation, .random, .distance:
      type = .double
    case .floor, .ceiling, .truncate, .absolute: type = Self.joined(first.type, .integer64)
    case .now: type = .date
    case .uppercase, .lowercase, .canonical: type = .string
    case .noIndex:
      var side = first
      side.constant = nil
      return (result, side)
    case .cast:
      if case .constant(.string(let name))? = checked.last {
        guard let cast = CastType(name) else { throw .unknownCast(name) }
        type = cast.attributeType
      } else {
        throw mismatch(result, "the second argument is the name of a type as a literal")
      }
    case .call, .castToEntity: type = nil
    }
    return function.isVolatile ? (result, Side(type)) : folded(result, Side(type))
  }

  /// An argument is what the function takes.
  @inline(never)
  private func require(
    _ side: Side, _ expression: Expression, of function: PredicateFunction
  ) throws(PredicateError) {
    switch function {
    case .sum, .minimum, .maximum, .average, .median, .mode, .standardDeviation:
      if let type = side.type, type.hasNoOrder {
        throw mismatch(
          expression, "\(function.name) takes numbers, and these are \(type.name)s; name a property of them")
      }
      if let type = side.type, type != .undefined, !type.isNumeric, function != .minimum, function != .maximum {
        throw mismatch(expression, "\(function.name) takes numbers, and this is a \(type.name)")
      }
    case .count: break
    case .add, .subtract, .multiply, .divide, .raise, .cast, .noIndex, .call:
      try requireSingle(side, expression, function.name)
    case .uppercase, .lowercase, .canonical, .length:
      try requireSingle(side, expression, function.name)
      guard side.mayBeText || (function == .length && side.type == .binary) else {
        throw mismatch(expression, "\(function.name) takes a string, and this is a \(side.type?.name ?? "")")
      }
    case .distance:
      if case .list? = side.constant { return }
      if let type = side.type, type != .composite, type != .undefined || side.isToMany {
        throw mismatch(expression, "a place is a composite or list with latitude and longitude in degrees")
      }
    default: try requireNumber(side, expression, function.name)
    }
  }

  @inline(never)
  func ternary(
    _ condition: Predicate, _ then: Expression, _ otherwise: Expression, depth: Int
  ) throws(PredicateError) -> (Expression, Side) {
    let condition = try check(condition, depth: depth + 1)
    let (a, x) = try side(then, depth: depth + 1)
    try requireSingle(x, a, "TERNARY")
    let (b, y) = try side(otherwise, depth: depth + 1)
    try requireSingle(y, b, "TERNARY")
    let result = Expression.ternary(condition, then: a, otherwise: b)
    if x.type == y.type {
      var side = Side(x.type)
      if x.entity == y.entity { side.entity = x.entity }
      return (result, side)
    }
    guard let p = x.type, let q = y.type, p != .undefined, q != .undefined else {
      // Beside null the type is that of the other.
      let isNull = x.constant?.isNull ?? false || y.constant?.isNull ?? false
      return (result, Side(isNull ? x.type ?? y.type : nil))
    }
    guard p.isNumeric, q.isNumeric else {
      throw mismatch(result, "both values have the same type; these are \(p.name) and \(q.name)")
    }
    return (result, Side(Self.joined(p, q)))
  }

  // MARK: Collections

  @inline(never)
  func subquery(
    _ collection: Expression, _ variable: String, _ condition: Predicate, depth: Int
  ) throws(PredicateError) -> (Expression, Side) {
    let (checked, whole) = try self.side(collection, depth: depth + 1)
    let side = try several(whole, checked, "SUBQUERY")
    var inner = self
    inner.scope.append((variable, side.element))
    let result = try inner.check(condition, depth: depth + 1)
    return (.subquery(collection: checked, variable: variable, condition: result), side)
  }

  @inline(never)
  func aggregate(
    _ operation: CollectionOperator, _ collection: Expression, _ path: String?, depth: Int
  ) throws(PredicateError) -> (Expression, Side) {
    let (checked, known) = try self.side(collection, depth: depth + 1)
    return try aggregated(operation, checked, try several(known, checked, operation.text), path)
  }

  /// An operator of a collection that has been looked at.
  @inline(never)
  private func aggregated(
    _ operation: CollectionOperator, _ checked: Expression, _ whole: Side, _ path: String?
  ) throws(PredicateError) -> (Expression, Side) {
    let result = Expression.aggregate(operation, checked, path: path)
    var side = whole
    if let path {
      if operation == .count {
        throw mismatch(result, "@count takes no key path; write it behind a union of the values")
      }
      side = try member(of: whole, path, result)
    }
    switch operation {
    case .count: return (result, Side(.integer64))
    case .sum, .average:
      if let type = side.type, type != .undefined, !type.isNumeric {
        throw mismatch(result, "\(operation.text) takes numbers, and these are of type \(type.name); name a property")
      }
      if operation == .sum { return (result, Side(Self.joined(side.type, .integer64))) }
      return (result, Side(side.type.flatMap { $0 == .undefined ? nil : $0 == .decimal ? .decimal : .double }))
    case .minimum, .maximum:
      if let type = side.type, type.hasNoOrder {
        throw mismatch(result, "values of type \(type.name) have no order; name a property")
      }
      var single = side.element
      single.constant = nil
      return (result, single)
    case .distinctUnionOfObjects, .unionOfObjects, .distinctUnionOfArrays, .unionOfArrays, .distinctUnionOfSets,
      .unionOfSets:
      side.isToMany = true
      return (result, side)
    }
  }

  @inline(never)
  func member(_ object: Expression, _ path: String, depth: Int) throws(PredicateError) -> (Expression, Side) {
    switch object {
    case .evaluatedObject: return try side(.keyPath(path), depth: depth)
    case .keyPath(let first): return try side(.keyPath(first + "." + path), depth: depth)
    case .variable(let name) where !scope.contains(where: { $0.name == name }):
      return (.member(object, path: path), Side(nil))
    default: break
    }
    let (checked, side) = try side(object, depth: depth + 1)
    switch checked {
    // A cast that cannot fail is the object itself.
    case .evaluatedObject: return try self.side(.keyPath(path), depth: depth)
    case .keyPath(let first) where !side.isToMany: return try self.side(.keyPath(first + "." + path), depth: depth)
    default: break
    }
    let result = Expression.member(checked, path: path)
    return (result, try member(of: side, path, result))
  }

  /// What is at a key path from each of some objects.
  @inline(never)
  private func member(of side: Side, _ path: String, _ expression: Expression) throws(PredicateError) -> Side {
    switch side.type {
    case .objectID:
      guard let entity = side.entity else {
        var unknown = Side(nil)
        unknown.isToMany = side.isToMany
        return unknown
      }
      var result = Side(try resolve(path, from: entity))
      result.isOrdered = side.isToMany ? side.isOrdered && (!result.isToMany || result.isOrdered) : result.isOrdered
      result.isToMany = result.isToMany || side.isToMany
      return result
    case .composite:
      var attribute = side.attribute
      for name in keyPathNames(path) {
        guard let known = attribute else { break }
        guard let element = known.element(named: String(name)) else {
          throw PredicateError(.unknownKeyPath, expression.description, "'\(known.name)' has no element '\(name)'")
        }
        attribute = element
      }
      var result = Side(attribute?.type)
      result.attribute = attribute
      result.isToMany = side.isToMany
      return result
    case nil, .undefined:
      var unknown = Side(nil)
      unknown.isToMany = side.isToMany
      return unknown
    case let type?:
      if asciiUppercase(path) == "SELF" { return side }
      throw PredicateError(
        .unknownKeyPath, expression.description, "a value of type \(type.name) has no property '\(path)'")
    }
  }

  @inline(never)
  func element(
    _ collection: Expression, _ index: ElementIndex, depth: Int
  ) throws(PredicateError) -> (Expression, Side) {
    let (whole, known) = try side(collection, depth: depth + 1)
    guard case .at(let place) = index, known.type != .composite || known.isToMany else {
      return try element(of: whole, known, index)
    }
    let (checked, number) = try side(place, depth: depth + 1)
    try requireNumber(number, checked, "[]")
    return try element(of: whole, known, .at(checked))
  }

  /// An element of what has been looked at, by an index that has been too.
  @inline(never)
  private func element(
    of whole: Expression, _ known: Side, _ index: ElementIndex
  ) throws(PredicateError) -> (Expression, Side) {
    let result = Expression.element(whole, index)
    if case .at(let place) = index, known.type == .composite, !known.isToMany {
      guard case .constant(.string(let name)) = place else {
        throw mismatch(whole, "an element of a composite is taken by its name in quotes")
      }
      return (result, try member(of: known, name, result))
    }
    let side = try several(known, whole, "[]")
    if case .size = index { return (result, Side(.integer64)) }
    guard side.isOrdered else { throw mismatch(whole, unorderedAdvice) }
    var single = side.element
    single.constant = nil
    return (result, single)
  }

  private var unorderedAdvice: String {
    "the relationship has no order; make it ordered, or use ANY, @min, @max or a SUBQUERY"
  }
}

extension AttributeType {
  var isReal: Bool { self == .double || self == .float }
}
