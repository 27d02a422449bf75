import CambiumKernel

/// What a migration has to do to a store: found out from the two models and the catalogue, before anything is written.
struct MigrationDesign {
  /// The store as it is.
  let old: EntityStore
  let destination: Schema
  let mapping: SchemaMapping
  /// By entity of the destination that was in the source.
  private(set) var entities: [UInt32: EntityMigration] = [:]
  /// Indexes that are built after the store is open again.
  private(set) var deferredIndexes: Set<UInt32> = []
  /// Entities that go.
  private(set) var removed: [EntitySchema] = []
  /// The tree of rows that each hierarchy goes on with, by its root in the destination.
  private(set) var rowTrees: [UInt32: TreeID] = [:]
  /// By relationship of the destination.
  private(set) var relationships: [UInt32: RelationshipMigration] = [:]
  /// Indexes and constraints of the source whose trees stay as they are.
  private(set) var keptIndexes: Set<UInt32> = []
  private(set) var keptConstraints: Set<UInt32> = []

  /// The model of `old`, perhaps without renaming identifiers.
  let source: Schema
  /// By entity of the source the one of the destination.
  private(set) var entityBySource: [UInt32: UInt32] = [:]
  /// Whether objects may be of fewer entities than they were.
  private var changesFamilies = false

  /// With more earlier layouts than this an entity's rows are rewritten, so that there is an end to them.
  static let staleLayoutLimit = 8

  /// Whether values that go may stay in rows until these are written again, and indexes may be built later.
  let isDeferred: Bool

  /// Whether anything is put off.
  var putsOff: Bool { !deferredIndexes.isEmpty || entities.values.contains { $0.defersRewriting } }

  /// - Parameter source: The model of `old`, perhaps without renaming identifiers.
  @_optimize(none)
  init(_ old: EntityStore, _ source: Schema, _ destination: Schema, defers: Bool) throws(EngineError) {
    self.old = old
    self.source = source
    isDeferred = defers
    self.destination = destination
    let inference = MappingInference(source, destination)
    if !inference.obstacles.isEmpty { throw .notInferable(inference.obstacles) }
    mapping = inference.mapping
    for (place, entity) in destination.entities.enumerated() {
      if let match = inference.matches[place] { entities[entity.id] = EntityMigration(entity, match) }
    }
    let kept = Set(entities.values.map { $0.source.id })
    removed = old.schema.entities.filter { !kept.contains($0.id) }
    for work in entities.values { entityBySource[work.source.id] = work.destination.id }
    changesFamilies =
      !removed.isEmpty
      || entities.values.contains { $0.source.parentID.flatMap { entityBySource[$0] } != $0.destination.parentID }
    chooseRowTrees()
    designRelationships()
    for work in entities.values { try design(work) }
    chooseNewTrees()
    designKeys()
    if isDeferred { try deferIndexes() }
  }

  // MARK: Rows

  /// Every hierarchy goes on with the tree of the root that it had, or else of the first of its entities that was
  /// there.
  ///
  /// Several go on with one tree only if work is put off: then the rows of an entity that leaves its hierarchy stay
  /// where they are. The next migration that puts nothing off leaves the tree to the first of them in the model, and
  /// moves the rows of the others.
  @_optimize(none)
  private mutating func chooseRowTrees() {
    let roots = destination.entities.filter { $0.parentID == nil }
    var claimed: Set<TreeID> = []
    for root in roots {
      guard let work = entities[root.id], work.source.parentID == nil, let tree = old.catalogue.rows[work.source.id]
      else { continue }
      if claimed.insert(tree).inserted || isDeferred { rowTrees[root.id] = tree }
    }
    for root in roots where rowTrees[root.id] == nil {
      let trees = destination.entityAndDescendants(root.id).compactMap { entity in
        entities[entity.id].flatMap { old.catalogue.rows[$0.source.rootID] }
      }
      let free = trees.first { !claimed.contains($0) }
      guard let tree = free ?? (isDeferred ? trees.first : nil) else { continue }
      rowTrees[root.id] = tree
      claimed.insert(tree)
    }
    for work in entities.values {
      work.changesTree = rowTrees[work.destination.rootID] != old.catalogue.rows[work.source.rootID]
    }
  }

  /// Rows that are all written anew go to a tree of their own, which is filled from the left to the right; the old one
  /// goes as a whole, unless another hierarchy has rows in it.
  @_optimize(none)
  private mutating func chooseNewTrees() {
    for root in destination.entities where root.parentID == nil && root.childIDs.isEmpty {
      guard let work = entities[root.id], work.isRewritten, !work.changesTree else { continue }
      rowTrees[root.id] = nil
      work.changesTree = true
    }
  }

  @_optimize(none)
  private func design(_ work: EntityMigration) throws(EngineError) {
    work.compareAttributes(
      layouts: old.catalogue.layouts.values.filter { $0.entity == work.source.id }, defers: isDeferred)
    for (place, relationship) in work.destination.allRelationships.enumerated() {
      guard let from = work.match.relationships[place] else { continue }
      work.remap[from.id] = relationship.id
      guard let design = relationships[relationship.id] else { continue }
      if case .pending = design.source {
        work.remap[from.id] = LayoutDescriptor.pending | relationship.id
      } else if design.keepsTree, case .tree = design.storage {
        // What was put off before stays so.
        work.remap[LayoutDescriptor.pending | from.id] = LayoutDescriptor.pending | relationship.id
      } else if !design.isInRow, isInRow(from) {
        // What rows have of it is of no use any more.
        work.remap[from.id] = nil
      }
      if relationship.needsDestination, from.needsDestination,
        design.isReversed || losesTargets(from, relationship)
      {
        work.neededRelationships.append(place)
      }
      if design.isInRow {
        if case .filled = design.source {
          work.fills.append(place)
        } else if losesTargets(from, relationship) {
          work.cleans.append(place)
        }
      }
    }
    for (place, relationship) in work.destination.allRelationships.enumerated()
    where work.match.relationships[place] == nil {
      if let design = relationships[relationship.id], design.isInRow, case .filled = design.source {
        work.fills.append(place)
      }
    }
    // What is filled from links is not taken from the row.
    for place in work.fills {
      if let from = work.match.relationships[place] { work.remap[from.id] = nil }
    }
    let wanted = try EntityLayout.fields(of: work.destination)
    var stale = 0
    var isLate = false
    var drops = false
    for descriptor in old.catalogue.layouts.values where descriptor.entity == work.source.id {
      if !descriptor.isCurrent { stale += 1 }
      let fields = work.migrated(descriptor).fields
      if Self.holdsOther(fields, wanted) { isLate = true }
      if Self.drops(descriptor.fields, fields) { drops = true }
    }
    work.isRewritten =
      work.changesTree || !work.converted.isEmpty || !work.fills.isEmpty || !work.cleans.isEmpty
      || stale > Self.staleLayoutLimit || (drops && !isDeferred)
    work.defersRewriting = isLate && !work.isRewritten
    guard let id = old.catalogue.currentLayout[work.source.id], let descriptor = old.catalogue.layouts[id] else {
      throw .corrupt("entity \(work.source.name) has no current layout")
    }
    let found = work.migrated(descriptor).fields
    work.keepsLayout =
      !work.isRewritten && work.required.isEmpty && EntityLayout.isSameButForOrder(wanted, found)
  }

  /// Whether rows with these fields should be written anew, now or later: they hold values of a property that is gone,
  /// or values and links elsewhere than rows of the entity, which have the fields `wanted`, do.
  private static func holdsOther(_ fields: [RecordField], _ wanted: [RecordField]) -> Bool {
    for field in fields {
      guard let there = wanted.first(where: { $0.property == field.property }) else { return true }
      if case .nested(let inner) = field.kind, case .nested(let wanted) = there.kind {
        for element in inner.fields where wanted.index(ofProperty: element.property) == nil { return true }
        // The elements of elements.
        if holdDropped(inner.fields) { return true }
      } else if case .reference = field.kind, case .references = there.kind {
        return true
      }
    }
    return false
  }

  private static func holdDropped(_ fields: [RecordField]) -> Bool {
    for field in fields {
      if field.property >= LayoutDescriptor.firstDropped { return true }
      if case .nested(let inner) = field.kind, holdDropped(inner.fields) { return true }
    }
    return false
  }

  /// Whether a property goes with this migration, and not with an earlier one.
  private static func drops(_ before: [RecordField], _ after: [RecordField]) -> Bool {
    for (old, new) in zip(before, after) {
      if old.property < LayoutDescriptor.firstDropped, new.property >= LayoutDescriptor.firstDropped { return true }
      if case .nested(let x) = old.kind, case .nested(let y) = new.kind, drops(x.fields, y.fields) { return true }
    }
    return false
  }

  // MARK: Relationships

  /// The entities of the source whose objects a relationship may go on leading to; nil if it may to all that it led to.
  /// The others go, or leave the hierarchy that it leads to.
  @_optimize(none)
  func targetEntities(of from: RelationshipSchema, as relationship: RelationshipSchema) -> Set<UInt32>? {
    guard changesFamilies, let old = source.entity(named: from.destination),
      let new = destination.entity(named: relationship.destination)
    else { return nil }
    let family = Set(destination.entityAndDescendants(new.id).map { $0.id })
    let before = source.entityAndDescendants(old.id).map { $0.id }
    let after = before.filter { entityBySource[$0].map { family.contains($0) } ?? false }
    return after.count == before.count ? nil : Set(after)
  }

  private func losesTargets(_ from: RelationshipSchema, _ relationship: RelationshipSchema) -> Bool {
    targetEntities(of: from, as: relationship) != nil
  }

  @_optimize(none)
  private mutating func designRelationships() {
    for owner in destination.entities {
      for relationship in owner.relationships where !relationship.isTransient {
        relationships[relationship.id] = design(relationship, of: owner)
      }
    }
    takeTrees()
  }

  /// The relationships of the source that one of the destination continues, by entity of the destination.
  @_optimize(none)
  private func sources(of relationship: RelationshipSchema, _ owner: EntitySchema) -> [(UInt32, RelationshipSchema)] {
    var result: [(UInt32, RelationshipSchema)] = []
    for entity in destination.entityAndDescendants(owner.id) {
      guard let work = entities[entity.id],
        let place = entity.allRelationships.firstIndex(where: { $0.id == relationship.id }),
        let from = work.match.relationships[place]
      else { continue }
      result.append((entity.id, from))
    }
    return result
  }

  @_optimize(none)
  private func design(
    _ relationship: RelationshipSchema, of owner: EntitySchema
  ) -> RelationshipMigration {
    let storage = RelationshipStorage(relationship, in: destination)
    var result = RelationshipMigration(relationship: relationship, owner: owner, storage: storage)
    let own = sources(of: relationship, owner)
    let inverse = destination.inverse(of: relationship).flatMap { $0.isTransient ? nil : $0 }
    let inverseOwner = inverse.flatMap { inverse in
      destination.entities.first { $0.relationships.contains { $0.id == inverse.id } }
    }
    let others = inverse.flatMap { inverse in inverseOwner.map { sources(of: inverse, $0) } } ?? []
    if case .derived = storage { return result }
    var back: LinkSource?
    if let inverse, let inverseOwner, !others.isEmpty {
      back = LinkSource(relationship: inverse, owner: inverseOwner, isReversed: true)
    }
    if own.isEmpty {
      if let back { result.source = .filled([back]) }
      return result
    }
    let there = LinkSource(relationship: relationship, owner: owner, isReversed: false)
    // Relationships that were not each other's inverses, or not all: both have the links of both from now on. So has
    // one that becomes its own inverse.
    if let back, !covers(own, others) {
      result.source = .filled(covers(others, own) ? [back] : [there, back])
      return result
    }
    var isKept = true
    for (_, from) in own {
      switch (RelationshipStorage(from, in: source), storage) {
      case (.row, .row), (.row, .rowAndTree), (.rowAndTree, .row), (.rowAndTree, .rowAndTree), (.list, .list): break
      case (.row, .list), (.rowAndTree, .list):
        // A list of one, when the row is read.
        if !isDeferred || losesTargets(from, relationship) { isKept = false }
      case (.tree, .tree):
        if from.id != relationship.id || losesTargets(from, relationship) || !isSameFamily(owner) { isKept = false }
      default: isKept = false
      }
    }
    result.source = isKept ? .kept : .filled([there])
    if !isKept, isDeferred, case .tree = storage, relationship.id < LayoutDescriptor.pending,
      own.allSatisfy({ isInRow($0.1) && !losesTargets($0.1, relationship) })
    {
      result.source = .pending
    }
    if case .rowAndTree = storage, isKept {
      // The way back is as it was if every row is, and leads where it led.
      result.keepsTree =
        isSameFamily(owner)
        && own.allSatisfy { _, from in
          if case .rowAndTree = RelationshipStorage(from, in: source) {
            return from.id == relationship.id && !losesTargets(from, relationship)
          }
          return false
        }
    } else if case .tree = storage {
      result.keepsTree = isKept
    }
    return result
  }

  /// Whether a relationship of the source is kept in rows.
  private func isInRow(_ from: RelationshipSchema) -> Bool {
    switch RelationshipStorage(from, in: source) {
    case .row, .rowAndTree, .list: return true
    default: return false
    }
  }

  /// A to-many relationship that is no longer derived from its inverse has the very links of the tree that it was
  /// derived from, which nothing else may go on with then.
  @_optimize(none)
  private mutating func takeTrees() {
    for (id, work) in relationships {
      guard case .tree = work.storage, work.isRearranged else { continue }
      let own = sources(of: work.relationship, work.owner)
      guard let before = own.first?.1, own.allSatisfy({ $0.1.id == before.id }), isSameFamily(work.owner),
        !losesTargets(before, work.relationship), !losesSources(before, work.owner),
        // It may have the links of objects that are gone, else.
        before.deleteRule != .noAction,
        case .derived(let inverse) = RelationshipStorage(before, in: source),
        let tree = old.catalogue.relationships[inverse], relationships[inverse]?.keepsTree != true,
        !relationships.values.contains(where: { $0.takenTree?.tree == tree })
      else { continue }
      relationships[id]?.source = .kept
      relationships[id]?.keepsTree = true
      relationships[id]?.takenTree = (inverse, tree)
    }
  }

  /// Whether relationships of the source have the links of some others, since they are their inverses.
  @_optimize(none)
  private func covers(_ some: [(UInt32, RelationshipSchema)], _ others: [(UInt32, RelationshipSchema)]) -> Bool {
    let ids = Set(some.map { $0.1.id })
    return others.allSatisfy { _, other in source.inverse(of: other).map { ids.contains($0.id) } ?? false }
  }

  /// Whether the rows of an entity and its descendants are those that they were.
  @_optimize(none)
  private func isSameFamily(_ entity: EntitySchema) -> Bool {
    guard let work = entities[entity.id] else { return false }
    let before = Set(source.entityAndDescendants(work.source.id).map { $0.id })
    let after = Set(
      destination.entityAndDescendants(entity.id).compactMap { entities[$0.id]?.source.id })
    return before == after
  }

  /// Whether objects that had a relationship of the source do not have it any more, as it was moved down to a
  /// subentity: their links are not to be kept with those of the others.
  @_optimize(none)
  private func losesSources(_ relationship: RelationshipSchema, _ owner: EntitySchema) -> Bool {
    guard let before = source.entities.first(where: { $0.relationships.contains { $0.id == relationship.id } }) else {
      return true
    }
    let after = Set(destination.entityAndDescendants(owner.id).compactMap { entities[$0.id]?.source.id })
    return !source.entityAndDescendants(before.id).allSatisfy { after.contains($0.id) }
  }

  // MARK: Keys

  /// Finds the indexes and constraints that stay as they are.
  @_optimize(none)
  private mutating func designKeys() {
    for entity in destination.entities where isSameFamily(entity) {
      let family = destination.entityAndDescendants(entity.id).compactMap { entities[$0.id] }
      for index in entity.indexes where old.catalogue.indexes[index.id] != nil {
        if let condition = index.partialPredicate, !keepsCondition(entity, condition, family) { continue }
        if keepsKeys(entity, index.elements.map { $0.path }, family) { keptIndexes.insert(index.id) }
      }
      for constraint in entity.uniquenessConstraints where old.catalogue.constraints[constraint.id] != nil {
        if keepsKeys(entity, constraint.paths, family) { keptConstraints.insert(constraint.id) }
      }
    }
  }

  /// Fetches can do without an index that has yet to be built, unless there is nothing to go through.
  @_optimize(none)
  private mutating func deferIndexes() throws(EngineError) {
    let view = try old.view()
    for entity in destination.entities where !entity.indexes.isEmpty {
      var rows: UInt64 = 0
      for member in destination.entityAndDescendants(entity.id) {
        guard let source = entities[member.id]?.source, let tree = old.catalogue.rows[source.rootID] else { continue }
        rows += try storing { () throws(StoreError) in try view.trees.statistics(tree) }.entries
      }
      if rows == 0 { continue }
      for index in entity.indexes where !keptIndexes.contains(index.id) { deferredIndexes.insert(index.id) }
    }
  }

  /// Whether the condition of an index holds for the rows that it held for: it mentions properties by names, which may
  /// have come to mean others, and may compare them as other types.
  @_optimize(none)
  private func keepsCondition(_ entity: EntitySchema, _ text: String, _ family: [EntityMigration]) -> Bool {
    guard let before = entities[entity.id]?.source, let predicate = try? Predicate(format: text, arguments: []),
      let reads = try? predicate.reads(), !reads.otherObjects, !reads.isVolatile,
      !reads.testsEntity
    else { return false }
    for path in reads.keyPaths {
      guard let new = try? destination.resolve(keyPath: path, from: entity.id),
        let old = try? source.resolve(keyPath: path, from: before.id), new.propertyIDs == old.propertyIDs,
        new.type == old.type
      else { return false }
    }
    return keepsKeys(entity, reads.keyPaths, family)
  }

  @_optimize(none)
  private func keepsKeys(_ entity: EntitySchema, _ paths: [String], _ family: [EntityMigration]) -> Bool {
    for text in paths {
      guard let path = try? destination.resolve(keyPath: text, from: entity.id) else { return false }
      for id in path.propertyIDs {
        for work in family {
          // What has the identifier now may be another property in the rows of a descendant.
          guard work.remap[id] == id else { return false }
          if work.required.contains(id) || work.values[id] != nil { return false }
          for place in work.fills + work.cleans where work.destination.allRelationships[place].id == id { return false }
          for place in work.converted where work.destination.allAttributes[place].id == id { return false }
        }
      }
    }
    return true
  }
}

/// What becomes of a relationship.
struct RelationshipMigration {
  enum Source {
    /// There is nothing to bring along.
    case new
    /// It stays where it is: in rows, or in its tree.
    case kept
    /// It is written anew, by what it and its inverse, one of them or both, were in the source.
    case filled([LinkSource])
    /// It goes into its tree later, and is read in rows until then.
    case pending
  }

  let relationship: RelationshipSchema
  let owner: EntitySchema
  let storage: RelationshipStorage
  var source = Source.new
  /// Whether the relationship's tree stays as it is.
  var keepsTree = false
  /// The tree that it goes on with, and the relationship of the source whose way back that was.
  var takenTree: (relationship: UInt32, tree: TreeID)?

  /// Where the links come from that it is filled with.
  var linkSources: [LinkSource] {
    if case .filled(let sources) = source { return sources }
    return []
  }
  /// Whether the other side has links that it lacks.
  var takesLinksBack: Bool { linkSources.contains { $0.isReversed } }
  /// Whether it is what the other side says.
  var isReversed: Bool { takesLinksBack && linkSources.count == 1 }
  /// Whether it is what it was, kept in another way.
  var isRearranged: Bool { !takesLinksBack && !linkSources.isEmpty }

  var isInRow: Bool {
    switch storage {
    case .row, .rowAndTree, .list: return true
    default: return false
    }
  }
}

/// A relationship of the destination that links are taken from, as they were in the source.
struct LinkSource {
  let relationship: RelationshipSchema
  /// The entity of the destination that has it.
  let owner: EntitySchema
  /// Whether its links are those of its inverse, the other way round.
  let isReversed: Bool
}
