import CambiumKernel

// Links as the destination has them, read from the source.

extension MigrationDesign {
  /// Tells the links that a relationship is filled with: from, to, and a number by which lists are ordered. First those
  /// that it had, in their order, then those that its inverse had, in the order of the rows; one that both had is told
  /// twice. Objects that it may no longer lead to are left out. O(links), and the rows of the entities that may have
  /// them.
  @_optimize(none)
  func eachLink(
    of work: RelationshipMigration, _ before: EntityView,
    _ body: (ObjectReference, ObjectReference, UInt64) throws(EngineError) -> Void
  ) throws(EngineError) {
    for part in work.linkSources {
      guard part.isReversed else {
        try eachLink(part, nil, before, body)
        continue
      }
      // An inverse may be one of more objects than the relationship leads to.
      let reached = destination.entity(named: work.relationship.destination)
      try eachLink(part, reached, before) { (source, target, _) throws(EngineError) in
        // One without an inverse may lead to what is gone.
        if try before.contains(target) { try body(target, source, 1 << 62 | source.row) }
      }
    }
  }

  /// Tells the objects that will have links by a relationship, beside those that have its own; none if it has its own
  /// alone. Of one that is derived from its inverse these are the ones that the inverse will lead to.
  @_optimize(none)
  func eachFilled(
    _ work: RelationshipMigration, _ before: EntityView, _ body: (ObjectReference) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard case .derived(let inverse) = work.storage else {
      if work.takesLinksBack {
        try eachLink(of: work, before) { (source, _, _) throws(EngineError) in try body(source) }
      }
      return
    }
    guard var other = relationships[inverse] else { return }
    switch other.source {
    case .new: return
    case .kept, .pending:
      other.source = .filled([LinkSource(relationship: other.relationship, owner: other.owner, isReversed: false)])
    case .filled: break
    }
    try eachLink(of: other, before) { (_, target, _) throws(EngineError) in try body(target) }
  }

  /// Tells what a relationship of the destination was in the source, for objects of one entity only if there is one.
  @_optimize(none)
  private func eachLink(
    _ part: LinkSource, _ only: EntitySchema?, _ before: EntityView,
    _ body: (ObjectReference, ObjectReference, UInt64) throws(EngineError) -> Void
  ) throws(EngineError) {
    for entity in destination.entityAndDescendants(part.owner.id) {
      guard let work = entities[entity.id],
        let place = entity.allRelationships.firstIndex(where: { $0.id == part.relationship.id }),
        let from = work.match.relationships[place]
      else { continue }
      if let only, !destination.isEntity(entity.id, orDescendantOf: only.id) { continue }
      // An ordered relationship keeps its order, whatever the destination does with it.
      let reader = try before.destinations(of: from)
      let targets = targetEntities(of: from, as: part.relationship)
      try before.rows(entity: work.source, includesSubentities: false) { (row) throws(EngineError) in
        var number: UInt64 = 0
        try reader.forEach(from: row.reference) { (target) throws(EngineError) in
          if try before.leads(to: target, among: targets) {
            try body(row.reference, target, number)
            number &+= 1
          }
          return true
        }
        return true
      }
    }
  }
}

extension EntityView {
  /// Whether an object is there and of one of some entities; true for any if there are none to choose among.
  func leads(to target: ObjectReference, among entities: Set<UInt32>?) throws(EngineError) -> Bool {
    guard let entities else { return true }
    guard let row = try row(target) else { return false }
    return entities.contains(row.reference.entity)
  }
}
