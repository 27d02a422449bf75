import CambiumEngine

/// An expression to fetch under a name. Core Data: `NSExpressionDescription`.
public struct ExpressionDescription: Hashable, Sendable {
  /// The key in the dictionaries.
  public var name: String
  /// The value.
  public var expression: FetchExpression
  /// The type that values are brought into where they can be; numbers are rounded to what it holds; `nil` for their
  /// own.
  public var expressionResultType: AttributeType?

  /// An expression under a name.
  public init(name: String, expression: FetchExpression, resultType: AttributeType? = nil) {
    self.name = name
    self.expression = expression
    expressionResultType = resultType
  }
}

/// Something that a dictionary of a fetch holds.
public enum FetchProperty: Hashable, Sendable, ExpressibleByStringLiteral {
  /// A property by name, or a key path through composites and to-one relationships. Written as a string.
  case keyPath(String)
  /// An expression, such as an aggregate.
  case expression(ExpressionDescription)

  /// A property or key path.
  public init(stringLiteral value: String) { self = .keyPath(value) }

  /// A property of the model.
  public static func property(_ property: PropertyDescription) -> FetchProperty { .keyPath(property.name) }

  /// An expression under a name.
  public static func expression(
    _ name: String, _ expression: FetchExpression, resultType: AttributeType? = nil
  ) -> FetchProperty {
    .expression(ExpressionDescription(name: name, expression: expression, resultType: resultType))
  }
}
