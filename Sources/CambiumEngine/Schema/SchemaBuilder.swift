/// Turns a definition into the parts of a ``Schema``, in three passes: composites are expanded, identifiers are given
/// out (or kept, when the definition comes from a store), everything is checked and linked.
struct SchemaBuilder {
  var definition: SchemaDefinition
  var entities: [EntitySchema]
  var next = SchemaIdentifiers()
  var placeByName: [String: Int] = [:]
  /// Places of the entities, parents before children.
  var order: [Int] = []
  private var propertyCount = 0
  private var inheritedCount = 0
  /// Whether patterns and validation rules are read. Not those of a stored model: it was checked when it was made,
  /// perhaps where more could be read than here, and a rule for new values is no reason not to open a store.
  private(set) var checksPatterns = true

  init(_ definition: SchemaDefinition) {
    self.definition = definition
    entities = definition.entities
  }

  // MARK: Composites

  /// Puts the elements of named composite types into the attributes that use them. Answers those of the types, with
  /// their own.
  @discardableResult
  mutating func expandComposites() throws(SchemaError) -> [[AttributeSchema]] {
    var expanded: [[AttributeSchema]] = []
    var types: [String: CompositeSchema] = [:]
    for composite in definition.composites {
      try checkName(composite.name, place: "composite types")
      guard types.updateValue(composite, forKey: composite.name) == nil else {
        throw .duplicateName(composite.name, place: "composite types")
      }
    }
    for composite in definition.composites {
      var path = [composite.name]
      expanded.append(try expand(composite.elements, types: types, path: &path, depth: 1, place: composite.name))
    }
    propertyCount = 0
    for place in entities.indices {
      let name = entities[place].name
      propertyCount += entities[place].relationships.count
      let attributes = entities[place].attributes
      for index in attributes.indices {
        if attributes[index].type == .composite {
          var attribute = attributes[index]
          var path: [String] = []
          try expand(&attribute, types: types, path: &path, depth: 0, place: name)
          entities[place].attributes[index] = attribute
        } else {
          try count(attributes[index], place: name)
        }
      }
    }
    return expanded
  }

  private mutating func expand(
    _ elements: [AttributeSchema], types: [String: CompositeSchema], path: inout [String], depth: Int, place: String
  ) throws(SchemaError) -> [AttributeSchema] {
    guard depth <= Schema.compositeDepthLimit else { throw .compositeTooDeep(place: place) }
    var result = elements
    for index in result.indices {
      try expand(&result[index], types: types, path: &path, depth: depth, place: place)
    }
    return result
  }

  private mutating func expand(
    _ attribute: inout AttributeSchema, types: [String: CompositeSchema], path: inout [String], depth: Int,
    place: String
  ) throws(SchemaError) {
    try count(attribute, place: place)
    if attribute.type != .composite { return }
    let here = place + "." + attribute.name
    if let name = attribute.compositeName {
      guard let type = types[name] else { throw .unknownComposite(name, place: here) }
      guard !path.contains(name) else { throw .compositeCycle(name) }
      path.append(name)
      // A definition taken from a schema still holds the elements; the type counts.
      attribute.elements = try expand(type.elements, types: types, path: &path, depth: depth + 1, place: here)
      path.removeLast()
    } else {
      attribute.elements = try expand(attribute.elements, types: types, path: &path, depth: depth + 1, place: here)
    }
    // In declared order and in the elements' types, however it was written; one that cannot be is refused later.
    if !attribute.defaultValue.isNull, let coerced = attribute.coerce(attribute.defaultValue) {
      attribute.defaultValue = coerced
    }
  }

  /// Counts an attribute or element, and makes sure that only a composite has elements.
  private mutating func count(_ attribute: AttributeSchema, place: String) throws(SchemaError) {
    // The count bounds the work as well: nested named types may expand to exponentially many elements.
    propertyCount += 1 + attribute.validationRules.count
    guard propertyCount <= Schema.propertyLimit else { throw .tooManyProperties }
    guard attribute.type == .composite || (attribute.compositeName == nil && attribute.elements.isEmpty) else {
      throw .notComposite(attribute: attribute.name, place: place)
    }
  }

  // MARK: Compiling

  /// Checks everything and links it; entities and properties have their identifiers, and indexes, if
  /// `keepsIdentifiers`.
  mutating func compile(earlier: Schema?, keepsIdentifiers: Bool = false) throws(SchemaError) -> SchemaBuilder {
    checksPatterns = !keepsIdentifiers
    try linkHierarchy()
    inheritedCount = 0
    for place in order { try collectProperties(place) }
    for place in order { try checkRelationships(of: entities[place]) }
    let unindexed = Schema(compiled: self)
    for place in order {
      try checkKeys(of: entities[place], in: unindexed)
      if !keepsIdentifiers { try identifyKeys(place, schema: unindexed, earlier: earlier) }
    }
    try checkNamedParts()
    return self
  }

  /// Finds the entities by name; before anything else, since identifiers are matched along names.
  mutating func nameEntities() throws(SchemaError) {
    placeByName = [:]
    placeByName.reserveCapacity(entities.count)
    for place in entities.indices {
      try checkName(entities[place].name, place: "entities")
      guard placeByName.updateValue(place, forKey: entities[place].name) == nil else {
        throw .duplicateName(entities[place].name, place: "entities")
      }
    }
  }

  private mutating func linkHierarchy() throws(SchemaError) {
    for place in entities.indices { entities[place].childIDs = [] }
    var children = [[Int]](repeating: [], count: entities.count)
    order = []
    for place in entities.indices {
      guard let parent = entities[place].parent else {
        entities[place].parentID = nil
        entities[place].rootID = entities[place].id
        order.append(place)
        continue
      }
      guard let parentPlace = placeByName[parent] else {
        throw .unknownParent(parent, entity: entities[place].name)
      }
      entities[place].parentID = entities[parentPlace].id
      entities[parentPlace].childIDs.append(entities[place].id)
      children[parentPlace].append(place)
    }
    var reached = 0
    var isReached = [Bool](repeating: false, count: entities.count)
    while reached < order.count {
      let place = order[reached]
      reached += 1
      isReached[place] = true
      for child in children[place] {
        entities[child].rootID = entities[place].rootID
        order.append(child)
      }
    }
    for place in entities.indices where !isReached[place] { throw .inheritanceCycle(entity: entities[place].name) }
  }

  /// Fills in an entity's effective properties; its parent's are complete.
  private mutating func collectProperties(_ place: Int) throws(SchemaError) {
    let entity = entities[place]
    var allAttributes = entity.attributes
    var allRelationships = entity.relationships
    var inherited: [String: PropertyPlace] = [:]
    if let parent = entity.parent, let parentPlace = placeByName[parent] {
      inherited = entities[parentPlace].propertyTable
      // A few bytes of a model would take all memory otherwise: each of many entities has what a large one has.
      inheritedCount += entities[parentPlace].allAttributes.count + entities[parentPlace].allRelationships.count
      guard inheritedCount <= Schema.inheritedPropertyLimit else { throw .tooManyProperties }
      allAttributes = entities[parentPlace].allAttributes + allAttributes
      allRelationships = entities[parentPlace].allRelationships + allRelationships
    }
    var table = inherited
    table.reserveCapacity(allAttributes.count + allRelationships.count + entity.fetchedProperties.count)
    for index in allAttributes.count - entity.attributes.count..<allAttributes.count {
      try checkAttribute(allAttributes[index], place: entity.name)
      try addProperty(allAttributes[index].name, .attribute(index), to: &table, of: entity, inherited: inherited)
    }
    for index in allRelationships.count - entity.relationships.count..<allRelationships.count {
      try addProperty(allRelationships[index].name, .relationship(index), to: &table, of: entity, inherited: inherited)
    }
    for property in entity.fetchedProperties {
      try addProperty(property.name, .fetched, to: &table, of: entity, inherited: inherited)
    }
    entities[place].allAttributes = allAttributes
    entities[place].allRelationships = allRelationships
    entities[place].propertyTable = table
  }

  private func addProperty(
    _ name: String, _ property: PropertyPlace, to table: inout [String: PropertyPlace], of entity: EntitySchema,
    inherited: [String: PropertyPlace]
  ) throws(SchemaError) {
    try checkPropertyName(name, place: entity.name)
    if !inherited.isEmpty, inherited[name] != nil {
      var ancestor = entity
      while let parent = ancestor.parent, let place = placeByName[parent] {
        ancestor = entities[place]
        let isOwn =
          ancestor.attributes.contains { $0.name == name } || ancestor.relationships.contains { $0.name == name }
          || ancestor.fetchedProperties.contains { $0.name == name }
        if isOwn { break }
      }
      throw .propertyShadowsAncestor(name, entity: entity.name, ancestor: ancestor.name)
    }
    guard table.updateValue(property, forKey: name) == nil else {
      throw .duplicateName(name, place: entity.name)
    }
  }
}
