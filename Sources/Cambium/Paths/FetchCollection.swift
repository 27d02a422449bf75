import CambiumEngine

/// A to-many relationship of a type, or a key path to one, by the names of the model.
public struct FetchCollection<Root, Element>: Sendable {
  let engine: CambiumEngine.Expression

  /// A path by its names, which nothing checks before it is used.
  public init(_ keyPath: String) { engine = .keyPath(keyPath) }

  init(_ expression: CambiumEngine.Expression) { engine = expression }

  /// How many objects there are.
  public var count: FetchValue<Int> { FetchValue<Int>(.aggregate(.count, engine, path: nil)) }

  /// Whether there is none.
  public var isEmpty: FetchPredicate { count == 0 }

  /// Whether an object is one of them.
  public func contains(_ object: Element) -> FetchPredicate where Element: FetchComparable {
    FetchPredicate(engine, .equal, .constant(object.fetchValue), modifier: .any, naming: [object])
  }
}

/// An object of a collection, in a condition on it.
@dynamicMemberLookup
public struct FetchElement<Element: FetchPaths>: TypedFetchExpression {
  /// The object itself.
  public typealias Output = Element

  let engine: CambiumEngine.Expression

  /// The object itself.
  public var fetchExpression: FetchExpression { FetchExpression(engine) }

  /// A property of the object, which may be declared by a superclass (`Owner`).
  public subscript<Owner, Member>(
    dynamicMember member: KeyPath<Element.Paths, FetchPath<Owner, Member>>
  ) -> FetchPath<Element, Member> {
    FetchPath<Element, Member>(engine.appending(Element.paths[keyPath: member].engine))
  }

  /// A to-many relationship of the object.
  public subscript<Owner, Member>(
    dynamicMember member: KeyPath<Element.Paths, FetchCollection<Owner, Member>>
  ) -> FetchCollection<Element, Member> {
    FetchCollection<Element, Member>(engine.appending(Element.paths[keyPath: member].engine))
  }
}

extension FetchCollection where Element: FetchPaths {
  /// Whether the condition holds for at least one object.
  public func any(_ condition: (FetchElement<Element>) throws -> FetchPredicate) rethrows -> FetchPredicate {
    let (name, condition) = try Self.named(condition)
    return FetchPredicate(
      inMemory: .quantified(.any, engine, name, condition.inMemory),
      inStore: .quantified(.any, engine, name, condition.inStore), of: [condition])
  }

  /// Whether the condition holds for every object, also if there is none.
  public func all(_ condition: (FetchElement<Element>) throws -> FetchPredicate) rethrows -> FetchPredicate {
    let (name, condition) = try Self.named(condition)
    return FetchPredicate(
      inMemory: .quantified(.all, engine, name, condition.inMemory),
      inStore: .quantified(.all, engine, name, condition.inStore), of: [condition])
  }

  /// Whether the condition holds for no object.
  public func none(_ condition: (FetchElement<Element>) throws -> FetchPredicate) rethrows -> FetchPredicate {
    !(try any(condition))
  }

  /// For how many objects the condition holds. Objects that are not saved yet are equal to none in it.
  public func count(
    where condition: (FetchElement<Element>) throws -> FetchPredicate
  ) rethrows -> FetchValue<Int> {
    let (name, condition) = try Self.named(condition)
    return FetchValue<Int>(
      .aggregate(
        .count, .subquery(collection: engine, variable: name, condition: condition.inStore), path: nil))
  }

  private static func named(
    _ condition: (FetchElement<Element>) throws -> FetchPredicate
  ) rethrows -> (String, FetchPredicate) {
    let depth = FetchNesting.depth + 1
    let name = "x\(depth)"
    return try FetchNesting.$depth.withValue(depth) {
      (name, try condition(FetchElement<Element>(engine: .variable(name))))
    }
  }

  // MARK: Aggregates

  /// The sum of a property of all the objects.
  public func sum<Owner, T: Numeric>(_ member: KeyPath<Element.Paths, FetchPath<Owner, T>>) -> FetchValue<T> {
    aggregate(.sum, member)
  }

  /// The mean of a property of all the objects.
  public func average<Owner, T: Numeric>(_ member: KeyPath<Element.Paths, FetchPath<Owner, T>>) -> FetchValue<Double> {
    FetchValue<Double>(aggregate(.average, member).fetchExpression)
  }

  /// The least value of a property of all the objects.
  public func min<Owner, T: Comparable>(_ member: KeyPath<Element.Paths, FetchPath<Owner, T>>) -> FetchValue<T> {
    aggregate(.minimum, member)
  }

  /// The greatest value of a property of all the objects.
  public func max<Owner, T: Comparable>(_ member: KeyPath<Element.Paths, FetchPath<Owner, T>>) -> FetchValue<T> {
    aggregate(.maximum, member)
  }

  private func aggregate<Owner, T>(
    _ operation: CollectionOperator, _ member: KeyPath<Element.Paths, FetchPath<Owner, T>>
  ) -> FetchValue<T> {
    FetchValue<T>(.aggregate(operation, engine, path: Element.paths[keyPath: member].keyPath))
  }
}

/// How deep conditions on collections are nested while they are made: their variables are called after it.
private enum FetchNesting {
  @TaskLocal static var depth = 0
}
