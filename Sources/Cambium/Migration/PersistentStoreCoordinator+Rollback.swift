import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A state that a migration can be undone to.
public typealias PriorState = CambiumEngine.PriorState

extension PersistentStoreCoordinator {
  /// Undoes the newest migration of each store whose state before it is kept: as long as something that it put off is
  /// not done, or, with ``PersistentStoreDescription/keepsStateBeforeMigration``, until ``confirmMigration()``. Model
  /// and objects are as they were before, by a new commit; nothing is copied and no row is read.
  ///
  /// A migration by stages is several: each call undoes one stage. What a stage's `willMigrateHandler` saved was saved
  /// before it and stays; what its `migrateHandler` and `didMigrateHandler` saved counts as saved since.
  ///
  /// The store has the model of before then, and the coordinator the one of after: its contexts read on what they have,
  /// and then throw ``CambiumError/Code/persistentStoreIncompatibleSchema``, as those of other processes do. Open the
  /// store with the model of before; opened with the one of after it is migrated again. Where both models describe the
  /// same rows (they differ by an index, say), its contexts go on instead, and an object that is saved is a conflict if
  /// what it is based on was discarded. Objects made since the migration are gone, and their identifiers name nothing
  /// any more.
  ///
  /// - Parameter discardsCommits: Whether what was saved since the migration may be lost.
  /// - Throws: ``CambiumError/Code/migration``, with `EngineError.noMigrationToRollBack` underneath if there is nothing
  ///   to be undone in any store, or `EngineError.commitsSinceMigration`, which says how many, if something was saved
  ///   since; what writing throws. Of several stores, those before the one that failed are rolled back.
  @_optimize(none)
  public func rollBackMigration(discardsCommits: Bool = false) throws {
    let stores = persistentStores.filter { !$0.isReadOnly }
    var isDone = false
    for store in stores {
      let prior = try mapping { () throws(EngineError) in try store.currentEngine().priorState() }
      if prior == nil { continue }
      try mapping(.migration) { () throws(EngineError) in
        try store.rollBackMigration(discardsCommits: discardsCommits)
      }
      DebugLog.write(.migration, "\(store.url?.lastPathComponent ?? "memory"): went back behind the migration")
      isDone = true
    }
    if !isDone { throw CambiumError(EngineError.noMigrationToRollBack, during: .migration) }
  }

  /// Gives up the states before migrations, and the room that they hold in the files; nothing can be undone then. Work
  /// that was put off stays to be done.
  ///
  /// - Throws: What writing throws.
  public func confirmMigration() throws {
    for store in persistentStores where !store.isReadOnly {
      try mapping(.migration) { () throws(EngineError) in try store.currentEngine().confirmMigration() }
    }
  }

  /// The states that ``rollBackMigration(discardsCommits:)`` would go back to, one for each store that has one.
  ///
  /// - Throws: What reading throws.
  public func statesBeforeMigration() throws -> [PriorState] {
    try persistentStores.compactMap { store in
      try mapping { () throws(EngineError) in try store.currentEngine().priorState() }
    }
  }
}

extension Migration {
  /// Undoes the newest migration of the store in a file, without a model; see
  /// ``PersistentStoreCoordinator/rollBackMigration(discardsCommits:)``.
  ///
  /// - Throws: as there; ``CambiumError/Code/persistentStoreOpen`` if the file cannot be opened for writing.
  public static func rollBack(storeAt url: URL, discardsCommits: Bool = false) throws {
    let shared = try open(url)
    defer { try? OpenStores.close(shared) }
    _ = try mapping(.migration) { () throws(EngineError) in
      try shared.rolledBack(discardsCommits: discardsCommits)
    }
  }
}
