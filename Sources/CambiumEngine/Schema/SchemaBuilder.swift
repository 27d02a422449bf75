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

  init(_ definition: SchemaDefinition) {
    self.definition = definition
    entities = definition.entities
  }

  // MARK: Composites

  /// Puts the elements of named composite types into the attributes that use them.
  mutating func expandComposites() throws(SchemaError) {
    var types: [String: CompositeSchema] = [:]
    for composite in definition.composites {
      try checkName(composite.name, place: "composite types")
      guard types.updateValue(composite, forKey: composite.name) == nil else {
        throw .duplicateName(composite.name, place: "composite types")
      }
    }
    for composite in definition.composites {
      var path = [composite.name]
      _ = try expand(composite.elements, types: types, path: &path, depth: 1, place: composite.name)
    }
    propertyCount = 0
    for place in entities.indices {
      let name = entities[place].name
      propertyCount += entities[place].relationships.count
      var attributes = entities[place].attributes
      for index in attributes.indices {
        var path: [String] = []
        try expand(&attributes[index], types: types, path: &path, depth: 0, place: name)
      }
      entities[place].attributes = attributes
    }
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
    // The count bounds the work as well: nested named types may expand to exponentially many elements.
    propertyCount += 1
    guard propertyCount <= Schema.propertyLimit else { throw .tooManyProperties }
    let here = place + "." + attribute.name
    guard attribute.type == .composite else {
      guard attribute.compositeName == nil, attribute.elements.isEmpty else {
        throw .notComposite(attribute: attribute.name, place: place)
      }
      return
    }
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
  }

  // MARK: Compiling

  /// Checks everything and links it; entities and properties have their identifiers, and indexes, if `keepsIdentifiers`.
  mutating func compile(earlier: Schema?, keepsIdentifiers: Bool = false) throws(SchemaError) -> SchemaBuilder {
    try linkHierarchy()
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
    var entity = entities[place]
    entity.propertyTable = [:]
    entity.allAttributes = entity.attributes
    entity.allRelationships = entity.relationships
    if let parent = entity.parent, let parentPlace = placeByName[parent] {
      entity.propertyTable = entities[parentPlace].propertyTable
      entity.allAttributes = entities[parentPlace].allAttributes + entity.attributes
      entity.allRelationships = entities[parentPlace].allRelationships + entity.relationships
    }
    let inherited = entity.propertyTable
    var index = entity.allAttributes.count - entity.attributes.count
    for attribute in entity.attributes {
      try checkAttribute(attribute, place: entity.name)
      try addProperty(attribute.name, .attribute(index), to: &entity, inherited: inherited)
      index += 1
    }
    index = entity.allRelationships.count - entity.relationships.count
    for relationship in entity.relationships {
      try addProperty(relationship.name, .relationship(index), to: &entity, inherited: inherited)
      index += 1
    }
    for property in entity.fetchedProperties {
      try addProperty(property.name, .fetched, to: &entity, inherited: inherited)
    }
    entities[place] = entity
  }

  private func addProperty(
    _ name: String, _ property: PropertyPlace, to entity: inout EntitySchema, inherited: [String: PropertyPlace]
  ) throws(SchemaError) {
    try checkPropertyName(name, place: entity.name)
    if inherited[name] != nil {
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
    guard entity.propertyTable.updateValue(property, forKey: name) == nil else {
      throw .duplicateName(name, place: entity.name)
    }
  }
}
