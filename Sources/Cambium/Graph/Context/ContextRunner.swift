/// The actor whose executor a context's queue is.
actor ContextRunner {
  nonisolated let queue: WorkQueue
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  init(_ queue: WorkQueue) { self.queue = queue }

  func run<R: Sendable, Failure: Error>(
    _ context: ManagedObjectContext, _ body: @Sendable () throws(Failure) -> R
  ) throws(Failure) -> R {
    try context.runEvent(body)
  }
}
