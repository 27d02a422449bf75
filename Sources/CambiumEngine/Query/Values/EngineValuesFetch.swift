/// What to fetch as rows of values instead of objects: columns of each object, or of each group of them.
///
/// There are groups if ``groupBy`` names key paths or an aggregate occurs in a column; without ``groupBy`` all objects
/// are one group, also if there are none. Aggregates are the functions `count`, `sum`, `average`, `min`, `max`,
/// `median`, `mode` and `stddev` of one argument, which is computed of each object; what is made of them is computed of
/// each group. They follow SQL's rules: null has no part in them; `count` of nothing is 0, the others of nothing are
/// null. A key path through to-many relationships gives an aggregate all the values that it reads; operators such as
/// `@sum` are of one object.
///
/// - `count` counts values: `count(self)` objects, `count(name)` those that have a name.
/// - `sum` of integers is exact, a decimal where 64 bits do not hold it. Other numbers are added up as `+` does.
/// - `average` is a double, or a decimal if decimals were added up. `stddev` is a double, that of the population.
/// - `min` and `max` order as predicates do.
/// - `median`, `mode` and `stddev` keep all values of their groups in memory, the others do not.
public struct EngineValuesFetch: Sendable {
  /// Which objects. Order, offset and limit are those of the results: the order names columns, grouped key paths or,
  /// where there are no groups, key paths of the objects.
  public var fetch: EngineFetch
  /// What is asked of each object or group: key paths (of groups those in ``groupBy``), aggregates, literals, and what
  /// predicates' expressions make of them.
  public var columns: [EngineColumn]
  /// Key paths without to-many relationships; null is a group like others.
  public var groupBy: [String] = []
  /// Which groups: a condition on columns, by name or as variables, grouped key paths, and aggregates.
  public var having: Predicate?
  /// Whether equal results are given once.
  public var isDistinct = false

  /// Columns of all objects of a fetch.
  public init(_ fetch: EngineFetch, columns: [EngineColumn]) {
    self.fetch = fetch
    self.columns = columns
  }

  /// Finds out what is wrong with the request, without reading objects.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` for a rule that it breaks, ``EngineError/unknownProperty(entity:name:)``,
  ///   ``EngineError/unsupported(_:)``.
  public func check(against schema: Schema) throws(EngineError) { _ = try ValuesDesign(self, schema) }
}

/// A column of a fetch of values.
public struct EngineColumn: Sendable {
  /// The name, by which order and `having` know the column.
  public var name: String
  /// The value.
  public var expression: Expression
  /// The type that the value is brought into where it can be; numbers are rounded to what it holds; nil for its own.
  public var type: AttributeType?

  /// A column.
  public init(_ name: String, _ expression: Expression, type: AttributeType? = nil) {
    self.name = name
    self.expression = expression
    self.type = type
  }
}
