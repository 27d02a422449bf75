import CambiumKernel

// What expressions give. Each kind has a function of its own, so that the frames of the recursion stay small.
extension Expression {
  /// What the expression gives. Values and key paths, which most are, are answered where they are asked for.
  @inline(__always)
  func value<Failure: Error>(
    _ state: inout EvaluationState, _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    switch self {
    case .constant(let constant): return constant
    case .keyPath(let path):
      do throws(Failure) { return try value(nil, path) } catch { throw .value(error) }
    default: return try read(&state, value, depth: depth)
    }
  }

  func read<Failure: Error>(
    _ state: inout EvaluationState, _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    guard depth <= Predicate.depthLimit else { throw .predicate(.tooDeep) }
    switch self {
    case .constant(let constant): return constant
    case .keyPath(let path):
      do throws(Failure) { return try value(nil, path) } catch { throw .value(error) }
    case .evaluatedObject:
      do throws(Failure) { return try value(nil, "self") } catch { throw .value(error) }
    case .variable(let name):
      guard let bound = state.binding(name) ?? state.variables[name] else {
        throw .predicate(.unboundVariable(name))
      }
      return bound
    case .list(let elements):
      let values = try Self.readAll(elements, &state, value, depth: depth + 1)
      guard Self.isSmall(values) else { throw .predicate(.listTooLarge) }
      return .list(values)
    case .arithmetic(let operation, let a, let b):
      return try Self.operate(operation, a, b, &state, value, depth: depth)
    case .negated(let inner): return try inner.read(&state, value, depth: depth + 1).arithmeticNegation
    case .function(let name, let arguments):
      return try Self.call(name, arguments, &state, value, depth: depth)
    case .cast(let inner, let type):
      guard let type = CastType(type) else { throw .predicate(.unknownCast(type)) }
      return type.convert(try inner.read(&state, value, depth: depth + 1))
    case .ternary(let condition, let then, let otherwise):
      return try condition.holds(&state, value, depth: depth + 1)
        ? then.read(&state, value, depth: depth + 1) : otherwise.read(&state, value, depth: depth + 1)
    case .subquery(let collection, let variable, let condition):
      return try Self.select(collection, variable, condition, &state, value, depth: depth)
    case .aggregate(let operation, let collection, let path):
      return try Self.aggregate(operation, collection, path, &state, value, depth: depth)
    case .member(let object, let path): return try Self.member(object, path, &state, value, depth: depth)
    case .element(let collection, let index):
      return try Self.element(collection, index, &state, value, depth: depth)
    case .fetch, .assignment: throw .predicate(unsupportedError)
    }
  }

  /// Whether lists in a list have not too many elements in all: lists of variables that are lists themselves would
  /// double in size with each level.
  private static func isSmall(_ values: [Value]) -> Bool {
    var left = 1_000_000
    func count(_ values: [Value]) -> Bool {
      for case .list(let inner) in values {
        left -= inner.count + 1
        guard left > 0, count(inner) else { return false }
      }
      return true
    }
    return count(values)
  }

  @inline(never)
  private static func operate<Failure: Error>(
    _ operation: ArithmeticOperator, _ a: Expression, _ b: Expression, _ state: inout EvaluationState,
    _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    let left = try a.value(&state, value, depth: depth + 1)
    return operation.apply(left, try b.value(&state, value, depth: depth + 1))
  }

  private static func readAll<Failure: Error>(
    _ expressions: [Expression], _ state: inout EvaluationState,
    _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(expressions.count)
    for expression in expressions { values.append(try expression.read(&state, value, depth: depth)) }
    return values
  }

  @inline(never)
  private static func call<Failure: Error>(
    _ name: String, _ arguments: [Expression], _ state: inout EvaluationState,
    _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    let function: PredicateFunction
    let ordered: [Expression]
    do throws(PredicateError) { (function, ordered) = try PredicateFunction.resolve(name, arguments) } catch {
      throw .predicate(error)
    }
    let values = try readAll(ordered, &state, value, depth: depth + 1)
    do throws(PredicateError) { return try function.apply(values, &state) } catch { throw .predicate(error) }
  }

  @inline(never)
  private static func select<Failure: Error>(
    _ collection: Expression, _ variable: String, _ condition: Predicate, _ state: inout EvaluationState,
    _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    var found: [Value] = []
    for element in try collection.read(&state, value, depth: depth + 1).elements {
      do throws(PredicateError) { try state.bind(variable, element) } catch { throw .predicate(error) }
      defer { state.unbind() }
      if try condition.holds(&state, value, depth: depth + 1) { found.append(element) }
    }
    return .list(found)
  }

  @inline(never)
  private static func aggregate<Failure: Error>(
    _ operation: CollectionOperator, _ collection: Expression, _ path: String?, _ state: inout EvaluationState,
    _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    let elements = try collection.read(&state, value, depth: depth + 1).elements
    if operation == .count, path == nil { return .integer(Int64(elements.count)) }
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    for element in elements {
      let found = if let path { try member(of: element, path, value, depth: depth + 1) } else { element }
      if case .list(let inner) = found { values += inner } else { values.append(found) }
    }
    return Aggregates.apply(operation, values)
  }

  @inline(never)
  private static func member<Failure: Error>(
    _ object: Expression, _ path: String, _ state: inout EvaluationState,
    _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    if case .variable(let name) = object, state.binding(name) == nil {
      if let known = state.variables[name + "." + path] { return known }
      guard state.variables[name] != nil else { throw .predicate(.unboundVariable(name + "." + path)) }
    }
    return try member(of: try object.read(&state, value, depth: depth + 1), path, value, depth: depth + 1)
  }

  /// What is at a key path from a value: of an object, of a composite, or of each element of a list.
  private static func member<Failure: Error>(
    of object: Value, _ path: String, _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    guard depth <= Predicate.depthLimit else { throw .predicate(.tooDeep) }
    switch object {
    case .reference(let reference):
      do throws(Failure) { return try value(reference, path) } catch { throw .value(error) }
    case .composite(let composite):
      var found = Value.composite(composite)
      for name in keyPathNames(path) {
        guard case .composite(let inner) = found else { return .null }
        found = inner[String(name)] ?? .null
      }
      return found
    case .list(let elements):
      var values: [Value] = []
      for element in elements {
        let found = try member(of: element, path, value, depth: depth + 1)
        if case .list(let inner) = found { values += inner } else { values.append(found) }
      }
      return .list(values)
    default: return asciiUppercase(path) == "SELF" ? object : .null
    }
  }

  @inline(never)
  private static func element<Failure: Error>(
    _ collection: Expression, _ index: ElementIndex, _ state: inout EvaluationState,
    _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    let whole = try collection.read(&state, value, depth: depth + 1)
    switch index {
    case .first: return whole.elements.first ?? .null
    case .last: return whole.elements.last ?? .null
    case .size: return .integer(Int64(whole.elements.count))
    case .at(let expression):
      let place = try expression.read(&state, value, depth: depth + 1)
      if case .composite(let composite) = whole, case .string(let name) = place { return composite[name] ?? .null }
      guard let number = place.exactInteger, let index = Int(exactly: number) else { return .null }
      let elements = whole.elements
      return elements.indices.contains(index) ? elements[index] : .null
    }
  }

  /// What to say about a case that nothing supports.
  var unsupportedError: PredicateError {
    switch self {
    case .fetch: return PredicateError(.unsupported, "FETCH", "fetch first, and use IN with the result")
    case .assignment(let variable, _):
      return PredicateError(.unsupported, "$" + variable + " :=", "give variables their values by substituting them")
    default: return PredicateError(.unsupported, "", "compute the value first and compare with it")
    }
  }
}

extension PredicateError {
  static var listTooLarge: PredicateError {
    PredicateError(.tooDeep, "{}", "the lists in the list have more than a million elements")
  }

  static func unknownCast(_ type: String) -> PredicateError {
    PredicateError(
      .unsupported, "CAST(..., \"\(type)\")",
      "there is no such type; there are number, integer, double, float, decimal, string, date, boolean, UUID and URL")
  }
}
