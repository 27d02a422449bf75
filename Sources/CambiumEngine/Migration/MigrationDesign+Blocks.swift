import CambiumKernel

extension MigrationDesign {
  /// Finds the objects that stand in the way, but for duplicates under new constraints, which are found when the
  /// constraint is built. O(rows of the entities that have something to look at).
  ///
  /// - Parameter leavesConversions: whether values that cannot be converted are found when rows are written anew, so
  ///   that no rows need be looked at for them alone.
  @_optimize(none)
  func findBlocks(_ before: EntityView, leavesConversions: Bool = false) throws(EngineError) -> [MigrationBlock] {
    var blocks: [MigrationBlock] = []
    for entity in destination.entities {
      guard let work = entities[entity.id],
        leavesConversions ? work.needsCheckBesideConversions : work.needsCheck
      else { continue }
      var finder = BlockFinder(work)
      try before.rows(entity: work.source, includesSubentities: false) { (row) throws(EngineError) in
        try finder.look(at: row, before, self)
        return true
      }
      blocks += finder.blocks
    }
    return try blocks + findAmbiguous(before)
  }

  /// Finds the objects that a to-one relationship would lead to several from, since several led to them that it leads
  /// back to now. O(links of relationships that get another inverse); memory for a bit each, and for those that are
  /// told twice.
  @_optimize(none)
  private func findAmbiguous(_ before: EntityView) throws(EngineError) -> [MigrationBlock] {
    var blocks: [MigrationBlock] = []
    for (_, work) in relationships.ordered(by: { $0.key < $1.key })
    where work.takesLinksBack && !work.relationship.isToMany {
      var seen = RowSet()
      var suspects = RowSet()
      try eachLink(of: work, before) { (source, _, _) in if !seen.insert(source.row) { suspects.insert(source.row) } }
      if suspects.isEmpty { continue }
      // Both sides may have told the same link.
      var partners: [UInt64: UInt64] = [:]
      var several: [UInt64: ObjectReference] = [:]
      try eachLink(of: work, before) { (source, target, _) in
        guard suspects.contains(source.row) else { return }
        if let known = partners[source.row], known != target.row { several[source.row] = source }
        partners[source.row] = target.row
      }
      for (_, reference) in several.ordered(by: { $0.key < $1.key }) {
        // What is no longer there leads nowhere.
        guard let row = try before.row(reference), let id = entityBySource[row.reference.entity],
          let entity = destination.entity(id: id)
        else { continue }
        MigrationBlock.add(entity.name, work.relationship.name, .ambiguousInverse, row.reference, to: &blocks)
      }
    }
    return blocks
  }
}

extension MigrationBlock {
  /// Adds an object to what is known to stand in the way.
  fileprivate static func add(
    _ entity: String, _ property: String?, _ reason: Reason, _ object: ObjectReference,
    to blocks: inout [MigrationBlock]
  ) {
    let place = blocks.firstIndex { $0.entity == entity && $0.property == property && $0.reason == reason }
    guard let place else {
      return blocks.append(
        MigrationBlock(entity: entity, property: property, reason: reason, count: 1, objects: [object]))
    }
    blocks[place].count += 1
    if blocks[place].objects.count < sampleLimit { blocks[place].objects.append(object) }
  }
}

/// Gathers what stands in the way among the rows of one entity.
private struct BlockFinder {
  private let work: EntityMigration
  private(set) var blocks: [MigrationBlock] = []
  /// By relationship that gets its objects from its inverse, the rows that get any.
  private var filled: [Int: RowSet] = [:]

  init(_ work: EntityMigration) { self.work = work }

  @_optimize(none)
  mutating func look(at row: Row, _ before: EntityView, _ design: MigrationDesign) throws(EngineError) {
    let entity = work.destination
    if entity.isAbstract { add(nil, .abstractEntity, row) }
    for place in work.converted {
      let attribute = entity.allAttributes[place]
      for (path, type) in try work.misfits(of: attribute, from: work.match.attributes[place], in: row) {
        add(path, .overflow(type), row)
      }
    }
    for place in work.neededComposites {
      let attribute = entity.allAttributes[place]
      // What does not fit is told above, and no less there for that.
      let value =
        try work.value(of: attribute, from: work.match.attributes[place], in: row, standIn: .boolean(true)) ?? .null
      for path in work.missingElements(of: attribute, in: value, path: attribute.name) {
        add(path, .missingValue, row)
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
      let migration = design.relationships[relationship.id]
      if let from = work.match.relationships[place], !(migration?.isReversed ?? false),
        try keepsTarget(place, from, row, before, design)
      {
        continue
      }
      if let migration, try isFilled(place, migration, row, before, design) { continue }
      add(relationship.name, .missingValue, row)
    }
  }

  /// Whether an object goes on leading to one; also if it was required to before, and did not.
  @_optimize(none)
  private mutating func keepsTarget(
    _ place: Int, _ from: RelationshipSchema, _ row: Row, _ before: EntityView,
    _ design: MigrationDesign
  ) throws(EngineError) -> Bool {
    let relationship = work.destination.allRelationships[place]
    let entities = design.targetEntities(of: from, as: relationship)
    var any = false
    var kept = false
    try before.destinations(of: from).forEach(from: row.reference) { (target) throws(EngineError) in
      any = true
      kept = try before.leads(to: target, among: entities)
      return !kept
    }
    return kept || (!any && from.needsDestination)
  }

  /// Whether a relationship gets an object from its inverse. O(links) for the first row, and memory for a bit each.
  private mutating func isFilled(
    _ place: Int, _ migration: RelationshipMigration, _ row: Row, _ before: EntityView, _ design: MigrationDesign
  ) throws(EngineError) -> Bool {
    if let known = filled[place] { return known.contains(row.reference.row) }
    var rows = RowSet()
    try design.eachFilled(migration, before) { (object) in rows.insert(object.row) }
    filled[place] = rows
    return rows.contains(row.reference.row)
  }

  private mutating func add(_ property: String?, _ reason: MigrationBlock.Reason, _ row: Row) {
    MigrationBlock.add(work.destination.name, property, reason, row.reference, to: &blocks)
  }
}
