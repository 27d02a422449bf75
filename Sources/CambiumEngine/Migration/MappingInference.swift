extension SchemaMapping {
  /// Infers what becomes of every entity and property. Core Data:
  /// `inferredMappingModel(forSourceModel:destinationModel:)`, which answers nil where this says what stands in the
  /// way.
  ///
  /// Entities, and the properties of matched ones (with those they inherit), are matched by a renaming identifier
  /// that the destination sets, then by name, then by an identifier that only the source sets. An attribute and a
  /// relationship never match: one goes, the other is new.
  ///
  /// - Throws: ``EngineError/notInferable(_:)`` with every obstacle. O(size of the models).
  public static func infer(from source: Schema, to destination: Schema) throws(EngineError) -> SchemaMapping {
    let inference = MappingInference(source, destination)
    if !inference.obstacles.isEmpty { throw .notInferable(inference.obstacles) }
    return inference.mapping
  }
}

/// The work of inferring: what matches what, and what does not go.
struct MappingInference {
  let source: Schema
  let destination: Schema
  private(set) var mapping = SchemaMapping()
  private(set) var obstacles: [MappingObstacle] = []
  /// By entity of the destination, in its order.
  private(set) var matches: [EntityMatch?] = []

  /// Which entity of the source one of the destination is, and where its properties come from.
  struct EntityMatch {
    var source: EntitySchema
    /// For each of `allAttributes` of the destination the one it comes from.
    var attributes: [AttributeSchema?]
    /// For each of `allRelationships` of the destination the one it comes from.
    var relationships: [RelationshipSchema?]
    /// Attributes and elements whose values come from another level, with paths on both sides.
    var moves: [AttributeMove] = []
  }

  @_optimize(none)
  init(_ source: Schema, _ destination: Schema) {
    self.source = source
    self.destination = destination
    let old = source.entities
    let pairs = matchIdentities(
      destination.entities.map { Identity($0.name, $0.renamingIdentifier) },
      old.map { Identity($0.name, $0.renamingIdentifier) })
    // Entities before properties: relationships are compared by what their destinations match.
    var sourceByDestination: [UInt32: EntitySchema] = [:]
    for (place, entity) in destination.entities.enumerated() {
      if let pair = pairs[place] { sourceByDestination[entity.id] = old[pair] }
    }
    var isTaken = [Bool](repeating: false, count: old.count)
    for (place, entity) in destination.entities.enumerated() {
      guard let pair = pairs[place] else {
        matches.append(nil)
        mapping.entities.append(added(entity))
        continue
      }
      isTaken[pair] = true
      let match = match(entity, old[pair])
      matches.append(match)
      mapping.entities.append(matched(entity, match, sourceByDestination))
    }
    for (place, entity) in old.enumerated() where !isTaken[place] {
      mapping.entities.append(
        EntityMapping(
          kind: .remove, source: entity.name,
          attributes: entity.allAttributes.map { PropertyMapping(kind: .remove, source: $0.name) },
          relationships: entity.allRelationships.map { PropertyMapping(kind: .remove, source: $0.name) }))
    }
    checkHierarchies(sourceByDestination)
  }

  // MARK: Matching

  @_optimize(none)
  private func match(_ entity: EntitySchema, _ old: EntitySchema) -> EntityMatch {
    let attributes = matchIdentities(
      entity.allAttributes.map { Identity($0.name, $0.renamingIdentifier) },
      old.allAttributes.map { Identity($0.name, $0.renamingIdentifier) })
    let relationships = matchIdentities(
      entity.allRelationships.map { Identity($0.name, $0.renamingIdentifier) },
      old.allRelationships.map { Identity($0.name, $0.renamingIdentifier) })
    var match = EntityMatch(
      source: old, attributes: attributes.map { $0.map { old.allAttributes[$0] } },
      relationships: relationships.map { $0.map { old.allRelationships[$0] } })
    for (place, attribute) in entity.allAttributes.enumerated() {
      if let from = match.attributes[place] {
        // What is kept in memory only has nothing to bring along, and nothing to take.
        let isStored = !attribute.isTransient && !from.isTransient
        if !isStored || (attribute.type == .composite) != (from.type == .composite) { match.attributes[place] = nil }
      }
    }
    var kept: Set<UInt32> = []
    for (place, attribute) in entity.allAttributes.enumerated() {
      if let from = match.attributes[place] { noteKept(attribute, from, &kept) }
    }
    for (place, attribute) in entity.allAttributes.enumerated() where !attribute.isTransient {
      match.moves += AttributeMove.find(for: attribute, matching: match.attributes[place], in: old, kept: kept)
    }
    for (place, relationship) in entity.allRelationships.enumerated() {
      if let from = match.relationships[place], relationship.isTransient || from.isTransient {
        match.relationships[place] = nil
      }
    }
    return match
  }

  private func noteKept(_ attribute: AttributeSchema, _ from: AttributeSchema, _ kept: inout Set<UInt32>) {
    kept.insert(from.id)
    // The depth is bounded by the schema.
    for (place, element) in matchedElements(attribute, from).enumerated() {
      if let element { noteKept(attribute.elements[place], element, &kept) }
    }
  }

  private func added(_ entity: EntitySchema) -> EntityMapping {
    EntityMapping(
      kind: .add, destination: entity.name,
      attributes: entity.allAttributes.map { PropertyMapping(kind: .add, destination: $0.name) },
      relationships: entity.allRelationships.map { PropertyMapping(kind: .add, destination: $0.name) })
  }

  @_optimize(none)
  private mutating func matched(
    _ entity: EntitySchema, _ match: EntityMatch, _ sourceByDestination: [UInt32: EntitySchema]
  ) -> EntityMapping {
    var result = EntityMapping(kind: .copy, source: match.source.name, destination: entity.name)
    for (place, attribute) in entity.allAttributes.enumerated() {
      // What comes from an element of a composite is told below.
      if match.attributes[place] == nil, match.moves.contains(where: { $0.destinationText == attribute.name }) {
        continue
      }
      result.attributes.append(map(attribute, match.attributes[place], entity))
    }
    for move in match.moves {
      checkTypes(move.source, move.destination, entity.name, move.destinationText)
      var mapping = PropertyMapping(kind: .move, source: move.sourceText, destination: move.destinationText)
      mapping.needsValue = move.destinationPath.count == 1 && move.destination.isRequiredWithoutDefault
      result.attributes.append(mapping)
    }
    for (place, relationship) in entity.allRelationships.enumerated() {
      result.relationships.append(map(relationship, match.relationships[place], entity, sourceByDestination))
    }
    let moved = match.moves.map { $0.sourceText }
    result.attributes += removed(
      match.source.allAttributes.lazy.map { $0.name }, match.attributes.lazy.map { $0?.name }
    ).filter { mapping in !moved.contains { $0 == mapping.source } }
    result.relationships += removed(
      match.source.allRelationships.lazy.map { $0.name }, match.relationships.lazy.map { $0?.name })
    let isSame = [result.attributes, result.relationships].allSatisfy {
      $0.allSatisfy { $0.kind == .copy && $0.source == $0.destination && !$0.needsValue }
    }
    let parent = entity.parentID.flatMap { sourceByDestination[$0] }?.id
    // A parent that is new is another one, too.
    let hasOther = match.source.parentID != parent || (entity.parentID == nil) != (parent == nil)
    if !isSame || hasOther || entity.isAbstract != match.source.isAbstract
      || entity.name != match.source.name
    {
      result.kind = .transform
    }
    return result
  }

  /// The properties of the source that none of the destination comes from.
  @_optimize(none)
  private func removed(
    _ names: some Collection<String>, _ kept: some Collection<String?>
  ) -> [PropertyMapping] {
    // Nothing is matched twice.
    if kept.count(where: { $0 != nil }) == names.count { return [] }
    let kept = Set(kept.compactMap { $0 })
    return names.filter { !kept.contains($0) }.map { PropertyMapping(kind: .remove, source: $0) }
  }

  private mutating func map(
    _ attribute: AttributeSchema, _ from: AttributeSchema?, _ entity: EntitySchema
  ) -> PropertyMapping {
    var result = PropertyMapping(kind: .add, source: from?.name, destination: attribute.name)
    let isRequired = attribute.isRequiredWithoutDefault && !attribute.isTransient
    guard let from else {
      result.needsValue = isRequired
      return result
    }
    result.kind = checkTypes(from, attribute, entity.name, attribute.name)
    result.needsValue = isRequired && from.isOptional || !attribute.neededElements(from: from).isEmpty
    return result
  }

  /// Compares the types of what matches, elements of composites included.
  @discardableResult
  @_optimize(none)
  private mutating func checkTypes(
    _ from: AttributeSchema, _ to: AttributeSchema, _ entity: String, _ path: String
  ) -> PropertyMapping.Kind {
    if from.type == .composite, to.type == .composite {
      var isSame = from.elements.count == to.elements.count
      for (place, element) in matchedElements(to, from).enumerated() {
        guard let element else {
          isSame = false
          continue
        }
        // The depth is bounded by the schema.
        let kind = checkTypes(element, to.elements[place], entity, path + "." + to.elements[place].name)
        if kind != .copy || from.elements.indices.contains(place) && from.elements[place].name != element.name {
          isSame = false
        }
      }
      return isSame ? .copy : .convert
    }
    if from.type == to.type { return .copy }
    if from.type.isNumeric && to.type.isNumeric { return .convert }
    obstacles.append(
      MappingObstacle(
        entity: entity, property: path,
        reason: "source and destination attribute types are incompatible (\(from.type.name) and \(to.type.name))",
        remedy:
          "In a first step add an attribute of the new type under another name, let the application fill it in, then "
          + "in a second step drop the old one and give the new one its name by a renaming identifier"))
    return .convert
  }

  private mutating func map(
    _ relationship: RelationshipSchema, _ from: RelationshipSchema?, _ entity: EntitySchema,
    _ sourceByDestination: [UInt32: EntitySchema]
  ) -> PropertyMapping {
    var result = PropertyMapping(kind: .add, source: from?.name, destination: relationship.name)
    guard let from else {
      result.needsValue = relationship.needsDestination && !relationship.isTransient
      return result
    }
    result.needsValue = relationship.needsDestination && !from.needsDestination
    let isSame = from.isToMany == relationship.isToMany && from.isOrdered == relationship.isOrdered
    result.kind = isSame && keepsInverse(relationship, from) ? .copy : .relate
    if from.isToMany && !relationship.isToMany {
      obstacles.append(
        MappingObstacle(
          entity: entity.name, property: relationship.name,
          reason: "a to-many relationship becomes to-one, and which of its objects is to stay cannot be inferred",
          remedy: "In a first step add a to-one relationship under another name, let the application choose, then in a "
            + "second step drop the old one and rename"))
    }
    checkDestination(relationship, from, entity, sourceByDestination)
    return result
  }

  /// Whether the inverse, if there is one, was it before.
  private func keepsInverse(_ relationship: RelationshipSchema, _ from: RelationshipSchema) -> Bool {
    guard let inverse = destination.inverse(of: relationship) else { return true }
    guard let before = source.inverse(of: from) else { return false }
    return inverse.canonicalName == before.canonicalName || inverse.name == before.name
  }

  /// A relationship may lead to another entity only if every object it leads to is one of that entity afterwards.
  @_optimize(none)
  private mutating func checkDestination(
    _ relationship: RelationshipSchema, _ from: RelationshipSchema, _ entity: EntitySchema,
    _ sourceByDestination: [UInt32: EntitySchema]
  ) {
    guard let new = destination.entity(named: relationship.destination),
      let old = source.entity(named: from.destination)
    else { return }
    if sourceByDestination[new.id]?.id == old.id { return }
    // Each entity that the objects may be of is, if it is there still, one that the relationship may lead to.
    let family = Set(destination.entityAndDescendants(new.id).compactMap { sourceByDestination[$0.id]?.id })
    let survivors = Set(sourceByDestination.values.map { $0.id })
    let reached = source.entityAndDescendants(old.id).map { $0.id }.filter { survivors.contains($0) }
    if !reached.isEmpty, reached.allSatisfy({ family.contains($0) }) { return }
    // A renaming identifier that was forgotten, or names nothing, shows here first.
    let isRenamed = sourceByDestination[new.id] == nil && !survivors.contains(old.id)
    let renaming =
      isRenamed
      ? "If \(new.name) is \(old.name) under another name, give it the renaming identifier '\(old.canonicalName)'. Otherwise, in"
      : "In"
    obstacles.append(
      MappingObstacle(
        entity: entity.name, property: relationship.name,
        reason: "the relationship leads to \(new.name), and led to \(old.name)",
        remedy: renaming
          + " a first step add a relationship to \(new.name) under another name, let the application fill it in, then "
          + "in a second step drop the old one and rename"))
  }

  // MARK: Hierarchies

  /// A hierarchy of the destination takes its entities from one hierarchy of the source, and besides single entities
  /// that move under one of that hierarchy, directly or under new ones in between. Two entities without a common
  /// ancestor do not get one.
  @_optimize(none)
  private mutating func checkHierarchies(_ sourceByDestination: [UInt32: EntitySchema]) {
    for root in destination.entities where root.parentID == nil {
      let family = destination.entityAndDescendants(root.id)
      var roots: [UInt32] = []
      for entity in family {
        if let old = sourceByDestination[entity.id], !roots.contains(old.rootID) { roots.append(old.rootID) }
      }
      if roots.count < 2 { continue }
      // The hierarchy that the others come into is that of the topmost entity that was there.
      let main = roots[0]
      for entity in family {
        guard let old = sourceByDestination[entity.id], old.rootID != main else { continue }
        let isSingle = old.parentID == nil && old.childIDs.isEmpty
        if isSingle, ancestorThatWas(entity, sourceByDestination)?.rootID == main { continue }
        obstacles.append(
          MappingObstacle(
            entity: entity.name, property: nil,
            reason:
              "hierarchies cannot be merged: \(entity.name) and \(source.entity(id: main)?.name ?? "others") have no "
              + "common ancestor in the source, and one in the destination",
            remedy: "Add new entities to the hierarchy, let the application copy the objects, then drop the old ones"))
      }
    }
  }

  /// The nearest ancestor that was there: new entities in between make no difference.
  private func ancestorThatWas(
    _ entity: EntitySchema, _ sourceByDestination: [UInt32: EntitySchema]
  ) -> EntitySchema? {
    var next = entity.parentID
    while let id = next {
      if let found = sourceByDestination[id] { return found }
      next = destination.entity(id: id)?.parentID
    }
    return nil
  }
}

extension AttributeSchema {
  /// Whether null cannot stand for a value, and nothing else can either.
  var isRequiredWithoutDefault: Bool { !isOptional && storedDefault.isNull }

  /// The elements, at any depth, that need a value which they may have lacked in the source, or did not have there.
  /// What was required before, and is missing all the same, is not the migration's doing.
  @_optimize(none)
  func neededElements(from: AttributeSchema?) -> Set<UInt32> {
    let matches = from.map { matchedElements(self, $0) }
    var needed: Set<UInt32> = []
    // The depth is bounded by the schema.
    for (place, element) in elements.enumerated() {
      let match = matches.flatMap { $0[place] }
      if element.isRequiredWithoutDefault, match?.isOptional ?? true { needed.insert(element.id) }
      needed.formUnion(element.neededElements(from: match))
    }
    return needed
  }
}

/// For each element of a composite the one of the other composite that it comes from.
@_optimize(none)
func matchedElements(_ to: AttributeSchema, _ from: AttributeSchema) -> [AttributeSchema?] {
  let places = matchIdentities(
    to.elements.map { Identity($0.name, $0.renamingIdentifier) },
    from.elements.map { Identity($0.name, $0.renamingIdentifier) })
  var result: [AttributeSchema?] = []
  for (place, match) in places.enumerated() {
    var element = match.map { from.elements[$0] }
    if let found = element, (found.type == .composite) != (to.elements[place].type == .composite) { element = nil }
    result.append(element)
  }
  return result
}
