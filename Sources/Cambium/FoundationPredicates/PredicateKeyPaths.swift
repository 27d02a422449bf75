/// Tells how the properties are called that Swift key paths name, so that `#Predicate` can be asked of a store: a key
/// path does not know its own name.
///
///     extension Aircraft: PredicateKeyPaths {
///       static var predicateKeyPaths: [AnyKeyPath: String] {
///         [\Aircraft.tailNumber: "tailNumber", \Aircraft.colorScheme: "colorScheme"]
///       }
///     }
///     extension ColorScheme: PredicateKeyPaths {
///       static var predicateKeyPaths: [AnyKeyPath: String] { [\ColorScheme.primary: "primary"] }
///     }
///
/// ``ManagedPaths()`` writes this. Each type declares its own properties, composites as well. The key path of an
/// inherited property begins at the subclass, so that a class whose subclasses are asked about makes the list for them
/// as well (not with `\Self.name`, which ends the process in Swift 6.3):
///
///     extension Vehicle: PredicateKeyPaths {
///       static var predicateKeyPaths: [AnyKeyPath: String] {
///         func of<Object: Vehicle>(_: Object.Type) -> [AnyKeyPath: String] { [\Object.number: "number"] }
///         return of(Self.self)
///       }
///     }
///     class Vehicle: ManagedObject { @Managed var number: String? }
///
/// The text may be a key path itself, such as `aircraft.name` for a property that reads through a relationship.
public protocol PredicateKeyPaths {
  /// The names of the properties in the model, by key path.
  static var predicateKeyPaths: [AnyKeyPath: String] { get }
}
