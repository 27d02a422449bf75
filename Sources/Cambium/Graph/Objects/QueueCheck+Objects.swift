import CambiumSystem

extension QueueCheck {
  /// Whether the calling thread has no business with the objects of a context, as far as can be told.
  private static func isElsewhere(_ context: ManagedObjectContext) -> Bool {
    if context.lock.isHeldHere || context.concurrencyType == .confinement { return false }
    guard context.concurrencyType == .mainQueue else { return true }
    if SystemEnvironment.isMainThread() { return false }
    // The main actor goes on by other threads on Linux, within a task, and nobody can be asked whether it is the main
    // actor's.
    return withUnsafeCurrentTask { $0 == nil }
  }

  @inline(never)
  static func check(_ object: ManagedObject, _ key: String) {
    guard let context = object.managedObjectContext, isElsewhere(context) else { return }
    let owner = context.name.map { "the context '\($0)'" } ?? "its context"
    let remedy =
      context.concurrencyType == .mainQueue
      ? "use it on the main thread, or in a block of perform(_:)"
      : "use it in a block of perform(_:) or performAndWait(_:)"
    let line = "'\(key)' of '\(object.entity.name)' was used outside of the queue of \(owner): \(remedy)"
    if told.isNew(line) { DebugLog.write(.concurrency, line) }
  }
}
