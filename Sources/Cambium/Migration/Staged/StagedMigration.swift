import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A migration by stages walks from the version that the store has to that of the coordinator's model:
//
//   read the store's version and record -> a handler pending? run it, clear the record -> at the end? done
//   -> plan the whole rest of the way -> make the first step of it, in one commit with its record -> again
//
// What is done next depends on the store alone, so it makes no difference whether the process ended in between. The
// record (`StageRecord`) says which handler of a custom stage is under way:
//
//   commit   | record afterwards     | the next opening
//   ---------+-----------------------+------------------------------------------------
//   1 note   | willMigrate           | calls willMigrateHandler (again)
//     ...    | willMigrate           | what the handler saves: the same
//   2 migrate| migrate, didMigrate | calls migrateHandler, which reads the retained state before; or didMigrateHandler;
//            | or none               | or goes on
//     ...    | the same              | what the handlers save: the same
//   3 note   | didMigrate, or none   | calls didMigrateHandler, or goes on

/// Brings a store to its coordinator's model by stages.
struct StagedMigration {
  let manager: StagedMigrationManager
  let description: PersistentStoreDescription
  let destination: ManagedObjectModel
  let definition: SchemaDefinition
  let shared: SharedStore

  /// The managers and stores whose stages run in this chain of calls.
  @TaskLocal static var running: [ObjectIdentifier] = []

  var file: String { description.url?.lastPathComponent ?? "memory" }

  /// Runs the stages that are still needed. Others that want to migrate the store, in this process or another, wait.
  @_optimize(none)
  func run() throws {
    let mine = [ObjectIdentifier(manager), ObjectIdentifier(shared)]
    if Self.running.contains(where: { mine.contains($0) }) {
      throw CambiumError(
        .invalidArgument,
        "a handler of a migration stage opens \(file) with a staged migration manager that is at work, or opens the store "
          + "that is migrated; use the manager's container")
    }
    try manager.alone {
      try shared.alone {
        try Self.$running.withValue(Self.running + mine) { try walk() }
      }
    }
  }

  private func walk() throws {
    let target = try destination.versionChecksum
    while true {
      let store = try mapping(.persistentStoreOpen) { () throws(EngineError) in try shared.current() }
      do {
        if try finishStage(store) { continue }
        try store.releaseOwnStates()
        if store.schema.versionChecksum == target { return }
        try advance(store, target)
      } catch let error as EngineError {
        // Another process has given the store another model: the way starts there.
        if case .modelChanged = error { continue }
        DebugLog.write(.migration, "\(file): not migrated: \(error.description)")
        throw CambiumError(error, during: .migration)
      } catch {
        DebugLog.write(.migration, "\(file): not migrated: \(error)")
        throw error
      }
    }
  }

  @_optimize(none)
  private func advance(_ store: EntityStore, _ target: String) throws {
    let plan = try StagePlan(manager, store.schema, to: destination, target)
    guard let step = plan.steps.first else { return }
    switch step {
    case .custom(let stage, let next): try run(stage, store, next)
    case .lightweight(let from, let to, let model):
      let (source, goal) = (plan.versions[from], plan.versions[to])
      // A version that a custom stage leads to has that stage, which is over.
      let stage = source.stage is CustomMigrationStage ? goal.stage : source.stage
      DebugLog.write(.migration, "\(file): stage \(stage.name), from \(source.checksum) to \(goal.checksum)")
      let failure: CambiumError
      do {
        return try migrate(store, to: model, stage: nil)
      } catch EngineError.migrationBlocked(let blocks) {
        failure = CambiumError(blocks)
      }
      // Objects stand in the way of the one step: perhaps not in that of several.
      guard let shorter = plan.singleStep(from: from, store.schema, insteadOf: to) else { throw failure }
      DebugLog.write(.migration, "\(file): objects stand in the way; going on version by version")
      do { try migrate(store, to: shorter, stage: nil) } catch EngineError.migrationBlocked { throw failure }
    }
  }

  // MARK: Custom stages

  /// Calls the handler that was under way when the store was last open, if there is one; answers whether there was
  /// something to finish.
  @_optimize(none)
  private func finishStage(_ store: EntityStore) throws -> Bool {
    guard let record = try store.pendingStage() else { return false }
    let stage = manager.stages.lazy.compactMap { $0 as? CustomMigrationStage }.first {
      $0.currentModel.versionChecksum == record.current.base64 && $0.nextModel.versionChecksum == record.next.base64
    }
    guard let stage else { throw CambiumError(unfinished: record) }
    let model = try model(of: stage.nextModel)
    var next: StageRecord?
    if record.phase == .migrate {
      if let handler = stage.migrateHandler {
        let before = try store.state(before: record)
        DebugLog.write(.migration, "\(file): stage \(stage.name): migrateHandler")
        try call(handler, "migrateHandler", stage, store, model, before: before)
      }
      if stage.didMigrateHandler != nil {
        next = StageRecord(phase: .didMigrate, current: record.current, next: record.next)
      }
    } else if let handler = stage.didMigrateHandler {
      DebugLog.write(.migration, "\(file): stage \(stage.name): didMigrateHandler")
      try call(handler, "didMigrateHandler", stage, store, model)
    }
    try store.write { (t) throws(EngineError) in try t.setStageRecord(next, replacing: record) }
    if next == nil { DebugLog.write(.migration, "\(file): stage \(stage.name): finished") }
    return true
  }

  /// The first half of a custom stage; ``finishStage(_:)`` does the rest.
  @_optimize(none)
  private func run(_ stage: CustomMigrationStage, _ store: EntityStore, _ next: ManagedObjectModel) throws {
    guard let current = VersionHash(base64: stage.currentModel.versionChecksum),
      let following = VersionHash(base64: stage.nextModel.versionChecksum)
    else { return }
    DebugLog.write(
      .migration, "\(file): stage \(stage.name), from \(current.base64) to \(following.base64)")
    if let handler = stage.willMigrateHandler {
      let record = StageRecord(phase: .willMigrate, current: current, next: following)
      if try store.stageRecord() != record {
        try store.write { (t) throws(EngineError) in try t.setStageRecord(record) }
      }
      DebugLog.write(.migration, "\(file): stage \(stage.name): willMigrateHandler")
      try call(handler, "willMigrateHandler", stage, store, try stage.currentModel.resolvedModel)
    }
    var record: StageRecord?
    if stage.migrateHandler != nil || stage.didMigrateHandler != nil {
      let phase: StageRecord.Phase = stage.migrateHandler == nil ? .didMigrate : .migrate
      record = StageRecord(phase: phase, current: current, next: following)
    }
    do { try migrate(store, to: next, stage: record) } catch EngineError.migrationBlocked(let blocks) {
      guard let hooks = manager.hooks else { throw EngineError.migrationBlocked(blocks) }
      let container = try self.container(store, try stage.currentModel.resolvedModel, description)
      defer { close(container) }
      throw hooks.explainBlocks(CambiumError(blocks), stage, container)
    }
  }

  private func migrate(_ store: EntityStore, to model: ManagedObjectModel, stage: StageRecord?) throws {
    var number = 0
    let result = try shared.advanced(
      from: store, to: model === destination ? definition : try model.definition(),
      defers: description.shouldDeferLightweightMigration, keepsPriorState: description.keepsStateBeforeMigration,
      stage: stage, matchesNames: manager.hooks != nil,
      observe: !DebugLog.isOn(.migration)
        ? nil
        : { step in
          number += 1
          DebugLog.write(.migration, "\(file): step \(number): \(step.description)")
        })
    DebugLog.write(.migration, "\(file): migrated, model \(result.schema.versionChecksum)")
  }

  /// The model that a reference names: the coordinator's if it is that version.
  private func model(of reference: ManagedObjectModelReference) throws -> ManagedObjectModel {
    let model = try reference.resolvedModel
    return try reference.versionChecksum == destination.versionChecksum ? destination : model
  }

  /// Calls a handler, with the manager's container on the store as it is.
  @_optimize(none)
  private func call(
    _ handler: CustomMigrationStage.Handler, _ name: String, _ stage: CustomMigrationStage, _ store: EntityStore,
    _ model: ManagedObjectModel, before: EntityStore? = nil
  ) throws {
    let container = try self.container(store, model, description)
    let reading = PersistentStoreDescription(url: description.url ?? URL(fileURLWithPath: file))
    reading.isReadOnly = true
    let earlier = try before.map { before in
      let model =
        try manager.hooks == nil ? ManagedObjectModel(schema: before.schema) : stage.currentModel.resolvedModel
      return try self.container(before, model, reading)
    }
    manager.setContainers(container, before: earlier)
    defer {
      manager.setContainers(nil, before: nil)
      close(container)
      if let earlier { close(earlier) }
    }
    do {
      try handler(manager, stage)
      try requireSaved(container.viewContext, by: name)
    } catch {
      let detail = (error as? CambiumError)?.message ?? manager.hooks?.message(error) ?? "\(error)"
      throw CambiumError(
        .migration,
        manager.hooks == nil
          ? "the \(name) of the migration stage \(stage.name) failed, and will be called again when the store is next opened: "
            + detail
          : "the \(name == "migrateHandler" ? "handler" : name.replacing("Handler", with: "")) of the migration stage \(stage.name) failed, and the store is as it was "
            + "before: \(detail)", underlying: [error])
    }
    let now = try mapping(.migration) { () throws(EngineError) in try shared.current() }
    guard now.modelNumber == store.modelNumber else {
      throw CambiumError(
        .migration,
        "the \(name) of the migration stage \(stage.name) has returned, and the store has another model than before it was "
          + "called: a handler must not migrate the store, nor undo a migration of it, nor may another process while this one "
          + "is suspended. What is left of the stages is done when the store is next opened")
    }
  }

  /// Throws if a handler has left changes in its container's context: they would be lost without a word.
  private func requireSaved(_ context: ManagedObjectContext, by handler: String) throws {
    guard context.hasChanges else { return }
    let changes = [
      (context.insertedObjects.count, "inserted"), (context.updatedObjects.count, "changed"),
      (context.deletedObjects.count, "deleted"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    throw CambiumError(
      .migration,
      "it has returned with unsaved changes of the container's viewContext (\(changes)). End the handler with save(), or "
        + "with rollback()")
  }

  /// Ends the use of a container on a store that is open.
  private func close(_ container: PersistentContainer) {
    container.viewContext.reset()
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  /// A container on a store that is open.
  private func container(
    _ store: EntityStore, _ model: ManagedObjectModel, _ description: PersistentStoreDescription
  ) throws -> PersistentContainer {
    let result = PersistentContainer(name: file, managedObjectModel: model)
    result.persistentStoreCoordinator.makesPlainObjects = manager.hooks == nil
    // There is nothing to load.
    result.persistentStoreDescriptions = []
    var description = description
    if manager.hooks != nil, description.configuration != nil {
      // Versions before the coordinator's have no configurations, so a handler may ask for all entities.
      let isReadOnly = description.isReadOnly
      description = PersistentStoreDescription(url: description.url ?? URL(fileURLWithPath: file))
      description.isReadOnly = isReadOnly
    }
    _ = try result.persistentStoreCoordinator.borrow(store, as: description)
    return result
  }
}

extension EntityStore {
  /// The stage that is under way.
  func stageRecord() throws -> StageRecord? {
    do throws(EngineError) { return try view().stageRecord() } catch {
      guard case .unsupported(let text) = error else { throw error }
      throw CambiumError(.stagedMigrationFrameworkVersionMismatch, text, underlying: [error])
    }
  }

  /// The stage whose migration is done and whose last handler has not returned.
  func pendingStage() throws -> StageRecord? {
    guard let record = try stageRecord(), record.isPending(in: schema) else { return nil }
    return record
  }
}

extension CambiumError {
  /// A stage was begun, and nobody has its handler.
  @_optimize(none)
  init(unfinished record: StageRecord) {
    self.init(
      .migration,
      "the store is in the middle of the migration stage from version checksum \(record.current.base64) to "
        + "\(record.next.base64): its handler was not done when the process ended. Open the store with a staged migration "
        + "manager that has this stage, with the handler, or without if there is nothing to finish")
  }
}
