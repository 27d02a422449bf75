@_spi(CoreData) import Cambium

/// What `%@` and the number marks of a predicate format take.
public protocol NSPredicateArgument {}

extension String: NSPredicateArgument {}
extension Substring: NSPredicateArgument {}
extension Bool: NSPredicateArgument {}
extension Int: NSPredicateArgument {}
extension Int8: NSPredicateArgument {}
extension Int16: NSPredicateArgument {}
extension Int32: NSPredicateArgument {}
extension Int64: NSPredicateArgument {}
extension UInt: NSPredicateArgument {}
extension UInt8: NSPredicateArgument {}
extension UInt16: NSPredicateArgument {}
extension UInt32: NSPredicateArgument {}
extension UInt64: NSPredicateArgument {}
extension Float: NSPredicateArgument {}
extension Double: NSPredicateArgument {}
extension Decimal: NSPredicateArgument {}
extension Date: NSPredicateArgument {}
extension Data: NSPredicateArgument {}
extension UUID: NSPredicateArgument {}
extension URL: NSPredicateArgument {}
extension ManagedObject: NSPredicateArgument {}
extension ManagedObjectID: NSPredicateArgument {}
extension Array: NSPredicateArgument {}
extension Set: NSPredicateArgument {}
extension Optional: NSPredicateArgument where Wrapped: NSPredicateArgument {}
extension NSObject: NSPredicateArgument {}
extension FetchExpression: NSPredicateArgument {}

extension FetchPredicate {
  /// Reads a predicate. Where Core Data raises, for a mistake in the format or an argument that no attribute holds, the
  /// predicate is one whose use throws the error.
  public init(format: String, _ arguments: any NSPredicateArgument...) {
    self.init(format: format, argumentArray: arguments as [Any])
  }

  /// Reads a predicate whose arguments the caller has cast: `id as CVarArg`, `date as NSDate`.
  @_disfavoredOverload public init(format: String, _ arguments: any CVarArg...) {
    self.init(format: format, argumentArray: arguments as [Any])
  }

  /// A predicate without a condition, to be replaced before it is used: using it throws
  /// ``CambiumError/Code/invalidPredicate``, where Core Data raises.
  public init() {
    self.init(
      failure: CambiumError(
        .invalidPredicate,
        "NSPredicate() has no condition; use NSPredicate(format:), or NSPredicate(value: true) for all"))
  }

  /// Reads a predicate with its arguments in an array; see ``init(format:_:)``.
  public init(format: String, argumentArray: [Any]?) {
    do {
      let plain = FormatWithoutExpressions(format, argumentArray ?? [])
      let arguments: [Any?] = plain.arguments.map { swiftValue($0) }
      self = try FetchPredicate(ownFormat: plain.format, argumentArray: argumentArray == nil ? nil : arguments)
    } catch { self.init(failure: error) }
  }

  /// All of the predicates.
  public init(andPredicateWithSubpredicates predicates: [FetchPredicate]) { self = .and(predicates) }

  /// At least one of the predicates.
  public init(orPredicateWithSubpredicates predicates: [FetchPredicate]) { self = .or(predicates) }

  /// The reverse.
  public init(notPredicateWithSubpredicate predicate: FetchPredicate) { self = .not(predicate) }

  /// How parts are put together.
  public enum LogicalType: UInt, Sendable {
    /// The reverse of the first part; without parts, none holds.
    case not = 0
    /// All of them.
    case and = 1
    /// At least one.
    case or = 2
  }

  /// A predicate of parts.
  public init(type: LogicalType, subpredicates: [FetchPredicate]) {
    switch type {
    case .and: self = .and(subpredicates)
    case .or: self = .or(subpredicates)
    case .not: self = .not(subpredicates.first ?? .init(value: true))
    }
  }
}

extension FetchSortDescriptor {
  /// An order by a property, for classes that say how their properties are called.
  public init<Root: PredicateKeyPaths, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    // A key path that is missing there is no property of the entity, which the fetch says.
    self.init(key: Root.predicateKeyPaths[keyPath] ?? "\(keyPath)", ascending: ascending)
  }
}

extension FetchExpression {
  /// The object itself: ``evaluatedObject``.
  public static func expressionForEvaluatedObject() -> FetchExpression { .evaluatedObject }
}
