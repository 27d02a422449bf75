import CambiumKernel

extension EntityStore {
  /// Makes the store one of another model, in one commit: the model is written down, and what has to move at once
  /// moves.
  ///
  /// Attributes that are added, renamed, made optional, given a default or a wider numeric type, and entities and
  /// relationships that are added or renamed, cost the same at any size of the store: rows are read as rows of the new
  /// model from then on, and rewritten when they change. So do, if `defers` is set, attributes that are dropped (their
  /// values stay in the rows until these are written again), indexes that are added or have to be built anew (fetches
  /// do without them until they are whole), to-one relationships that become to-many and ordered ones that become
  /// unordered (links are read in the rows until they are moved), attributes gathered into composites or spread out of
  /// them, if all rows have the values one level away, and entities that leave their hierarchy and become roots (their
  /// rows stay among those of the others until a migration that does not defer). Everything else costs a pass over the
  /// rows or links concerned.
  ///
  /// `observe` is told the steps (``MigrationPlan/steps``) once nothing is known to stand in the way. `stage` says, in
  /// the same commit, what the application has to do still before the stage that the migration belongs to is done;
  /// without it no stage is under way from then on. In the phase ``StageRecord/Phase/migrate`` the state before is
  /// retained for that.
  ///
  /// If the migration puts something off, it retains the state before until that is done, or until a later migration
  /// retains a state of its own. With `keepsPriorState`, it retains the state in any case, until
  /// ``confirmMigration()``. As long as the state is there, ``rollBackMigration(discardsCommits:)`` goes back to it.
  ///
  /// The answer is the store to go on with; this one, and whatever other process has the file open, refuses to read and
  /// write from then on (``EngineError/modelChanged``), but for views that are open.
  ///
  /// - Parameter matchesNames: Whether the renaming identifiers of the store's model do not count, so that those of the
  ///   destination are names in it.
  /// - Throws: ``EngineError/notInferable(_:)``, ``EngineError/migrationBlocked(_:)``, ``EngineError/schema(_:)``,
  ///   ``EngineError/unsupported(_:)``; ``EngineError/misuse(_:)`` in the middle of a stage; kernel errors. The store
  ///   is then as it was.
  @_optimize(none)
  public func migrate(
    to definition: SchemaDefinition, defers: Bool = false, keepsPriorState: Bool = false, stage: StageRecord? = nil,
    matchesNames: Bool = false, observe: ((MigrationStep) -> Void)? = nil
  ) throws(EngineError) -> EntityStore {
    let t = try beginWrite()
    let result: EntityStore
    do throws(EngineError) {
      try requireModel(t)
      if let pending = try EntityView(store: self, trees: t).stageRecord(), pending.isPending(in: schema) {
        throw .misuse(
          "the store is in the middle of a migration stage, whose handler was not done; open it with a staged migration "
            + "manager that has the stage")
      }
      let earlier = try source(matchesNames: matchesNames)
      let destination = try resolving { () throws(SchemaError) in try Schema(definition, basedOn: earlier) }
      // What was put off may have been done since the store was opened.
      let present =
        catalogue.isSettled
        ? self : try EntityStore(kernel: kernel, schema: schema, catalogue: Catalogue(t), modelNumber: modelNumber)
      let design = try MigrationDesign(present, earlier, destination, defers: defers)
      // What the transaction builds on, which may not be durable yet and so in no other view.
      let before = EntityView(store: present, trees: try storing { () throws(StoreError) in try t.newest() })
      let blocks = try design.findBlocks(before, leavesConversions: true)
      // All are told, once there is one.
      if !blocks.isEmpty { throw .migrationBlocked(try design.findBlocks(before)) }
      if let observe { for step in try design.plannedSteps(before) { observe(step) } }
      var stage = stage
      if stage?.phase == .migrate {
        let retained = try storing { () throws(StoreError) in try t.retainBase(reason: StageRecord.reason) }
        stage?.retained = StageRecord.Retained(id: retained.id, sequence: retained.sequence)
      }
      var prior: (id: UInt64, commit: PriorCommit)?
      if keepsPriorState || design.putsOff {
        let retained = try storing { () throws(StoreError) in try t.retainBase(reason: PriorCommit.reason) }
        prior = (
          retained.id, PriorCommit(sequence: retained.sequence, isKeptUntilConfirmed: keepsPriorState)
        )
      }
      do throws(EngineError) { result = try MigrationRun(design, t, before: before).run(prior: prior) } catch {
        guard case .migrationBlocked = error else { throw error }
        // It ended at the first value that cannot be converted: all are told.
        let blocks = try design.findBlocks(before)
        throw blocks.isEmpty ? error : .migrationBlocked(blocks)
      }
      try StageRecord.put(stage, t)
      try FormerModels.note(earlier, leftFor: destination, t)
      try storing { () throws(StoreError) in _ = try t.commit() }
    } catch {
      t.rollBack()
      // It may have retained something.
      do throws(EngineError) { try releaseOwnStates() } catch {}
      throw error
    }
    // The migration is made, whatever becomes of room that nobody needs any more.
    do throws(EngineError) { try result.releaseOwnStates() } catch {}
    return result
  }
}

/// Does what a ``MigrationDesign`` asks for, within one transaction.
final class MigrationRun {
  let design: MigrationDesign
  let t: WriteTransaction
  /// The store as it was, whatever is written meanwhile.
  let before: EntityView
  private var catalogue: Catalogue
  /// Links that rows are filled from, by relationship of the destination.
  private var links: [UInt32: LinkTable] = [:]

  init(_ design: MigrationDesign, _ t: WriteTransaction, before: EntityView) {
    self.design = design
    self.t = t
    self.before = before
    catalogue = design.old.catalogue
  }

  /// - Parameter prior: the retained commit to go back to, if there is one.
  @_optimize(none)
  func run(prior: (id: UInt64, commit: PriorCommit)? = nil) throws(EngineError) -> EntityStore {
    let kept = try dropTrees()
    try moveRowTrees()
    try changeLayouts()
    try catalogue.install(design.destination, t)
    let destination = design.destination
    try storing { () throws(StoreError) in
      try t.put(Catalogue.tree, Catalogue.key("schema"), destination.encoded())
      if !isPlanted(.modelNumberStays) { try t.addToCounter(Catalogue.tree, Catalogue.modelCounter, 1) }
      try t.addToCounter(Catalogue.tree, Catalogue.upkeepCounter, 1)
    }
    if let prior { try catalogue.setNewestPrior(prior.id, prior.commit, t) }
    try catalogue.dropFinishedPriors(t)
    let store = try EntityStore(
      kernel: design.old.kernel, schema: destination, catalogue: catalogue, modelNumber: design.old.modelNumber &+ 1)
    let kit = store.makeKit()
    let after = EntityTransaction(store: store, transaction: t, kit: kit)
    defer { after.end() }
    try fillLinks(store)
    try removeRows(store)
    try rewriteRows(store)
    for table in links.values { try table.drop() }
    try buildTrees(after, kit, kept)
    do throws(EngineError) { try after.finish() } catch {
      guard case .uniqueViolation = error else { throw error }
      // It ended at the first: all are told, as the source has them.
      var blocks = try after.duplicates()
      for (place, block) in blocks.enumerated() {
        blocks[place].objects = block.objects.map { object in
          ObjectReference(entity: design.entities[object.entity]?.source.id ?? object.entity, row: object.row)
        }
      }
      throw blocks.isEmpty ? error : .migrationBlocked(blocks)
    }
    return store
  }

  // MARK: Catalogue

  /// Drops the trees that do not stay as they are; answers those that do.
  @_optimize(none)
  private func dropTrees() throws(EngineError) -> Set<TreeID> {
    var kept: Set<TreeID> = []
    for (id, work) in design.relationships {
      guard let (before, tree) = work.takenTree else { continue }
      catalogue.relationships[before] = nil
      catalogue.relationships[id] = tree
      try storing { () throws(StoreError) in
        _ = try t.delete(Catalogue.tree, Catalogue.key(Catalogue.relationshipKey(before)))
        try t.put(Catalogue.tree, Catalogue.key(Catalogue.relationshipKey(id)), Catalogue.bytes(tree.rawValue))
      }
    }
    for (id, tree) in catalogue.indexes {
      if design.keptIndexes.contains(id) {
        kept.insert(tree)
      } else {
        try catalogue.drop(tree, Catalogue.indexKey(id), t)
        catalogue.indexes[id] = nil
        if catalogue.building[id] != nil { try catalogue.setBuilding(id, nil, t) }
      }
    }
    for (id, tree) in catalogue.constraints {
      if design.keptConstraints.contains(id) {
        kept.insert(tree)
      } else {
        try catalogue.drop(tree, Catalogue.constraintKey(id), t)
        catalogue.constraints[id] = nil
      }
    }
    for (id, tree) in catalogue.relationships {
      if design.relationships[id]?.keepsTree == true {
        kept.insert(tree)
      } else {
        try catalogue.drop(tree, Catalogue.relationshipKey(id), t)
        catalogue.relationships[id] = nil
      }
    }
    return kept
  }

  @_optimize(none)
  private func moveRowTrees() throws(EngineError) {
    // Once each, though several roots may have had one.
    let gone = Set(catalogue.rows.values).subtracting(design.rowTrees.values)
    for tree in gone { try storing { () throws(StoreError) in try t.dropTree(tree) } }
    for (root, tree) in catalogue.rows where design.rowTrees[root] != tree {
      catalogue.rows[root] = nil
      try storing { () throws(StoreError) in
        _ = try t.delete(Catalogue.tree, Catalogue.key(Catalogue.rowsKey(root)))
      }
    }
    for (root, tree) in design.rowTrees where catalogue.rows[root] != tree {
      catalogue.rows[root] = tree
      try storing { () throws(StoreError) in
        try t.put(Catalogue.tree, Catalogue.key(Catalogue.rowsKey(root)), Catalogue.bytes(tree.rawValue))
      }
    }
  }

  @_optimize(none)
  private func changeLayouts() throws(EngineError) {
    var workBySource: [UInt32: EntityMigration] = [:]
    for work in design.entities.values { workBySource[work.source.id] = work }
    catalogue.currentLayout = [:]
    for (id, descriptor) in design.old.catalogue.layouts {
      guard let work = workBySource[descriptor.entity], !work.isRewritten else {
        try catalogue.setLayout(id, nil, t)
        continue
      }
      var migrated = work.migrated(descriptor)
      if descriptor.isCurrent, work.keepsLayout {
        migrated.isCurrent = true
        migrated.values = [:]
        migrated.required = []
        catalogue.currentLayout[work.destination.id] = id
      }
      try catalogue.setLayout(id, migrated, t)
    }
    // What was begun begins anew: rows that were gone through may have an earlier layout again.
    for entity in catalogue.deferred.keys where !isPlanted(.begunRewritingGoesOn) {
      try catalogue.setDeferred(entity, nil, t)
    }
    for work in design.entities.values where work.defersRewriting {
      try catalogue.setDeferred(work.destination.id, 0, t)
    }
    for index in design.deferredIndexes where !isPlanted(.unbuiltIndexUsed) { try catalogue.setBuilding(index, 0, t) }
  }

  // MARK: Rows

  /// Removes the rows that are no longer in a tree which stays: of entities that go, and of those that move elsewhere.
  private func removeRows(_ store: EntityStore) throws(EngineError) {
    let staying = Set(design.rowTrees.values)
    var leaving: [TreeID: Set<UInt32>] = [:]
    for entity in design.removed + design.entities.values.filter({ $0.changesTree }).map({ $0.source }) {
      guard let tree = design.old.catalogue.rows[entity.rootID], staying.contains(tree) else { continue }
      leaving[tree, default: []].insert(entity.id)
    }
    // One pass over a tree of rows, whatever entities are in it.
    for (tree, entities) in leaving {
      let layouts = Set(design.old.catalogue.layouts.filter { entities.contains($0.value.entity) }.keys)
      try before.trees.eachRowInChunks(tree) { (number, bytes) throws(EngineError) in
        try storing { () throws(StoreError) in
          if layouts.contains(try RecordView.layoutID(of: bytes)), !isPlanted(.removedRowsStay) {
            _ = try t.delete(tree, number)
          }
        }
      }
    }
  }

  /// How rows of one layout are written anew.
  final class Rewriting {
    let plan: EntityPlan
    let builder: RecordBuilder
    let projection: StaleLayout
    let work: EntityMigration
    let conversions: [Conversion]
    /// Relationships that are set in rows.
    let relationships: [Int]
    /// What is written; that of all rows which go to the same tree.
    let batch: RowBatch
    /// Links that are in rows still and go into trees.
    let pending: [PendingLinks]
    /// Whether the layout is all that changes.
    let isPlain: Bool

    @_optimize(none)
    init(
      _ work: EntityMigration, _ plan: EntityPlan, _ builder: RecordBuilder, _ projection: StaleLayout,
      _ pending: [PendingLinks], _ batch: RowBatch
    ) {
      self.pending = pending
      self.work = work
      self.plan = plan
      self.builder = builder
      self.projection = projection
      self.batch = batch
      conversions = work.converted.compactMap { place in
        let attribute = work.destination.allAttributes[place]
        guard let field = plan.layout.fieldByName[attribute.name] else { return nil }
        return Conversion(attribute, from: work.match.attributes[place], field)
      }
      relationships = work.fills + work.cleans
      isPlain = conversions.isEmpty && relationships.isEmpty && pending.isEmpty
    }

    /// The same for another thread, with a builder of its own, into a batch.
    @_optimize(none)
    init(_ other: Rewriting, _ batch: RowBatch) {
      (work, plan, projection) = (other.work, other.plan, other.projection)
      (conversions, relationships, pending) = (other.conversions, other.relationships, other.pending)
      isPlain = other.isPlain
      builder = RecordBuilder(other.plan.layout.record)
      self.batch = batch
    }
  }

  /// An attribute whose values are converted one by one.
  final class Conversion {
    let attribute: AttributeSchema
    let from: AttributeSchema?
    let field: Int

    init(_ attribute: AttributeSchema, from: AttributeSchema?, _ field: Int) {
      self.attribute = attribute
      self.from = from
      self.field = field
    }
  }

  /// Writes every row anew of the entities for which that is due: straight from any layout that rows have to the one
  /// that they get, in one pass over a tree, whatever entities are in it.
  private func rewriteRows(_ store: EntityStore) throws(EngineError) {
    var rewritings: [TreeID: [UInt16: Rewriting]] = [:]
    // By the tree that rows come from, then by the one that they go to: it need not be the same.
    var batches: [TreeID: [TreeID: RowBatch]] = [:]
    for entity in design.destination.entities {
      guard let work = design.entities[entity.id], work.isRewritten else { continue }
      guard let tree = design.old.catalogue.rows[work.source.rootID] else {
        throw .corrupt("entity \(work.source.name) has no rows")
      }
      let plan = try store.plan(entity.id)
      let builder = RecordBuilder(plan.layout.record)
      let batch = batches[tree]?[plan.rows] ?? RowBatch()
      batches[tree, default: [:]][plan.rows] = batch
      for (id, descriptor) in design.old.catalogue.layouts where descriptor.entity == work.source.id {
        let projection = try StaleLayout(id, work.migrated(descriptor), current: plan.layout)
        rewritings[tree, default: [:]][id] = Rewriting(
          work, plan, builder, projection, try store.pendingLinks(projection), batch)
      }
    }
    for (tree, byLayout) in rewritings.ordered(by: { $0.key < $1.key }) {
      try rewriteRows(tree, byLayout)
      try storing { () throws(StoreError) in
        for (goal, batch) in batches[tree] ?? [:] { try t.apply(batch, to: goal) }
      }
      batches[tree] = nil
    }
  }

  private func rewriteRows(_ tree: TreeID, _ byLayout: [UInt16: Rewriting]) throws(EngineError) {
    if try rewriteConcurrently(tree, byLayout) { return }
    let limit = max(1 << 12, min(1 << 22, design.old.kernel.deltaBytes / 4))
    // Kept by `byLayout`: nothing is counted for every row.
    var known: (layout: UInt16, rewriting: Unmanaged<Rewriting>?)?
    let cursor = try storing { () throws(StoreError) in try before.trees.cursor(tree) }
    var more = try storing { () throws(StoreError) in try cursor.seekFirst() }
    while more {
      var outcome: Result<Void, EngineError> = .success(())
      more = try storing { () throws(StoreError) in
        let number = cursor.integerKey
        _ = try cursor.withValue { (bytes) throws(StoreError) in
          let id = try RecordView.layoutID(of: bytes)
          if known?.layout != id { known = (id, byLayout[id].map { .passUnretained($0) }) }
          guard let rewriting = known?.rewriting else { return }
          do throws(EngineError) {
            try rewriting.borrowed { (rewriting) throws(EngineError) in try write(bytes, number, rewriting) }
          } catch { outcome = .failure(error) }
        }
        if let rewriting = known?.rewriting {
          try rewriting.borrowed { (rewriting) throws(StoreError) in
            guard rewriting.batch.bytes > limit else { return }
            try t.apply(rewriting.batch, to: rewriting.plan.rows)
            rewriting.batch.removeAll()
          }
        }
        return try cursor.next()
      }
      try outcome.get()
    }
    withExtendedLifetime(byLayout) {}
  }

  /// Writes a row anew, into the batch.
  func write(
    _ bytes: UnsafeRawBufferPointer, _ number: UInt64, _ rewriting: Rewriting
  ) throws(EngineError) {
    if rewriting.isPlain {
      try storing { () throws(StoreError) in
        try rewriting.projection.project(bytes, number, into: rewriting.batch, by: rewriting.builder)
      }
      return
    }
    try storing { () throws(StoreError) in try rewriting.projection.project(bytes, into: rewriting.builder) }
    for links in rewriting.pending {
      for key in try links.keys(bytes, number) {
        try storing { () throws(StoreError) in try t.put(links.tree, key, []) }
      }
    }
    try change(bytes, number, rewriting)
    try storing { () throws(StoreError) in
      try rewriting.builder.withBytes { (bytes) throws(StoreError) in try rewriting.batch.add(number, bytes) }
    }
  }

  /// Sets what is not as it was in a row that is written anew.
  private func change(
    _ bytes: UnsafeRawBufferPointer, _ number: UInt64, _ rewriting: Rewriting
  ) throws(EngineError) {
    let row = try before.row(bytes, number)
    for conversion in rewriting.conversions {
      guard let value = try rewriting.work.value(of: conversion.attribute, from: conversion.from, in: row) else {
        throw .migrationBlocked([
          MigrationBlock(
            entity: rewriting.work.destination.name, property: conversion.attribute.name,
            reason: .overflow(conversion.attribute.type), count: 1, objects: [row.reference])
        ])
      }
      try storing { () throws(StoreError) in
        try rewriting.builder.set(value, elements: conversion.attribute.elements, at: conversion.field)
      }
    }
    for place in rewriting.relationships {
      try setTargets(place, rewriting.work, rewriting.plan, row, rewriting.builder)
    }
  }

  /// Sets a relationship in a row: from links, or from the row but for what went.
  private func setTargets(
    _ place: Int, _ work: EntityMigration, _ plan: EntityPlan, _ row: Row, _ builder: RecordBuilder
  ) throws(EngineError) {
    let relationship = work.destination.allRelationships[place]
    guard let field = plan.layout.fieldByName[relationship.name] else { return }
    var targets: [ObjectReference] = []
    if let table = links[relationship.id] {
      targets = try table.targets(of: row.reference.row)
      if design.relationships[relationship.id]?.linkSources.count ?? 0 > 1 {
        // What both sides had is there twice.
        var seen: Set<UInt64> = []
        targets.removeAll { !seen.insert($0.row).inserted }
      }
    } else if let from = work.match.relationships[place] {
      let entities = design.targetEntities(of: from, as: relationship)
      for target in try before.related(row.reference, from) where try before.leads(to: target, among: entities) {
        targets.append(target)
      }
    }
    let packed = targets.map { PackedReference.pack($0) }
    try storing { () throws(StoreError) in
      if relationship.isToMany {
        try builder.set(references: packed.isEmpty ? nil : packed, at: field)
      } else {
        try builder.set(reference: packed.first, at: field)
      }
    }
  }

  // MARK: Links

  private func fillLinks(_ store: EntityStore) throws(EngineError) {
    for work in design.relationships.values.ordered(by: { $0.relationship.id < $1.relationship.id }) {
      let relationship = work.relationship
      if work.linkSources.isEmpty { continue }
      if case .tree = work.storage, let tree = catalogue.relationships[relationship.id] {
        try design.eachLink(of: work, before) { (source, target, _) throws(EngineError) in
          try storing { () throws(StoreError) in try t.put(tree, linkKey(source.row, target.row), []) }
        }
      } else if work.isInRow {
        let table = try LinkTable(t)
        links[relationship.id] = table
        try design.eachLink(of: work, before) { (source, target, place) throws(EngineError) in
          try table.add(source, place: relationship.isOrdered ? place : target.row, target)
        }
      }
    }
  }

  // MARK: Trees

  /// Fills the trees of indexes, constraints and ways back that were made or emptied.
  private func buildTrees(_ after: EntityTransaction, _ kit: TransactionKit, _ kept: Set<TreeID>) throws(EngineError) {
    let store = after.store
    var wanted: Set<TreeID> = []
    for (index, tree) in store.catalogue.indexes where !kept.contains(tree) && !design.deferredIndexes.contains(index) {
      wanted.insert(tree)
    }
    for tree in store.catalogue.constraints.values where !kept.contains(tree) && !isPlanted(.constraintNotBuilt) {
      wanted.insert(tree)
    }
    for (id, tree) in store.catalogue.relationships where !kept.contains(tree) {
      // Of one that is new no row has any links.
      if case .new? = design.relationships[id]?.source { continue }
      wanted.insert(tree)
    }
    var keepers: [UInt32: IndexKeeper] = [:]
    var plans: [TreeID: [EntityPlan]] = [:]
    for entity in store.schema.entities where design.entities[entity.id] != nil {
      let plan = try store.plan(entity.id)
      let keeper = IndexKeeper(after, plan, kit, only: wanted)
      if keeper.isIdle { continue }
      keepers[entity.id] = keeper
      plans[plan.rows, default: []].append(plan)
    }
    var last: (entity: UInt32, keeper: IndexKeeper?)?
    // One pass over a tree of rows, whatever entities are in it.
    for (tree, plans) in plans.ordered(by: { $0.key < $1.key }) {
      if var build = try IndexBuild(after, tree, plans, wanted) {
        try build.run()
        continue
      }
      try after.trees.eachRowInChunks(tree) { (number, bytes) throws(EngineError) in
        try after.lend(bytes, number) { (row) throws(EngineError) in
          let entity = row.reference.entity
          if last?.entity != entity { last = (entity, keepers[entity]) }
          try last?.keeper?.insert(row.record, row.reference, after)
        }
        try after.settleIfLarge()
      }
    }
  }
}
