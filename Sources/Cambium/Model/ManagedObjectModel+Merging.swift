import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ManagedObjectModel {
  /// One model of the entities, composite types, configurations and templates of several, which stay as they are. An
  /// entity that several have must be described alike in all, in every setting; so must be composite types and
  /// templates. Relationships may lead from one model's entities to another's by name.
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` with what differs (Core Data raises, or takes the first).
  @_optimize(none)
  public convenience init(merging models: [ManagedObjectModel]) throws {
    var merged = SchemaDefinition()
    for model in models { try merged.merge(try model.definition()) }
    self.init(definition: merged)
    if models.count == 1 { filePath = models.first?.filePath }
    _ = try schema()
  }

  /// Core Data's name for ``init(merging:)``; `nil` of no models.
  ///
  /// - Throws: as ``init(merging:)``.
  @_optimize(none)
  public static func modelByMerging(_ models: [ManagedObjectModel]?) throws -> ManagedObjectModel? {
    guard let models, !models.isEmpty else { return nil }
    return try ManagedObjectModel(merging: models)
  }

  /// The models merged whose entities a store's metadata (``PersistentStore/metadata``) names, in just the versions
  /// that it has. `nil` if they do not make up all that the store holds.
  ///
  /// - Throws: as ``init(merging:)``.
  @_optimize(none)
  public static func modelByMerging(
    _ models: [ManagedObjectModel], forStoreMetadata metadata: [String: Any]
  ) throws -> ManagedObjectModel? {
    guard var wanted = metadata[Self.versionHashesKey] as? [String: Data] else { return nil }
    var used: [ManagedObjectModel] = []
    for model in models {
      let hashes = try model.entityVersionHashesByName
      guard !hashes.isEmpty, hashes.allSatisfy({ metadataHash($0.key, metadata) == $0.value }) else { continue }
      if hashes.keys.allSatisfy({ wanted[$0] == nil }) { continue }
      used.append(model)
      for name in hashes.keys { wanted[name] = nil }
    }
    return wanted.isEmpty ? try ManagedObjectModel(merging: used) : nil
  }

  private static func metadataHash(_ entity: String, _ metadata: [String: Any]) -> Data? {
    (metadata[Self.versionHashesKey] as? [String: Data])?[entity]
  }

  /// The current versions of all models in folders, merged. Core Data looks into bundles; a package's resources are a
  /// folder: `Bundle.module.resourceURL`. Looks at what lies directly in a folder; one that is a model itself counts.
  ///
  /// - Throws: as ``init(contentsOf:version:)`` and ``init(merging:)``.
  public static func mergedModel(from folders: [URL]) throws -> ManagedObjectModel? {
    try modelByMerging(try models(in: folders))
  }

  /// The models in folders, all versions, that make up what a store holds; see ``modelByMerging(_:forStoreMetadata:)``.
  public static func mergedModel(
    from folders: [URL], forStoreMetadata metadata: [String: Any]
  ) throws -> ManagedObjectModel? {
    try modelByMerging(try models(in: folders, allVersions: true), forStoreMetadata: metadata)
  }
}

extension SchemaDefinition {
  @_optimize(none)
  fileprivate mutating func merge(_ other: SchemaDefinition) throws {
    try Self.merge(&entities, other.entities, \.name, "entity")
    try Self.merge(&composites, other.composites, \.name, "composite type")
    try Self.merge(&fetchTemplates, other.fetchTemplates, \.name, "fetch request template")
    for configuration in other.configurations {
      guard let place = configurations.firstIndex(where: { $0.name == configuration.name }) else {
        configurations.append(configuration)
        continue
      }
      for entity in configuration.entities where !configurations[place].entities.contains(entity) {
        configurations[place].entities.append(entity)
      }
    }
    for identifier in other.versionIdentifiers where !versionIdentifiers.contains(identifier) {
      versionIdentifiers.append(identifier)
    }
    for name in other.removedEntities where !removedEntities.contains(name) { removedEntities.append(name) }
  }

  /// Adds what is not known yet by its name; what is has to be the same.
  @_optimize(none)
  private static func merge<Named: Equatable>(
    _ known: inout [Named], _ others: [Named], _ name: (Named) -> String, _ what: String
  ) throws {
    for other in others {
      guard let present = known.first(where: { name($0) == name(other) }) else {
        known.append(other)
        continue
      }
      if present == other { continue }
      throw CambiumError(
        .invalidModel,
        "the models cannot be merged: they have different descriptions of \(what) '\(name(other))'",
        entityName: what == "entity" ? name(other) : nil)
    }
  }
}
