// What Core Data's classes inherit from NSObject: equality, hashes, and descriptions for debuggers.

@_spi(CoreData) import Cambium

extension ManagedObjectContext: Hashable, CustomDebugStringConvertible {
  /// Whether both are the same context.
  public static func == (a: ManagedObjectContext, b: ManagedObjectContext) -> Bool { a === b }
  /// Adds the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  /// The class, the name if there is one, and the kind of queue.
  public var debugDescription: String {
    "<NSManagedObjectContext\(name.map { " '\($0)'" } ?? ""), \(concurrencyType)>"
  }
}

extension PersistentStoreCoordinator: Hashable, CustomDebugStringConvertible {
  /// Whether both are the same coordinator.
  public static func == (a: PersistentStoreCoordinator, b: PersistentStoreCoordinator) -> Bool { a === b }
  /// Adds the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  /// The class, and the stores.
  public var debugDescription: String {
    "<NSPersistentStoreCoordinator, stores: \(persistentStores.map { $0.debugDescription }.joined(separator: ", "))>"
  }
}

extension PersistentStore: Hashable, CustomDebugStringConvertible {
  /// Whether both are the same store.
  public static func == (a: PersistentStore, b: PersistentStore) -> Bool { a === b }
  /// Adds the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  /// The class, and where the store is.
  public var debugDescription: String { "<NSPersistentStore \(url?.path ?? "in memory")>" }
}

extension EntityDescription: Hashable, CustomDebugStringConvertible {
  /// Whether both are the same entity: one description, or two with one name and one version hash.
  public static func == (a: EntityDescription, b: EntityDescription) -> Bool {
    if a === b { return true }
    guard a.ownName == b.ownName, let hash = try? a.ownVersionHash else { return false }
    return (try? b.ownVersionHash) == hash
  }
  /// Adds the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(ownName) }
  /// The class and the name, with the names of the properties.
  public var debugDescription: String {
    "<NSEntityDescription '\(ownName)', properties: \(propertiesByName.keys.sorted().joined(separator: ", "))>"
  }
}

extension ManagedObjectModel: Hashable, CustomDebugStringConvertible {
  /// Whether both are the same model: one object, or two with one checksum.
  public static func == (a: ManagedObjectModel, b: ManagedObjectModel) -> Bool {
    if a === b { return true }
    guard let checksum = try? a.ownVersionChecksum else { return false }
    return (try? b.ownVersionChecksum) == checksum
  }
  /// Adds the names of the entities.
  public func hash(into hasher: inout Hasher) { hasher.combine(Set(entities.map { $0.ownName })) }
  /// The class, and the names of the entities.
  public var debugDescription: String {
    "<NSManagedObjectModel, entities: \(entities.map { $0.ownName }.sorted().joined(separator: ", "))>"
  }
}

extension PropertyDescription: Hashable {
  /// Whether both are the same property: one description, or two of equal entities with one name and one version hash.
  public static func == (a: PropertyDescription, b: PropertyDescription) -> Bool {
    if a === b { return true }
    guard a.name == b.name, a.entity?.ownName == b.entity?.ownName, let hash = try? a.ownVersionHash else {
      return false
    }
    return (try? b.ownVersionHash) == hash
  }
  /// Adds the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
