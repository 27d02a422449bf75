/// Declares the properties of a class or composite once more, for conditions that the compiler checks (``FetchPaths``)
/// and for Swift's own key paths (``PredicateKeyPaths``): in place of the two lists that would have to be kept by hand.
///
///     @ManagedPaths final class Pilot: ManagedObject {
///       @Managed var name: String
///       @Managed var certificate: Certificate?
///     }
///     @ManagedPaths struct Certificate: CompositeRepresentable {
///       var number: String?
///       var hours: Int?
///
///       init?(compositeValues values: [String: Any]) {
///         (number, hours) = (values["number"] as? String, values["hours"] as? Int)
///       }
///       var compositeValues: [String: Any] { ["number": number as Any, "hours": hours as Any] }
///     }
///
///     let pilots = FetchRequest<Pilot>(entityName: "Pilot")
///     pilots.filter { $0.certificate.hours > 100 }
///     pilots.predicate = try FetchPredicate(#Predicate<Pilot> { $0.name == "Earhart" })
///
/// Of a class these are the variables with ``Managed()`` in the declaration of the class itself, by the names that they
/// have in the model; variables of extensions, and those within `#if`, a macro does not see. Of a structure they are
/// its stored variables. What is `private` is left out. A type that has one of the two conformances by itself gets the
/// other one. What the model does not have under such a name is an error when it is asked for, as in a format string.
///
/// A subclass of a class with paths has the macro as well, for the properties that it adds:
/// `FetchRequest<Seaplane>().filter { $0.floats > 2 && $0.tailNumber == "N1" }`. Only `Seaplane.paths` is that of the
/// superclass.
@attached(member, names: named(managedKeyPaths))
@attached(
  extension, conformances: FetchPaths, PredicateKeyPaths, names: named(Paths), named(paths), named(predicateKeyPaths))
public macro ManagedPaths() = #externalMacro(module: "CambiumMacros", type: "PathsMacro")

/// What ``ManagedPaths()`` writes the paths of properties with: which kind of path it is follows from the property's
/// type.
public enum ManagedPath {
  /// The path of a property.
  public static func of<Root, Output>(_ property: KeyPath<Root, Output>, _ name: String) -> FetchPath<Root, Output> {
    FetchPath(name)
  }

  /// The path of a property that may have no value: conditions are about the values.
  public static func of<Root, Output>(_ property: KeyPath<Root, Output?>, _ name: String) -> FetchPath<Root, Output> {
    FetchPath(name)
  }

  /// The path of a to-many relationship.
  public static func of<Root, Element: ManagedObject>(
    _ property: KeyPath<Root, Set<Element>>, _ name: String
  ) -> FetchCollection<Root, Element> { FetchCollection(name) }

  /// The path of an ordered to-many relationship, or of a fetched property.
  public static func of<Root, Element: ManagedObject>(
    _ property: KeyPath<Root, [Element]>, _ name: String
  ) -> FetchCollection<Root, Element> { FetchCollection(name) }

  /// The path of a to-many relationship that is declared as an optional one.
  public static func of<Root, Element: ManagedObject>(
    _ property: KeyPath<Root, Set<Element>?>, _ name: String
  ) -> FetchCollection<Root, Element> { FetchCollection(name) }

  /// The path of an ordered to-many relationship that is declared as an optional one.
  public static func of<Root, Element: ManagedObject>(
    _ property: KeyPath<Root, [Element]?>, _ name: String
  ) -> FetchCollection<Root, Element> { FetchCollection(name) }
}
