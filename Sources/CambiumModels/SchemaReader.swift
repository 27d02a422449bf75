import CambiumEngine
import CambiumModelFiles

/// Makes the engine's description of a model from a document, and leaves out with a warning what cannot be used.
struct SchemaReader {
  private let document: ModelDocument
  private(set) var definition = SchemaDefinition()
  var warnings: [ModelFileWarning]
  /// The lines of the indexes of each entity, in their order.
  private var indexLines: [[Int]] = []

  init(_ document: ModelDocument) {
    self.document = document
    warnings = document.warnings
  }

  /// Builds the model.
  @_optimize(none)
  mutating func build() throws(SchemaError) -> Schema {
    if let identifier = document.versionIdentifier { definition.versionIdentifiers = [identifier] }
    definition.entities = document.entities.map { entity($0) }
    definition.composites = document.composites.map { composite in
      CompositeSchema(composite.name, elements: composite.elements.map { attribute($0) })
    }
    definition.configurations = document.configurations.map { configuration in
      var result = ConfigurationSchema(configuration.name, entities: configuration.entities)
      result.userInfo = configuration.userInfo.map { UserInfoEntry($0) }
      return result
    }
    definition.fetchTemplates = document.fetchRequests.map { NamedFetchTemplate($0.name, template($0)) }
    var bare = definition
    for place in bare.entities.indices { bare.entities[place].indexes = [] }
    leaveOutUnusableIndexes(try Schema(bare))
    return try Schema(definition)
  }

  // MARK: Entities

  @_optimize(none)
  private mutating func entity(_ entity: ModelDocument.Entity) -> EntitySchema {
    var result = EntitySchema(entity.name, parent: entity.parent)
    result.isAbstract = entity.isAbstract
    result.className = entity.className
    result.renamingIdentifier = entity.renamingIdentifier
    result.versionHashModifier = entity.versionHashModifier
    result.attributes = entity.attributes.map { attribute($0) }
    result.relationships = entity.relationships.map { RelationshipSchema($0) }
    result.fetchedProperties = entity.fetchedProperties.map { property in
      var result = FetchedPropertySchema(property.name, request: template(property.request))
      result.userInfo = property.userInfo.map { UserInfoEntry($0) }
      return result
    }
    let indexes = entity.allIndexes { isReadable($0, of: entity.name) }
    result.indexes = indexes.map { IndexSchema($0) }
    indexLines.append(indexes.map { $0.line })
    result.uniquenessConstraints = entity.uniquenessConstraints.map { UniquenessConstraint($0) }
    result.userInfo = entity.userInfo.map { UserInfoEntry($0) }
    return result
  }

  /// A predicate that cannot be read is kept, and throws when the request is made.
  @_optimize(none)
  private mutating func template(_ request: ModelDocument.Request) -> FetchTemplate {
    var result = FetchTemplate(entity: request.entity, predicate: request.predicate?.value)
    if let predicate = request.predicate, let problem = problem(ofPredicate: predicate.value) {
      warnings.append(
        ModelFileWarning(predicate.line, "the predicate of fetch request '\(request.name)' cannot be read: \(problem)"))
    }
    result.fetchLimit = request.fetchLimit
    result.userInfo = request.userInfo.map { UserInfoEntry($0) }
    return result
  }

  private func problem(ofPredicate text: String) -> String? {
    do throws(PredicateError) { _ = try Predicate(format: text) } catch { return error.description }
    return nil
  }

  // MARK: Indexes

  private mutating func isReadable(_ index: ModelDocument.Index, of entity: String) -> Bool {
    guard let predicate = index.partialPredicate, let problem = problem(ofPredicate: predicate.value) else {
      return true
    }
    warnings.append(
      ModelFileWarning(
        predicate.line,
        "index \(index.name) of \(entity) is left out, since its predicate cannot be read: \(problem)"))
    return false
  }

  /// Leaves out indexes that a model cannot have, with a warning: over a transformable attribute, a transient one, more
  /// than one of a name. `schema` is the model without any index.
  @_optimize(none)
  private mutating func leaveOutUnusableIndexes(_ schema: Schema) {
    for place in definition.entities.indices {
      let entity = definition.entities[place].name
      guard let built = schema.entity(named: entity) else { continue }
      var kept: [IndexSchema] = []
      for (index, line) in zip(definition.entities[place].indexes, indexLines[place]) {
        let problem =
          kept.contains { $0.name == index.name }
          ? SchemaError.duplicateName(index.name, place: entity) : schema.problem(of: index, in: built)
        guard let problem else {
          kept.append(index)
          continue
        }
        warnings.append(
          ModelFileWarning(line, "index \(index.name) of \(entity) is left out: \(problem.description)"))
      }
      definition.entities[place].indexes = kept
    }
  }
}

extension UserInfoEntry {
  init(_ entry: ModelDocument.UserInfo) { self.init(key: entry.key, value: entry.value) }
}

extension IndexSchema {
  fileprivate init(_ index: ModelDocument.Index) {
    self.init(
      index.name,
      index.elements.map {
        IndexElement($0.path, ascending: $0.isAscending, kind: $0.kind == .rTree ? .rTree : .binary)
      },
      partialPredicate: index.partialPredicate?.value)
  }
}

extension RelationshipSchema {
  fileprivate init(_ relationship: ModelDocument.Relationship) {
    let (name, destination) = (relationship.name, relationship.destination)
    self =
      relationship.isToMany
      ? RelationshipSchema(name, toMany: destination) : RelationshipSchema(name, to: destination)
    inverse = relationship.inverse
    isOptional = relationship.isOptional
    isTransient = relationship.isTransient
    isOrdered = relationship.isOrdered
    minimumCount = relationship.minimumCount
    maximumCount = relationship.maximumCount
    deleteRule =
      switch relationship.deleteRule {
      case .noAction: .noAction
      case .nullify: .nullify
      case .cascade: .cascade
      case .deny: .deny
      }
    renamingIdentifier = relationship.renamingIdentifier
    versionHashModifier = relationship.versionHashModifier
    userInfo = relationship.userInfo.map { UserInfoEntry($0) }
  }
}
