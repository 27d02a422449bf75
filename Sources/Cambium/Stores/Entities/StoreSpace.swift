import CambiumEngine

/// The store of a space, once it is made; held weakly. Thread-safe.
final class WeakStore: @unchecked Sendable {
  // `@unchecked`: touched with `lock` held only.
  private let lock = StateLock()
  private weak var store: PersistentStore?

  func set(_ store: PersistentStore) { lock.locked { self.store = store } }

  var value: PersistentStore? { lock.locked { store } }
}

/// What identifiers and objects of a store need to know of it: its identifier and its entities. Immutable, but for
/// ``store``.
final class StoreSpace: Sendable {
  /// The store, as long as somebody has it open.
  let store = WeakStore()
  /// The store's UUID as text.
  let identifier: String
  /// By identifier, as far as those are small, which they are as a rule.
  private let first: [EntityInfo?]
  private let infos: [UInt32: EntityInfo]
  private let idByName: [String: UInt32]
  /// The derived attributes of all entities.
  let derivedRules: [DerivedRule]
  /// The delete rules of relationships, by their identifiers in the store.
  let deleteRules: [UInt32: DeleteRule]

  /// - Parameters:
  ///   - stored: The schema that the store's rows are read with.
  ///   - model: The schema compiled of the model, with the same identifiers and the model's rules.
  init(identifier: String, stored: Schema, model: Schema, descriptions: [String: EntityDescription]) {
    self.identifier = identifier
    var infos: [UInt32: EntityInfo] = [:]
    var ids: [String: UInt32] = [:]
    for entity in stored.entities {
      guard let description = descriptions[entity.name], let rules = model.entity(named: entity.name) else { continue }
      infos[entity.id] = EntityInfo(
        entity, in: identifier, rules: rules, schema: stored, model: model, description: description)
      ids[entity.name] = entity.id
    }
    self.infos = infos
    first = (0..<UInt32(256)).map { infos[$0] }
    idByName = ids
    derivedRules = stored.entities.compactMap { infos[$0.id] }.flatMap { $0.derivedRules }
    var rules: [UInt32: DeleteRule] = [:]
    for r in infos.values.flatMap({ $0.relationships }).compactMap({ $0.relationship }) {
      rules[r.schema.id] = r.rules.deleteRule
    }
    deleteRules = rules
  }

  /// Of objects that belong to no store.
  static let none = StoreSpace()

  private init() {
    identifier = ""
    first = []
    infos = [:]
    idByName = [:]
    derivedRules = []
    deleteRules = [:]
  }

  /// What is known of an entity, by its identifier in the store.
  func info(_ id: UInt32) -> EntityInfo? { Int(id) < first.count ? first[Int(id)] : infos[id] }

  /// What is known of an entity, by name.
  func info(named name: String) -> EntityInfo? { idByName[name].flatMap { infos[$0] } }

  /// What the entities of the store are called, in no order.
  var entityNames: [String] { Array(idByName.keys) }
}

/// An entity as objects see it. Immutable.
final class EntityInfo: Sendable {
  let name: String
  /// As the store has it.
  let schema: EntitySchema
  /// The identifier in the store.
  let entityID: UInt32
  /// The schema of the store.
  let storeSchema: Schema?
  /// The store's UUID as text; empty for entities that no store holds.
  let storeIdentifier: String
  let description: EntityDescription
  /// The class that the model names: see ``EntityDescription/managedObjectClass``.
  let objectClass: AnyClass?
  let properties: PropertyTable
  /// In declared order, inherited ones first.
  let ordered: [PropertyInfo]
  /// The relationships of ``ordered``, by their places.
  let relationships: [PropertyInfo]
  /// The keys of attributes, by their places.
  let attributeKeys: [PropertyKey]
  /// The places of the attributes that are read as they are stored.
  let readableAttributes: NameIndex
  /// All attributes by their places.
  let directAttributes: DirectAttributes
  /// Of ``ordered`` those that are checked when an object is saved.
  let checked: [PropertyInfo]
  /// Of ``ordered`` the attributes that new objects have a value of.
  let withDefaults: [PropertyInfo]
  /// The places of the stored attributes that hold identifiers of objects.
  let identifierPlaces: [Int]
  /// The relationships by which the deletion of an object empties or deletes others, with their rules.
  let followedAtDeletion: [(relationship: RelationshipInfo, rule: DeleteRule)]
  /// Whether a relationship may deny the deletion of an object.
  let deniesDeletion: Bool
  /// Whether a save writes links of to-many relationships of the entity.
  let hasWrittenToMany: Bool

  init(
    _ entity: EntitySchema, in storeIdentifier: String, rules: EntitySchema, schema: Schema, model: Schema,
    description: EntityDescription
  ) {
    self.storeIdentifier = storeIdentifier
    name = entity.name
    self.schema = entity
    entityID = entity.id
    storeSchema = schema
    self.description = description
    objectClass = description.objectClass
    var ordered: [PropertyInfo] = []
    for attribute in entity.allAttributes {
      var rule = rules.attribute(named: attribute.name) ?? attribute
      rule.defaultValue = rule.initialValue
      ordered.append(PropertyInfo(name: attribute.name, place: ordered.count, kind: .attribute(attribute, rule)))
    }
    let keys = entity.relationshipKeys
    for (place, relationship) in entity.allRelationships.enumerated() {
      let rule = rules.relationship(named: relationship.name) ?? relationship
      ordered.append(
        PropertyInfo(
          name: relationship.name, place: place,

          kind: .relationship(RelationshipInfo(relationship, rule, keys[place], place: place, in: schema))))
    }
    self.ordered = ordered
    relationships = ordered.filter { $0.relationship != nil }
    attributeKeys = entity.attributeKeys
    readableAttributes = NameIndex(
      ordered.filter { $0.isAttribute && !$0.isTransient && !$0.isTransformed }.map { ($0.name, $0.place) })
    directAttributes = DirectAttributes(ordered, attributeKeys, entity)
    // What is derived by way of a relationship is computed in the transaction, and checked there.
    checked = ordered.filter { $0.isChecked && !Self.isDerivedByRelationship($0, entity) }
    withDefaults = ordered.filter { $0.rules?.defaultValue.isNull == false }
    identifierPlaces = ordered.filter { $0.isAttribute && !$0.isTransient && $0.attribute?.type == .objectID }.map {
      $0.place
    }
    followedAtDeletion = Self.followedAtDeletion(relationships)
    deniesDeletion = relationships.contains { $0.relationship?.rules.deleteRule == .deny }
    hasWrittenToMany = relationships.contains { property in
      property.relationship.map { $0.isToMany && !$0.isDerived && !$0.isTransient } ?? false
    }
    properties = PropertyTable(ordered)
  }

  private static func followedAtDeletion(
    _ relationships: [PropertyInfo]
  ) -> [(relationship: RelationshipInfo, rule: DeleteRule)] {
    relationships.compactMap { property in
      guard !property.isTransient, let r = property.relationship else { return nil }
      let rule = r.rules.deleteRule
      return rule == .nullify || rule == .cascade ? (r, rule) : nil
    }
  }

  private static func isDerivedByRelationship(_ property: PropertyInfo, _ entity: EntitySchema) -> Bool {
    guard property.isDerived, let path = property.rules?.derivation.flatMap({ Derivation($0) })?.path else {
      return false
    }
    let first = path.split(separator: ".", omittingEmptySubsequences: false).first
    return first.map { entity.relationship(named: String($0)) != nil } ?? false
  }

  /// Of all entities that no store holds.
  static let unknown = EntityInfo()

  private init() {
    name = ""
    schema = EntitySchema("")
    entityID = 0
    storeSchema = nil
    storeIdentifier = ""
    description = EntityDescription()
    objectClass = nil
    properties = PropertyTable([])
    ordered = []
    relationships = []
    attributeKeys = []
    readableAttributes = NameIndex()
    directAttributes = DirectAttributes([], [], schema)
    withDefaults = []
    identifierPlaces = []
    followedAtDeletion = []
    deniesDeletion = false
    hasWrittenToMany = false
    checked = []
  }

  deinit { directAttributes.deallocate() }

  /// The relationships that are kept in the store.
  var storedRelationships: some Sequence<RelationshipInfo> {
    relationships.lazy.compactMap { $0.isTransient ? nil : $0.relationship }
  }

  /// The derived attributes of the entity's own.
  var derivedRules: [DerivedRule] {
    let own = Set(schema.attributes.map { $0.name })
    return ordered.filter { own.contains($0.name) }.compactMap { DerivedRule($0, self) }
  }

  /// Returns a value of the composite at a place in the form that is stored, with the defaults of elements that it
  /// leaves out; `nil` for one that the composite does not hold.
  func compositeValue(_ value: Value, at place: Int) -> Value? {
    let property = ordered[place]
    guard property.hasInitialElements, let rules = property.rules else { return schema.coerce(value, at: place) }
    return schema.coerce(rules.completed(value), at: place)
  }

  /// Whether each attribute of another entity has the same place and form here, so that its values need not be brought
  /// into form.
  func hasAttributes(of other: EntityInfo) -> Bool {
    guard attributeKeys.count == other.attributeKeys.count else { return false }
    return zip(ordered, other.ordered).prefix(attributeKeys.count).allSatisfy { own, other in
      guard own.name == other.name, own.isTransient == other.isTransient, own.isTransformed == other.isTransformed,
        !own.isDerived, !other.isDerived, let attribute = own.attribute, let otherAttribute = other.attribute
      else { return false }
      return attribute.hasForm(of: otherAttribute)
    }
  }

  /// Whether the entity is `other` or inherits from it.
  func isKind(of other: EntityInfo) -> Bool { isKind(of: other.entityID) }

  /// Whether the entity is that of an identifier in the store, or inherits from it.
  func isKind(of other: UInt32) -> Bool { storeSchema?.isEntity(entityID, orDescendantOf: other) ?? false }
}

extension AttributeSchema {
  /// Whether values of another attribute are in the form of this one. Identifiers of objects never are.
  fileprivate func hasForm(of other: AttributeSchema) -> Bool {
    type == other.type && type != .objectID && elements.count == other.elements.count
      && zip(elements, other.elements).allSatisfy { $0.name == $1.name && $0.hasForm(of: $1) }
  }
}

/// The properties of an entity by name.
struct PropertyTable: Sendable {
  private let ordered: [PropertyInfo]
  private let places: NameIndex

  init(_ ordered: [PropertyInfo]) {
    self.ordered = ordered
    places = NameIndex(ordered.enumerated().map { ($1.name, $0) })
  }

  subscript(name: String) -> PropertyInfo? { places[name].map { ordered[$0] } }
}

/// A property as objects see it. Immutable.
final class PropertyInfo: Sendable {
  enum Kind: Sendable {
    /// As stored, and as the model has it, whose rules count.
    case attribute(AttributeSchema, AttributeSchema)
    case relationship(RelationshipInfo)
  }

  let name: String
  /// Those of ``name``, which is kept as long.
  let nameBits: NameBits
  /// The place among all attributes, or among all relationships, of the entity; the same in entities that inherit it.
  let place: Int
  let kind: Kind
  /// Whether values go through a transformer.
  let isTransformed: Bool
  /// Whether values are computed when an object is saved.
  let isDerived: Bool
  /// Whether values are kept in memory only.
  let isTransient: Bool
  /// Whether it is an attribute of which values are read and set as they are stored.
  let isPlain: Bool
  let isAttribute: Bool
  /// See ``AttributeSchema/hasInitialElements``.
  let hasInitialElements: Bool
  /// Whether the model has rules that values are checked against when saving.
  let isChecked: Bool
  /// Whether what is checked is no more than that there is a value.
  let isCheckedForNullOnly: Bool
  /// What the rules of the attribute and its elements were read as.
  let readRules: ReadRules
  /// The attribute as stored.
  let attribute: AttributeSchema?
  let relationship: RelationshipInfo?

  init(name: String, place: Int, kind: Kind) {
    self.name = name
    nameBits = NameBits(name)
    self.place = place
    self.kind = kind
    switch kind {
    case .attribute(let attribute, let rules):
      (isTransformed, isDerived, isTransient) = (rules.isTransformed, rules.derivation != nil, rules.isTransient)
      isPlain = !isTransformed && !isDerived && !isTransient
      isAttribute = true
      hasInitialElements = rules.hasInitialElements
      isChecked = Self.hasRules(rules)
      isCheckedForNullOnly =
        !rules.isOptional && rules.minimum.isNull && rules.maximum.isNull && rules.regularExpression == nil
        && rules.validationRules.isEmpty && rules.elements.isEmpty
      readRules = ReadRules(rules)
      self.attribute = attribute
      relationship = nil
    case .relationship(let relationship):
      (isTransformed, isDerived, isTransient, isPlain) = (false, false, relationship.rules.isTransient, false)
      (isAttribute, hasInitialElements) = (false, false)
      let rules = relationship.rules
      isChecked =
        !rules.isTransient
        && (rules.isToMany ? rules.minimumCount > 0 || rules.maximumCount > 0 : !rules.isOptional)
      isCheckedForNullOnly = false
      readRules = ReadRules()
      attribute = nil
      self.relationship = relationship
    }
  }

  private static func hasRules(_ rules: AttributeSchema) -> Bool {
    !rules.isOptional || !rules.minimum.isNull || !rules.maximum.isNull || rules.regularExpression != nil
      || !rules.validationRules.isEmpty || rules.elements.contains(where: hasRules)
  }

  /// The attribute as the model has it.
  var rules: AttributeSchema? {
    if case .attribute(_, let rules) = kind { return rules }
    return nil
  }

}

/// A relationship as objects see it. Immutable.
final class RelationshipInfo: Sendable {
  /// As stored.
  let schema: RelationshipSchema
  /// As the model has it, whose rules count.
  let rules: RelationshipSchema
  let inverse: RelationshipSchema?
  /// The key of the inverse among the relationships of the destination, and of the entities that inherit from that.
  private let inverseKey: PropertyKey?
  private let inversePlace: Int
  let key: PropertyKey
  /// The place among all relationships of the entity; the same in entities that inherit it.
  let place: Int
  /// Whether the store derives the destinations from the to-one relationships on the other side, so that nothing is
  /// written for this side.
  let isDerived: Bool

  let isToMany: Bool
  let isOrdered: Bool
  /// Whether the destinations are kept in memory only.
  let isTransient: Bool
  /// The entity that it leads to.
  let destination: UInt32

  init(
    _ relationship: RelationshipSchema, _ rules: RelationshipSchema, _ key: PropertyKey, place: Int, in schema: Schema
  ) {
    self.key = key
    self.place = place
    isToMany = relationship.isToMany
    isOrdered = relationship.isOrdered
    isTransient = rules.isTransient
    destination = schema.entity(named: relationship.destination)?.id ?? 0
    self.schema = relationship
    self.rules = rules
    inverse = schema.inverse(of: relationship)
    let other = schema.entity(named: relationship.destination)
    let name = inverse?.name
    let place = name.flatMap { name in other?.allRelationships.firstIndex { $0.name == name } }
    inversePlace = place ?? 0
    inverseKey = place.flatMap { other?.relationshipKeys[$0] }
    isDerived = relationship.isToMany && !relationship.isOrdered && inverse.map { !$0.isToMany } ?? false
  }

  /// The inverse as objects of an entity have it.
  func inverse(in info: EntityInfo) -> RelationshipInfo? {
    if let inverseKey, inversePlace < info.relationships.count,
      let known = info.relationships[inversePlace].relationship, known.key.id == inverseKey.id
    {
      return known
    }
    return inverse.flatMap { info.properties[$0.name]?.relationship }
  }
}
