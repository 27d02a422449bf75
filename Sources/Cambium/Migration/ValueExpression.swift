import CambiumEngine
import CambiumKernel

/// What a value expression may look at. Core Data: the variables `$manager`, `$source`, `$destination`,
/// `$entityMapping`, `$propertyMapping` and `$entityPolicy`.
///
/// Lives as long as the call that it is given to.
public struct MappingContext {
  /// `$manager`: the manager of the migration.
  public let manager: MigrationManager
  /// `$source`: the object of the source that the destination's was made of; `nil` if it was made of none.
  public let source: ManagedObject?
  /// `$destination`: the object whose property is asked for.
  public let destination: ManagedObject
  /// `$entityMapping`: what is made of the source's entity.
  public let entityMapping: EntityMapping
  /// `$propertyMapping`: the property that is asked for.
  public let propertyMapping: PropertyMapping
  /// `$entityPolicy`: the policy of the entity mapping.
  public let entityPolicy: EntityMigrationPolicy
}

/// Says what a property of the destination becomes. Core Data: the value expression (`NSExpression`) of a property
/// mapping.
///
///     var aircraft = EntityMapping(from: "Aircraft", to: "Aircraft")
///     aircraft["seats"] = .constant(4)
///     aircraft["ownerName"] = .source("owner.name")
///     aircraft["flights"] = .destinations(ofSource: "flights")
///     aircraft["tailNumber"] = ValueExpression { ($0.source?.value(forKey: "tailNumber") as? String)?.uppercased() }
public struct ValueExpression: Sendable {
  enum Kind: Sendable {
    case closure(@Sendable (MappingContext) throws -> Any?)
    case source(String)
    case constant(any Sendable)
    case destinations(mapping: String?, path: String)
  }

  let kind: Kind

  /// A value that the application computes. It is what ``ManagedObject/set(_:forKey:)`` takes for the property; what
  /// the closure throws ends the migration with ``CambiumError/Code/entityMigrationPolicy``.
  public init(_ value: @escaping @Sendable (MappingContext) throws -> Any?) { kind = .closure(value) }

  private init(_ kind: Kind) { self.kind = kind }

  /// An attribute of the source object: its name, or a key path through to-one relationships and composites. Where the
  /// types differ, numbers become numbers of the other type, and composites are matched element by element, as a
  /// lightweight migration does; a value that the attribute does not hold ends the migration. Core Data:
  /// `$source.keyPath`.
  public static func source(_ keyPath: String) -> ValueExpression { ValueExpression(.source(keyPath)) }

  /// The same value for all objects.
  public static func constant(_ value: some Sendable) -> ValueExpression { ValueExpression(.constant(value)) }

  /// For a relationship: what an entity mapping made of the objects that a key path of the source object leads to, in
  /// their order. Core Data: `FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", name,
  /// $source.keyPath)`.
  ///
  /// - Parameter keyPath: A relationship of the source, or a path of them; empty for the source object itself, to lead
  ///   from one part of an object that was split to another.
  public static func destinationInstances(
    forEntityMappingName name: String, sourceInstances keyPath: String
  ) -> ValueExpression {
    ValueExpression(.destinations(mapping: name, path: keyPath))
  }

  /// For a relationship: what was made of the objects that a key path of the source object leads to, by whatever entity
  /// mapping, as far as they are of the relationship's destination entity.
  ///
  /// - Parameter keyPath: As for ``destinationInstances(forEntityMappingName:sourceInstances:)``.
  public static func destinations(ofSource keyPath: String) -> ValueExpression {
    ValueExpression(.destinations(mapping: nil, path: keyPath))
  }

  /// The value. Objects of a relationship come as an array, without duplicates.
  ///
  /// - Throws: What the application's closure throws; ``CambiumError/Code/unknownKey``;
  ///   ``CambiumError/Code/invalidArgument`` for an entity mapping that there is none of; what reading throws.
  public func value(in context: MappingContext) throws -> Any? {
    switch kind {
    case .closure(let body): return try body(context)
    case .constant(let value): return value
    case .source(let path): return try context.source?.get(keyPath: path)
    case .destinations(let name, let path):
      guard let source = context.source else { return nil }
      let objects = path.isEmpty ? [source] : Self.objects(try source.get(keyPath: path))
      if let name {
        return try context.manager.destinationInstances(forEntityMappingName: name, sourceInstances: objects)
      }
      return context.manager.destinations(of: objects, for: context.propertyMapping.name, of: context.destination)
    }
  }

  /// The objects in what a key path through relationships gives; those without order by their identifiers.
  private static func objects(_ value: Any?) -> [ManagedObject] {
    switch unwrapped(value) {
    case let object as ManagedObject: return [object]
    case let list as [ManagedObject]: return list
    case let set as Set<ManagedObject>: return set.ordered { $0.objectID.reference < $1.objectID.reference }
    // A path through to-many relationships is as deep as it is long.
    case let values as [Any]: return values.flatMap { objects($0) }
    default: return []
    }
  }
}

/// Where a property of the destination gets its value. Core Data: `NSPropertyMapping`.
public struct PropertyMapping: Sendable {
  /// The property of the destination entity; for an attribute also the key path of an element of a composite.
  public var name: String
  /// The value; `nil` leaves the property as it is, an attribute at its default.
  public var valueExpression: ValueExpression?
  /// What the application attaches to the mapping.
  public var userInfo: [String: any Sendable] = [:]

  /// A property mapping.
  public init(_ name: String, _ valueExpression: ValueExpression? = nil) {
    self.name = name
    self.valueExpression = valueExpression
  }
}
