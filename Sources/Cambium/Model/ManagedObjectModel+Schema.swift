import CambiumEngine

extension ManagedObjectModel {
  /// The model that a schema describes, with descriptions for all of it; identifiers in files are not taken over. It
  /// may be changed. O(size of the schema).
  ///
  /// A pattern or a validation predicate that cannot be used, which a store may have from a version that did not look
  /// at patterns, or reads more of them, is left out, and ``fileWarnings`` says so: the store is there to be read.
  public convenience init(schema: Schema) {
    let (definition, warnings) = schema.definition.withoutUnusableRules()
    self.init(definition: definition)
    storedWarnings = warnings
  }

  /// The model that a definition describes. What is wrong with it, ``schema()`` says.
  public convenience init(definition: SchemaDefinition) {
    self.init()
    versionIdentifiers = Set(definition.versionIdentifiers)
    removedEntities = definition.removedEntities
    compositeTypes = definition.composites.map { type in
      let result = CompositeAttributeDescription()
      result.name = type.name
      result.adopt(type.elements.map { attributeDescription($0) })
      return result
    }
    entities = definition.entities.map { entityDescription($0) }
    attachSubentities()
    let byName = entitiesByName
    for configuration in definition.configurations {
      setEntities(configuration.entities.compactMap { byName[$0] }, forConfigurationName: configuration.name)
      setUserInfo(configuration.userInfo.dictionary, forConfigurationName: configuration.name)
    }
    for named in definition.fetchTemplates {
      setFetchRequestTemplate(FetchRequestTemplate(named.template), forName: named.name)
    }
  }
}

private func entityDescription(_ entity: EntitySchema) -> EntityDescription {
  let result = EntityDescription(entity.name)
  result.superentityName = entity.parent
  result.isAbstract = entity.isAbstract
  result.explicitClassName = entity.className
  result.explicitRenamingIdentifier = entity.renamingIdentifier
  result.versionHashModifier = entity.versionHashModifier
  result.removedProperties = entity.removedProperties
  result.userInfo = entity.userInfo.dictionary
  result.uniquenessConstraints = entity.uniquenessConstraints.map { $0.paths }
  var properties: [PropertyDescription] = entity.attributes.map { attributeDescription($0) }
  properties += entity.relationships.map { relationshipDescription($0) }
  properties += entity.fetchedProperties.map { property in
    let result = FetchedPropertyDescription(property.name, fetchRequest: FetchRequestTemplate(property.request))
    result.userInfo = property.userInfo.dictionary
    return result
  }
  result.properties = properties
  result.indexes = entity.indexes.map { index in
    let result = FetchIndexDescription(
      name: index.name,
      elements: index.elements.map {
        FetchIndexElementDescription(
          keyPath: $0.path, ascending: $0.isAscending, collationType: $0.kind == .rTree ? .rTree : .binary)
      })
    result.partialIndexPredicate = index.partialPredicate
    return result
  }
  return result
}

private func relationshipDescription(_ relationship: RelationshipSchema) -> RelationshipDescription {
  let result = RelationshipDescription(
    relationship.name, toMany: relationship.isToMany, destination: relationship.destination,
    inverse: relationship.inverse, deleteRule: relationship.deleteRule)
  result.isOrdered = relationship.isOrdered
  result.minCount = Int(clamping: relationship.minimumCount)
  result.maxCount = Int(clamping: relationship.maximumCount)
  result.isOptional = relationship.isOptional
  result.isTransient = relationship.isTransient
  result.explicitRenamingIdentifier = relationship.renamingIdentifier
  result.versionHashModifier = relationship.versionHashModifier
  result.userInfo = relationship.userInfo.dictionary
  return result
}

/// The description of an attribute or element, and of the elements in it. A schema bounds the depth.
func attributeDescription(_ attribute: AttributeSchema) -> AttributeDescription {
  let result: AttributeDescription
  if attribute.type == .composite {
    let composite = CompositeAttributeDescription()
    composite.compositeTypeName = attribute.compositeName
    composite.adopt(attribute.elements.map { attributeDescription($0) })
    result = composite
  } else if let derivation = attribute.derivation {
    result = DerivedAttributeDescription(attribute.name, attribute.type, derivationExpression: derivation)
  } else {
    result = AttributeDescription()
    result.attributeType = attribute.type
  }
  result.name = attribute.name
  result.isOptional = attribute.isOptional
  result.isTransient = attribute.isTransient
  result.defaultValue = foundationDefault(of: attribute)
  result.minimumValue = attribute.minimum.foundation(type: attribute.limitType, objects: nil)
  result.maximumValue = attribute.maximum.foundation(type: attribute.limitType, objects: nil)
  result.regularExpression = attribute.regularExpression
  result.validationRules = attribute.validationRules.map { AttributeValidation($0) }
  result.valueTransformerName = attribute.valueTransformerName
  result.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
  result.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
  result.explicitRenamingIdentifier = attribute.renamingIdentifier
  result.versionHashModifier = attribute.versionHashModifier
  result.userInfo = attribute.userInfo.dictionary
  return result
}

/// The default value as applications give it; the engine's where Foundation has none that says the same: an identifier
/// without its store, a URI that is no `URL`.
private func foundationDefault(of attribute: AttributeSchema) -> Any? {
  let value = attribute.defaultValue
  if value.isNull { return nil }
  guard let result = value.foundation(type: attribute.type, objects: nil), let back = Value(foundation: result),
    attribute.coerce(back) == attribute.coerce(value)
  else { return value }
  return result
}
