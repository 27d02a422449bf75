import CambiumEngine

/// A model: the entities that a store holds. Core Data: `NSManagedObjectModel`.
///
/// Build it of descriptions, or with the result builder (``init(versionIdentifiers:_:)``). A model may be changed until a
/// coordinator takes it into use; see ``isInUse``. Set it up on one thread; from then on it may be used on any.
public final class ManagedObjectModel: @unchecked Sendable, ModelPart {
  // `@unchecked`: what changes after it was taken into use is touched with `lock` held only; the rest is refused then.
  private var storedEntities: [EntityDescription] = []
  private var storedTypes: [CompositeAttributeDescription] = []
  private var configurationEntities: [String: [EntityDescription]] = [:]
  var configurationUserInfo: [String: [String: String]] = [:]
  var storedTemplates: [String: FetchRequestTemplate] = [:]
  var storedWarnings: [String] = []
  private var frozen: Schema?
  private let lock = StateLock()
  private var refused: [CambiumError] = []
  /// What the developer calls the version.
  @ModelValue public var versionIdentifiers: Set<String> = []

  /// A model without entities.
  public init() {}

  /// A model of entities.
  public convenience init(entities: [EntityDescription]) {
    self.init()
    self.entities = entities
  }

  // MARK: Parts

  /// The entities. Their order does not matter.
  public var entities: [EntityDescription] {
    get { storedEntities }
    set {
      guard mayChange("entities") else { return }
      for entity in storedEntities { entity.managedObjectModel = nil }
      storedEntities = newValue
      for entity in newValue { entity.managedObjectModel = self }
    }
  }

  /// The entities by name.
  public var entitiesByName: [String: EntityDescription] {
    Dictionary(storedEntities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Composite types that attributes name (``CompositeAttributeDescription/compositeTypeName``): their elements, under
  /// the type's name.
  public var compositeTypes: [CompositeAttributeDescription] {
    get { storedTypes }
    set {
      guard mayChange("compositeTypes") else { return }
      storedTypes = newValue
      for type in newValue { type.modelOfType = self }
    }
  }

  /// The names of the configurations, in order.
  public var configurations: [String] { configurationEntities.keys.sorted() }

  /// The entities of a configuration; all entities for `nil`, and `nil` for a name that the model does not have.
  public func entities(forConfigurationName name: String?) -> [EntityDescription]? {
    guard let name else { return storedEntities }
    return configurationEntities[name]
  }

  /// Names a subset of the entities.
  public func setEntities(_ entities: [EntityDescription], forConfigurationName name: String) {
    guard mayChange("configuration '\(name)'") else { return }
    configurationEntities[name] = entities
  }

  // MARK: Use

  /// Whether a coordinator has taken the model into use, after which it cannot be changed.
  public var isInUse: Bool { lock.locked { frozen != nil } }

  /// The assignments that were refused because the model is in use. Core Data raises an exception for each.
  public var refusedChanges: [CambiumError] { lock.locked { refused } }

  var modelInUse: ManagedObjectModel? { isInUse ? self : nil }

  func refusal(of change: String) -> CambiumError {
    CambiumError(
      .modelInUse, "a model that is in use by a coordinator cannot be changed (\(change)); build another model instead")
  }

  func note(_ error: CambiumError) { lock.locked { refused.append(error) } }

  // MARK: Compiling

  /// The model in the engine's form, checked.
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` with the engine's `SchemaError` underneath. O(size of the model); O(1)
  ///   once the model is in use.
  public func schema() throws -> Schema {
    if let schema = lock.locked({ frozen }) { return schema }
    return try Self.compile(try definition())
  }

  /// Checks the model and makes it immutable.
  ///
  /// - Throws: as ``schema()``, and ``CambiumError/Code/invalidModel`` for a derived attribute that cannot be computed; the
  ///   model stays changeable then.
  @discardableResult public func takeIntoUse() throws -> Schema {
    let schema = try self.schema()
    for entity in schema.entities {
      for attribute in entity.attributes {
        guard let problem = schema.derivationProblem(of: attribute, in: entity) else { continue }
        throw CambiumError(
          .invalidModel, "the derived attribute '\(entity.name).\(attribute.name)' cannot be computed: \(problem)",
          entityName: entity.name, key: attribute.name)
      }
    }
    fillElements(from: schema)
    return lock.locked {
      if let frozen { return frozen }
      frozen = schema
      return schema
    }
  }

  static func compile(_ definition: SchemaDefinition, basedOn earlier: Schema? = nil) throws -> Schema {
    do throws(SchemaError) { return try Schema(definition, basedOn: earlier) } catch {
      throw CambiumError(.invalidModel, "the model cannot be used: \(error)", underlying: [error])
    }
  }

  func definition() throws -> SchemaDefinition {
    attachSubentities()
    var result = SchemaDefinition(try storedEntities.map { try $0.schema() })
    result.composites = try storedTypes.map { type in
      CompositeSchema(type.name, elements: try type.elements.map { try $0.schema() })
    }
    result.versionIdentifiers = versionIdentifiers.sorted()
    result.configurations = configurations.map { name in
      var configuration = ConfigurationSchema(name, entities: (configurationEntities[name] ?? []).map { $0.name })
      configuration.userInfo = userInfo(forConfigurationName: name).engineEntries
      return configuration
    }
    result.fetchTemplates = try storedTemplates.sorted { $0.key < $1.key }
      .map { NamedFetchTemplate($0.key, try $0.value.schema()) }
    return result
  }

  /// Puts entities below the parents that they name.
  func attachSubentities() {
    let byName = entitiesByName
    for entity in storedEntities where entity.superentity == nil {
      guard let parent = entity.superentityName, let found = byName[parent], found !== entity else { continue }
      entity.attach(to: found)
    }
  }

  /// Gives attributes of model-level composite types a copy of the type's elements.
  func fillElements(from schema: Schema) {
    guard !isInUse else { return }
    for entity in storedEntities {
      for case let composite as CompositeAttributeDescription in entity.properties {
        guard composite.compositeTypeName != nil, let found = schema.entity(named: entity.name) else { continue }
        if let attribute = found.attribute(named: composite.name) {
          composite.adopt(attribute.elements.map { attributeDescription($0) })
        }
      }
    }
  }
}
