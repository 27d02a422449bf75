import CambiumEngine
import CambiumKernel
import CambiumModelFiles

extension ModelDocument {
  /// Describes a model under Xcode's names: the reverse of ``ModelFile``. The version hashes of what is read of the
  /// written file are the same.
  ///
  /// A composite attribute with elements of its own becomes one of a composite type, because Xcode has no others.
  /// Values that Xcode's files cannot have, such as validation predicates, are left out; ``warnings`` lists them, on
  /// line 0.
  @_optimize(none)
  public init(_ definition: SchemaDefinition) {
    self.init()
    var writer = DocumentWriter(definition)
    self = writer.document()
  }
}

/// Makes a document of the engine's description of a model.
private struct DocumentWriter {
  private let definition: SchemaDefinition
  private var result = ModelDocument()
  /// The composite types, those of attributes with elements of their own among them.
  private var elementsByName: [String: [ModelDocument.Attribute]] = [:]

  init(_ definition: SchemaDefinition) { self.definition = definition }

  @_optimize(none)
  mutating func document() -> ModelDocument {
    result.versionIdentifier = definition.versionIdentifiers.first
    if definition.versionIdentifiers.count > 1 {
      warn(
        "the model", "the version identifiers but '\(definition.versionIdentifiers[0])' are left out: a file has one")
    }
    if !definition.removedEntities.isEmpty {
      warn(
        "the model",
        "a file cannot say which entities were removed: \(definition.removedEntities.joined(separator: ", "))")
    }
    for composite in definition.composites { elementsByName[composite.name] = [] }
    for composite in definition.composites {
      var type = ModelDocument.Composite(composite.name)
      type.elements = composite.elements.map { attribute($0, in: composite.name) }
      elementsByName[composite.name] = type.elements
      result.composites.append(type)
    }
    for entity in definition.entities { result.entities.append(self.entity(entity)) }
    for configuration in definition.configurations {
      var written = ModelDocument.Configuration(configuration.name)
      written.entities = configuration.entities
      written.userInfo = configuration.userInfo.map { ModelDocument.UserInfo(key: $0.key, value: $0.value) }
      result.configurations.append(written)
    }
    for named in definition.fetchTemplates { result.fetchRequests.append(request(named.template, named.name)) }
    return result
  }

  private mutating func warn(_ place: String, _ text: String) {
    result.warnings.append(ModelFileWarning(0, "\(place): \(text)"))
  }

  // MARK: Entities

  @_optimize(none)
  private mutating func entity(_ entity: EntitySchema) -> ModelDocument.Entity {
    var written = ModelDocument.Entity(entity.name)
    written.parent = entity.parent
    written.isAbstract = entity.isAbstract
    written.className = entity.className
    written.renamingIdentifier = entity.renamingIdentifier
    written.versionHashModifier = entity.versionHashModifier
    written.attributes = entity.attributes.map { attribute($0, in: entity.name) }
    written.relationships = entity.relationships.map { relationship($0) }
    written.fetchedProperties = entity.fetchedProperties.map { property in
      var written = ModelDocument.FetchedProperty(
        property.name, request(property.request, "fetchedPropertyFetchRequest"))
      written.userInfo = userInfo(property.userInfo)
      return written
    }
    written.indexes = entity.indexes.map { index in
      var written = ModelDocument.Index(index.name)
      written.elements = index.elements.map { element in
        var written = ModelDocument.Index.Element(element.path)
        written.isAscending = element.isAscending
        written.kind = element.kind == .rTree ? .rTree : .binary
        return written
      }
      written.partialPredicate = index.partialPredicate.map { ModelDocument.Text($0) }
      return written
    }
    written.uniquenessConstraints = entity.uniquenessConstraints.map { $0.paths }
    written.userInfo = userInfo(entity.userInfo)
    if !entity.removedProperties.isEmpty {
      warn(
        entity.name,
        "a file cannot say which properties were removed: \(entity.removedProperties.joined(separator: ", "))")
    }
    return written
  }

  private func userInfo(_ entries: [UserInfoEntry]) -> [ModelDocument.UserInfo] {
    entries.map { ModelDocument.UserInfo(key: $0.key, value: $0.value) }
  }

  private func request(_ template: FetchTemplate, _ name: String) -> ModelDocument.Request {
    var written = ModelDocument.Request(entity: template.entity)
    written.name = name
    written.predicate = template.predicate.map { ModelDocument.Text($0) }
    written.fetchLimit = template.fetchLimit
    written.userInfo = userInfo(template.userInfo)
    return written
  }

  @_optimize(none)
  private func relationship(_ relationship: RelationshipSchema) -> ModelDocument.Relationship {
    var written = ModelDocument.Relationship(relationship.name, to: relationship.destination)
    written.inverse = relationship.inverse
    written.isToMany = relationship.isToMany
    written.isOrdered = relationship.isOrdered
    written.minimumCount = relationship.minimumCount
    written.maximumCount = relationship.maximumCount
    written.deleteRule =
      switch relationship.deleteRule {
      case .noAction: .noAction
      case .nullify: .nullify
      case .cascade: .cascade
      case .deny: .deny
      }
    written.isOptional = relationship.isOptional
    written.isTransient = relationship.isTransient
    written.renamingIdentifier = relationship.renamingIdentifier
    written.versionHashModifier = relationship.versionHashModifier
    written.userInfo = userInfo(relationship.userInfo)
    return written
  }

  // MARK: Attributes

  /// An attribute or element. A schema bounds the depth of elements.
  @_optimize(none)
  private mutating func attribute(_ attribute: AttributeSchema, in place: String) -> ModelDocument.Attribute {
    let here = place + "." + attribute.name
    var written = ModelDocument.Attribute(attribute.name, ModelDocument.AttributeType(attribute.type))
    written.isOptional = attribute.isOptional
    written.isTransient = attribute.isTransient
    if attribute.type == .composite {
      written.compositeName =
        attribute.compositeName ?? typeName(attribute.elements.map { self.attribute($0, in: here) }, attribute.name)
    }
    setValues(of: attribute, here, &written)
    written.regularExpression = attribute.regularExpression.map { ModelDocument.Text($0) }
    written.valueTransformerName = attribute.valueTransformerName
    written.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
    written.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    written.derivation = attribute.derivation
    written.renamingIdentifier = attribute.renamingIdentifier
    written.versionHashModifier = attribute.versionHashModifier
    written.userInfo = userInfo(attribute.userInfo)
    for rule in attribute.validationRules {
      warn(here, "the validation predicate '\(rule.predicate)' is left out: a file cannot have it")
    }
    return written
  }

  /// Returns the name of a composite type of elements: that of one with the same elements, or a new one.
  private mutating func typeName(_ elements: [ModelDocument.Attribute], _ attribute: String) -> String {
    let wanted = attribute.prefix(1).uppercased() + attribute.dropFirst()
    var name = wanted
    var number = 2
    while let known = elementsByName[name] {
      if known == elements { return name }
      name = "\(wanted)\(number)"
      number += 1
    }
    elementsByName[name] = elements
    var type = ModelDocument.Composite(name)
    type.elements = elements
    result.composites.append(type)
    return name
  }

  @_optimize(none)
  private mutating func setValues(
    of attribute: AttributeSchema, _ place: String, _ written: inout ModelDocument.Attribute
  ) {
    switch attribute.defaultValue {
    case .null: break
    case .date(let seconds) where attribute.type == .date: written.defaultInterval = ModelDocument.Text("\(seconds)")
    case let value:
      if let text = plainText(value, attribute.type) {
        written.defaultValue = ModelDocument.Text(text)
      } else {
        warn(place, "the default value is left out: a file cannot have one of the type \(attribute.type.name)")
      }
    }
    written.minimum = limit(attribute.minimum, attribute.limitType)
    written.maximum = limit(attribute.maximum, attribute.limitType)
  }

  private func limit(_ value: Value, _ type: AttributeType) -> ModelDocument.Text? {
    if case .date(let seconds) = value { return ModelDocument.Text("\(seconds)") }
    return plainText(value, type).map { ModelDocument.Text($0) }
  }

  /// A value as the editor writes it; `nil` for one that it has no text for.
  private func plainText(_ value: Value, _ type: AttributeType) -> String? {
    switch value {
    case .boolean(let value): return value ? "YES" : "NO"
    case .integer(let value): return "\(value)"
    case .decimal(let value): return "\(value)"
    case .double(let value): return "\(value)"
    case .float(let value): return "\(value)"
    case .string(let value): return type == .string ? value : nil
    case .uuid(let value): return value.text
    case .uri(let value): return value
    case .null, .date, .binary, .reference, .composite, .list: return nil
    }
  }
}

extension ModelDocument.AttributeType {
  /// The type of a file for the engine's.
  @_optimize(none)
  init(_ type: AttributeType) {
    self =
      switch type {
      case .undefined: .undefined
      case .integer16: .integer16
      case .integer32: .integer32
      case .integer64: .integer64
      case .decimal: .decimal
      case .double: .double
      case .float: .float
      case .string: .string
      case .boolean: .boolean
      case .date: .date
      case .binary: .binary
      case .uuid: .uuid
      case .uri: .uri
      case .transformable: .transformable
      case .objectID: .objectID
      case .composite: .composite
      }
  }
}
