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
  /// By relationship that gets its objects from its inverse, the rows that get any.
  private var filled: [Int: Set<UInt64>] = [:]

  /// By to-one relationship that gets a to-one inverse, for the rows that it leads to the first row that does.
  private var firsts: [Int: [UInt64: UInt64]] = [:]

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
      if let from = work.match.relationships[place], !(design.relationships[relationship.id]?.isReversed ?? false) {
        if try keepsTarget(place, from, row, before, design) { continue }
      } else if try isFilled(place, row, before, design) {
        continue
      }
      add(relationship.name, .missingValue, row)
    }
  }

  /// Whether an object goes on leading to one; also if it was required to before, and did not.
  private mutating func keepsTarget(
    _ place: Int, _ from: RelationshipSchema, _ row: Row, _ before: EntityView,
    _ design: MigrationDesign
  ) throws(EngineError) -> Bool {
    let relationship = work.destination.allRelationships[place]
    let entities = design.targetEntities(of: from, as: relationship)
    let firsts = try firstRows(place, before, design)
    var any = false
    var kept = false
    try before.destinations(of: from).forEach(from: row.reference) { (target) throws(EngineError) in
      any = true
      kept = try before.leads(to: target, among: entities)
      if let firsts, firsts[target.row] != row.reference.row { kept = false }
      return !kept
    }
    return kept || (!any && !from.isOptional)
  }

  /// See ``RelationshipMigration/pair``; nil if there is none. O(links) for the first row, and memory for them.
  private mutating func firstRows(
    _ place: Int, _ before: EntityView, _ design: MigrationDesign
  ) throws(EngineError) -> [UInt64: UInt64]? {
    if let known = firsts[place] { return known }
    let relationship = work.destination.allRelationships[place]
    guard let migration = design.relationships[relationship.id], migration.pair != nil else { return nil }
    var rows: [UInt64: UInt64] = [:]
    for entity in design.destination.entityAndDescendants(migration.owner.id) {
      guard let other = design.entities[entity.id],
        let place = entity.allRelationships.firstIndex(where: { $0.id == relationship.id }),
        let from = other.match.relationships[place]
      else { continue }
      let reader = try before.destinations(of: from)
      try before.rows(entity: other.source, includesSubentities: false) { (candidate) throws(EngineError) in
        try reader.forEach(from: candidate.reference) { (target) in
          rows[target.row] = min(rows[target.row] ?? .max, candidate.reference.row)
          return true
        }
        return true
      }
    }
    firsts[place] = rows
    return rows
  }

  /// Whether a relationship gets its objects from its inverse. O(links) for the first row, and memory for the rows.
  private mutating func isFilled(
    _ place: Int, _ row: Row, _ before: EntityView, _ design: MigrationDesign
  ) throws(EngineError) -> Bool {
    if let known = filled[place] { return known.contains(row.reference.row) }
    let relationship = work.destination.allRelationships[place]
    var rows: Set<UInt64> = []
    if let inverse = design.destination.inverse(of: relationship),
      let owner = design.destination.entity(named: relationship.destination)
    {
      for entity in design.destination.entityAndDescendants(owner.id) {
        guard let other = design.entities[entity.id],
          let place = entity.allRelationships.firstIndex(where: { $0.id == inverse.id }),
          let from = other.match.relationships[place]
        else { continue }
        let reader = try before.destinations(of: from)
        try before.rows(entity: other.source, includesSubentities: false) { (candidate) throws(EngineError) in
          try reader.forEach(from: candidate.reference) { (target) in
            rows.insert(target.row)
            return true
          }
          return true
        }
      }
    }
    filled[place] = rows
    return rows.contains(row.reference.row)
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
