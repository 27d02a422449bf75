import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Version hashes as Core Data has them: what of a model is stored alike has the same hash (`Specs/04-model.md`). They
// are those of the compiled model, so that asking a model that cannot be compiled throws what is wrong with it.

extension ManagedObjectModel {
  /// See ``PersistentStore/modelVersionHashesKey``.
  static let versionHashesKey = "CambiumStoreModelVersionHashes"

  /// The version hash of every entity: 32 bytes, which change with what changes how the entity is stored. O(size of the
  /// model), or O(number of entities) once it is in use.
  ///
  /// - Throws: as ``schema()``.
  public var entityVersionHashesByName: [String: Data] {
    get throws { try schema().entityVersionHashesByName.mapValues { Data($0.bytes) } }
  }

  /// Tells the versions of a model apart: 44 characters of base64. Two models have the same checksum if and only if the
  /// version hashes of their entities are the same. Same cost as ``entityVersionHashesByName``.
  ///
  /// - Throws: as ``schema()``.
  public var versionChecksum: String {
    get throws { try schema().versionChecksum }
  }

  /// Whether a store with this metadata (``PersistentStore/metadata``) can be opened with a configuration of this model
  /// (`nil` for all entities) without a migration: the configuration's entities have the version hashes that the store
  /// has, and whatever else is in the store, the model has the same. False as well if the model has no such
  /// configuration or cannot be compiled, and if the metadata has no hashes.
  ///
  /// A store of Cambium's holds all entities of its model, those of a configuration only in use; Core Data's holds the
  /// configuration's.
  @_optimize(none)
  public func isConfiguration(withName name: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
    guard let stored = metadata[Self.versionHashesKey] as? [String: Data],
      let entities = entities(forConfigurationName: name), let hashes = try? entityVersionHashesByName
    else { return false }
    return entities.allSatisfy { stored[$0.name] != nil } && stored.allSatisfy { hashes[$0.key] == $0.value }
  }
}

extension EntityDescription {
  /// Changes with what changes how the entity is stored: its name, its being abstract, its parent's hash, the hashes of
  /// its properties, its constraints, its ``versionHashModifier``; and with nothing else. 32 bytes. O(size of the
  /// model).
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` if the entity belongs to no model, or to one that cannot be compiled.
  public var versionHash: Data {
    get throws {
      guard let managedObjectModel, let hash = try managedObjectModel.schema().entityVersionHashesByName[name] else {
        throw CambiumError(
          .invalidModel, "entity '\(name)' belongs to no model, and its hash depends on its parent's; add it to one",
          entityName: name)
      }
      return Data(hash.bytes)
    }
  }
}

extension PropertyDescription {
  /// Changes with what changes how the property is stored: name, optional, transient, ``versionHashModifier``; an
  /// attribute's type and elements, those of the composite type that it names as well; a relationship's destination,
  /// inverse, order and counts; and with nothing else. 32 bytes. O(size of the model).
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` if the property has no entity in a model (unless it is an element),
  ///   or the model cannot be compiled; for an element of a composite type that no model has, if it names another type;
  ///   and for a fetched property, which is not stored.
  public var versionHash: Data {
    get throws {
      if self is FetchedPropertyDescription {
        throw CambiumError(
          .invalidModel,
          "the fetched property '\(name)' is not stored, so that it has no version hash; compare fetchRequest instead",
          entityName: entity?.name, key: name)
      }
      if let attribute = self as? AttributeDescription, attribute.entity == nil, attribute.isOwned {
        return Data(try attribute.expandedSchema().versionHash.bytes)
      }
      let schema = try entity?.managedObjectModel?.schema().entity(named: entity?.name ?? "")
      if let attribute = schema?.attribute(named: name) { return Data(attribute.versionHash.bytes) }
      if let relationship = schema?.relationship(named: name) { return Data(relationship.versionHash.bytes) }
      throw CambiumError(
        .invalidModel, "property '\(name)' belongs to no entity of a model; its hash depends on it", key: name)
    }
  }
}

extension AttributeDescription {
  /// What the engine is told of an element or composite type, with the elements of the types that it names.
  fileprivate func expandedSchema() throws -> AttributeSchema {
    // The tree of composites is finite, since every way to build it checks.
    var root: PropertyDescription = self
    while let parent = root.parentElement { root = parent }
    guard let model = root.entity?.managedObjectModel ?? root.modelOfType else { return try schema() }
    // A model of the attribute alone, and of the types that there are.
    var schema = try schema()
    // Elements and types may have names that properties may not.
    schema.name = "element"
    let alone = SchemaDefinition(
      [EntitySchema("Entity", attributes: [schema])], composites: try model.definition().composites)
    schema = try ManagedObjectModel.compile(alone).entities.first?.attributes.first ?? schema
    schema.name = name
    return schema
  }
}
