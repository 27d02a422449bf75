import CambiumEngine

// The parts of earlier versions that a version of a model removes on purpose:
//
//     let model = try ManagedObjectModel {
//       Entity("Trip") {
//         Attribute("title", .string)
//         Removed("notes")
//         Removed("start.altitude")  // an element of a composite
//       }
//       RemovedEntity("Hotel")
//     }
//
// An inferred migration may drop their values. The lines change neither the rows nor any version hash. Keep them for as
// long as there are stores of the earlier versions.

/// A property of earlier versions that an entity removes on purpose, in a model builder.
///
/// An inferred migration may drop its values in the entity and its subentities. Without this line it may need another
/// permission: ``PersistentStoreDescription/allowsDroppingUnknownData`` has the rule.
public struct Removed {
  let path: String

  /// Names a removed property.
  ///
  /// - Parameter path: The name or renaming identifier that the attribute or relationship had. For an element of a
  ///   composite, its path, such as `start.altitude`. The entity may have a property of another kind under this name,
  ///   for example a relationship that replaces an attribute.
  public init(_ path: String) { self.path = path }
}

/// An entity of earlier versions that a model removes on purpose, with all of its objects, in a model builder.
///
/// Relationships of other entities to it go as well. Name each of them by a ``Removed`` in its entity.
public struct RemovedEntity {
  let name: String

  /// Names a removed entity by the name or renaming identifier that it had.
  public init(_ name: String) { self.name = name }
}
