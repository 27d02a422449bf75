import CambiumEngine

extension ManagedObjectModel: Codable {
  /// Reads a model that ``encode(to:)`` wrote. It may be changed.
  ///
  /// - Throws: `DecodingError` for what is no model; ``CambiumError/Code/invalidModel`` for what no model can be.
  @_optimize(none)
  public convenience init(from decoder: any Decoder) throws {
    let document = try ModelDocument(from: decoder)
    guard document.format == 1 else {
      throw CambiumError(
        .invalidModel, "the model has format \(document.format), and this version knows 1; use a newer one")
    }
    let definition = try document.definition()
    // Checked as a whole, so that what is wrong is said here.
    _ = try Self.compile(definition)
    self.init(definition: definition)
  }

  /// Writes the model in a form for people and tools; the picture is in `ModelDocument.swift`.
  ///
  /// - Throws: as ``schema()``; what the encoder throws.
  public func encode(to encoder: any Encoder) throws { try ModelDocument(try definition()).encode(to: encoder) }
}

// MARK: Writing

extension ModelDocument {
  @_optimize(none)
  init(_ definition: SchemaDefinition) {
    entities = definition.entities.map { CodedEntity($0) }
    versionIdentifiers = definition.versionIdentifiers.nonEmpty
    removedEntities = definition.removedEntities.nonEmpty
    compositeTypes =
      definition.composites.map {
        CodedComposite(name: $0.name, elements: $0.elements.map { CodedAttribute($0) })
      }.nonEmpty
    configurations =
      definition.configurations.map {
        CodedConfiguration(name: $0.name, entities: $0.entities, userInfo: $0.userInfo.coded)
      }.nonEmpty
    fetchRequests = definition.fetchTemplates.map { CodedRequest($0.name, $0.template, []) }.nonEmpty
  }
}

extension CodedEntity {
  @_optimize(none)
  fileprivate init(_ entity: EntitySchema) {
    name = entity.name
    parent = entity.parent
    isAbstract = entity.isAbstract ? true : nil
    className = entity.className
    renamed = entity.renamingIdentifier
    versionHashModifier = entity.versionHashModifier
    removed = entity.removedProperties.nonEmpty
    attributes = entity.attributes.map { CodedAttribute($0) }.nonEmpty
    relationships = entity.relationships.map { CodedRelationship($0) }.nonEmpty
    fetchedProperties = entity.fetchedProperties.map { CodedRequest($0.name, $0.request, $0.userInfo) }.nonEmpty
    indexes = entity.indexes.map { CodedIndex($0) }.nonEmpty
    uniquenessConstraints = entity.uniquenessConstraints.map { $0.paths }.nonEmpty
    userInfo = entity.userInfo.coded
  }
}

extension CodedAttribute {
  /// The depth is the schema's, or that of the descriptions.
  @_optimize(none)
  fileprivate init(_ attribute: AttributeSchema) {
    name = attribute.name
    type = attribute.type.name
    isRequired = attribute.isOptional ? nil : true
    isTransient = attribute.isTransient ? true : nil
    `default` = CodedValue(attribute.defaultValue, type: attribute.type)
    minimum = CodedValue(attribute.minimum, type: attribute.limitType)
    maximum = CodedValue(attribute.maximum, type: attribute.limitType)
    pattern = attribute.regularExpression
    validation =
      attribute.validationRules.map {
        CodedValidation(predicate: $0.predicate, warning: $0.warning.isEmpty ? nil : $0.warning)
      }.nonEmpty
    derivation = attribute.derivation
    transformer = attribute.valueTransformerName
    isExternal = attribute.allowsExternalBinaryDataStorage ? true : nil
    isKeptInHistory = attribute.preservesValueInHistoryOnDeletion ? true : nil
    composite = attribute.compositeName
    // Elements of a named type are the type's.
    elements = attribute.compositeName == nil ? attribute.elements.map { CodedAttribute($0) }.nonEmpty : nil
    renamed = attribute.renamingIdentifier
    versionHashModifier = attribute.versionHashModifier
    userInfo = attribute.userInfo.coded
  }
}

extension CodedRelationship {
  fileprivate init(_ relationship: RelationshipSchema) {
    name = relationship.name
    destination = relationship.destination
    inverse = relationship.inverse
    isToMany = relationship.isToMany ? true : nil
    isOrdered = relationship.isOrdered ? true : nil
    minimumCount = relationship.minimumCount == 0 ? nil : relationship.minimumCount
    maximumCount = relationship.isToMany && relationship.maximumCount > 0 ? relationship.maximumCount : nil
    deleteRule = relationship.deleteRule == .nullify ? nil : relationship.deleteRule.name
    isRequired = relationship.isOptional ? nil : true
    isTransient = relationship.isTransient ? true : nil
    renamed = relationship.renamingIdentifier
    versionHashModifier = relationship.versionHashModifier
    userInfo = relationship.userInfo.coded
  }
}

extension CodedIndex {
  fileprivate init(_ index: IndexSchema) {
    name = index.name
    elements = index.elements.map {
      Element(path: $0.path, isDescending: $0.isAscending ? nil : true, isRTree: $0.kind == .rTree ? true : nil)
    }
    `where` = index.partialPredicate
  }
}

extension CodedRequest {
  fileprivate init(_ name: String, _ template: CambiumEngine.FetchTemplate, _ userInfo: [UserInfoEntry]) {
    self.name = name
    entity = template.entity
    predicate = template.predicate
    fetchLimit = template.fetchLimit == 0 ? nil : template.fetchLimit
    options = template.userInfo.coded
    self.userInfo = userInfo.coded
  }
}

extension Array {
  fileprivate var nonEmpty: [Element]? { isEmpty ? nil : self }
}

extension [UserInfoEntry] {
  fileprivate var coded: [String: String]? { isEmpty ? nil : dictionary }
}

// MARK: Reading

extension ModelDocument {
  @_optimize(none)
  func definition() throws -> SchemaDefinition {
    // Defaults of composites are read once it is known what elements the types have: elements of types have defaults,
    // too.
    var elements: [String: [AttributeSchema]] = [:]
    for type in compositeTypes ?? [] {
      elements[type.name] = try type.elements.map { try $0.schema(type.name, 0, nil) }
    }
    var types: [CompositeSchema] = []
    for type in compositeTypes ?? [] {
      types.append(
        CompositeSchema(type.name, elements: try type.elements.map { try $0.schema(type.name, 0, elements) }))
    }
    var result = SchemaDefinition(try entities.map { try $0.schema(elements) }, composites: types)
    result.versionIdentifiers = versionIdentifiers ?? []
    result.removedEntities = removedEntities ?? []
    result.configurations = (configurations ?? []).map {
      var configuration = ConfigurationSchema($0.name, entities: $0.entities)
      configuration.userInfo = ($0.userInfo ?? [:]).engineEntries
      return configuration
    }
    result.fetchTemplates = (fetchRequests ?? []).map { NamedFetchTemplate($0.name, $0.schema()) }
    return result
  }
}

extension CodedEntity {
  @_optimize(none)
  fileprivate func schema(_ types: [String: [AttributeSchema]]) throws -> EntitySchema {
    var result = EntitySchema(
      name, parent: parent, abstract: isAbstract ?? false,
      attributes: try (attributes ?? []).map { try $0.schema(name, 0, types) },
      relationships: try (relationships ?? []).map { try $0.schema(name) },
      indexes: (indexes ?? []).map { $0.schema() },
      unique: uniquenessConstraints ?? [])
    result.fetchedProperties = (fetchedProperties ?? []).map {
      var property = FetchedPropertySchema($0.name, request: $0.schema())
      property.userInfo = ($0.userInfo ?? [:]).engineEntries
      return property
    }
    result.className = className
    result.renamingIdentifier = renamed
    result.versionHashModifier = versionHashModifier
    result.removedProperties = removed ?? []
    result.userInfo = (userInfo ?? [:]).engineEntries
    return result
  }
}

extension CodedAttribute {
  /// - Parameter types: The elements of the composite types; without them, defaults of composites are left out.
  @_optimize(none)
  fileprivate func schema(
    _ place: String, _ depth: Int, _ types: [String: [AttributeSchema]]?
  ) throws -> AttributeSchema {
    guard depth <= Schema.compositeDepthLimit else {
      throw CambiumError(.invalidModel, "\(place): composites are nested deeper than \(Schema.compositeDepthLimit)")
    }
    guard let found = AttributeType.allCases.first(where: { $0.name == type }) else {
      throw CambiumError(.invalidModel, "\(place).\(name): there is no type '\(type)'", key: name)
    }
    var result = AttributeSchema(name, found, optional: !(isRequired ?? false))
    result.isTransient = isTransient ?? false
    result.elements = try (elements ?? []).map { try $0.schema(place + "." + name, depth + 1, types) }
    result.compositeName = composite
    if types != nil || found != .composite {
      result.defaultValue = try value(`default`, "default", place) { $0.value(of: result, types ?? [:]) }
    }
    result.minimum = try value(minimum, "minimum", place) { $0.value(of: result.limitType) }
    result.maximum = try value(maximum, "maximum", place) { $0.value(of: result.limitType) }
    result.regularExpression = pattern
    result.validationRules = (validation ?? []).map { ValidationRule($0.predicate, warning: $0.warning ?? "") }
    result.derivation = derivation
    result.valueTransformerName = transformer
    result.allowsExternalBinaryDataStorage = isExternal ?? false
    result.preservesValueInHistoryOnDeletion = isKeptInHistory ?? false
    result.renamingIdentifier = renamed
    result.versionHashModifier = versionHashModifier
    result.userInfo = (userInfo ?? [:]).engineEntries
    return result
  }

  private func value(
    _ coded: CodedValue?, _ what: String, _ place: String, _ read: (CodedValue) -> Value?
  ) throws -> Value {
    guard let coded else { return .null }
    guard let value = read(coded) else {
      throw CambiumError(.invalidModel, "\(place).\(name): the \(what) is no \(type)", key: name)
    }
    return value
  }
}

extension CodedRelationship {
  @_optimize(none)
  fileprivate func schema(_ place: String) throws -> RelationshipSchema {
    var result =
      isToMany ?? false
      ? RelationshipSchema(name, toMany: destination, inverse: inverse, ordered: isOrdered ?? false)
      : RelationshipSchema(name, to: destination, inverse: inverse)
    result.isOrdered = isOrdered ?? false
    result.minimumCount = minimumCount ?? 0
    if let maximumCount { result.maximumCount = maximumCount }
    if let deleteRule {
      guard let rule = DeleteRule.allCases.first(where: { $0.name == deleteRule }) else {
        throw CambiumError(
          .invalidModel, "\(place).\(name): there is no delete rule '\(deleteRule)'", entityName: place, key: name)
      }
      result.deleteRule = rule
    }
    result.isOptional = !(isRequired ?? false)
    result.isTransient = isTransient ?? false
    result.renamingIdentifier = renamed
    result.versionHashModifier = versionHashModifier
    result.userInfo = (userInfo ?? [:]).engineEntries
    return result
  }
}

extension CodedIndex {
  fileprivate func schema() -> IndexSchema {
    IndexSchema(
      name,
      elements.map {
        IndexElement($0.path, ascending: !($0.isDescending ?? false), kind: $0.isRTree ?? false ? .rTree : .binary)
      }, partialPredicate: `where`)
  }
}

extension CodedRequest {
  fileprivate func schema() -> CambiumEngine.FetchTemplate {
    var result = CambiumEngine.FetchTemplate(entity: entity, predicate: predicate)
    result.fetchLimit = fetchLimit ?? 0
    result.userInfo = (options ?? [:]).engineEntries
    return result
  }
}
