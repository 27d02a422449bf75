/// The drops and the mistaken renaming identifiers of an inferred migration from one model to another.
///
/// It depends on the models alone, so that plans, `model diff`, `model lint` and the opening of a store agree. A
/// migration that cannot be inferred has none, because it is not made.
public struct ModelStep: Sendable {
  /// The drops: entities first, then properties in the order of the source.
  public private(set) var drops: [ModelDrop] = []
  /// The renaming identifiers that name nothing, in entities with drops that the destination does not name. These are
  /// errors, because `renamed: "hour"` would drop the store's `hours`.
  public private(set) var strayIdentifiers: [StrayIdentifier] = []
  /// Other probable mistakes in the renaming identifiers.
  public private(set) var findings: [ModelFinding] = []

  /// Compares two models. O(size of the models).
  ///
  /// - Parameter known: Other models of the application. An identifier that names a property of one of them is no
  ///   error, because a store may skip the version in which the property had that name.
  @_optimize(none)
  public init(from source: Schema, to destination: Schema, known: [Schema] = []) {
    let inference = MappingInference(source, destination)
    if !inference.obstacles.isEmpty { return }
    drops = DropFinder(inference).drops
    if drops.isEmpty { return }
    let finder = IdentifierFinder(inference, drops, known)
    (strayIdentifiers, findings) = (finder.strays, finder.findings)
  }
}

/// Finds the parts of a source without a counterpart in the destination.
private struct DropFinder {
  private let inference: MappingInference
  private(set) var drops: [ModelDrop] = []
  /// The losses of each entity that stays, by its identifier in the source.
  private var losses: [UInt32: [Loss]] = [:]
  /// The entities of the destination, by the identifiers of their matches in the source.
  private var entities: [UInt32: EntitySchema] = [:]

  /// A property of an entity of the source that its match lacks.
  private struct Loss {
    var kind: ModelDrop.Kind
    var names: [String]
    var canonicalNames: [String]
    var identifiers: [UInt32]
  }

  @_optimize(none)
  init(_ inference: MappingInference) {
    self.inference = inference
    for case let (entity, match?) in zip(inference.destination.entities, inference.matches) {
      entities[match.source.id] = entity
      losses[match.source.id] = Self.losses(of: match, in: entity)
    }
    let removed = inference.destination.removedEntities
    for entity in inference.source.entities where entities[entity.id] == nil {
      drops.append(
        ModelDrop(
          kind: .entity, entity: entity.name, path: nil, place: nil,
          isNamed: removed.contains(entity.name) || removed.contains(entity.canonicalName), values: nil,
          losers: [entity.id], identifiers: []))
    }
    for root in inference.source.entities where root.parentID == nil {
      addDrops(of: inference.source.entityAndDescendants(root.id))
    }
  }

  /// Adds the drops of a hierarchy, parents first. If a parent loses a property, there is one drop, of the parent.
  @_optimize(none)
  private mutating func addDrops(of family: [EntitySchema]) {
    /// The places in `drops`, by property and by the entity of the drop.
    var places: [UInt32: [UInt32: Int]] = [:]
    for entity in family {
      guard let match = entities[entity.id] else { continue }
      for loss in losses[entity.id] ?? [] {
        guard let id = loss.identifiers.last else { continue }
        if let place = place(of: entity, places[id] ?? [:]) {
          drops[place].losers.append(entity.id)
          continue
        }
        if entity.isAbstract, isKept(id, below: entity) { continue }
        places[id, default: [:]][entity.id] = drops.count
        drops.append(
          ModelDrop(
            kind: loss.kind, entity: entity.name, path: keyPath(of: loss.names), place: match.name,
            isNamed: isNamed(loss, in: match), values: nil, losers: [entity.id], identifiers: loss.identifiers))
      }
    }
  }

  /// Returns the place of an ancestor's drop of the same property.
  private func place(of entity: EntitySchema, _ places: [UInt32: Int]) -> Int? {
    var next = entity.parentID
    while let id = next {
      if let place = places[id] { return place }
      next = inference.source.entity(id: id)?.parentID
    }
    return nil
  }

  /// Whether an entity below an abstract one keeps a property. An abstract entity has no objects, so the entities below
  /// it that lose the property have drops of their own then.
  private func isKept(_ property: UInt32, below entity: EntitySchema) -> Bool {
    for other in inference.source.entityAndDescendants(entity.id) where other.id != entity.id && !other.isAbstract {
      guard let losses = losses[other.id] else { continue }
      if !losses.contains(where: { $0.identifiers.last == property }) { return true }
    }
    return false
  }

  private func isNamed(_ loss: Loss, in entity: EntitySchema) -> Bool {
    let (name, canonicalName) = (keyPath(of: loss.names), keyPath(of: loss.canonicalNames))
    var next: EntitySchema? = entity
    while let entity = next {
      if entity.removedProperties.contains(name) || entity.removedProperties.contains(canonicalName) { return true }
      next = entity.parentID.flatMap { inference.destination.entity(id: $0) }
    }
    return false
  }

  @_optimize(none)
  private static func losses(of match: MappingInference.EntityMatch, in entity: EntitySchema) -> [Loss] {
    var losses: [Loss] = []
    for attribute in match.source.allAttributes where !attribute.isTransient && attribute.derivation == nil {
      let place = match.attributes.firstIndex { $0?.id == attribute.id }
      let loss = Loss(
        kind: .attribute, names: [attribute.name], canonicalNames: [attribute.canonicalName],
        identifiers: [attribute.id])
      add(attribute, loss, place.map { [entity.allAttributes[$0]] } ?? [], match, to: &losses)
    }
    let kept = Set(match.relationships.compactMap { $0?.id })
    for relationship in match.source.allRelationships where !relationship.isTransient && !kept.contains(relationship.id)
    {
      losses.append(
        Loss(
          kind: .relationship, names: [relationship.name], canonicalNames: [relationship.canonicalName],
          identifiers: [relationship.id]))
    }
    return losses
  }

  /// Adds an attribute or element without a counterpart, or those of its elements that have none.
  ///
  /// - Parameter targets: Its counterparts at its own level. Those elsewhere are among the moves.
  @_optimize(none)
  private static func add(
    _ from: AttributeSchema, _ loss: Loss, _ targets: [AttributeSchema], _ match: MappingInference.EntityMatch,
    to losses: inout [Loss]
  ) {
    let targets = targets + match.moves.filter { $0.source.id == from.id }.map { $0.destination }
    if targets.isEmpty, from.type != .composite || !movesElement(of: from, match) { return losses.append(loss) }
    let matches = targets.map { from.type == .composite ? matchedElements($0, from) : [] }
    for element in from.elements {
      var found: [AttributeSchema] = []
      for (target, matched) in zip(targets, matches) {
        if let place = matched.firstIndex(where: { $0?.id == element.id }) { found.append(target.elements[place]) }
      }
      let inner = Loss(
        kind: .element, names: loss.names + [element.name],
        canonicalNames: loss.canonicalNames + [element.canonicalName], identifiers: loss.identifiers + [element.id])
      // The depth is bounded by the schema.
      add(element, inner, found, match, to: &losses)
    }
  }

  /// Whether an element of a composite, at any depth, moves elsewhere.
  private static func movesElement(of from: AttributeSchema, _ match: MappingInference.EntityMatch) -> Bool {
    from.elements.contains { element in
      match.moves.contains { $0.source.id == element.id } || movesElement(of: element, match)
    }
  }
}
