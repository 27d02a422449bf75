extension Schema {
  /// The version of the format that ``encoded()`` writes. See `SchemaCodec.swift` for the bytes.
  public static let formatVersion: UInt8 = 1
  /// The version of models with R-tree indexes: a program that knows only the first one would write other keys into
  /// them.
  static let spatialFormatVersion: UInt8 = 2
  static let signature: [UInt8] = [0x43, 0x53, 0x01]

  /// The schema as bytes, as stores keep it. Equal schemas have equal bytes. O(size of the schema).
  public func encoded() -> [UInt8] {
    var writer = FieldWriter()
    let isSpatial = entities.contains { $0.indexes.contains { $0.elements.contains { $0.kind == .rTree } } }
    writer.append(raw: Schema.signature + [isSpatial ? Schema.spatialFormatVersion : Schema.formatVersion])
    writer.field(1, number: UInt64(nextIdentifiers.entity))
    writer.field(2, number: UInt64(nextIdentifiers.property))
    writer.field(3, number: UInt64(nextIdentifiers.index))
    for identifier in versionIdentifiers { writer.field(4, text: identifier) }
    for composite in composites {
      var part = FieldWriter()
      part.field(1, text: composite.name)
      for element in composite.elements { part.field(2, part: encode(element)) }
      writer.field(5, part: part)
    }
    for entity in entities { writer.field(6, part: encode(entity)) }
    for configuration in configurations {
      var part = FieldWriter()
      part.field(1, text: configuration.name)
      for entity in configuration.entities { part.field(2, text: entity) }
      encode(configuration.userInfo, 3, into: &part)
      writer.field(7, part: part)
    }
    for named in fetchTemplates {
      var part = FieldWriter()
      part.field(1, text: named.name)
      part.field(2, part: encode(named.template))
      writer.field(8, part: part)
    }
    for name in removedEntities { writer.field(9, text: name) }
    return writer.bytes
  }

  private func encode(_ entity: EntitySchema) -> FieldWriter {
    var part = FieldWriter()
    part.field(1, number: UInt64(entity.id))
    part.field(2, text: entity.name)
    part.field(3, text: entity.parent)
    part.field(4, flag: entity.isAbstract)
    for attribute in entity.attributes { part.field(5, part: encode(attribute)) }
    for relationship in entity.relationships { part.field(6, part: encode(relationship)) }
    for property in entity.fetchedProperties {
      var inner = FieldWriter()
      inner.field(1, text: property.name)
      inner.field(2, part: encode(property.request))
      encode(property.userInfo, 3, into: &inner)
      part.field(7, part: inner)
    }
    for index in entity.indexes {
      var inner = FieldWriter()
      inner.field(1, number: UInt64(index.id))
      inner.field(2, text: index.name)
      for element in index.elements {
        var key = FieldWriter()
        key.field(1, text: element.path)
        key.field(2, flag: !element.isAscending)
        key.field(3, number: UInt64(element.kind.rawValue))
        inner.field(3, part: key)
      }
      inner.field(4, text: index.partialPredicate)
      part.field(8, part: inner)
    }
    for constraint in entity.uniquenessConstraints {
      var inner = FieldWriter()
      inner.field(1, number: UInt64(constraint.id))
      for path in constraint.paths { inner.field(2, text: path) }
      part.field(9, part: inner)
    }
    part.field(10, text: entity.className)
    part.field(11, text: entity.renamingIdentifier)
    part.field(12, text: entity.versionHashModifier)
    encode(entity.userInfo, 13, into: &part)
    for path in entity.removedProperties { part.field(14, text: path) }
    return part
  }

  /// The depth is bounded by ``compositeDepthLimit``.
  private func encode(_ attribute: AttributeSchema) -> FieldWriter {
    var part = FieldWriter()
    part.field(1, number: UInt64(attribute.id))
    part.field(2, text: attribute.name)
    part.field(3, number: UInt64(attribute.type.rawValue))
    part.field(4, flag: !attribute.isOptional)
    part.field(5, flag: attribute.isTransient)
    part.field(6, value: attribute.defaultValue)
    part.field(7, value: attribute.minimum)
    part.field(8, value: attribute.maximum)
    part.field(9, text: attribute.regularExpression)
    part.field(10, text: attribute.derivation)
    part.field(11, text: attribute.valueTransformerName)
    part.field(12, flag: attribute.preservesValueInHistoryOnDeletion)
    part.field(13, flag: attribute.allowsExternalBinaryDataStorage)
    part.field(14, text: attribute.compositeName)
    for element in attribute.elements { part.field(15, part: encode(element)) }
    part.field(16, text: attribute.renamingIdentifier)
    part.field(17, text: attribute.versionHashModifier)
    encode(attribute.userInfo, 18, into: &part)
    for rule in attribute.validationRules {
      var inner = FieldWriter()
      inner.field(1, text: rule.predicate)
      inner.field(2, text: rule.warning)
      part.field(19, part: inner)
    }
    return part
  }

  private func encode(_ relationship: RelationshipSchema) -> FieldWriter {
    var part = FieldWriter()
    part.field(1, number: UInt64(relationship.id))
    part.field(2, text: relationship.name)
    part.field(3, text: relationship.destination)
    part.field(4, text: relationship.inverse)
    part.field(5, flag: relationship.isToMany)
    part.field(6, flag: relationship.isOrdered)
    part.field(7, number: UInt64(relationship.minimumCount))
    part.field(8, number: UInt64(relationship.maximumCount))
    part.field(9, number: UInt64(relationship.deleteRule.rawValue))
    part.field(10, flag: !relationship.isOptional)
    part.field(11, flag: relationship.isTransient)
    part.field(12, text: relationship.renamingIdentifier)
    part.field(13, text: relationship.versionHashModifier)
    encode(relationship.userInfo, 14, into: &part)
    return part
  }

  private func encode(_ template: FetchTemplate) -> FieldWriter {
    var part = FieldWriter()
    part.field(1, text: template.entity)
    part.field(2, text: template.predicate)
    part.field(3, number: UInt64(template.fetchLimit))
    encode(template.userInfo, 4, into: &part)
    return part
  }

  private func encode(_ userInfo: [UserInfoEntry], _ number: UInt64, into part: inout FieldWriter) {
    for entry in userInfo {
      var inner = FieldWriter()
      inner.field(1, text: entry.key)
      inner.field(2, text: entry.value)
      part.field(number, part: inner)
    }
  }
}
