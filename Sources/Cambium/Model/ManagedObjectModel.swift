import CambiumEngine
import CambiumKernel

/// A model: the entities that a store holds. Core Data: `NSManagedObjectModel`.
///
/// Build it of descriptions, or with the result builder (``init(versionIdentifiers:_:)``). A model may be changed until
/// a coordinator takes it into use; see ``isInUse``. Set it up on one thread; from then on it may be used on any.
public final class ManagedObjectModel: @unchecked Sendable, ModelPart {
  // `@unchecked`: what changes after it was taken into use is touched with `lock` held only; the rest is refused then.
  private var storedEntities: [EntityDescription] = []
  private var storedTypes: [CompositeAttributeDescription] = []
  private var configurationEntities: [String: [EntityDescription]] = [:]
  var configurationUserInfo: [String: [String: String]] = [:]
  var storedTemplates: [String: FetchRequestTemplate] = [:]
  var storedWarnings: [String] = []
  /// Why there is no model where this one stands for it; of no effect once it has entities.
  var failure: (any Error)?
  private var frozen: Schema?
  /// What ``frozen`` was compiled of.
  private var frozenDefinition: SchemaDefinition?
  /// See ``keptPart(_:)``.
  private var madePart: AnyObject??
  private let lock = StateLock()
  private var refused: [CambiumError] = []
  /// The developer's names of the version. They have no part in the version hashes.
  ///
  /// One of them may be a number, such as `3` or `2.98`; see ``init(version:_:)``. If two models carry numbers, the
  /// higher one is the newer version: an application with it may drop parts of the store's model. Numbers are compared
  /// part by part, so 2.98 comes before 2.100. ``PersistentStoreDescription/allowsDroppingUnknownData`` has the rule.
  @ModelValue public var versionIdentifiers: Set<String> = []
  /// The entities of earlier versions that the model removes on purpose, by the names or renaming identifiers that they
  /// had. An inferred migration may drop them with all of their objects. A model builder writes them as
  /// ``RemovedEntity``. They have no part in the version hashes.
  @ModelValue public var removedEntities: [String] = []
  /// The modules in which the classes are that the model names without one, as Xcode's models do: `["MyApp"]`. A store
  /// that is loaded afterwards has objects of these classes, whichever way they are made.
  ///
  /// Without it, a class is found whose module another class of the model is in, if that is named with its module or as
  /// a type. Other classes stand for their entity from their first use on; see
  /// ``EntityDescription/managedObjectClass``.
  @ModelValue public var classModules: [String] = []
  /// The path of the file or folder that the model was read from.
  var filePath: String?

  /// A model without entities.
  public init() {}

  /// A model of entities.
  public convenience init(entities: [EntityDescription]) {
    self.init()
    self.entities = entities
  }

  // MARK: Parts

  /// The entities. Their order does not matter.
  ///
  /// An entity belongs to one model: one that is another's stays there, and ``schema()`` throws as long as it is among
  /// these. ``init(schema:)`` makes a model of the same entities that may be changed, ``init(merging:)`` one of several
  /// models'.
  public var entities: [EntityDescription] {
    get { storedEntities }
    set {
      guard mayChange("entities") else { return }
      for entity in storedEntities where entity.managedObjectModel === self { entity.managedObjectModel = nil }
      storedEntities = newValue
      for entity in newValue where entity.managedObjectModel == nil { entity.managedObjectModel = self }
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
      for type in storedTypes where type.modelOfType === self { type.modelOfType = nil }
      storedTypes = newValue
      for type in newValue where !type.isOwned { type.modelOfType = self }
    }
  }

  /// The names of the configurations, in order.
  public var configurations: [String] { configurationEntities.keys.ordered() }

  /// The entities of a configuration; all entities for `nil`, and `nil` for a name that the model does not have.
  public func entities(forConfigurationName name: String?) -> [EntityDescription]? {
    guard let name else { return storedEntities }
    return configurationEntities[name]
  }

  /// Names a subset of the entities. One that the model does not have makes ``schema()`` throw.
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
  /// - Throws: ``CambiumError/Code/invalidModel``, with the engine's `SchemaError` underneath where that found what is
  ///   wrong; also for a part that belongs to another model, entity, composite or index. O(size of the model); O(1)
  ///   once the model is in use.
  public func schema() throws -> Schema {
    try lock.locked {
      if let frozen { return frozen }
      return try Self.compile(try makeDefinition())
    }
  }

  /// Checks the model and makes it immutable.
  ///
  /// - Throws: as ``schema()``, and ``CambiumError/Code/invalidModel`` for a derived attribute that cannot be computed;
  ///   the model stays changeable then.
  @discardableResult public func takeIntoUse() throws -> Schema {
    // All of it with the lock held: several threads may open their first stores with one model at once, and what
    // compiling writes into the descriptions has to be there before any of them goes on.
    try lock.locked {
      if let frozen { return frozen }
      let definition = try makeDefinition()
      let schema = try Self.compile(definition)
      for entity in schema.entities {
        for attribute in entity.attributes {
          guard let problem = schema.derivationProblem(of: attribute, in: entity) else { continue }
          throw CambiumError(
            .invalidModel, "the derived attribute '\(entity.name).\(attribute.name)' cannot be computed: \(problem)",
            entityName: entity.name, key: attribute.name)
        }
      }
      fillElements(from: schema)
      (frozen, frozenDefinition) = (schema, definition)
      ModelsInUse.add(self)
      return schema
    }
  }

  /// Returns an object that the first call makes of the model, and that is kept as long as the model. Every caller
  /// passes the same `make`. Nil if the model is not in use, or if `make` returns nil.
  func keptPart(_ make: (SchemaDefinition, [String: EntityDescription]) -> AnyObject?) -> AnyObject? {
    if let made = lock.locked({ madePart }) { return made }
    guard let definition = lock.locked({ frozenDefinition }) else { return nil }
    let made = make(definition, entitiesByName)
    return lock.locked {
      if let other = madePart { return other }
      madePart = .some(made)
      return made
    }
  }

  static func compile(_ definition: SchemaDefinition, basedOn earlier: Schema? = nil) throws -> Schema {
    do throws(SchemaError) { return try Schema(definition, basedOn: earlier) } catch {
      throw CambiumError(.invalidModel, "the model cannot be used: \(error)", underlying: [error])
    }
  }

  /// What the model is compiled of; the same as long as it is in use.
  func definition() throws -> SchemaDefinition { try lock.locked { try frozenDefinition ?? makeDefinition() } }

  /// Reads the descriptions, while the model is not in use and with the lock held.
  private func makeDefinition() throws -> SchemaDefinition {
    if storedEntities.isEmpty, let failure { throw failure }
    attachSubentities()
    try claimParts()
    var result = SchemaDefinition(try storedEntities.map { try $0.schema() })
    result.composites = try storedTypes.map { type in
      CompositeSchema(type.name, elements: try type.elements.map { try $0.schema() })
    }
    result.versionIdentifiers = versionIdentifiers.ordered()
    result.removedEntities = removedEntities
    result.configurations = configurations.map { name in
      var configuration = ConfigurationSchema(name, entities: (configurationEntities[name] ?? []).map { $0.name })
      configuration.userInfo = userInfo(forConfigurationName: name).engineEntries
      return configuration
    }
    result.fetchTemplates = try storedTemplates.ordered { $0.key < $1.key }
      .map { NamedFetchTemplate($0.key, try $0.value.schema()) }
    return result
  }

  /// Makes sure that everything in the model is its own, and takes in what became free after it was put into the model.
  private func claimParts() throws {
    for entity in storedEntities {
      if entity.managedObjectModel == nil { entity.managedObjectModel = self }
      guard entity.managedObjectModel === self else {
        throw CambiumError(
          .invalidModel,
          "entity '\(entity.name)' belongs to another model; make entities of this one's own, or make the model by "
            + "init(schema:) or init(merging:), which copy", entityName: entity.name)
      }
    }
    for entity in storedEntities { try entity.claimParts(in: self) }
    for type in storedTypes {
      if !type.isOwned { type.modelOfType = self }
      guard type.modelOfType === self else {
        throw CambiumError(
          .invalidModel,
          "the composite type '\(type.name)' belongs to \(type.ownerText); make a description of the model's own")
      }
    }
    for (name, members) in configurationEntities.ordered(by: { $0.key < $1.key }) {
      for entity in members where entity.managedObjectModel !== self {
        throw CambiumError(
          .invalidModel,
          "configuration '\(name)' has the entity '\(entity.name)', which the model does not have; add it to the model's "
            + "entities, or take it out of the configuration", entityName: entity.name)
      }
    }
  }

  /// Puts entities below the parents that they name.
  func attachSubentities() {
    let byName = entitiesByName
    for entity in storedEntities where entity.superentity == nil && entity.managedObjectModel === self {
      guard let parent = entity.superentityName, let found = byName[parent], found !== entity,
        found.managedObjectModel === self
      else { continue }
      entity.attach(to: found)
    }
  }

  /// Gives attributes of model-level composite types a copy of the type's elements.
  ///
  /// Called while nobody else has the model, or with the lock held.
  func fillElements(from schema: Schema) {
    for entity in storedEntities {
      guard let found = schema.entity(named: entity.name) else { continue }
      for case let composite as CompositeAttributeDescription in entity.properties {
        if let attribute = found.attribute(named: composite.name) { composite.fillElements(from: attribute) }
      }
    }
  }
}
