import CambiumKernel

extension MigrationDesign {
  /// Finds the objects that stand in the way, but for duplicates under new constraints, which are found when the constraint
  /// is built. O(rows of the entities that have something to look at).
  func findBlocks(_ before: EntityView) throws(EngineError) -> [MigrationBlock] {
    var blocks: [MigrationBlock] = []
    for entity in destination.entities {
      guard let work = entities[entity.id], work.needsCheck else { continue }
      var finder = BlockFinder(work)
      try before.rows(entity: work.source, includesSubentities: false) { (row) throws(EngineError) in
        try finder.look(at: row, before, self)
        return true
      }
      blocks += finder.blocks
    }
    return blocks
  }
}

/// Gathers what stands in the way among the rows of one entity.
private struct BlockFinder {
  private let work: EntityMigration
  private(set) var blocks: [MigrationBlock] = []

  init(_ work: EntityMigration) { self.work = work }

  mutating func look(at row: Row, _ before: EntityView, _ design: MigrationDesign) throws(EngineError) {
    let entity = work.destination
    if entity.isAbstract { add(nil, .abstractEntity, row) }
    for place in work.converted {
      let attribute = entity.allAttributes[place]
      if try work.value(of: attribute, from: work.match.attributes[place], in: row) == nil {
        add(attribute.name, .overflow(attribute.type), row)
      }
    }
    for place in work.neededAttributes {
      let attribute = entity.allAttributes[place]
      let value: Value?
      if work.converted.contains(place) {
        value = try work.value(of: attribute, from: work.match.attributes[place], in: row)
      } else if let from = work.match.attributes[place] {
        value = try row.value(from)
      } else {
        value = .null
      }
      if value?.isNull ?? false { add(attribute.name, .missingValue, row) }
    }
    for place in work.neededRelationships {
      let relationship = entity.allRelationships[place]
      if let from = work.match.relationships[place] {
        if try before.relatedCount(row.reference, from) > 0 { continue }
      } else if try isFilled(relationship, row, before, design) {
        continue
      }
      add(relationship.name, .missingValue, row)
    }
  }

  /// Whether a new relationship gets its objects from its inverse.
  private func isFilled(
    _ relationship: RelationshipSchema, _ row: Row, _ before: EntityView, _ design: MigrationDesign
  ) throws(EngineError) -> Bool {
    guard let inverse = design.destination.inverse(of: relationship),
      let owner = design.destination.entity(named: relationship.destination)
    else { return false }
    var found = false
    for entity in design.destination.entityAndDescendants(owner.id) where !found {
      guard let other = design.entities[entity.id],
        let place = entity.allRelationships.firstIndex(where: { $0.id == inverse.id }),
        let from = other.match.relationships[place]
      else { continue }
      let reader = try before.destinations(of: from)
      try before.rows(entity: other.source, includesSubentities: false) { (candidate) throws(EngineError) in
        try reader.forEach(from: candidate.reference) { (target) throws(EngineError) in
          if target.row == row.reference.row { found = true }
          return !found
        }
        return !found
      }
    }
    return found
  }

  private mutating func add(_ property: String?, _ reason: MigrationBlock.Reason, _ row: Row) {
    let place = blocks.firstIndex { $0.property == property && $0.reason == reason }
    guard let place else {
      blocks.append(
        MigrationBlock(
          entity: work.destination.name, property: property, reason: reason, count: 1, objects: [row.reference]))
      return
    }
    blocks[place].count += 1
    if blocks[place].objects.count < MigrationBlock.sampleLimit { blocks[place].objects.append(row.reference) }
  }
}
