extension Schema {
  /// Decodes what ``encoded()`` wrote, checking the model as when it was built, and that its identifiers are sound.
  ///
  /// - Throws: `malformed` with the place of what is no stored model, `unsupportedVersion`, or what is wrong with the
  ///   model that the bytes describe. No bytes make it trap.
  public convenience init(bytes: [UInt8]) throws(SchemaError) {
    var reader = FieldReader(bytes)
    for expected in Schema.signature {
      guard try reader.byte() == expected else {
        throw .malformed(offset: 0, detail: "the bytes don't begin as a stored model")
      }
    }
    let version = try reader.byte()
    guard version == Schema.formatVersion || version == Schema.spatialFormatVersion else {
      throw .unsupportedVersion(UInt32(version))
    }
    var decoder = SchemaDecoder()
    try decoder.decode(&reader)
    // What the attributes' elements were made of must still be what the composite types say, identifiers apart.
    var expansion = SchemaBuilder(decoder.definition)
    try expansion.expandComposites()
    var builder = SchemaBuilder(decoder.definition)
    builder.next = decoder.next
    try builder.nameEntities()
    try decoder.checkIdentifiers(against: expansion.entities)
    self.init(compiled: try builder.compile(earlier: nil, keepsIdentifiers: true))
  }
}

/// Reads the parts of a model. The numbers of the fields are those of the encoder.
struct SchemaDecoder {
  var definition = SchemaDefinition()
  var next = SchemaIdentifiers()
  private var propertyCount = 0

  mutating func decode(_ reader: inout FieldReader) throws(SchemaError) {
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: next.entity = try content.number32()
      case 2: next.property = try content.number32()
      case 3: next.index = try content.number32()
      case 4: definition.versionIdentifiers.append(try content.text())
      case 5: definition.composites.append(try composite(&content))
      case 6: definition.entities.append(try entity(&content))
      case 7: definition.configurations.append(try configuration(&content))
      case 8: definition.fetchTemplates.append(try namedTemplate(&content))
      case 9: definition.removedEntities.append(try content.text())
      default: continue
      }
      try content.finish()
    }
    // Numbers that count from 1, and are left out as long as none was given out.
    guard next.entity > 0, next.property > 0, next.index > 0 else {
      throw .malformed(offset: 0, detail: "the next identifier is none")
    }
  }

  private mutating func composite(_ reader: inout FieldReader) throws(SchemaError) -> CompositeSchema {
    var result = CompositeSchema("", elements: [])
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.name = try content.text()
      case 2: result.elements.append(try attribute(&content, depth: 0))
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private mutating func entity(_ reader: inout FieldReader) throws(SchemaError) -> EntitySchema {
    var result = EntitySchema("")
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.id = try content.number32()
      case 2: result.name = try content.text()
      case 3: result.parent = try content.text()
      case 4: result.isAbstract = try content.flag()
      case 5: result.attributes.append(try attribute(&content, depth: 0))
      case 6: result.relationships.append(try relationship(&content))
      case 7: result.fetchedProperties.append(try fetchedProperty(&content))
      case 8: result.indexes.append(try index(&content))
      case 9: result.uniquenessConstraints.append(try constraint(&content))
      case 10: result.className = try content.text()
      case 11: result.renamingIdentifier = try content.text()
      case 12: result.versionHashModifier = try content.text()
      case 13: result.userInfo.append(try userInfo(&content))
      case 14: result.removedProperties.append(try content.text())
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private mutating func attribute(_ reader: inout FieldReader, depth: Int) throws(SchemaError) -> AttributeSchema {
    propertyCount += 1
    guard propertyCount <= 2 * Schema.propertyLimit else { throw .tooManyProperties }
    guard depth <= Schema.compositeDepthLimit else { throw reader.malformed("composites are nested too deep") }
    var result = AttributeSchema("", .undefined)
    var details = AttributeDetails()
    var hasDetails = false
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.id = try content.number32()
      case 2: result.name = try content.text()
      case 3:
        guard let type = AttributeType(rawValue: Int(truncatingIfNeeded: try content.number32())) else {
          throw content.malformed("no such attribute type")
        }
        result.type = type
      case 4: result.isOptional = try !content.flag()
      case 5: result.isTransient = try content.flag()
      case 6: details.defaultValue = try content.value()
      case 7: details.minimum = try content.value()
      case 8: details.maximum = try content.value()
      case 9: details.regularExpression = try content.text()
      case 10: details.derivation = try content.text()
      case 11: details.valueTransformerName = try content.text()
      case 12: result.preservesValueInHistoryOnDeletion = try content.flag()
      case 13: result.allowsExternalBinaryDataStorage = try content.flag()
      case 14: details.compositeName = try content.text()
      case 15: result.elements.append(try attribute(&content, depth: depth + 1))
      case 16: details.renamingIdentifier = try content.text()
      case 17: details.versionHashModifier = try content.text()
      case 18: details.userInfo.append(try userInfo(&content))
      case 19: details.validationRules.append(try validationRule(&content))
      default: continue
      }
      try content.finish()
      if !Self.isPlain(number) { hasDetails = true }
    }
    if hasDetails { result.setDetails(details) }
    return result
  }

  private mutating func validationRule(_ reader: inout FieldReader) throws(SchemaError) -> ValidationRule {
    propertyCount += 1
    guard propertyCount <= 2 * Schema.propertyLimit else { throw .tooManyProperties }
    var result = ValidationRule("")
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.predicate = try content.text()
      case 2: result.warning = try content.text()
      default: continue
      }
      try content.finish()
    }
    return result
  }

  /// Whether a field of an attribute is none of ``AttributeDetails``.
  private static func isPlain(_ field: UInt64) -> Bool {
    switch field {
    case 6...11, 14, 16...19: return false
    default: return true
    }
  }

  private func relationship(_ reader: inout FieldReader) throws(SchemaError) -> RelationshipSchema {
    var result = RelationshipSchema("", toMany: "")
    result.isToMany = false
    result.deleteRule = .noAction
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.id = try content.number32()
      case 2: result.name = try content.text()
      case 3: result.destination = try content.text()
      case 4: result.inverse = try content.text()
      case 5: result.isToMany = try content.flag()
      case 6: result.isOrdered = try content.flag()
      case 7: result.minimumCount = try content.number32()
      case 8: result.maximumCount = try content.number32()
      case 9:
        guard let rule = DeleteRule(rawValue: Int(truncatingIfNeeded: try content.number32())) else {
          throw content.malformed("no such delete rule")
        }
        result.deleteRule = rule
      case 10: result.isOptional = try !content.flag()
      case 11: result.isTransient = try content.flag()
      case 12: result.renamingIdentifier = try content.text()
      case 13: result.versionHashModifier = try content.text()
      case 14: result.userInfo.append(try userInfo(&content))
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private func fetchedProperty(_ reader: inout FieldReader) throws(SchemaError) -> FetchedPropertySchema {
    var result = FetchedPropertySchema("", request: FetchTemplate(entity: ""))
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.name = try content.text()
      case 2: result.request = try template(&content)
      case 3: result.userInfo.append(try userInfo(&content))
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private func index(_ reader: inout FieldReader) throws(SchemaError) -> IndexSchema {
    var result = IndexSchema("", [])
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.id = try content.number32()
      case 2: result.name = try content.text()
      case 3: result.elements.append(try indexElement(&content))
      case 4: result.partialPredicate = try content.text()
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private func indexElement(_ reader: inout FieldReader) throws(SchemaError) -> IndexElement {
    var result = IndexElement("")
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.path = try content.text()
      case 2: result.isAscending = try !content.flag()
      case 3:
        guard let raw = UInt8(exactly: try content.number()), let kind = IndexKind(rawValue: raw) else {
          throw content.malformed("no such kind of index")
        }
        result.kind = kind
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private func constraint(_ reader: inout FieldReader) throws(SchemaError) -> UniquenessConstraint {
    var result = UniquenessConstraint([])
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.id = try content.number32()
      case 2: result.paths.append(try content.text())
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private func configuration(_ reader: inout FieldReader) throws(SchemaError) -> ConfigurationSchema {
    var result = ConfigurationSchema("", entities: [])
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.name = try content.text()
      case 2: result.entities.append(try content.text())
      case 3: result.userInfo.append(try userInfo(&content))
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private func namedTemplate(_ reader: inout FieldReader) throws(SchemaError) -> NamedFetchTemplate {
    var result = NamedFetchTemplate("", FetchTemplate(entity: ""))
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.name = try content.text()
      case 2: result.template = try template(&content)
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private func template(_ reader: inout FieldReader) throws(SchemaError) -> FetchTemplate {
    var result = FetchTemplate(entity: "")
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.entity = try content.text()
      case 2: result.predicate = try content.text()
      case 3: result.fetchLimit = try content.number32()
      case 4: result.userInfo.append(try userInfo(&content))
      default: continue
      }
      try content.finish()
    }
    return result
  }

  private func userInfo(_ reader: inout FieldReader) throws(SchemaError) -> UserInfoEntry {
    var result = UserInfoEntry(key: "", value: "")
    while case (let number, var content)? = try reader.field() {
      switch number {
      case 1: result.key = try content.text()
      case 2: result.value = try content.text()
      default: continue
      }
      try content.finish()
    }
    return result
  }
}
