import CambiumEngine

/// Declares the properties of a class of objects, or of a composite, so that predicates and orders written with them
/// are checked by the compiler: a value of the wrong type does not compile.
///
///     extension Aircraft: FetchPaths {
///       struct Paths: Sendable {
///         let tailNumber = FetchPath<Aircraft, String>("tailNumber")
///         let colorScheme = FetchPath<Aircraft, ColorScheme>("colorScheme")
///         let logEntries = FetchCollection<Aircraft, LogEntry>("logEntries")
///       }
///       static let paths = Paths()
///     }
///
///     request.filter { $0.colorScheme.primary == .white && $0.logEntries.any { $0.minutes > 60 } }
///
/// Names are those of the model, and one that is not in it is an error when the request is made, as in a format string.
public protocol FetchPaths {
  /// The properties, each a ``FetchPath`` or ``FetchCollection`` from this type.
  associatedtype Paths: Sendable
  /// The properties.
  static var paths: Paths { get }
}

extension ManagedObject: FetchComparable {
  /// The identifier.
  public var fetchValue: Value { .reference(objectID.reference) }
}

extension ManagedObjectID: FetchComparable {
  /// The identifier.
  public var fetchValue: Value { .reference(reference) }
}
