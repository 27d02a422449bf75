import CambiumEngine

extension FetchPredicate {
  /// A comparison of two expressions. Objects that are not saved are equal to none in the store.
  init(
    _ left: CambiumEngine.Expression, _ comparator: Comparator, _ right: CambiumEngine.Expression,
    _ options: ComparisonOptions = [], modifier: ComparisonModifier = .direct,
    naming arguments: @autoclosure () -> [Any?] = []
  ) {
    self.init(
      inMemory: .compare(left, comparator, right, options, modifier: modifier),
      inStore: .compare(
        left.withoutTemporary, comparator, right.withoutTemporary, options, modifier: modifier),
      naming: right.hasReference ? ObjectHomes(of: arguments()) : ObjectHomes())
  }

  /// Both.
  public static func && (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate {
    FetchPredicate(inMemory: .all([a.inMemory, b.inMemory]), inStore: .all([a.inStore, b.inStore]), of: [a, b])
  }

  /// At least one of them.
  public static func || (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate {
    FetchPredicate(inMemory: .any([a.inMemory, b.inMemory]), inStore: .any([a.inStore, b.inStore]), of: [a, b])
  }

  /// The reverse.
  public static prefix func ! (a: FetchPredicate) -> FetchPredicate {
    FetchPredicate(inMemory: a.inMemory.reversed(), inStore: a.inStore.reversed(), of: [a])
  }
}

extension CambiumEngine.Expression {
  fileprivate var hasReference: Bool {
    if case .constant(let value) = self { return value.hasReference }
    return false
  }

  fileprivate var withoutTemporary: CambiumEngine.Expression {
    if case .constant(let value) = self { return .constant(value.withoutTemporary) }
    return self
  }
}

// MARK: Equality

/// Whether both values are equal; two missing ones are.
public func == <L: TypedFetchExpression>(a: L, b: L.Output?) -> FetchPredicate where L.Output: FetchComparable {
  FetchPredicate(a.fetchExpression.engine, .equal, .constant(b?.fetchValue ?? .null), naming: [b])
}

/// Whether both values are equal; two missing ones are.
public func == <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchPredicate
where L.Output == R.Output, L.Output: FetchComparable {
  FetchPredicate(a.fetchExpression.engine, .equal, b.fetchExpression.engine)
}

/// Whether the values differ; a missing one differs from all others.
public func != <L: TypedFetchExpression>(a: L, b: L.Output?) -> FetchPredicate where L.Output: FetchComparable {
  FetchPredicate(a.fetchExpression.engine, .notEqual, .constant(b?.fetchValue ?? .null), naming: [b])
}

/// Whether the values differ; a missing one differs from all others.
public func != <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchPredicate
where L.Output == R.Output, L.Output: FetchComparable {
  FetchPredicate(a.fetchExpression.engine, .notEqual, b.fetchExpression.engine)
}

// MARK: Order

/// Whether the value is less than another; a missing one never is.
public func < <L: TypedFetchExpression>(a: L, b: L.Output) -> FetchPredicate
where L.Output: FetchComparable & Comparable {
  FetchPredicate(a.fetchExpression.engine, .less, .constant(b.fetchValue))
}

/// Whether the value is less than another; a missing one never is.
public func < <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchPredicate
where L.Output == R.Output, L.Output: FetchComparable & Comparable {
  FetchPredicate(a.fetchExpression.engine, .less, b.fetchExpression.engine)
}

/// Whether the value is at most another; a missing one never is.
public func <= <L: TypedFetchExpression>(a: L, b: L.Output) -> FetchPredicate
where L.Output: FetchComparable & Comparable {
  FetchPredicate(a.fetchExpression.engine, .lessOrEqual, .constant(b.fetchValue))
}

/// Whether the value is at most another; a missing one never is.
public func <= <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchPredicate
where L.Output == R.Output, L.Output: FetchComparable & Comparable {
  FetchPredicate(a.fetchExpression.engine, .lessOrEqual, b.fetchExpression.engine)
}

/// Whether the value is greater than another; a missing one never is.
public func > <L: TypedFetchExpression>(a: L, b: L.Output) -> FetchPredicate
where L.Output: FetchComparable & Comparable {
  FetchPredicate(a.fetchExpression.engine, .greater, .constant(b.fetchValue))
}

/// Whether the value is greater than another; a missing one never is.
public func > <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchPredicate
where L.Output == R.Output, L.Output: FetchComparable & Comparable {
  FetchPredicate(a.fetchExpression.engine, .greater, b.fetchExpression.engine)
}

/// Whether the value is at least another; a missing one never is.
public func >= <L: TypedFetchExpression>(a: L, b: L.Output) -> FetchPredicate
where L.Output: FetchComparable & Comparable {
  FetchPredicate(a.fetchExpression.engine, .greaterOrEqual, .constant(b.fetchValue))
}

/// Whether the value is at least another; a missing one never is.
public func >= <L: TypedFetchExpression, R: TypedFetchExpression>(a: L, b: R) -> FetchPredicate
where L.Output == R.Output, L.Output: FetchComparable & Comparable {
  FetchPredicate(a.fetchExpression.engine, .greaterOrEqual, b.fetchExpression.engine)
}

extension TypedFetchExpression where Output: FetchComparable {
  /// Whether the value is one of some.
  public func `in`(_ values: some Sequence<Output>) -> FetchPredicate {
    let values = Array(values)
    return FetchPredicate(
      fetchExpression.engine, .in, .constant(.list(values.map { $0.fetchValue })), naming: values)
  }

  /// Whether the value is one of some, which `nil` may be.
  public func `in`(_ values: some Sequence<Output?>) -> FetchPredicate {
    let values = Array(values)
    return FetchPredicate(
      fetchExpression.engine, .in, .constant(.list(values.map { $0?.fetchValue ?? .null })), naming: values)
  }
}

extension TypedFetchExpression where Output: FetchComparable & Comparable {
  /// Whether the value is between two others, or one of them.
  public func between(_ low: Output, _ high: Output) -> FetchPredicate {
    FetchPredicate(fetchExpression.engine, .between, .constant(.list([low.fetchValue, high.fetchValue])))
  }

  /// Whether the value is in a range.
  public func between(_ range: ClosedRange<Output>) -> FetchPredicate { between(range.lowerBound, range.upperBound) }
}
