import CambiumKernel

/// What a migration would do to a store, and what stands in its way: told before it is done.
public struct MigrationPlan: Sendable {
  /// What becomes of every entity and property.
  public var mapping: SchemaMapping
  /// The drops, each with its number of values: entities, stored attributes, elements of composites and relationships
  /// of the store's model without a counterpart in the new one.
  public var drops: [ModelDrop] = []
  /// What is done, in this order, in one commit; at the end what is put off, and done by a task of its own afterwards.
  /// Empty if the store has the model already.
  public var steps: [MigrationStep] = []
  /// Objects that stand in the way. Duplicates under new constraints are looked for as well, as far as what else is in
  /// the way lets constraints be built.
  public var blocks: [MigrationBlock] = []

  /// Whether there is anything to do; not if the store has the model already, but for the order in which it is
  /// declared.
  public var isNeeded: Bool { !steps.isEmpty }

  /// Whether the migration costs the same at any size of the store.
  public var isMetadataOnly: Bool {
    steps.allSatisfy {
      $0.kind == .writeModel || $0.kind == .keepRows || $0.kind == .shareRows || $0.isPutOff
    }
  }
}

/// A step of a migration.
public struct MigrationStep: Sendable, Equatable, CustomStringConvertible {
  /// What is done.
  public enum Kind: Sendable, Equatable {
    /// The model is written down.
    case writeModel
    /// Rows of an entity stay as they are; they are read as the new model has them.
    case keepRows
    /// The rows of an entity that leaves its hierarchy stay among those of another one, which ``MigrationStep/name``
    /// tells. Only a migration that defers what it can does so.
    case shareRows
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
    /// What leads back along a to-one relationship whose inverse is to-many is built, for the first time or anew.
    case buildInverse
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
  /// The property or index; the other entity, if rows stay among those of another one.
  public var name: String?
  /// Rows, links or entries that are read or written.
  public var entries: UInt64 = 0
  /// Pages that they are in, as of the last checkpoint. Where several steps are done in one pass, as for the entities
  /// of a hierarchy, or the indexes of an entity, the first of them has its pages.
  public var pages: UInt64 = 0
  /// The bytes of these pages.
  public var bytes: UInt64 = 0
  /// Whether the step could be put off until after the store is open: a migration that defers what it can does it
  /// later, or does without it.
  public var isDeferrable = false
  /// Whether it is put off: it is no part of the commit, and a task afterwards.
  public var isPutOff = false

  /// One line: what, where, how much.
  @_optimize(none)
  public var description: String {
    let place = (entity ?? "") + (name.map { (entity == nil ? "" : ".") + $0 } ?? "")
    let what: String
    switch kind {
    case .writeModel: return "write the model"
    case .keepRows: return "keep the rows of \(place), to be read as the new model has them"
    case .shareRows: return "keep the rows of \(entity ?? "") among those of \(name ?? "")"
    case .rewriteRows: what = "rewrite the rows of \(place)"
    case .removeRows: what = "remove the rows of \(place)"
    case .dropRows: what = "drop the rows of \(place)"
    case .relate: what = "write the links of \(place)"
    case .dropLinks: what = "drop the links of \(place)"
    case .buildInverse: what = "build the way back of \(place)"
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
  /// - Parameter matchesNames: As for ``migrate(to:defers:keepsPriorState:stage:matchesNames:observe:)``.
  /// - Throws: ``EngineError/notInferable(_:)``, ``EngineError/schema(_:)``; kernel errors. O(rows that are looked at):
  ///   of entities with drops, or with something that may stand in the way, and of new uniqueness constraints.
  @_optimize(none)
  public func migrationPlan(
    to definition: SchemaDefinition, defers: Bool = false, matchesNames: Bool = false
  ) throws(EngineError) -> MigrationPlan {
    let earlier = try source(matchesNames: matchesNames)
    let destination = try resolving { () throws(SchemaError) in try Schema(definition, basedOn: earlier) }
    let view = try view()
    let present = try EntityStore(
      kernel: kernel, schema: schema, catalogue: Catalogue(view.trees), modelNumber: modelNumber)
    let design = try MigrationDesign(present, earlier, destination, defers: defers)
    var plan = MigrationPlan(mapping: design.mapping)
    // What migrations leave alone.
    if destination.isEqualButForOrder(to: schema) { return plan }
    plan.drops = try counted(ModelStep(from: earlier, to: destination).drops, view)
    plan.steps = try design.plannedSteps(view)
    plan.blocks = try design.findBlocks(view)
    // What a constraint finds is known once it is built: so it is, in a transaction that is rolled back.
    if plan.steps.contains(where: { $0.kind == .buildConstraint }) {
      do throws(EngineError) { try tryOut(design) } catch {
        if case .migrationBlocked(let blocks) = error {
          // What else is in the way is known already, and may have ended it before.
          for block in blocks where !plan.blocks.contains(block) {
            if case .duplicate = block.reason { plan.blocks.append(block) }
          }
        } else {
          // What is in the way may end it in some other way; a store that cannot be read or written is told.
          switch error {
          case .store, .modelChanged: throw error
          default: if plan.blocks.isEmpty { throw error }
          }
        }
      }
    }
    return plan
  }

  /// The store's model, as a migration compares it with the destination.
  func source(matchesNames: Bool) throws(EngineError) -> Schema {
    guard matchesNames else { return schema }
    return try resolving { () throws(SchemaError) in try schema.withoutRenamingIdentifiers() }
  }

  private func tryOut(_ design: MigrationDesign) throws(EngineError) {
    let t = try beginWrite()
    defer { t.rollBack() }
    try requireModel(t)
    let before = try storing { () throws(StoreError) in try t.newest() }
    _ = try MigrationRun(design, t, before: EntityView(store: self, trees: before)).run()
  }
}
