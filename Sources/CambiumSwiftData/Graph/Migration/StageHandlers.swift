import Cambium

/// Calls the handlers of a stage with contexts of the store that is migrated.
struct StageHandlers {
  /// A version before or after the stage.
  struct Side {
    let version: PlanVersion
    /// The entities that other stores of the container have.
    let foreign: [String]
  }

  let plan: any SchemaMigrationPlan.Type
  let configuration: ModelConfiguration
  let old: Side
  let new: Side

  /// Adds the handlers of a plan's stage to the one of the object graph.
  func add(_ planned: MigrationStage, to stage: CustomMigrationStage) {
    switch planned {
    case .lightweight: break
    case .custom(_, _, let willMigrate, let didMigrate):
      stage.willMigrateHandler = handler(old, willMigrate)
      stage.didMigrateHandler = handler(new, didMigrate)
    case .comparing(_, _, let migrate): stage.migrateHandler = comparing(migrate)
    }
  }

  /// A handler of one context.
  private func handler(
    _ side: Side, _ body: ((ModelContext) throws -> Void)?
  ) -> CustomMigrationStage.Handler? {
    guard let body else { return nil }
    return { manager, _ in
      guard let context = context(manager.container, side) else { return }
      try check(context, side) { try body(context) }
    }
  }

  private func comparing(_ body: @escaping (ModelContext, ModelContext) throws -> Void) -> CustomMigrationStage.Handler
  {
    { manager, _ in
      guard let before = context(manager.containerBefore, old), let after = context(manager.container, new) else {
        return
      }
      try check(after, new) {
        try body(before, after)
        guard before.hasChanges else { return }
        throw SwiftDataError(
          .loadIssueModelContainer,
          "it has changed models of the old context, which is read-only: \(changes(of: before)). Change those of the new context, "
            + "new.existingModel(for: model.persistentModelID)")
      }
    }
  }

  /// A context on the store that is migrated, with the classes of a version.
  private func context(_ container: PersistentContainer?, _ side: Side) -> ModelContext? {
    guard let coordinator = container?.persistentStoreCoordinator else { return nil }
    let stores = ContainerStores(side.version.schema, plan, [configuration], coordinator)
    return ModelContext(ModelContainer(stores))
  }

  // MARK: Checks

  /// Runs a handler, which must save its changes and leave out the models of other stores.
  private func check(_ context: ModelContext, _ side: Side, _ body: () throws -> Void) throws {
    let before = try counts(context, side)
    try body()
    guard !context.hasChanges else {
      throw SwiftDataError(
        .loadIssueModelContainer,
        "it has returned with unsaved changes: \(changes(of: context)). End the handler with context.save()")
    }
    // Throws if a change was lost that the context could not make.
    try context.save()
    for (entity, (count, former)) in zip(side.foreign, zip(try counts(context, side), before)) where count > former {
      throw SwiftDataError(
        .loadIssueModelContainer,
        "it has inserted models of '\(entity)' into the store of the configuration '\(configuration.name)', which has no such "
          + "models. Each store of a container is migrated by itself: look at context.container.configurations before inserting"
      )
    }
  }

  /// How many models of other stores there are.
  private func counts(_ context: ModelContext, _ side: Side) throws -> [Int] {
    try side.foreign.map { entity in
      let request = FetchRequest<ManagedObject>(entityName: entity)
      request.includesSubentities = false
      return try context.managedObjectContext.count(for: request)
    }
  }

  /// The changes of a context, for messages.
  private func changes(of context: ModelContext) -> String {
    func text(_ models: [any PersistentModel], _ verb: String) -> String? {
      if models.isEmpty { return nil }
      let named = models.prefix(5).map { "\($0.persistentModelID)" }.sorted().joined(separator: ", ")
      return "\(verb) \(named)" + (models.count > 5 ? " and \(models.count - 5) more" : "")
    }
    return [
      text(context.insertedModelsArray, "inserted"), text(context.changedModelsArray, "changed"),
      text(context.deletedModelsArray, "deleted"),
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
