extension ManagedObjectContext {
  /// Runs a request, and tells of it if anybody wants to know. No store is closed meanwhile.
  @inline(__always)
  func told<R>(
    _ activity: @autoclosure () -> StoreEvent.Activity, count: (R) -> Int, plan: () -> String? = { nil },
    _ body: () throws -> R
  ) throws -> R {
    if parent == nil { try persistentStoreCoordinator.requireStores() }
    let uses = beginUses()
    defer { for use in uses { use.end() } }
    let hook = persistentStoreCoordinator.eventHook
    guard hook.isOn else { return try body() }
    return try hook.run(activity(), name: name, author: transactionAuthor, count: count, plan: plan, body)
  }

  /// Begins to use the stores, which are not closed before each use has ended. A child does not, because its parent
  /// does when it is asked.
  private func beginUses() -> [StoreUses] {
    guard parent == nil else { return [] }
    // One that is being closed refuses by itself, if it is asked.
    return persistentStoreCoordinator.persistentStores.compactMap { $0.uses.begin() ? $0.uses : nil }
  }
}
