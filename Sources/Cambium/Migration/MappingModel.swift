import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What becomes of every entity and property between two models. Core Data: `NSMappingModel`.
///
///     var mapping = try MappingModel.byName(from: v1, to: v2)
///     mapping["Aircraft"]?.entityMigrationPolicy = PaintPolicy.self
///     mapping["Airport"]?["name"] = .source("fullName")
///     description.mappingModels = [mapping]
///
/// Mappings that can be inferred need none of this: see ``inferred(from:to:)``.
public struct MappingModel: Sendable {
  /// What becomes of the entities, in the order in which a migration takes them. What no mapping mentions is not there
  /// in the destination.
  public var entityMappings: [EntityMapping]

  /// A mapping model for migrations by hand (``MigrationManager``).
  public init(entityMappings: [EntityMapping] = []) { self.entityMappings = entityMappings }

  /// A mapping model that is found for stores of one model and coordinators of another: the version hashes of entities
  /// are filled in where they are missing, and entities that are in no mapping are added or removed. O(size of the
  /// models).
  ///
  /// - Throws: As ``check(from:to:)``.
  public init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, entityMappings: [EntityMapping]
  ) throws {
    self.entityMappings = entityMappings
    complete(try source.schema(), try destination.schema())
    try check(from: source, to: destination)
  }

  /// The one of several mapping models that was made for two models: those whose version hashes of entities, of both
  /// sides, are exactly the models'; `nil` if there is none. Core Data looks in bundles:
  /// `NSMappingModel(from:forSourceModel:destinationModel:)`.
  ///
  /// - Throws: ``CambiumError/Code/invalidModel``.
  public init?(
    from mappingModels: [MappingModel], forSourceModel source: ManagedObjectModel, destinationModel: ManagedObjectModel
  ) throws {
    let hashes = try source.entityVersionHashesByName
    let destinationHashes = try destinationModel.entityVersionHashesByName
    guard let found = mappingModels.first(where: { $0.maps(hashes, to: destinationHashes) }) else { return nil }
    self = found
  }

  /// The mappings by name: `IEM_Transform_Aircraft` and the like, as Core Data names inferred ones.
  public var entityMappingsByName: [String: EntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The first mapping that leads to an entity of the destination, or else has the name; `nil` if there is none.
  /// Assigning replaces or removes it, or adds one.
  public subscript(entity: String) -> EntityMapping? {
    get { place(entity).map { entityMappings[$0] } }
    set {
      switch (place(entity), newValue) {
      case (let place?, let newValue?): entityMappings[place] = newValue
      case (let place?, nil): entityMappings.remove(at: place)
      case (nil, let newValue?): entityMappings.append(newValue)
      case (nil, nil): break
      }
    }
  }

  private func place(_ entity: String) -> Int? {
    entityMappings.firstIndex { $0.destinationEntityName == entity } ?? entityMappings.firstIndex { $0.name == entity }
  }

  // MARK: Hashes

  /// Whether the version hashes of entities are exactly those of two models.
  @_optimize(none)
  func maps(_ source: [String: Data], to destination: [String: Data]) -> Bool {
    func covers(
      _ hashes: [String: Data], _ name: KeyPath<EntityMapping, String?>, _ hash: KeyPath<EntityMapping, Data?>
    ) -> Bool {
      var covered: [String: Data] = [:]
      for mapping in entityMappings {
        guard let entity = mapping[keyPath: name] else { continue }
        guard let own = mapping[keyPath: hash], covered[entity] == nil || covered[entity] == own else { return false }
        covered[entity] = own
      }
      return covered == hashes
    }
    return covers(source, \.sourceEntityName, \.sourceEntityVersionHash)
      && covers(destination, \.destinationEntityName, \.destinationEntityVersionHash)
  }

  /// Fills in version hashes, and mappings of entities that are in none.
  @_optimize(none)
  mutating func complete(_ source: Schema, _ destination: Schema) {
    let sourceHashes = source.entityVersionHashesByName.mapValues { Data($0.bytes) }
    let destinationHashes = destination.entityVersionHashesByName.mapValues { Data($0.bytes) }
    var sources: Set<String> = []
    var destinations: Set<String> = []
    for mapping in entityMappings {
      if let name = mapping.sourceEntityName { sources.insert(name) }
      if let name = mapping.destinationEntityName { destinations.insert(name) }
    }
    for entity in destination.entities where !destinations.contains(entity.name) {
      entityMappings.append(EntityMapping(from: nil, to: entity.name))
    }
    for entity in source.entities where !sources.contains(entity.name) {
      entityMappings.append(EntityMapping(from: entity.name, to: nil))
    }
    for place in entityMappings.indices {
      if let name = entityMappings[place].sourceEntityName, entityMappings[place].sourceEntityVersionHash == nil {
        entityMappings[place].sourceEntityVersionHash = sourceHashes[name]
      }
      if let name = entityMappings[place].destinationEntityName,
        entityMappings[place].destinationEntityVersionHash == nil
      {
        entityMappings[place].destinationEntityVersionHash = destinationHashes[name]
      }
    }
  }
}
