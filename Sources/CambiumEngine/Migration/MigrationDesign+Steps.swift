import CambiumKernel

// What a migration does, step by step, in the order in which ``MigrationRun`` does it.

extension MigrationDesign {
  /// The steps, with how much there is to each, and which of them could be put off.
  @_optimize(none)
  func plannedSteps(_ view: EntityView) throws(EngineError) -> [MigrationStep] {
    var steps = try steps(view)
    if isDeferred {
      for place in steps.indices { steps[place].isDeferrable = steps[place].isPutOff }
      return steps
    }
    // Could be put off is what a migration that defers does not do at once.
    var others: [MigrationStep] = []
    let deferring = try MigrationDesign(old, source, destination, defers: true)
    for step in try deferring.steps(view, counts: false) where !step.isPutOff {
      others.append(step)
    }
    for place in steps.indices where steps[place].kind != .keepRows {
      steps[place].isDeferrable = !others.contains { $0.isSame(as: steps[place]) }
    }
    return steps
  }

  @_optimize(none)
  private func steps(_ view: EntityView, counts: Bool = true) throws(EngineError) -> [MigrationStep] {
    var list = StepList(old, view, counts: counts)
    list.add(.writeModel)
    try addDropped(&list)
    for entity in destination.entities {
      guard let work = entities[entity.id], !work.isRewritten, !work.keepsLayout else { continue }
      list.add(.keepRows, entity.name)
    }
    addShared(&list)
    for (_, work) in relationships.ordered(by: { $0.key < $1.key }) where !work.linkSources.isEmpty {
      list.add(.relate, work.owner.name, work.relationship.name)
      // Each is a pass of its own over what has the links.
      for part in work.linkSources {
        if let rows = sourceRows(of: part.owner) { try list.count(rows) }
      }
    }
    let staying = Set(rowTrees.values)
    for entity in removed
      + destination.entities.compactMap({ entities[$0.id] }).filter({ $0.changesTree }).map({ $0.source })
    {
      guard let tree = old.catalogue.rows[entity.rootID], staying.contains(tree) else { continue }
      list.add(.removeRows, entity.name)
      try list.count(rowsOf: entity, tree)
    }
    for entity in destination.entities {
      guard let work = entities[entity.id], work.isRewritten, let tree = old.catalogue.rows[work.source.rootID] else {
        continue
      }
      list.add(.rewriteRows, entity.name)
      try list.count(rowsOf: work.source, tree)
    }
    try addBuilt(&list)
    try addLater(&list)
    return list.steps
  }

  /// The rows that an entity had, or, if it is new, those of an entity under it.
  private func sourceRows(of entity: EntitySchema) -> TreeID? {
    for member in destination.entityAndDescendants(entity.id) {
      if let work = entities[member.id] { return old.catalogue.rows[work.source.rootID] }
    }
    return nil
  }

  /// The hierarchies that get the tree of rows of another one, too.
  @_optimize(none)
  private func addShared(_ list: inout StepList) {
    for root in destination.entities where root.parentID == nil {
      guard let tree = rowTrees[root.id], entities[root.id].flatMap({ old.catalogue.rows[$0.source.id] }) != tree,
        let other = destination.entities.first(where: { $0.id != root.id && rowTrees[$0.id] == tree })
      else { continue }
      list.add(.shareRows, root.name, other.name)
    }
  }

  /// What goes as a whole.
  @_optimize(none)
  private func addDropped(_ list: inout StepList) throws(EngineError) {
    let gone = Set(removed.map { $0.id })
    // From a tree that another hierarchy goes on with, rows are removed one by one.
    let staying = Set(rowTrees.values)
    var counted: Set<TreeID> = []
    for entity in old.schema.entities where entity.parentID == nil {
      guard let tree = old.catalogue.rows[entity.id], !staying.contains(tree),
        old.schema.entityAndDescendants(entity.id).allSatisfy({ gone.contains($0.id) })
      else { continue }
      list.add(.dropRows, entity.name)
      if counted.insert(tree).inserted { try list.count(tree) }
    }
    let taken = Set(relationships.values.compactMap { $0.takenTree?.tree })
    for entity in old.schema.entities {
      for relationship in entity.relationships {
        guard let tree = old.catalogue.relationships[relationship.id], !taken.contains(tree),
          relationships[relationship.id]?.keepsTree != true
        else { continue }
        list.add(.dropLinks, entity.name, relationship.name)
        try list.count(tree)
      }
      for index in entity.indexes where !keptIndexes.contains(index.id) {
        list.add(.dropIndex, entity.name, index.name)
        if let tree = old.catalogue.indexes[index.id] { try list.count(tree) }
      }
      for constraint in entity.uniquenessConstraints where !keptConstraints.contains(constraint.id) {
        list.add(.dropIndex, entity.name, Self.name(constraint))
        if let tree = old.catalogue.constraints[constraint.id] { try list.count(tree) }
      }
    }
  }

  /// What is filled from the rows, in one pass over those of a hierarchy.
  @_optimize(none)
  private func addBuilt(_ list: inout StepList) throws(EngineError) {
    list.beginPass()
    for entity in destination.entities {
      // The keys of an entity that is new are made of the rows of those under it, too.
      guard let tree = sourceRows(of: entity) else { continue }
      for relationship in entity.relationships {
        guard let work = relationships[relationship.id], !work.keepsTree, case .rowAndTree = work.storage else {
          continue
        }
        // Of one that is new no row has any links.
        if case .new = work.source { continue }
        list.add(.buildInverse, entity.name, relationship.name)
        try list.count(inPass: tree)
      }
      for index in entity.indexes where !keptIndexes.contains(index.id) && !deferredIndexes.contains(index.id) {
        list.add(.buildIndex, entity.name, index.name)
        try list.count(inPass: tree)
      }
      for constraint in entity.uniquenessConstraints where !keptConstraints.contains(constraint.id) {
        list.add(.buildConstraint, entity.name, Self.name(constraint))
        try list.count(inPass: tree)
      }
    }
  }

  /// What is put off, each by a pass of its own.
  @_optimize(none)
  private func addLater(_ list: inout StepList) throws(EngineError) {
    for entity in destination.entities {
      guard let tree = sourceRows(of: entity) else { continue }
      for index in entity.indexes where deferredIndexes.contains(index.id) {
        list.add(.buildIndex, entity.name, index.name, isPutOff: true)
        try list.count(tree)
      }
      if entities[entity.id]?.defersRewriting == true {
        list.add(.rewriteRows, entity.name, isPutOff: true)
        try list.count(tree)
      }
    }
  }

  private static func name(_ constraint: UniquenessConstraint) -> String {
    var name = ""
    for path in constraint.paths { name += name.isEmpty ? path : ", " + path }
    return name
  }
}

extension MigrationStep {
  /// Whether both do the same to the same.
  fileprivate func isSame(as other: MigrationStep) -> Bool {
    kind == other.kind && entity == other.entity && name == other.name
  }
}

/// Steps, with figures.
private struct StepList {
  private let old: EntityStore
  private let view: EntityView
  private(set) var steps: [MigrationStep] = []
  /// The trees that the pass which is under way goes through.
  private var passed: Set<TreeID> = []
  private var kind: MigrationStep.Kind?
  /// Whether figures are wanted.
  private let counts: Bool
  private var known: [TreeID: TreeStatistics] = [:]
  /// How many rows each entity has in the trees of hierarchies, which are gone through for that once.
  private var rowsByEntity: [TreeID: [UInt32: UInt64]] = [:]

  init(_ old: EntityStore, _ view: EntityView, counts: Bool) {
    self.old = old
    self.view = view
    self.counts = counts
  }

  /// Adds a step. Steps of one kind that come one after the other are one pass.
  mutating func add(
    _ kind: MigrationStep.Kind, _ entity: String? = nil, _ name: String? = nil, isPutOff: Bool = false
  ) {
    steps.append(MigrationStep(kind: kind, entity: entity, name: name, isPutOff: isPutOff))
  }

  /// From here on rows are gone through anew.
  mutating func beginPass() { passed = [] }

  /// Adds what is in a tree to the last step.
  mutating func count(_ tree: TreeID) throws(EngineError) {
    if !counts { return }
    let statistics = try statistics(tree)
    let place = steps.count - 1
    steps[place].entries += statistics.entries
    steps[place].pages += statistics.pages
    steps[place].bytes += statistics.pageBytes
  }

  /// Adds the rows of a tree to the last step, and its pages if the pass has not gone through them for an earlier one.
  mutating func count(inPass tree: TreeID) throws(EngineError) {
    if !counts { return }
    if passed.insert(tree).inserted { return try count(tree) }
    steps[steps.count - 1].entries += try statistics(tree).entries
  }

  /// Adds the rows of an entity to the last step, which is done for all entities of a tree in one pass.
  mutating func count(rowsOf entity: EntitySchema, _ tree: TreeID) throws(EngineError) {
    if !counts { return }
    let place = steps.count - 1
    if kind != steps[place].kind { beginPass() }
    kind = steps[place].kind
    if passed.insert(tree).inserted {
      let statistics = try statistics(tree)
      steps[place].pages += statistics.pages
      steps[place].bytes += statistics.pageBytes
    }
    steps[place].entries += try rows(of: entity, tree)
  }

  private mutating func statistics(_ tree: TreeID) throws(EngineError) -> TreeStatistics {
    if let found = known[tree] { return found }
    let trees = view.trees
    let found = try storing { () throws(StoreError) in try trees.statistics(tree) }
    known[tree] = found
    return found
  }

  /// How many rows of an entity a tree has. O(1) where nothing else is in it; O(rows) once for a hierarchy.
  @_optimize(none)
  private mutating func rows(of entity: EntitySchema, _ tree: TreeID) throws(EngineError) -> UInt64 {
    if old.plans[entity.id]?.sharesRows == false { return try statistics(tree).entries }
    if let found = rowsByEntity[tree] { return found[entity.id] ?? 0 }
    let trees = view.trees
    var rowsByLayout: [UInt16: UInt64] = [:]
    try storing { () throws(StoreError) in
      try trees.forEachRun(tree) { (run) throws(StoreError) -> Bool in
        for i in run.indices { rowsByLayout[try RecordView.layoutID(of: run.value(i)), default: 0] += 1 }
        return true
      }
    }
    var found: [UInt32: UInt64] = [:]
    for (layout, rows) in rowsByLayout {
      if let descriptor = old.catalogue.layouts[layout] { found[descriptor.entity, default: 0] += rows }
    }
    rowsByEntity[tree] = found
    return found[entity.id] ?? 0
  }
}
