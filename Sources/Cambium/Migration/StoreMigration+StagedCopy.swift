import CambiumEngine
import CambiumKernel
import CambiumSystem

// If a manager has hooks, its stages are one commit together. If the way takes several commits, they are made in a
// copy, which then takes the store's place:
//
//   close the store -> open it alone, for reading -> copy it under a temporary name, locked -> run the stages in the
//   copy -> close and sync the copy -> rename it over the store -> sync the directory -> open the store
//
// The store itself is not written. So whatever ends the migration before the rename leaves the store as it was, and the
// next opening removes the copy.
extension StoreMigration {
  /// Wraps the device of a copy. For tests that look at each of its operations.
  @TaskLocal static var copyDevice: (@Sendable (any StorageDevice) -> any StorageDevice)?
  /// The files whose stages run in this chain of calls.
  @TaskLocal private static var filesBeingCopied: [String] = []

  /// Refuses to open a file whose stages run in this chain of calls: the opening would wait for itself.
  func requireNoCopy(of path: String) throws {
    guard Self.filesBeingCopied.contains(path) else { return }
    throw CambiumError(
      .invalidArgument,
      "a handler of a migration stage opens \(file), the store that is migrated; use the handler's own context")
  }

  /// Whether the stages that a store still needs are more than one commit.
  func needsCopy(_ store: EntityStore, _ manager: StagedMigrationManager) throws -> Bool {
    if try store.pendingStage() != nil { return true }
    let target = try destination.versionChecksum
    if store.schema.versionChecksum == target { return false }
    let plan = try StagePlan(manager, store.schema, to: destination, target)
    guard plan.steps.count == 1, case .custom(let stage, _)? = plan.steps.first else { return plan.steps.count > 1 }
    return stage.willMigrateHandler != nil || stage.migrateHandler != nil || stage.didMigrateHandler != nil
  }

  /// Copies the store at a path, which nobody else has open, into a device, and runs the stages there.
  @_optimize(none)
  func migrateCopy(of path: String, into device: FileDevice, _ manager: StagedMigrationManager) throws {
    DebugLog.write(.migration, "\(file): migrating by stages in a copy, which takes the store's place")
    _ = try StoreFiles.copyBytes(of: path, to: device) { _ in true }
    var options = description.storeOptions
    // The copy has no name until it is closed, which makes it durable: that one sync is enough.
    options.durability = .normal
    let kernel = try Store.open(
      on: Self.copyDevice?(device) ?? device, environment: SystemEnvironment(), options: options)
    do {
      let shared = SharedStore(try EntityStore.open(kernel))
      try Self.$filesBeingCopied.withValue(Self.filesBeingCopied + [path]) {
        try StagedMigration(
          manager: manager, description: description, destination: destination, definition: definition, shared: shared
        ).run()
      }
      try kernel.detach()
    } catch {
      // Nobody will see the copy.
      try? kernel.detach()
      throw error
    }
  }
}
