import CambiumEngine

extension MappingModel {
  /// Infers the mapping of a lightweight migration. Core Data's
  /// `inferredMappingModel(forSourceModel:destinationModel:)`. It does no work on any store, and answers whether there
  /// would be any use in trying.
  ///
  /// The result may be changed, and then is a mapping for a ``MigrationManager``, which makes every object anew;
  /// migrating a store with automatic inference changes it in place instead.
  ///
  /// - Throws: ``CambiumError/Code/migrationMissingMappingModel`` with an error for every change in the way underneath
  ///   (``CambiumError/Code/inferredMappingModel``: the entity, the property, why, and how to go about it in steps);
  ///   ``CambiumError/Code/invalidModel``. O(size of the models).
  public static func inferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws -> MappingModel {
    let from = try source.schema()
    let to = try destination.schema()
    let inferred: SchemaMapping
    do throws(EngineError) { inferred = try SchemaMapping.infer(from: from, to: to) } catch {
      let error = CambiumError(error, during: .migration)
      throw error.underlyingErrors.first ?? error
    }
    var result = MappingModel(entityMappings: inferred.entities.map { EntityMapping($0) })
    result.complete(from, to)
    return result
  }

  /// A mapping model to start from where none can be inferred: entities and properties are matched by renaming
  /// identifier, then by name, as far as the types allow it. What does not match is left to the developer.
  ///
  /// - Throws: ``CambiumError/Code/invalidModel``. O(size of the models).
  @_optimize(none)
  public static func byName(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws -> MappingModel
  {
    let from = try source.schema()
    let to = try destination.schema()
    var taken: Set<String> = []
    var result = MappingModel()
    for entity in to.entities {
      guard let old = match(entity.name, entity.canonicalName, from.entities, \.name, \.canonicalName) else { continue }
      taken.insert(old.name)
      result.entityMappings.append(byName(old, entity))
    }
    // Removed and added ones have nothing to tell.
    result.complete(from, to)
    return result
  }

  @_optimize(none)
  private static func byName(_ old: EntitySchema, _ new: EntitySchema) -> EntityMapping {
    var result = EntityMapping(from: old.name, to: new.name)
    for attribute in new.allAttributes where !attribute.isTransient {
      let from = match(attribute.name, attribute.canonicalName, old.allAttributes, \.name, \.canonicalName)
      guard let from, !from.isTransient, from.type == attribute.type || from.type.isNumeric && attribute.type.isNumeric
      else { continue }
      result.attributeMappings.append(PropertyMapping(attribute.name, .source(from.name)))
    }
    for relationship in new.allRelationships where !relationship.isTransient {
      let from = match(relationship.name, relationship.canonicalName, old.allRelationships, \.name, \.canonicalName)
      guard let from, !from.isTransient, relationship.isToMany || !from.isToMany else { continue }
      result.relationshipMappings.append(PropertyMapping(relationship.name, .destinations(ofSource: from.name)))
    }
    return result
  }

  private static func match<Part>(
    _ name: String, _ canonicalName: String, _ parts: [Part], _ partName: KeyPath<Part, String>,
    _ partCanonicalName: KeyPath<Part, String>
  ) -> Part? {
    parts.first { $0[keyPath: partCanonicalName] == canonicalName } ?? parts.first { $0[keyPath: partName] == name }
  }

  /// Checks that the mapping fits two models.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` with the entity and property in question: two mappings of a name,
  ///   an unknown entity or property, a mapping without type, one of both entities missing where its type needs them;
  ///   ``CambiumError/Code/migration`` for a version hash that is not the model's; ``CambiumError/Code/invalidModel``.
  @_optimize(none)
  public func check(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws {
    try check(try source.schema(), try destination.schema())
  }

  @_optimize(none)
  func check(_ source: Schema, _ destination: Schema) throws {
    var names: Set<String> = []
    for mapping in entityMappings {
      guard !mapping.name.isEmpty, names.insert(mapping.name).inserted else {
        throw CambiumError(
          .invalidArgument, "two entity mappings are called '\(mapping.name)', or it has no name; give each its own")
      }
      let from = try entity(
        mapping.sourceEntityName, mapping.sourceEntityVersionHash.map { Array($0) }, source, mapping)
      let to = try entity(
        mapping.destinationEntityName, mapping.destinationEntityVersionHash.map { Array($0) }, destination, mapping)
      let fits: Bool
      switch mapping.mappingType {
      case .undefined: fits = false
      case .custom: fits = from != nil || to != nil
      case .add: fits = to != nil && from == nil
      case .remove: fits = to == nil && from != nil
      case .copy, .transform: fits = to != nil && from != nil
      }
      guard fits else {
        throw CambiumError(
          .invalidArgument,
          "entity mapping '\(mapping.name)' from '\(mapping.sourceEntityName ?? "")' to "
            + "'\(mapping.destinationEntityName ?? "")' is of a type (\(mapping.mappingType)) that does not go with them; "
            + "set mappingType", entityName: mapping.destinationEntityName ?? mapping.sourceEntityName)
      }
      try checkProperties(mapping, to)
    }
  }

  private func entity(
    _ name: String?, _ hash: [UInt8]?, _ schema: Schema, _ mapping: EntityMapping
  ) throws -> EntitySchema? {
    guard let name else { return nil }
    guard let entity = schema.entity(named: name) else {
      throw CambiumError(
        .invalidArgument, "entity mapping '\(mapping.name)' names an entity '\(name)' that the model does not have",
        entityName: name)
    }
    if let hash, let own = schema.entityVersionHashesByName[name], Array(own.bytes) != hash {
      throw CambiumError(
        .migration,
        "entity mapping '\(mapping.name)' was made for another version of '\(name)': the version hashes differ. Make it for "
          + "this model", entityName: name)
    }
    return entity
  }

  @_optimize(none)
  private func checkProperties(_ mapping: EntityMapping, _ entity: EntitySchema?) throws {
    for property in mapping.attributeMappings + mapping.relationshipMappings {
      let path = property.name.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
      let isRelationship = mapping.relationshipMappings.contains { $0.name == property.name }
      let isKnown: Bool
      if isRelationship {
        isKnown = entity?.relationship(named: property.name) != nil
      } else {
        var attribute = path.first.flatMap { entity?.attribute(named: $0) }
        for name in path.dropFirst() { attribute = attribute?.element(named: name) }
        isKnown = attribute != nil
      }
      guard isKnown else {
        throw CambiumError(
          .invalidArgument,
          "entity mapping '\(mapping.name)' maps '\(property.name)', which is no "
            + (isRelationship ? "relationship" : "attribute") + " of '\(entity?.name ?? "")' in the destination",
          entityName: entity?.name, key: property.name)
      }
    }
  }
}

extension EntityMapping {
  /// An inferred mapping as one that can be changed.
  @_optimize(none)
  init(_ inferred: CambiumEngine.EntityMapping) {
    self.init(
      from: inferred.source, to: inferred.destination, type: EntityMappingType(rawValue: inferred.kind.rawValue))
    inferredProperties =
      inferred.attributes.map { InferredPropertyMapping($0, isRelationship: false) }
      + inferred.relationships.map { InferredPropertyMapping($0, isRelationship: true) }
    for property in inferred.attributes {
      guard let name = property.destination, let source = property.source else { continue }
      attributeMappings.append(PropertyMapping(name, .source(source)))
    }
    for property in inferred.relationships {
      guard let name = property.destination, let source = property.source else { continue }
      relationshipMappings.append(PropertyMapping(name, .destinations(ofSource: source)))
    }
  }

  /// The mapping with one for each property that has the same name on both sides and none yet, as
  /// ``EntityMappingType/copy`` means it.
  @_optimize(none)
  func filledIn(_ source: Schema, _ destination: Schema) -> EntityMapping {
    guard mappingType == .copy, let from = sourceEntityName.flatMap({ source.entity(named: $0) }),
      let to = destinationEntityName.flatMap({ destination.entity(named: $0) })
    else { return self }
    var result = self
    let mapped = Set((attributeMappings + relationshipMappings).map { $0.name })
    for attribute in to.allAttributes where !attribute.isTransient && !mapped.contains(attribute.name) {
      if from.attribute(named: attribute.name).map({ $0.isTransient }) != false { continue }
      result.attributeMappings.append(PropertyMapping(attribute.name, .source(attribute.name)))
    }
    for relationship in to.allRelationships where !relationship.isTransient && !mapped.contains(relationship.name) {
      if from.relationship(named: relationship.name).map({ $0.isTransient }) != false { continue }
      result.relationshipMappings.append(PropertyMapping(relationship.name, .destinations(ofSource: relationship.name)))
    }
    return result
  }
}

extension InferredPropertyMapping {
  fileprivate init(_ inferred: CambiumEngine.PropertyMapping, isRelationship: Bool) {
    switch inferred.kind {
    case .add: mappingType = .add
    case .remove: mappingType = .remove
    case .copy: mappingType = .copy
    case .convert, .relate: mappingType = .transform
    case .move: mappingType = .move
    }
    sourceName = inferred.source
    destinationName = inferred.destination
    needsValue = inferred.needsValue
    self.isRelationship = isRelationship
  }
}
