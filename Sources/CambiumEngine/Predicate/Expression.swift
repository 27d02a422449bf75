/// A side of a comparison.
public indirect enum Expression: Equatable, Sendable {
  /// A value. Lists of values are constants as well.
  case constant(Value)
  /// A dotted key path from the evaluated object: attributes, elements of composites, relationships.
  case keyPath(String)
  /// `$name`: a value given when evaluating, or by ``Predicate/substituting(_:)``.
  case variable(String)
  /// `SELF`: the evaluated object.
  case evaluatedObject
  /// `{a, b}` where not all are values (else it is a ``constant(_:)``).
  case list([Expression])
  /// `a + b` and so on.
  case arithmetic(ArithmeticOperator, Expression, Expression)
  /// `-a`.
  case negated(Expression)
  /// A function by its name, such as `sum`, `lowercase` or `modulus:by:`.
  case function(String, [Expression])
  /// `CAST(a, "type")` of what is not a value.
  case cast(Expression, type: String)
  /// `TERNARY(condition, then, else)`.
  case ternary(Predicate, then: Expression, otherwise: Expression)
  /// `SUBQUERY(collection, $variable, condition)`: the elements for which the condition holds.
  case subquery(collection: Expression, variable: String, condition: Predicate)
  /// A collection operator, `collection.@count` or `collection.@sum.path`.
  case aggregate(CollectionOperator, Expression, path: String?)
  /// A key path from what another expression gives, such as `$x.name`.
  case member(Expression, path: String)
  /// `array[index]`.
  case element(Expression, ElementIndex)
  /// `FETCH(request, context, countOnly)`.
  case fetch(request: Expression, context: Expression, countOnly: Bool)
  /// `$name := a`.
  case assignment(variable: String, Expression)
}

/// An arithmetic operator.
public enum ArithmeticOperator: UInt8, CaseIterable, Sendable {
  /// `a + b`.
  case add
  /// `a - b`.
  case subtract
  /// `a * b`.
  case multiply
  /// `a / b`.
  case divide
  /// `a ** b`.
  case power
}

/// A key-path collection operator.
public enum CollectionOperator: UInt8, CaseIterable, Sendable {
  /// `@count`: how many there are.
  case count
  /// `@sum`.
  case sum
  /// `@avg`: the mean.
  case average
  /// `@min`: the least value.
  case minimum
  /// `@max`: the greatest value.
  case maximum
  /// `@distinctUnionOfObjects`: the values, each once.
  case distinctUnionOfObjects
  /// `@unionOfObjects`: the values.
  case unionOfObjects
  /// `@distinctUnionOfArrays`: the elements of the collections, each once.
  case distinctUnionOfArrays
  /// `@unionOfArrays`: the elements of the collections.
  case unionOfArrays
  /// `@distinctUnionOfSets`: as ``distinctUnionOfArrays``.
  case distinctUnionOfSets
  /// `@unionOfSets`: as ``unionOfArrays``.
  case unionOfSets
}

/// Which element `array[…]` takes.
public enum ElementIndex: Equatable, Sendable {
  /// The one at an index from 0, or under a key.
  case at(Expression)
  /// `[FIRST]`
  case first
  /// `[LAST]`
  case last
  /// `[SIZE]`: the number of elements instead.
  case size
}

/// What a format string's `%` marks stand for.
public enum PredicateArgument: Equatable, Sendable {
  /// A value, for `%@` and the number marks (and, if a string, for `%K`).
  case value(Value)
  /// A key path, for `%K`.
  case keyPath(String)
}
