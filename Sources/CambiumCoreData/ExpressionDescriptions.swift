/// A computed value of the dictionaries that a request fetches: an element of `propertiesToFetch`.
public final class NSExpressionDescription {
  /// The key in the dictionaries.
  public var name = ""
  /// What is computed. Without an expression, the description is passed over.
  public var expression: FetchExpression?
  /// The type that values are brought into; `undefinedAttributeType` for their own.
  public var expressionResultType = AttributeType.undefined

  /// The ``expressionResultType``, by its newer name.
  public var resultType: AttributeType {
    get { expressionResultType }
    set { expressionResultType = newValue }
  }

  /// A description to be filled in.
  public init() {}

  var property: FetchProperty? {
    expression.map {
      .expression(name, $0, resultType: expressionResultType == .undefined ? nil : expressionResultType)
    }
  }
}
