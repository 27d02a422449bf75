/// A property of an entity. Use ``AttributeDescription``, ``CompositeAttributeDescription``,
/// ``DerivedAttributeDescription``, ``RelationshipDescription`` or ``FetchedPropertyDescription``. Core Data:
/// `NSPropertyDescription`.
///
/// Descriptions may be changed until their model is taken into use by a coordinator. After that an assignment is
/// refused and noted in ``ManagedObjectModel/refusedChanges``, and throwing methods throw
/// ``CambiumError/Code/modelInUse``. Set a model up on one thread; from then on descriptions are immutable and may be
/// used on any.
public class PropertyDescription: @unchecked Sendable, ModelPart {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is
  // read.
  /// The name, unique among the properties of the entity and its ancestors.
  @ModelValue public var name: String = ""
  /// Whether the property may be empty when saving.
  @ModelValue public var isOptional = true
  /// Whether the property is kept in memory only. Values of a transient attribute are of its type and are checked like
  /// stored ones: all of them when a new object is saved, and later those that there are.
  @ModelValue public var isTransient = false
  /// What the application attaches to the property. No part of the version hash.
  @ModelValue public var userInfo: [String: String] = [:]
  /// Changed to make versions differ that are otherwise equal.
  @ModelValue public var versionHashModifier: String?
  @ModelValue var explicitRenamingIdentifier: String?
  /// The entity that the property was given to; `nil` before that, and for elements of composites.
  public internal(set) weak var entity: EntityDescription?
  weak var parentElement: PropertyDescription?
  weak var modelOfType: ManagedObjectModel?

  init() {}

  /// What the property is matched by across versions: what it was called in the earlier model, if it was renamed since,
  /// or its name.
  public var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? name }
    set { explicitRenamingIdentifier = newValue }
  }

  /// Whether the property belongs somewhere: to an entity, a composite, or the composite types of a model.
  var isOwned: Bool { entity != nil || parentElement != nil || modelOfType != nil }

  /// Where the property belongs, as errors say it.
  var ownerText: String {
    if let entity { return "entity '\(entity.name)'" }
    if let parentElement { return "the composite '\(parentElement.name)'" }
    return modelOfType == nil ? "nothing" : "the composite types of a model"
  }

  /// Whether values of the property are held in the store.
  public var isPersistent: Bool { !isTransient }

  var modelInUse: ManagedObjectModel? {
    if let entity { return entity.modelInUse }
    if let parentElement { return parentElement.modelInUse }
    return modelOfType?.modelInUse
  }
}
