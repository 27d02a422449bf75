/// Runs blocks of a coordinator, one at a time. Thread-safe.
struct CoordinatorBlocks {
  let lock: ContextLock
  let queue: WorkQueue

  init(_ threads: WorkerThreads) {
    lock = ContextLock()
    queue = WorkQueue(lock, threads)
  }
}

// A coordinator is thread-safe, and a call of its methods is atomic; several together are in a block.
extension PersistentStoreCoordinator {
  /// Runs a block on the calling thread while no other block of the coordinator runs; waits for one that does. May be
  /// called within such a block. Calls outside of blocks, and what contexts read and save, are not kept from anything.
  /// Core Data: `performAndWait(_:)`.
  ///
  /// - Throws: what the block throws.
  @discardableResult
  public func performAndWait<R, Failure: Error>(_ block: () throws(Failure) -> R) throws(Failure) -> R {
    try blocks.lock.run(block)
  }

  /// Starts a block that runs while no other block of the coordinator does. Those that are started so run in the order
  /// of their starting, on the threads that run the blocks of contexts. Core Data: `perform(_:)`.
  public func perform(_ block: @escaping @Sendable () -> Void) { blocks.queue.start(block) }
}
