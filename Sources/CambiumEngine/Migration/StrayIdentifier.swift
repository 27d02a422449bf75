/// A renaming identifier that names nothing in the store's model, in an entity that has a drop in the same step. For
/// example `renamed: "hour"` if the store has `hours`.
public struct StrayIdentifier: Error, Sendable, Equatable, CustomStringConvertible {
  /// The entity, as the new model calls it.
  public let entity: String
  /// The property, or the path of an element; nil if the identifier is the entity's own.
  public let property: String?
  /// The renaming identifier.
  public let identifier: String
  /// The names of the drops: properties of the entity, or entities.
  public let drops: [String]

  /// The identifier, the drops, and the remedy.
  public var description: String {
    let place = property.map { entity + "." + $0 } ?? entity
    var dropped = ""
    for name in drops { dropped += dropped.isEmpty ? name : ", " + name }
    return
      "the renaming identifier '\(identifier)' of \(place) names nothing in the store's model, and the migration would drop "
      + "\(dropped). Correct or remove the identifier. If the drop is intended, name it by Removed or RemovedEntity. If an earlier "
      + "version of the model had '\(identifier)', pass that version in sourceModels"
  }
}

/// Checks the renaming identifiers of those parts of a destination that match nothing in the source.
struct IdentifierFinder {
  private let inference: MappingInference
  private let drops: [ModelDrop]
  private let known: [Schema]
  private(set) var strays: [StrayIdentifier] = []
  private(set) var findings: [ModelFinding] = []

  @_optimize(none)
  init(_ inference: MappingInference, _ drops: [ModelDrop], _ known: [Schema]) {
    self.inference = inference
    self.drops = drops
    self.known = known
    lookAtEntities()
    for (entity, match) in zip(inference.destination.entities, inference.matches) {
      if let match { look(at: entity, match) }
    }
  }

  private mutating func lookAtEntities() {
    let gone = drops.filter { $0.kind == .entity && !$0.isNamed }
    if gone.isEmpty { return }
    for (entity, match) in zip(inference.destination.entities, inference.matches) where match == nil {
      guard let identifier = entity.renamingIdentifier, identifier != entity.name,
        !inference.source.entities.contains(where: { $0.name == identifier || $0.canonicalName == identifier }),
        !known.contains(where: { $0.entity(named: identifier) != nil })
      else { continue }
      strays.append(
        StrayIdentifier(entity: entity.name, property: nil, identifier: identifier, drops: gone.map { $0.name }))
    }
  }

  @_optimize(none)
  private mutating func look(at entity: EntitySchema, _ match: MappingInference.EntityMatch) {
    // A property of this entity may be meant to replace one that only a descendant loses.
    var sources: Set<UInt32> = []
    for (other, match) in zip(inference.destination.entities, inference.matches) {
      guard let match, inference.destination.isEntity(other.id, orDescendantOf: entity.id) else { continue }
      sources.insert(match.source.id)
    }
    let gone = drops.filter { $0.kind != .entity && $0.losers.contains { sources.contains($0) } }
    if gone.isEmpty { return }
    let inherited = entity.allAttributes.count - entity.attributes.count
    for (place, attribute) in entity.allAttributes.enumerated() where place >= inherited && !attribute.isTransient {
      look(at: attribute, [attribute.name], match.attributes[place], match.source.allAttributes, entity, match, gone)
    }
    let inheritedRelationships = entity.allRelationships.count - entity.relationships.count
    for (place, relationship) in entity.allRelationships.enumerated()
    where place >= inheritedRelationships && !relationship.isTransient && match.relationships[place] == nil {
      check(relationship.renamingIdentifier, [relationship.name], entity, match, gone)
      let identities = match.source.allRelationships.map {
        Identity($0.name, $0.renamingIdentifier)
      }
      checkOther(relationship.renamingIdentifier, [relationship.name], identities, entity)
    }
  }

  /// Checks an attribute or an element, and its elements. The depth is bounded by the schema.
  @_optimize(none)
  private mutating func look(
    at attribute: AttributeSchema, _ path: [String], _ from: AttributeSchema?, _ level: [AttributeSchema],
    _ entity: EntitySchema, _ match: MappingInference.EntityMatch, _ gone: [ModelDrop]
  ) {
    if match.moves.contains(where: { $0.destination.id == attribute.id }) { return }
    if from == nil {
      check(attribute.renamingIdentifier, path, entity, match, gone)
      checkOther(
        attribute.renamingIdentifier, path, level.map { Identity($0.name, $0.renamingIdentifier) },
        entity)
      if path.count > 1, attribute.renamingIdentifier == nil { checkMove(attribute, path, entity, gone) }
    }
    let matched = from.map { matchedElements(attribute, $0) }
    for (place, element) in attribute.elements.enumerated() {
      look(
        at: element, path + [element.name], matched.flatMap { $0[place] }, from?.elements ?? [], entity, match, gone)
    }
  }

  /// Finds an identifier that names nothing in the source nor in any known model.
  @_optimize(none)
  private mutating func check(
    _ identifier: String?, _ path: [String], _ entity: EntitySchema, _ match: MappingInference.EntityMatch,
    _ gone: [ModelDrop]
  ) {
    let unnamed = gone.filter { !$0.isNamed }
    guard let identifier, identifier != path.last, !unnamed.isEmpty,
      !match.source.hasProperty(identifier, byIdentifier: true)
    else {
      return
    }
    for schema in known {
      for other in schema.entities
      where other.name == entity.name || other.canonicalName == entity.canonicalName || other.name == match.source.name
        || other.canonicalName == match.source.canonicalName
      {
        // Only names count, because a later version may repeat a mistaken identifier.
        if other.hasProperty(identifier, byIdentifier: false) { return }
      }
    }
    strays.append(
      StrayIdentifier(
        entity: entity.name, property: keyPath(of: path), identifier: identifier, drops: unnamed.map { $0.name }))
  }

  /// Finds an identifier that is the name of a property with another identifier. A migration matches that property by
  /// its identifier.
  private mutating func checkOther(
    _ identifier: String?, _ path: [String], _ level: [Identity], _ entity: EntitySchema
  ) {
    guard let identifier, let other = level.first(where: { $0.name == identifier && $0.canonicalName != identifier })
    else { return }
    findings.append(
      ModelFinding(
        "identifier-of-renamed", entity.name + "." + keyPath(of: path),
        "the renaming identifier '\(identifier)' is the name of a property that has the identifier "
          + "'\(other.canonicalName)' itself, so that it names nothing. Use '\(other.canonicalName)'"))
  }

  /// Finds a dropped flat attribute whose name a new element has.
  private mutating func checkMove(
    _ element: AttributeSchema, _ path: [String], _ entity: EntitySchema, _ gone: [ModelDrop]
  ) {
    guard gone.contains(where: { $0.kind == .attribute && $0.path == element.name }) else { return }
    findings.append(
      ModelFinding(
        "move-without-identifier", entity.name + "." + keyPath(of: path),
        "the migration drops the attribute '\(element.name)', and this element of the same name is new. If the element "
          + "is to take over the values, give it the renaming identifier '\(element.name)'"))
  }
}

extension EntitySchema {
  /// Whether a renaming identifier names a property or element, by its name or path. With `byIdentifier`, the
  /// identifiers of properties count as well.
  fileprivate func hasProperty(_ identifier: String, byIdentifier: Bool) -> Bool {
    func isMeant(_ name: String, _ canonicalName: String) -> Bool {
      name == identifier || byIdentifier && canonicalName == identifier
    }
    if allRelationships.contains(where: { isMeant($0.name, $0.canonicalName) }) { return true }
    var next = allAttributes.map { ($0, $0.name, $0.canonicalName) }
    while let (attribute, path, canonicalPath) = next.popLast() {
      if isMeant(attribute.name, attribute.canonicalName) || isMeant(path, canonicalPath) { return true }
      for element in attribute.elements {
        next.append((element, path + "." + element.name, canonicalPath + "." + element.canonicalName))
      }
    }
    return false
  }
}
