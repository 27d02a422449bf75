import CambiumEngine

/// An expression whose values are of a Swift type, or missing: ``FetchPath`` and what is computed of it.
public protocol TypedFetchExpression<Output>: Sendable {
  /// The type of the values.
  associatedtype Output
  /// The expression, without its type.
  var fetchExpression: FetchExpression { get }
}

/// What is computed of paths and values.
public struct FetchValue<Output>: TypedFetchExpression {
  /// The expression, without its type.
  public let fetchExpression: FetchExpression

  /// Gives an expression a type, which nothing checks.
  public init(_ expression: FetchExpression) { fetchExpression = expression }

  init(_ expression: CambiumEngine.Expression) { fetchExpression = FetchExpression(expression) }

  /// The same value for all objects.
  public init(constant: Output) where Output: FetchComparable { self.init(.constant(constant.fetchValue)) }
}

/// A property of a type, or a key path from it, by the names of the model.
///
/// Members of the type that the path leads to follow it: `entry.aircraft.colorScheme.primary`.
@dynamicMemberLookup
public struct FetchPath<Root, Output>: TypedFetchExpression {
  let engine: CambiumEngine.Expression

  /// A path by its names, which nothing checks before it is used.
  public init(_ keyPath: String) { engine = FetchExpression(forKeyPath: keyPath).engine }

  init(_ expression: CambiumEngine.Expression) { engine = expression }

  /// The expression, without its type.
  public var fetchExpression: FetchExpression { FetchExpression(engine) }

  /// The key path's text.
  public var keyPath: String {
    // As it is: in a predicate's text a name that is a word of the language is marked.
    if case .keyPath(let names) = engine { return names }
    return engine.description
  }

  /// What to fetch of objects in a request for dictionaries.
  public var fetchProperty: FetchProperty { .keyPath(keyPath) }

  /// Small values first.
  public var ascending: FetchSortDescriptor { FetchSortDescriptor(key: keyPath) }

  /// Large values first.
  public var descending: FetchSortDescriptor { FetchSortDescriptor(key: keyPath, ascending: false) }

  /// A property of what the path leads to, which may be declared by a superclass (`Owner`).
  public subscript<Owner, Member>(
    dynamicMember member: KeyPath<Output.Paths, FetchPath<Owner, Member>>
  ) -> FetchPath<Root, Member> where Output: FetchPaths {
    FetchPath<Root, Member>(engine.appending(Output.paths[keyPath: member].engine))
  }

  /// A to-many relationship of what the path leads to.
  public subscript<Owner, Member>(
    dynamicMember member: KeyPath<Output.Paths, FetchCollection<Owner, Member>>
  ) -> FetchCollection<Root, Member> where Output: FetchPaths {
    FetchCollection<Root, Member>(engine.appending(Output.paths[keyPath: member].engine))
  }
}

extension CambiumEngine.Expression {
  /// The path that goes on by another one.
  func appending(_ path: CambiumEngine.Expression) -> CambiumEngine.Expression {
    switch path {
    case .keyPath(let names): return member(names)
    case .evaluatedObject: return self
    // Operators of what a path leads to.
    case .aggregate(let function, let collection, let rest):
      return .aggregate(function, appending(collection), path: rest)
    case .member(let base, let rest): return .member(appending(base), path: rest)
    case .element(let base, let index): return .element(appending(base), index)
    default: return path
    }
  }
}
