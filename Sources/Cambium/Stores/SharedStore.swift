import CambiumEngine
import CambiumKernel
import CambiumSystem
import Synchronization

/// A file that this process has open, with the model that it has now: coordinators on one file share it, and one of
/// them may migrate it. Thread-safe.
final class SharedStore: @unchecked Sendable {
  // `@unchecked`: `newest` is touched with `lock` held only.
  let kernel: Store
  private let lock: any StoreLock = SystemEnvironment().makeLock()
  private var newest: EntityStore
  private let stages = StateLock()
  private let counts = Mutex((users: 0, keepers: 0))

  init(_ store: EntityStore) {
    kernel = store.kernel
    newest = store
  }

  // MARK: Coordinators

  /// Counts a coordinator that opens the store. It must call ``leave(keepsModel:)`` when it closes the store.
  func enter(keepsModel: Bool) { counts.withLock { $0 = ($0.users + 1, $0.keepers + (keepsModel ? 1 : 0)) } }

  /// Takes away a coordinator that closes the store.
  func leave(keepsModel: Bool) { counts.withLock { $0 = ($0.users - 1, $0.keepers - (keepsModel ? 1 : 0)) } }

  /// Whether a coordinator that opens the store may give it another model, with respect to those that have it open.
  func allowsOtherModel(keepsModel: Bool) -> Bool {
    counts.withLock { $0.keepers == 0 && !(keepsModel && $0.users > 0) }
  }

  // MARK: Models

  /// The store with the model that it has now; opened anew if another process has migrated it.
  func current() throws(EngineError) -> EntityStore {
    lock.lock()
    defer { lock.unlock() }
    return try refreshed()
  }

  private func refreshed() throws(EngineError) -> EntityStore {
    do throws(EngineError) { _ = try newest.view() } catch {
      guard case .modelChanged = error else { throw error }
      newest = try EntityStore.open(kernel)
    }
    return newest
  }

  /// Migrates the store, unless it has the model already; others that ask meanwhile wait.
  ///
  /// - Parameter check: Is told what is about to be migrated, again if another process was faster, and may refuse it.
  func migrated(
    to definition: SchemaDefinition, defers: Bool, keepsPriorState: Bool = false,
    check: (EntityStore, Schema) throws(EngineError) -> Void = { (_, _) throws(EngineError) in },
    observe: ((CambiumEngine.MigrationStep) -> Void)?
  ) throws(EngineError) -> EntityStore {
    lock.lock()
    defer { lock.unlock() }
    while true {
      let store = try refreshed()
      let model: Schema
      do throws(SchemaError) { model = try Schema(definition, basedOn: store.schema) } catch { throw .schema(error) }
      if model.isEqualButForOrder(to: store.schema) { return store }
      do throws(EngineError) {
        try check(store, model)
        newest = try store.migrate(
          to: definition, defers: defers, keepsPriorState: keepsPriorState, observe: observe)
        return newest
      } catch {
        // Another process was faster.
        guard case .modelChanged = error else { throw error }
      }
    }
  }

  /// Runs `body` when no migration by stages of the store runs, in this process or another.
  func alone<R>(_ body: () throws -> R) throws -> R {
    try stages.locked {
      do throws(StoreError) { try kernel.beginStages() } catch { throw CambiumError(error, during: .migration) }
      defer { kernel.endStages() }
      return try body()
    }
  }

  /// Migrates the store a step, if nobody has given it another model since `store` was opened.
  ///
  /// - Throws: ``EngineError/modelChanged`` if somebody has; what `EntityStore.migrate` throws.
  func advanced(
    from store: EntityStore, to definition: SchemaDefinition, defers: Bool, keepsPriorState: Bool,
    stage: StageRecord?, matchesNames: Bool, observe: ((CambiumEngine.MigrationStep) -> Void)?
  ) throws(EngineError) -> EntityStore {
    lock.lock()
    defer { lock.unlock() }
    newest = try store.migrate(
      to: definition, defers: defers, keepsPriorState: keepsPriorState, stage: stage, matchesNames: matchesNames,
      observe: observe)
    return newest
  }

  /// Undoes the newest migration; others that ask meanwhile wait. See
  /// `EntityStore.rollBackMigration(discardsCommits:)`.
  func rolledBack(discardsCommits: Bool) throws(EngineError) -> EntityStore {
    lock.lock()
    defer { lock.unlock() }
    newest = try refreshed().rollBackMigration(discardsCommits: discardsCommits)
    return newest
  }
}
