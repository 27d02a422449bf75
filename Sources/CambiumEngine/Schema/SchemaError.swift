/// Why a model cannot be used, with the names that the developer gave.
public enum SchemaError: Error, Equatable, Sendable {
  /// A name that cannot be used; `reason` says why.
  case invalidName(String, place: String, reason: String)
  /// Two entities, properties, elements, indexes, composites, configurations or templates of `place` have one name.
  case duplicateName(String, place: String)
  /// An entity names a parent that the model does not have.
  case unknownParent(String, entity: String)
  /// An entity is its own ancestor.
  case inheritanceCycle(entity: String)
  /// A property has the name of a property of an ancestor.
  case propertyShadowsAncestor(String, entity: String, ancestor: String)
  /// A relationship, configuration, template or fetched property names an entity that the model does not have.
  case unknownEntity(String, place: String)
  /// A relationship names an inverse that the destination does not have.
  case unknownInverse(String, relationship: String, entity: String)
  /// Two relationships don't name each other as inverses, or not with each other's entities.
  case inverseMismatch(relationship: String, entity: String, inverse: String, destination: String)
  /// A relationship's counts contradict each other or its being to-one.
  case invalidCounts(relationship: String, entity: String)
  /// A to-one relationship is ordered.
  case orderedToOne(relationship: String, entity: String)
  /// A stored attribute has no type. Give it one, or make it transient.
  case undefinedType(attribute: String, place: String)
  /// A composite element is of a type, or has a property, that elements can't have; `reason` says which.
  case invalidElement(String, place: String, reason: String)
  /// An attribute names a composite type that the model does not have.
  case unknownComposite(String, place: String)
  /// A composite type contains itself.
  case compositeCycle(String)
  /// Composites are nested deeper than ``Schema/compositeDepthLimit``.
  case compositeTooDeep(place: String)
  /// The model has more properties, with all elements of all composites, than ``Schema/propertyLimit``, or its entities
  /// inherit more in all than ``Schema/inheritedPropertyLimit``.
  case tooManyProperties
  /// Something that only a composite attribute can have is set on another, or the reverse.
  case notComposite(attribute: String, place: String)
  /// A default value, minimum or maximum is not of the attribute's type; `what` says which of them.
  case invalidValue(what: String, attribute: String, place: String)
  /// The regular expression of an attribute cannot be used: `reason` says why, and where in the pattern.
  case invalidPattern(String, attribute: String, place: String, reason: String)
  /// A condition on the values of an attribute cannot be used: `reason` says why, and where in it.
  case invalidRule(String, attribute: String, place: String, reason: String)
  /// An index or constraint has no elements, or mixes kinds; or the condition of an index cannot be used.
  case invalidIndex(String, entity: String, reason: String)
  /// An index or constraint has an element that cannot be a key: `reason` says why.
  case invalidIndexPath(String, index: String, entity: String, reason: String)
  /// A key path has a component that the entity (or composite) before it does not have.
  case unknownKeyPath(String, component: String, entity: String)
  /// A key path has more names than are followed, ``Predicate/depthLimit``.
  case keyPathTooLong(components: Int)
  /// The bytes are no stored model: `offset` is in bytes from their start, `detail` says which check failed.
  case malformed(offset: Int, detail: String)
  /// The stored model was written by a version of the format that this one does not know.
  case unsupportedVersion(UInt32)
  /// All identifiers of a kind have been used.
  case identifiersExhausted
}
