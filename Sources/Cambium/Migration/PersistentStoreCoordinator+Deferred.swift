import CambiumEngine

/// Work that a migration put off (``DeferredTask``), one for each entity.
public typealias DeferredMigrationTask = CambiumEngine.DeferredTask

extension PersistentStoreCoordinator {
  /// What migrations of the coordinator's stores have put off and nobody has done yet.
  ///
  /// - Throws: ``CambiumError`` if a store cannot be read.
  public func deferredLightweightMigrationTasks() throws -> [DeferredMigrationTask] {
    var tasks: [DeferredMigrationTask] = []
    for store in persistentStores {
      tasks += try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
    }
    return tasks
  }

  /// Does everything that was put off. Core Data: the same name. Objects can be fetched and saved meanwhile. If the process
  /// ends before, the rest is there to be done; nothing of it has to be.
  ///
  /// - Throws: ``CambiumError`` if a store cannot be written.
  public func finishDeferredLightweightMigration() throws {
    try finishDeferredLightweightMigration { _ in true }
  }

  /// Does what was put off, part by part, for schedulers that may stop background work at any moment.
  ///
  /// - Parameters:
  ///   - rowsAtATime: The rows that a part goes through; each part is a commit of its own.
  ///   - goesOn: Asked before every part, with what is left to do; `false` stops. What was done stays done.
  /// - Returns: Whether everything is done.
  /// - Throws: ``CambiumError`` if a store cannot be written.
  @discardableResult
  public func finishDeferredLightweightMigration(
    rowsAtATime: Int = 10_000, while goesOn: ([DeferredMigrationTask]) -> Bool
  ) throws -> Bool {
    for store in persistentStores where !store.isReadOnly {
      var isLeft = true
      while isLeft {
        let tasks = try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
        if tasks.isEmpty { break }
        if !goesOn(tasks) { return false }
        isLeft = try mapping(.migration) { () throws(EngineError) in
          try store.currentEngine().runDeferredTask(maximumRows: rowsAtATime)
        }
      }
    }
    return true
  }

  /// Does the first task that was put off, to its end. Core Data: the same name. Nothing if there is none.
  ///
  /// - Throws: ``CambiumError`` if a store cannot be written.
  public func finishDeferredLightweightMigrationTask() throws {
    for store in persistentStores where !store.isReadOnly {
      let tasks = try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
      guard let first = tasks.first else { continue }
      while true {
        _ = try mapping(.migration) { () throws(EngineError) in try store.currentEngine().runDeferredTask() }
        let left = try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
        if left.first?.entity != first.entity { return }
      }
    }
  }
}
