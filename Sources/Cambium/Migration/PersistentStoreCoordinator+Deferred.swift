import CambiumEngine
import CambiumKernel

/// Work that a migration put off: one for each index to build, and for each entity whose rows hold what is gone.
public typealias DeferredMigrationTask = CambiumEngine.DeferredTask

extension PersistentStoreCoordinator {
  /// What migrations of the coordinator's stores have put off and nobody has done yet, with what each will free. Reads
  /// some hundred rows for each.
  ///
  /// - Throws: ``CambiumError`` if a store cannot be read.
  public func deferredLightweightMigrationTasks() throws -> [DeferredMigrationTask] {
    var tasks: [DeferredMigrationTask] = []
    for store in persistentStores {
      tasks += try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks(estimatesFreed: true) }
    }
    return tasks
  }

  /// Does everything that was put off. Core Data: the same name. Objects can be fetched and saved meanwhile. If the
  /// process ends before, the rest is there to be done; nothing of it has to be.
  ///
  /// - Throws: ``CambiumError`` if a store cannot be written; ``CambiumError/Code/fileWriteNoPermission`` if a
  ///   read-only store has deferred work. The call finishes the other stores before it throws.
  @_optimize(none)
  public func finishDeferredLightweightMigration() throws {
    try finishDeferredLightweightMigration(within: DeferredMigrationBudget())
  }

  /// Does what was put off, part by part, for schedulers that may stop background work at any moment.
  ///
  /// - Parameters:
  ///   - rowsAtATime: The rows that a part goes through; each part is a commit of its own.
  ///   - goesOn: Asked before every part, with what is left to do; `false` stops. What was done stays done.
  /// - Returns: Whether everything is done.
  /// - Throws: ``CambiumError`` if a store cannot be written; ``CambiumError/Code/fileWriteNoPermission`` if a
  ///   read-only store has deferred work. The call finishes the other stores before it throws.
  @discardableResult
  @_optimize(none)
  public func finishDeferredLightweightMigration(
    rowsAtATime: Int = 10_000, while goesOn: ([DeferredMigrationTask]) -> Bool
  ) throws -> Bool {
    for store in persistentStores where !store.isReadOnly {
      guard store.uses.begin() else { throw CambiumError(StoreError.closed) }
      defer { store.uses.end() }
      var isLeft = true
      var isBegun = false
      while isLeft {
        let tasks = try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
        if tasks.isEmpty { break }
        if !goesOn(tasks) { return false }
        isBegun = true
        try store.requireUnmoved()
        isLeft = try mapping(.migration) { () throws(EngineError) in
          try store.currentEngine().runDeferredTask(maximumRows: rowsAtATime)
        }
      }
      if isBegun { store.logFinished("what migrations put off") }
    }
    try requireNoReadOnlyTasks()
    return true
  }

  /// Does what was put off within a budget, for schedulers that give background work little time and may end it at any
  /// moment: the work is done in parts of some milliseconds, each a commit of its own, and what was done stays done,
  /// also if the process is killed. Call it again to go on. Objects can be fetched and saved meanwhile.
  ///
  ///     let isDone = try coordinator.finishDeferredLightweightMigration(
  ///       within: DeferredMigrationBudget(duration: .seconds(20)), isExpired: { task.isCancelled },
  ///       progress: { print("\($0.rows) rows, \($0.tasksLeft) tasks left") })
  ///
  /// - Parameters:
  ///   - budget: What may be used. At least one part is done, unless it is used up from the beginning (a duration or a
  ///     number of pages of 0).
  ///   - isExpired: Asked before every part; `true` stops.
  ///   - progress: Told after every part, on the thread of the call.
  /// - Returns: Whether everything is done.
  /// - Throws: ``CambiumError`` if a store cannot be written; ``CambiumError/Code/fileWriteNoPermission`` if a
  ///   read-only store has deferred work. The call finishes the other stores before it throws.
  @discardableResult
  @_optimize(none)
  public func finishDeferredLightweightMigration(
    within budget: DeferredMigrationBudget, isExpired: () -> Bool = { false },
    progress: (DeferredMigrationProgress) -> Void = { _ in }
  ) throws -> Bool {
    let clock = ContinuousClock()
    let start = clock.now
    var allowance = DeferredAllowance(duration: budget.duration, pages: budget.pages)
    for store in persistentStores where !store.isReadOnly {
      guard store.uses.begin() else { throw CambiumError(StoreError.closed) }
      defer { store.uses.end() }
      // Parts that nobody waited for are made durable in the end, whatever ends the work.
      defer { _ = try? store.currentEngine().kernel.makeDurable() }
      var isBegun = false
      while true {
        let tasks = try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
        guard let task = tasks.first else { break }
        let began = clock.now
        if isExpired() { return false }
        isBegun = true
        try store.requireUnmoved()
        guard let limit = allowance.limit(of: task, after: began - start) else { return false }
        var turn = began
        let part = try mapping(.migration) { () throws(EngineError) in
          try store.currentEngine().runDeferredPart(within: limit, durably: allowance.isDurable) {
            turn = clock.now
          }
        }
        allowance.note(clock.now - turn, part, of: task)
        let now = try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
        var present = now.first ?? task
        // Parts that are not durable yet are not in view.
        if let next = part.nextRow { present.nextRow = next }
        progress(DeferredMigrationProgress(task: present, rows: allowance.total, tasksLeft: now.count))
      }
      if isBegun { store.logFinished("what migrations put off") }
    }
    try requireNoReadOnlyTasks()
    return true
  }

  /// Does the first task that was put off, to its end. Core Data: the same name. Nothing if there is none.
  ///
  /// - Throws: ``CambiumError`` if a store cannot be written; ``CambiumError/Code/fileWriteNoPermission`` if a
  ///   read-only store has deferred work. The call finishes the other stores before it throws.
  @_optimize(none)
  public func finishDeferredLightweightMigrationTask() throws {
    for store in persistentStores where !store.isReadOnly {
      guard store.uses.begin() else { throw CambiumError(StoreError.closed) }
      defer { store.uses.end() }
      let tasks = try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
      guard let first = tasks.first else { continue }
      while true {
        try store.requireUnmoved()
        _ = try mapping(.migration) { () throws(EngineError) in try store.currentEngine().runDeferredTask() }
        let left = try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
        if left.first?.isSame(as: first) ?? false { continue }
        return store.logFinished(first.subject)
      }
    }
    try requireNoReadOnlyTasks()
  }

  /// Throws if a read-only store has work that was put off. Who asks for a task after another, until none is left,
  /// would ask for ever.
  private func requireNoReadOnlyTasks() throws {
    for store in persistentStores where store.isReadOnly {
      let tasks = try mapping { () throws(EngineError) in try store.currentEngine().deferredTasks() }
      guard let first = tasks.first else { continue }
      var error = CambiumError(
        .fileWriteNoPermission,
        "the store is read-only, and a migration has put off work in it (\(first)): open it for writing to finish that, or "
          + "leave it, since nothing needs it done")
      error.storeURL = store.url
      throw error
    }
  }
}

extension PersistentStore {
  fileprivate func logFinished(_ work: String) {
    DebugLog.write(.migration, "\(url?.lastPathComponent ?? "memory"): finished \(work)")
  }
}
