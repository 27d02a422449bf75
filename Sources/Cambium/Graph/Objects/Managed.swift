/// Makes a variable of a ``ManagedObject`` subclass the property of the same name of its entity. Core Data:
/// `@NSManaged`.
///
///     final class Aircraft: ManagedObject {
///       @Managed var tailNumber: String
///       @Managed var colorScheme: ColorScheme?        // a CompositeRepresentable
///     }
///     extension Aircraft {
///       @Managed public var paint: [String: Any]?     // a composite as a dictionary
///       @Managed var home: Airport?                   // a to-one relationship
///       @Managed var logEntries: Set<LogEntry>        // a to-many relationship
///       @Managed var legs: [Leg]                      // an ordered one, or a fetched property
///     }
///
/// The type may be any that ``ManagedObject/value(forKey:)`` gives, an ``AttributeRepresentable``, such as an
/// enumeration, or a ``CompositeRepresentable``, or an optional of these; for a transformable attribute, an optional of
/// whatever its transformer makes. A type that is not optional needs something to be read where there is no value:
/// ``ManagedDefault`` says what that is, and ``Managed(_:default:)`` says it for one property. A to-one relationship is
/// always optional.
///
/// Reading and setting never throw. What cannot be read is read as no value, and noted in
/// ``ManagedObjectContext/recordedErrors``; a value that cannot be set is noted, and the next save throws the error.
@attached(accessor) public macro Managed() = #externalMacro(module: "CambiumMacros", type: "ManagedMacro")

/// Makes a variable the property of another name: `@Managed("tailNumber") var registration: String?`. See
/// ``Managed()``.
@attached(accessor) public macro Managed(_ key: String) =
  #externalMacro(module: "CambiumMacros", type: "ManagedMacro")

/// Makes a variable a property, and says what is read where there is no value:
/// `@Managed(default: PaintColor.white) var color: PaintColor`. Nothing is stored by that; the default of an attribute
/// is the model's. See ``Managed()``.
@attached(accessor) public macro Managed<T>(_ key: String? = nil, default: T) =
  #externalMacro(module: "CambiumMacros", type: "ManagedMacro")
