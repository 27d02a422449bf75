import CambiumEngine

/// A value to be computed of objects. Core Data: `NSExpression`.
///
///     FetchExpression(forKeyPath: "departure.delay")
///     FetchExpression(forFunction: "max:", arguments: [FetchExpression(forKeyPath: "departure.delay")])
///     try FetchExpression(format: "departure.delay")
public struct FetchExpression: Hashable, Sendable, CustomStringConvertible {
  let engine: CambiumEngine.Expression

  /// Wraps an expression of the engine's.
  public init(_ expression: CambiumEngine.Expression) { engine = expression }

  /// What a key path leads to.
  public init(forKeyPath keyPath: String) {
    if keyPath == "self" || keyPath == "SELF" {
      engine = .evaluatedObject
    } else if keyPath.utf8.contains(UInt8(ascii: "@")), let parsed = try? FetchExpression(format: keyPath) {
      // Collection operators are no names.
      engine = parsed.engine
    } else {
      engine = .keyPath(keyPath)
    }
  }

  /// The same value for all objects.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a value that no attribute can have.
  @_disfavoredOverload public init(forConstantValue value: Any?) throws {
    guard let value = unwrapped(value) else {
      engine = .constant(.null)
      return
    }
    guard let value = Value(foundation: value) else {
      throw CambiumError(.invalidArgument, "no attribute holds a \(type(of: value))")
    }
    engine = .constant(value)
  }

  /// What a variable stands for, by name without `$`: in a condition on groups, a property to fetch.
  public init(forVariable name: String) { engine = .variable(name) }

  /// What a function makes of other values. Core Data's names: `count:`, `sum:`, `average:`, `min:`, `max:`,
  /// `modulus:by:`, …
  public init(forFunction name: String, arguments: [FetchExpression]) {
    let isOfOne = name.utf8.last == UInt8(ascii: ":") && name.utf8.dropLast().firstIndex(of: UInt8(ascii: ":")) == nil
    engine = .function(isOfOne ? String(name.dropLast()) : name, arguments.map { $0.engine })
  }

  /// Reads an expression in the syntax of predicates' sides; see ``FetchPredicate/init(format:_:)``.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate``.
  @_disfavoredOverload public init(format: String, _ arguments: Any?...) throws {
    try self.init(format: format, argumentArray: arguments)
  }

  /// Reads an expression with its arguments in an array; see ``init(format:_:)``.
  @_disfavoredOverload public init(format: String, argumentArray: [Any?]?) throws {
    let values = try FetchPredicate.values(of: argumentArray ?? [], for: format)
    do throws(CambiumEngine.PredicateError) {
      // The parser reads predicates.
      let predicate = try CambiumEngine.Predicate(
        format: "(" + format + ") == TRUE", arguments: values.map { .value($0) })
      if case .comparison(let comparison) = predicate, comparison.comparator == .equal,
        comparison.modifier == .direct, comparison.right == .constant(.boolean(true))
      {
        engine = comparison.left
        return
      }
    } catch {
      // The place of the mistake is told in the text as it was given.
      var error = error
      error.position = error.position.map { Swift.min(Swift.max(0, $0 - 1), format.utf8.count) }
      throw CambiumError(.invalidPredicate, "in the expression '\(format)': \(error)", underlying: [error])
    }
    throw CambiumError(.invalidPredicate, "'\(format)' is no expression")
  }

  /// The object itself; its value is the identifier. Core Data: `expressionForEvaluatedObject()`.
  public static let evaluatedObject = FetchExpression(.evaluatedObject)

  /// How many values there are in a group; of ``evaluatedObject``, how many objects.
  public static func count(_ values: FetchExpression) -> FetchExpression {
    FetchExpression(forFunction: "count", arguments: [values])
  }

  /// The sum of the values in a group; no value if there are none.
  public static func sum(_ values: FetchExpression) -> FetchExpression {
    FetchExpression(forFunction: "sum", arguments: [values])
  }

  /// The mean of the values in a group, a double; no value if there are none.
  public static func average(_ values: FetchExpression) -> FetchExpression {
    FetchExpression(forFunction: "average", arguments: [values])
  }

  /// The least value in a group; no value if there are none.
  public static func min(_ values: FetchExpression) -> FetchExpression {
    FetchExpression(forFunction: "min", arguments: [values])
  }

  /// The greatest value in a group; no value if there are none.
  public static func max(_ values: FetchExpression) -> FetchExpression {
    FetchExpression(forFunction: "max", arguments: [values])
  }

  /// The expression in the format syntax.
  public var expressionFormat: String { engine.description }

  /// The expression in the format syntax.
  public var description: String { expressionFormat }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(engine) }
}
