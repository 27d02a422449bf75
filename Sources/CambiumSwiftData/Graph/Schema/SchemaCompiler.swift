import Cambium
import CambiumEngine
import Foundation

/// Makes the model of the object graph of what classes say of themselves.
enum SchemaCompiler {
  /// The model.
  ///
  /// - Parameter isEarly: Whether the model is for new objects only. It has no constraints and indexes then, because
  ///   their key paths are read from new objects.
  /// - Throws: ``SwiftDataError`` that names the class and the property.
  static func model(of classes: [ModelClass], isEarly: Bool = false) throws -> ManagedObjectModel {
    let inverses = Inverses(of: classes)
    var entities: [String: EntityDescription] = [:]
    for modelClass in classes {
      if entities[modelClass.entityName] != nil {
        throw refused("two classes are called '\(modelClass.entityName)'; a schema has each name once")
      }
      let entity = try entity(of: modelClass, inverses, isEarly: isEarly)
      if !isEarly { try addGroups(to: entity, of: modelClass) }
      entities[modelClass.entityName] = entity
    }
    for modelClass in classes {
      let children = classes.filter { $0.superclass === modelClass }.compactMap { entities[$0.entityName] }
      if !children.isEmpty { entities[modelClass.entityName]?.subentities = children }
    }
    return ManagedObjectModel(entities: classes.compactMap { entities[$0.entityName] })
  }

  private static func refused(_ message: String) -> SwiftDataError { SwiftDataError(.loadIssueModelContainer, message) }

  private static func entity(
    of modelClass: ModelClass, _ inverses: Inverses, isEarly: Bool
  ) throws -> EntityDescription {
    let entity = EntityDescription(modelClass.entityName)
    entity.managedObjectClass = ModelRow.self
    entity.managedObjectClassName = modelClass.entityName
    if let original = modelClass.originalName { entity.renamingIdentifier = original }
    entity.properties = try modelClass.ownProperties.map { property in
      switch property.kind {
      case .attribute(let kind): try attribute(property, kind, of: modelClass, isEarly: isEarly)
      case .toOne(let type): try relationship(property, to: .of(type), isToMany: false, inverses, of: modelClass)
      case .toMany(let type): try relationship(property, to: .of(type), isToMany: true, inverses, of: modelClass)
      }
    }
    return entity
  }

  private static func addGroups(to entity: EntityDescription, of modelClass: ModelClass) throws {
    entity.uniquenessConstraints = try constraints(of: modelClass).map { try checked($0, of: modelClass) }
    entity.indexes = try indexes(of: modelClass).map { index in
      FetchIndexDescription(
        name: "by_" + index.paths.joined(separator: "_"),
        elements: try checked(index.paths, of: modelClass).map {
          FetchIndexElementDescription(keyPath: $0, collationType: index.isSpatial ? .rTree : .binary)
        })
    }
  }

  // MARK: Properties

  private static func attribute(
    _ property: ModelProperty, _ kind: ValueKind, of modelClass: ModelClass, isEarly: Bool
  ) throws -> AttributeDescription {
    let said = property.metadata.attribute
    guard isEarly || property.isOptional || property.defaultValue != nil || property.hasPlaceholder else {
      throw refused(
        "'\(modelClass.entityName).\(property.name)' is required, and no \(property.plainType) can be made up for a model whose "
          + "row is gone; give the property an initial value, or make it optional")
    }
    let result = try attribute(property.name, kind, in: "\(modelClass.entityName).\(property.name)")
    result.isOptional = property.isOptional
    if let original = said?.originalName.nonEmpty { result.renamingIdentifier = original }
    result.versionHashModifier = said?.hashModifier
    result.isTransient = said?.isTransient ?? false
    result.preservesValueInHistoryOnDeletion = said?.options.contains(.preserveValueOnDeletion) ?? false
    result.allowsExternalBinaryDataStorage = said?.options.contains(.externalStorage) ?? false
    if let value = property.defaultValue { setDefault(value, of: result, kind) }
    return result
  }

  private static func attribute(_ name: String, _ kind: ValueKind, in place: String) throws -> AttributeDescription {
    switch kind {
    case .direct(let type), .raw(let type): return AttributeDescription(name, type)
    case .coded: return AttributeDescription(name, .binary)
    case .transformed(let transformer):
      let result = AttributeDescription(name, .transformable)
      result.valueTransformerName = transformer
      return result
    case .composite(let shape):
      return try CompositeAttributeDescription(
        name,
        elements: try shape.fields.map { field in
          let element = try attribute(field.name, field.kind, in: "\(place).\(field.name)")
          element.isOptional = field.isOptional
          return element
        })
    case .none(let reason):
      throw refused("'\(place)' cannot be stored: \(reason). Mark it with @Transient, or make the type Codable")
    }
  }

  /// Gives an attribute the initial value of its class, for rows of earlier versions that lack it. Not a moment or a
  /// UUID, because each model has one of its own.
  private static func setDefault(_ value: Any, of attribute: AttributeDescription, _ kind: ValueKind) {
    guard let plain = unwrapped(value) as? any Encodable,
      !(plain is Date), !(plain is UUID), let stored = try? ValueCoder.encode(plain, as: kind)
    else { return }
    setDefault(stored, of: attribute)
  }

  /// What is inside of an optional.
  private static func unwrapped(_ value: Any) -> Any? {
    guard let optional = value as? any OptionalType else { return value }
    return optional.wrappedValue
  }

  private static func setDefault(_ value: Value, of attribute: AttributeDescription) {
    switch value {
    case .date, .uuid, .null: return
    case .composite(let elements):
      guard let composite = attribute as? CompositeAttributeDescription else { return }
      for (name, element) in zip(elements.names, elements.values) {
        if let description = composite.element(named: name) { setDefault(element, of: description) }
      }
    default: attribute.defaultValue = value.any
    }
  }

  private static func relationship(
    _ property: ModelProperty, to destination: ModelClass, isToMany: Bool, _ inverses: Inverses,
    of modelClass: ModelClass
  ) throws -> RelationshipDescription {
    let said = property.metadata.relationship
    if let keyPath = said?.inverseKeyPath, destination.byKeyPath[keyPath]?.destination == nil {
      throw refused(
        "the inverse of '\(modelClass.entityName).\(property.name)', \(keyPath), is no stored relationship of "
          + "'\(destination.entityName)'")
    }
    if isToMany, said?.maximumModelCount == 1 {
      throw refused(
        "'\(modelClass.entityName).\(property.name)' is an array of one model at most; write "
          + "'\(destination.entityName)?' instead, or another maximumModelCount")
    }
    let result = RelationshipDescription(
      property.name, toMany: isToMany, destination: destination.entityName,
      inverse: inverses.inverse(of: property, in: modelClass)?.name, deleteRule: said?.deleteRule.graphRule ?? .nullify)
    // Validation looks at the counts of an optional relationship only if there is a destination.
    result.isOptional = property.isOptional || isToMany && said?.minimumModelCount ?? 0 == 0
    let minimum = max(0, said?.minimumModelCount ?? 0)
    // Models from Xcode say 1 of to-one relationships as well, where it counts for the version hash alone.
    result.minCount = isToMany ? minimum : min(1, minimum)
    if isToMany {
      result.maxCount = max(0, said?.maximumModelCount ?? 0)
      result.isOrdered = said?.options.contains(.ordered) ?? false
    }
    if let original = said?.originalName.nonEmpty { result.renamingIdentifier = original }
    result.versionHashModifier = said?.hashModifier
    return result
  }

  // MARK: Groups

  /// The names of the properties that are unique together.
  static func constraints(of modelClass: ModelClass) -> [[String]] {
    var result = modelClass.ownProperties.filter {
      $0.metadata.attribute?.isUnique ?? $0.metadata.relationship?.isUnique ?? false
    }.map { [$0.name] }
    for groups in modelClass.constraints where groups.areUnique {
      for group in groups.groups where !group.keyPaths.isEmpty {
        let names = group.keyPaths.map { PathProbe.name(of: $0, from: modelClass) ?? "\($0)" }
        if !result.contains(names) { result.append(names) }
      }
    }
    return result
  }

  /// The key paths of each index.
  static func indexes(of modelClass: ModelClass) -> [(paths: [String], isSpatial: Bool)] {
    var result: [(paths: [String], isSpatial: Bool)] = []
    for groups in modelClass.constraints where !groups.areUnique {
      for group in groups.groups where !group.keyPaths.isEmpty {
        let names = group.keyPaths.map { PathProbe.name(of: $0, from: modelClass) ?? "\($0)" }
        if !result.contains(where: { $0.paths == names }) { result.append((names, group.isSpatial)) }
      }
    }
    return result
  }

  private static func checked(_ paths: [String], of modelClass: ModelClass) throws -> [String] {
    for path in paths where path.hasPrefix("\\") {
      throw SwiftDataError(
        .unsupportedKeyPath,
        "\(path) of '\(modelClass.entityName)' is no stored property, and cannot be unique or indexed")
    }
    return paths
  }
}

extension Schema.Relationship.DeleteRule {
  fileprivate var graphRule: DeleteRule {
    switch self {
    case .noAction: .noAction
    case .nullify: .nullify
    case .cascade: .cascade
    case .deny: .deny
    }
  }
}
