import CambiumEngine
import CambiumKernel

/// Where objects belong that are made with an entity's twin. ``ObjectHome`` is the only subclass; the model knows no
/// more of it.
class ObjectPlace: @unchecked Sendable {
  // `@unchecked`: nothing is here. ``ObjectHome`` says why it may be shared.
}

/// An entity of a model. Core Data: `NSEntityDescription`.
///
/// ``properties`` are the entity's own; the tables by name contain what it inherits as well. May be changed until the
/// model is taken into use; see ``PropertyDescription``.
public final class EntityDescription: @unchecked Sendable, ModelPart {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is
  // read.
  /// The name, unique in the model.
  @ModelValue public var name: String = ""
  /// See ``managedObjectClass``. The model does not know what an object is.
  @ModelValue var objectClass: AnyClass?
  @ModelValue var explicitClassName: String?
  /// Whether there are no objects of the entity itself, only of its subentities.
  @ModelValue public var isAbstract = false
  /// What the application attaches to the entity. No part of the version hash.
  @ModelValue public var userInfo: [String: String] = [:]
  /// Changed to make versions differ that are otherwise equal.
  @ModelValue public var versionHashModifier: String?
  /// The properties of earlier versions that the entity removes on purpose: names or renaming identifiers of attributes
  /// and relationships, paths of elements of composites. An inferred migration may drop their values, in subentities as
  /// well. A model builder writes them as ``Removed``. They have no part in the version hash.
  @ModelValue public var removedProperties: [String] = []
  /// Key paths, in groups, whose values no two objects of the entity and its subentities may share.
  @ModelValue public var uniquenessConstraints: [[String]] = []
  @ModelValue var explicitRenamingIdentifier: String?
  @ModelValue var superentityName: String?
  private var storedProperties: [PropertyDescription] = []
  private var storedSubentities: [EntityDescription] = []
  private var storedIndexes: [FetchIndexDescription] = []
  private weak var storedSuperentity: EntityDescription?
  /// The model that the entity was given to.
  public internal(set) weak var managedObjectModel: ManagedObjectModel?
  /// The entity that this one is a twin of.
  private let original: EntityDescription?
  /// The entity, if this is a twin of it.
  var itself: EntityDescription { original ?? self }
  /// Where objects are until they have been made; only twins have any.
  let cradle: ObjectPlace?
  /// Where the objects belong that are made with this twin, which hold it in place of their home.
  let home: ObjectPlace?

  /// An entity without name.
  public init() { (original, cradle, home) = (nil, nil, nil) }

  /// The same entity once more, for the initializers of objects of rows. To the entity itself lead weak references, by
  /// which counting references to it takes ten times as long; to a twin, nothing does.
  ///
  /// It shows what the entity has, which does not change any more, since its model is in use. Whoever makes objects
  /// keeps it (``ObjectHome/List/twin(of:)``), and they do: nothing that it holds may hold it.
  init(twinOf entity: EntityDescription, cradle: ObjectPlace, home: ObjectPlace) {
    original = entity
    self.cradle = cradle
    self.home = home
    name = entity.name
    objectClass = entity.objectClass
    explicitClassName = entity.explicitClassName
    isAbstract = entity.isAbstract
    userInfo = entity.userInfo
    versionHashModifier = entity.versionHashModifier
    removedProperties = entity.removedProperties
    uniquenessConstraints = entity.uniquenessConstraints
    explicitRenamingIdentifier = entity.explicitRenamingIdentifier
    superentityName = entity.superentityName
    storedProperties = entity.storedProperties
    storedSubentities = entity.storedSubentities
    storedIndexes = entity.storedIndexes
    storedSuperentity = entity.storedSuperentity
    managedObjectModel = entity.managedObjectModel
  }

  /// An entity with a name and properties of its own.
  public convenience init(_ name: String, properties: [PropertyDescription] = []) {
    self.init()
    self.name = name
    self.properties = properties
  }

  var modelInUse: ManagedObjectModel? { managedObjectModel?.modelInUse }

  /// The name of the class of the objects.
  public var managedObjectClassName: String {
    get { explicitClassName ?? objectClass.map { "\($0)" } ?? "ManagedObject" }
    set { explicitClassName = newValue }
  }

  /// Forgets the class of the objects, so that the application's first use of a class fixes it.
  package func forgetClass() {
    objectClass = nil
    explicitClassName = nil
  }

  /// What the entity is matched by across versions: what it was called in the earlier model, if it was renamed since,
  /// or its name.
  public var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? name }
    set { explicitRenamingIdentifier = newValue }
  }

  // MARK: Properties

  /// The entity's own properties.
  ///
  /// A property belongs to one entity or composite: what is elsewhere stays there, and compiling the model throws as
  /// long as it is among these (``ManagedObjectModel/schema()``).
  public var properties: [PropertyDescription] {
    get { storedProperties }
    set {
      guard mayChange("properties") else { return }
      for property in storedProperties where property.entity === self { property.entity = nil }
      storedProperties = newValue
      for property in newValue where !property.isOwned { property.entity = self }
    }
  }

  /// All properties by name, inherited ones included.
  public var propertiesByName: [String: PropertyDescription] {
    var result: [String: PropertyDescription] = [:]
    for entity in lineage {
      for property in entity.storedProperties where result[property.name] == nil { result[property.name] = property }
    }
    return result
  }

  /// All attributes by name, inherited ones included.
  public var attributesByName: [String: AttributeDescription] {
    propertiesByName.compactMapValues { $0 as? AttributeDescription }
  }

  /// All relationships by name, inherited ones included.
  public var relationshipsByName: [String: RelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? RelationshipDescription }
  }

  /// The relationships, inherited ones included, whose destination is `entity`.
  public func relationships(forDestination entity: EntityDescription) -> [RelationshipDescription] {
    relationshipsByName.values.filter { $0.destinationEntity === entity.itself }.ordered { $0.name < $1.name }
  }

  /// The entity's own fetch indexes. An index belongs to one entity, as a property does.
  public var indexes: [FetchIndexDescription] {
    get { storedIndexes }
    set {
      guard mayChange("indexes") else { return }
      for index in storedIndexes where index.entity === self { index.entity = nil }
      storedIndexes = newValue
      for index in newValue where index.entity == nil { index.entity = self }
    }
  }

  // MARK: Hierarchy

  /// The entities whose parent this is. All of them have to be in the model that this one is in, and an entity has one
  /// parent: compiling the model throws otherwise.
  public var subentities: [EntityDescription] {
    get { storedSubentities }
    set {
      guard mayChange("subentities") else { return }
      for entity in storedSubentities where entity.storedSuperentity === self { entity.storedSuperentity = nil }
      storedSubentities = newValue
      for entity in newValue where entity.storedSuperentity == nil && entity.modelInUse == nil {
        entity.storedSuperentity = self
      }
    }
  }

  /// The entities whose parent this is, by name.
  public var subentitiesByName: [String: EntityDescription] {
    Dictionary(subentities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The parent entity.
  public var superentity: EntityDescription? { storedSuperentity }

  /// Whether the entity is `entity` or inherits from it.
  public func isKindOf(entity: EntityDescription) -> Bool { lineage.contains { $0 === entity.itself } }

  /// The entity and its ancestors, the entity first. Ends where the hierarchy is (wrongly) cyclic.
  private var lineage: [EntityDescription] {
    var result: [EntityDescription] = []
    var next: EntityDescription? = itself
    while let entity = next, !result.contains(where: { $0 === entity }) {
      result.append(entity)
      next = entity.superentity
    }
    return result
  }

  /// Attaches the entity below another that the model has, found by name.
  func attach(to parent: EntityDescription) {
    parent.storedSubentities.append(self)
    storedSuperentity = parent
  }

  // MARK: Compiling

  /// Makes sure that everything in the entity is its own, and takes in what became free after it was put here. The
  /// entity is the model's, which is not in use.
  func claimParts(in model: ManagedObjectModel) throws {
    for property in storedProperties {
      if !property.isOwned { property.entity = self }
      guard property.entity === self else {
        throw CambiumError(
          .invalidModel,
          "property '\(property.name)' of entity '\(name)' belongs to \(property.ownerText) already; make a description "
            + "for each place", entityName: name, key: property.name)
      }
    }
    for index in storedIndexes {
      if index.entity == nil { index.entity = self }
      guard index.entity === self else {
        throw CambiumError(
          .invalidModel,
          "index '\(index.name)' of entity '\(name)' belongs to entity '\(index.entity?.name ?? "")' already; make a "
            + "description for each entity", entityName: name)
      }
      try index.claimElements()
    }
    if let parent = storedSuperentity, parent.managedObjectModel !== model {
      throw CambiumError(
        .invalidModel,
        "entity '\(name)' has the parent '\(parent.name)', which is not in its model; add it to the model's entities",
        entityName: name)
    }
    for entity in storedSubentities {
      guard entity.managedObjectModel === model else {
        throw CambiumError(
          .invalidModel,
          "entity '\(name)' has the subentity '\(entity.name)', which is not in its model; add it to the model's entities",
          entityName: entity.name)
      }
      if entity.storedSuperentity == nil { entity.storedSuperentity = self }
      guard entity.storedSuperentity === self else {
        throw CambiumError(
          .invalidModel,
          "entity '\(entity.name)' is a subentity of '\(name)' and of '\(entity.superentity?.name ?? "")'; an entity has "
            + "one parent", entityName: entity.name)
      }
    }
  }

  func schema() throws -> EntitySchema {
    var result = EntitySchema(name, parent: superentity?.name ?? superentityName, abstract: isAbstract)
    for property in storedProperties {
      switch property {
      case let attribute as AttributeDescription: result.attributes.append(try attribute.schema())
      case let relationship as RelationshipDescription: result.relationships.append(try relationship.schema())
      case let fetched as FetchedPropertyDescription: result.fetchedProperties.append(try fetched.schema())
      default:
        throw CambiumError(
          .invalidModel, "property '\(property.name)' is no attribute, relationship or fetched property",
          entityName: name, key: property.name)
      }
    }
    result.indexes = storedIndexes.map { $0.schema() }
    result.uniquenessConstraints = uniquenessConstraints.map { UniquenessConstraint($0) }
    result.className = explicitClassName ?? objectClass.map { "\($0)" }
    result.renamingIdentifier = explicitRenamingIdentifier
    result.versionHashModifier = versionHashModifier
    result.removedProperties = removedProperties
    result.userInfo = userInfo.engineEntries
    return result
  }
}
