extension SchemaBuilder {
  // MARK: Names

  /// Checks a name of anything: not empty, no control characters.
  func checkName(_ name: String, place: String) throws(SchemaError) {
    guard !name.isEmpty else { throw .invalidName(name, place: place, reason: "it is empty") }
    for byte in name.utf8 where byte < 0x20 || byte == 0x7F {
      throw .invalidName(name, place: place, reason: "it has a control character")
    }
  }

  /// Checks the name of a property of an entity.
  func checkPropertyName(_ name: String, place: String) throws(SchemaError) {
    try checkComponent(name, place: place)
    if reservedPropertyNames.contains(name) {
      throw .invalidName(name, place: place, reason: "key paths mean the object itself by it")
    }
  }

  /// Checks a name that key paths mention.
  private func checkComponent(_ name: String, place: String) throws(SchemaError) {
    try checkName(name, place: place)
    for byte in name.utf8 where byte == UInt8(ascii: ".") {
      throw .invalidName(name, place: place, reason: "a point separates the components of a key path")
    }
    if name.utf8.first == UInt8(ascii: "@") || name.utf8.first == UInt8(ascii: "$") {
      throw .invalidName(name, place: place, reason: "key paths give its first character a meaning")
    }
  }

  // MARK: Attributes

  func checkAttribute(_ attribute: AttributeSchema, place: String) throws(SchemaError) {
    guard attribute.type != .undefined || attribute.isTransient else {
      throw .undefinedType(attribute: attribute.name, place: place)
    }
    try checkValues(of: attribute, place: place)
    try checkElements(of: attribute, place: place)
  }

  /// The depth is bounded, since the composites have been expanded.
  private func checkElements(of attribute: AttributeSchema, place: String) throws(SchemaError) {
    if attribute.elements.isEmpty { return }
    let here = place + "." + attribute.name
    var names: Set<String> = []
    for element in attribute.elements {
      try checkComponent(element.name, place: here)
      guard names.insert(element.name).inserted else { throw .duplicateName(element.name, place: here) }
      if element.type == .undefined || element.type == .objectID {
        throw .invalidElement(element.name, place: here, reason: "elements have a type, and not ObjectID")
      }
      if element.allowsExternalBinaryDataStorage {
        throw .invalidElement(element.name, place: here, reason: "elements cannot be stored externally")
      }
      if element.isTransient || element.derivation != nil {
        throw .invalidElement(element.name, place: here, reason: "only a whole attribute can be transient or derived")
      }
      try checkValues(of: element, place: here)
      try checkElements(of: element, place: here)
    }
  }

  private func checkValues(of attribute: AttributeSchema, place: String) throws(SchemaError) {
    if attribute.isPlain { return }
    guard attribute.coerce(attribute.defaultValue) != nil else {
      throw .invalidValue(what: "default value", attribute: attribute.name, place: place)
    }
    if checksPatterns, let pattern = attribute.regularExpression {
      if let reason = Self.problem(ofPattern: pattern, type: attribute.type) {
        throw .invalidPattern(pattern, attribute: attribute.name, place: place, reason: reason)
      }
    }
    if checksPatterns {
      for rule in attribute.validationRules {
        if let reason = Self.problem(of: rule, attribute) {
          throw .invalidRule(rule.predicate, attribute: attribute.name, place: place, reason: reason)
        }
      }
    }
    for (what, limit) in [("minimum", attribute.minimum), ("maximum", attribute.maximum)] {
      if limit.isNull { continue }
      switch attribute.type {
      case .string, .binary, .uri:
        guard case .integer(let length) = limit, length >= 0 else {
          throw .invalidValue(what: what, attribute: attribute.name, place: place)
        }
      case .integer16, .integer32, .integer64, .decimal, .double, .float:
        guard limit.isNumeric else { throw .invalidValue(what: what, attribute: attribute.name, place: place) }
      case .date:
        guard case .date = limit else { throw .invalidValue(what: what, attribute: attribute.name, place: place) }
      default: throw .invalidValue(what: what, attribute: attribute.name, place: place)
      }
    }
  }

  /// What is wrong with a pattern of an attribute.
  static func problem(ofPattern pattern: String, type: AttributeType) -> String? {
    guard type == .string else { return "a pattern is for strings only; leave it out" }
    do throws(PredicateError) { _ = try StringPattern(pattern) } catch { return error.advice }
    return nil
  }

  /// What is wrong with a condition on the values of an attribute, whose elements are known.
  static func problem(of rule: ValidationRule, _ attribute: AttributeSchema) -> String? {
    do throws(PredicateError) { _ = try rule.checked(for: attribute) } catch { return error.description }
    return nil
  }

  // MARK: Relationships

  func checkRelationships(of entity: EntitySchema) throws(SchemaError) {
    for relationship in entity.relationships {
      guard let destinationPlace = placeByName[relationship.destination] else {
        throw .unknownEntity(relationship.destination, place: entity.name + "." + relationship.name)
      }
      let maximum = relationship.maximumCount
      guard maximum == 0 || relationship.minimumCount <= maximum,
        relationship.isToMany || (maximum <= 1 && relationship.minimumCount <= 1)
      else { throw .invalidCounts(relationship: relationship.name, entity: entity.name) }
      guard relationship.isToMany || !relationship.isOrdered else {
        throw .orderedToOne(relationship: relationship.name, entity: entity.name)
      }
      guard let inverseName = relationship.inverse else { continue }
      let destination = entities[destinationPlace]
      guard let inverse = destination.relationship(named: inverseName) else {
        throw .unknownInverse(inverseName, relationship: relationship.name, entity: entity.name)
      }
      guard inverse.inverse == relationship.name, let back = placeByName[inverse.destination],
        areRelated(entities[back], entity)
      else {
        throw .inverseMismatch(
          relationship: relationship.name, entity: entity.name, inverse: inverseName, destination: destination.name)
      }
    }
    for property in entity.fetchedProperties where placeByName[property.request.entity] == nil {
      throw .unknownEntity(property.request.entity, place: entity.name + "." + property.name)
    }
  }

  private func areRelated(_ a: EntitySchema, _ b: EntitySchema) -> Bool {
    isEntity(a, orDescendantOf: b.name) || isEntity(b, orDescendantOf: a.name)
  }

  private func isEntity(_ entity: EntitySchema, orDescendantOf name: String) -> Bool {
    var current = entity
    while current.name != name {
      guard let parent = current.parent, let place = placeByName[parent] else { return false }
      current = entities[place]
    }
    return true
  }

  // MARK: Indexes and constraints

  func checkKeys(of entity: EntitySchema, in schema: Schema) throws(SchemaError) {
    var names: Set<String> = []
    for index in entity.indexes {
      try checkIndex(index, of: entity, in: schema)
      guard names.insert(index.name).inserted else { throw .duplicateName(index.name, place: entity.name) }
    }
    for constraint in entity.uniquenessConstraints {
      let name = constraint.paths.joined(separator: ", ")
      guard !constraint.paths.isEmpty else {
        throw .invalidIndex(name, entity: entity.name, reason: "a uniqueness constraint has no key paths")
      }
      for path in constraint.paths { _ = try checkKeyPath(path, index: name, entity: entity, in: schema) }
      guard Set(constraint.paths).count == constraint.paths.count else {
        throw .invalidIndex(name, entity: entity.name, reason: "a uniqueness constraint names a key path twice")
      }
    }
  }

  /// What is wrong with an index of a schema's entity, but for its name being taken.
  static func problem(of index: IndexSchema, entity: EntitySchema, in schema: Schema) -> SchemaError? {
    do throws(SchemaError) { try SchemaBuilder(SchemaDefinition()).checkIndex(index, of: entity, in: schema) } catch {
      return error
    }
    return nil
  }

  private func checkIndex(_ index: IndexSchema, of entity: EntitySchema, in schema: Schema) throws(SchemaError) {
    try checkName(index.name, place: entity.name)
    guard let first = index.elements.first else {
      throw .invalidIndex(index.name, entity: entity.name, reason: "it has no elements")
    }
    for element in index.elements {
      guard element.kind == first.kind else {
        throw .invalidIndex(index.name, entity: entity.name, reason: "its elements are of different kinds")
      }
      let type = try checkKeyPath(element.path, index: index.name, entity: entity, in: schema)
      guard element.kind == .binary || type.isNumeric && type != .boolean || type == .date else {
        throw .invalidIndexPath(
          element.path, index: index.name, entity: entity.name, reason: "an R-tree holds numbers and dates")
      }
    }
    try checkCondition(of: index, entity, in: schema)
    guard first.kind == .rTree else { return }
    guard index.elements.count == 2 else {
      throw .invalidIndex(
        index.name, entity: entity.name,
        reason: "an R-tree is of two elements, the coordinates of places; this has \(index.elements.count)")
    }
    guard index.elements[0].path != index.elements[1].path else {
      throw .invalidIndex(
        index.name, entity: entity.name, reason: "an R-tree is of two different elements, and both name one key path")
    }
  }

  /// A condition that names no property of the entity, or compares it with what it cannot be, is refused with the
  /// model: the store would be the first to find it, when a migration is half-way. So is one that reads other rows:
  /// when they change, nothing brings the index in step.
  private func checkCondition(
    of index: IndexSchema, _ entity: EntitySchema, in schema: Schema
  ) throws(SchemaError) {
    guard let text = index.partialPredicate else { return }
    let reads: Predicate.Reads
    do throws(PredicateError) {
      let predicate = try Predicate(format: text, arguments: []).check(against: schema, entity: entity.id)
      if let variable = try predicate.variableNames().first {
        throw PredicateError(.unboundVariable, "$" + variable, "the condition of an index has no variables")
      }
      reads = try predicate.reads()
    } catch {
      throw .invalidIndex(index.name, entity: entity.name, reason: "its condition \"\(text)\": \(error.description)")
    }
    if reads.testsEntity {
      throw .invalidIndex(
        index.name, entity: entity.name,
        reason: "its condition asks of which entity an object is: declare the index in that entity instead")
    }
    var reason: String?
    if reads.otherObjects { reason = "reads other objects" }
    if reads.isVolatile { reason = "depends on the time or on chance" }
    for path in reads.keyPaths {
      let path = try schema.resolve(keyPath: path, from: entity.id)
      if path.traversesRelationship || path.isToMany { reason = "reads '\(path.text)'" }
    }
    if let reason {
      throw .invalidIndex(
        index.name, entity: entity.name,
        reason: "its condition \(reason), which changes without the indexed object: use its own attributes and to-one "
          + "relationships alone, or leave the condition out")
    }
  }

  /// Checks a key path of an index or a constraint; answers the type of what it leads to.
  private func checkKeyPath(
    _ text: String, index: String, entity: EntitySchema, in schema: Schema
  ) throws(SchemaError) -> AttributeType {
    // As a rule, it is an attribute that nothing is wrong with.
    if let attribute = schema.entity(id: entity.id)?.attribute(named: text), !attribute.isTransient,
      attribute.type != .composite, attribute.type != .transformable
    {
      return attribute.type
    }
    let path = try schema.resolve(keyPath: text, from: entity.id)
    var reason: String?
    if path.isToMany { reason = "a to-many relationship has no single value" }
    if path.traversesRelationship { reason = "an index holds values of its own entity's rows alone" }
    for step in path.steps {
      switch step {
      case .attribute(let attribute):
        if attribute.isTransient { reason = "a transient attribute is not stored" }
      case .toOne(let relationship, _):
        if relationship.isTransient { reason = "a transient relationship is not stored" }
      case .objectID, .evaluatedObject: reason = "objects are found by their identifiers without an index"
      default: break
      }
    }
    switch path.attribute?.type {
    case .composite: reason = "a composite has no order; index its elements"
    case .transformable: reason = "transformed values have no order"
    default: break
    }
    if let reason { throw .invalidIndexPath(text, index: index, entity: entity.name, reason: reason) }
    return path.type
  }

  // MARK: Configurations and templates

  func checkNamedParts() throws(SchemaError) {
    var names: Set<String> = []
    for configuration in definition.configurations {
      try checkName(configuration.name, place: "configurations")
      guard names.insert(configuration.name).inserted else {
        throw .duplicateName(configuration.name, place: "configurations")
      }
      for entity in configuration.entities where placeByName[entity] == nil {
        throw .unknownEntity(entity, place: configuration.name)
      }
    }
    names = []
    for named in definition.fetchTemplates {
      try checkName(named.name, place: "fetch request templates")
      guard names.insert(named.name).inserted else {
        throw .duplicateName(named.name, place: "fetch request templates")
      }
      guard placeByName[named.template.entity] != nil else {
        throw .unknownEntity(named.template.entity, place: named.name)
      }
    }
  }
}

/// Names that key paths give a meaning. Core Data refuses those of all members of its objects, because it finds
/// properties by the names of methods.
let reservedPropertyNames: Set<String> = ["self", "objectID"]
