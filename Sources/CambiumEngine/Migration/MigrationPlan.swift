import CambiumKernel

/// What a migration would do to a store, and what stands in its way: told before it is done.
public struct MigrationPlan: Sendable {
  /// What becomes of every entity and property.
  public var mapping: SchemaMapping
  /// What is done, in this order, in one commit.
  public var steps: [MigrationStep] = []
  /// Objects that stand in the way. Duplicates under new constraints are looked for as well.
  public var blocks: [MigrationBlock] = []

  /// Whether the migration costs the same at any size of the store.
  public var isMetadataOnly: Bool {
    steps.allSatisfy { $0.kind == .writeModel || $0.kind == .keepRows || $0.isPutOff }
  }
}

/// A step of a migration.
public struct MigrationStep: Sendable, Equatable {
  /// What is done.
  public enum Kind: Sendable, Equatable {
    /// The model is written down.
    case writeModel
    /// Rows of an entity stay as they are; they are read as the new model has them.
    case keepRows
    /// Every row of an entity is written anew.
    case rewriteRows
    /// The rows of an entity go.
    case removeRows
    /// The rows of a whole hierarchy go, with their pages.
    case dropRows
    /// The links of a relationship are written anew.
    case relate
    /// A relationship's links go, with their pages.
    case dropLinks
    /// An index is built, for the first time or anew.
    case buildIndex
    /// A uniqueness constraint is built and looked at.
    case buildConstraint
    /// An index or a constraint goes, with its pages.
    case dropIndex
  }

  /// What is done.
  public var kind: Kind
  /// The entity, as the new model calls it; the old one for what goes. Nil if the step is about no one entity.
  public var entity: String?
  /// The property or index.
  public var name: String?
  /// Rows, links or entries that are read or written.
  public var entries: UInt64 = 0
  /// Pages that they are in, as of the last checkpoint.
  public var pages: UInt64 = 0
  /// The bytes of these pages.
  public var bytes: UInt64 = 0
  /// Whether the step could be put off until after the store is open.
  public var isDeferrable = false
  /// Whether it is: it is no part of the commit, and a task afterwards.
  public var isPutOff = false

  /// One line: what, where, how much.
  public var description: String {
    let place = (entity ?? "") + (name.map { (entity == nil ? "" : ".") + $0 } ?? "")
    let what: String
    switch kind {
    case .writeModel: return "write the model"
    case .keepRows: return "keep the rows of \(place), to be read as the new model has them"
    case .rewriteRows: what = "rewrite the rows of \(place)"
    case .removeRows: what = "remove the rows of \(place)"
    case .dropRows: what = "drop the rows of \(place)"
    case .relate: what = "write the links of \(place)"
    case .dropLinks: what = "drop the links of \(place)"
    case .buildIndex: what = "build index \(place)"
    case .buildConstraint: what = "build the uniqueness constraint \(place)"
    case .dropIndex: what = "drop index \(place)"
    }
    return (isPutOff ? "later, " : "") + what + " (\(entries) entries, \(pages) pages)"
  }
}

extension EntityStore {
  /// What migrating to a model would do. Nothing is changed.
  ///
  /// - Throws: ``EngineError/notInferable(_:)``, ``EngineError/schema(_:)``; kernel errors. O(rows that are looked at): of
  ///   entities with something that may stand in the way, and of new uniqueness constraints.
  public func migrationPlan(
    to definition: SchemaDefinition, defers: Bool = false
  ) throws(EngineError) -> MigrationPlan {
    let earlier = schema
    let destination = try resolving { () throws(SchemaError) in try Schema(definition, basedOn: earlier) }
    let view = try view()
    let present = try EntityStore(
      kernel: kernel, schema: schema, catalogue: Catalogue(view.trees), modelNumber: modelNumber)
    let design = try MigrationDesign(present, destination, defers: defers)
    var plan = MigrationPlan(mapping: design.mapping)
    plan.steps = try design.steps(view)
    plan.blocks = try design.findBlocks(view)
    // What a constraint finds is known once it is built: so it is, in a transaction that is rolled back.
    if plan.blocks.isEmpty, plan.steps.contains(where: { $0.kind == .buildConstraint }) {
      do throws(EngineError) { try tryOut(design) } catch {
        guard case .migrationBlocked(let blocks) = error else { throw error }
        plan.blocks = blocks
      }
    }
    return plan
  }

  private func tryOut(_ design: MigrationDesign) throws(EngineError) {
    let t = try beginWrite()
    defer { t.rollBack() }
    try requireModel(t)
    let before = try storing { () throws(StoreError) in try t.newest() }
    _ = try MigrationRun(design, t, before: EntityView(store: self, trees: before)).run()
  }
}

extension MigrationDesign {
  /// The steps, with how much there is to each.
  func steps(_ view: EntityView) throws(EngineError) -> [MigrationStep] {
    var steps: [MigrationStep] = []
    func add(
      _ kind: MigrationStep.Kind, _ entity: String?, _ name: String?, _ tree: TreeID?, _ isDeferrable: Bool
    ) throws(EngineError) {
      var step = MigrationStep(kind: kind, entity: entity, name: name, isDeferrable: isDeferrable)
      if let tree {
        let statistics = try storing { () throws(StoreError) in try view.trees.statistics(tree) }
        step.entries = statistics.entries
        step.pages = statistics.pages
        step.bytes = statistics.pageBytes
      }
      steps.append(step)
    }
    try add(.writeModel, nil, nil, nil, false)
    try addDropped(add)
    let staying = Set(rowTrees.values)
    for entity in destination.entities {
      guard let work = entities[entity.id] else { continue }
      let tree = old.catalogue.rows[work.source.rootID]
      if work.isRewritten {
        try add(.rewriteRows, entity.name, nil, tree, false)
      } else if !work.keepsLayout {
        try add(.keepRows, entity.name, nil, tree, false)
      }
    }
    for entity in removed {
      guard let tree = old.catalogue.rows[entity.rootID], staying.contains(tree) else { continue }
      try add(.removeRows, entity.name, nil, tree, true)
    }
    for (_, work) in relationships.sorted(by: { $0.key < $1.key }) {
      if case .filled = work.source {
        try add(
          .relate, work.owner.name, work.relationship.name,
          entities[work.owner.id].flatMap { old.catalogue.rows[$0.source.rootID] }, false)
      }
    }
    for entity in destination.entities where entities[entity.id] != nil {
      let tree = entities[entity.id].flatMap { old.catalogue.rows[$0.source.rootID] }
      for index in entity.indexes where !keptIndexes.contains(index.id) {
        try add(.buildIndex, entity.name, index.name, tree, true)
        steps[steps.count - 1].isPutOff = deferredIndexes.contains(index.id)
      }
      for constraint in entity.uniquenessConstraints where !keptConstraints.contains(constraint.id) {
        var name = ""
        for path in constraint.paths { name += name.isEmpty ? path : ", " + path }
        try add(.buildConstraint, entity.name, name, tree, false)
      }
    }
    return steps
  }

  private func addDropped(
    _ add: (MigrationStep.Kind, String?, String?, TreeID?, Bool) throws(EngineError) -> Void
  ) throws(EngineError) {
    let gone = Set(removed.map { $0.id })
    for entity in old.schema.entities where entity.parentID == nil {
      guard let tree = old.catalogue.rows[entity.id],
        old.schema.entityAndDescendants(entity.id).allSatisfy({ gone.contains($0.id) })
      else { continue }
      try add(.dropRows, entity.name, nil, tree, true)
    }
    for entity in old.schema.entities {
      for relationship in entity.relationships {
        guard let tree = old.catalogue.relationships[relationship.id], relationships[relationship.id]?.keepsTree != true
        else { continue }
        try add(.dropLinks, entity.name, relationship.name, tree, relationships[relationship.id] == nil)
      }
      for index in entity.indexes where !keptIndexes.contains(index.id) {
        try add(.dropIndex, entity.name, index.name, old.catalogue.indexes[index.id], true)
      }
      for constraint in entity.uniquenessConstraints where !keptConstraints.contains(constraint.id) {
        var name = ""
        for path in constraint.paths { name += name.isEmpty ? path : ", " + path }
        try add(.dropIndex, entity.name, name, old.catalogue.constraints[constraint.id], true)
      }
    }
  }
}
