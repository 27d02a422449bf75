/// Runs blocks of a coordinator, one at a time. Thread-safe.
final class CoordinatorBlocks: @unchecked Sendable {
  // `@unchecked`: `tail` is touched with `tailLock` held only.
  let lock = ContextLock()
  private let tailLock = StateLock()
  private var tail: Task<Void, Never>?

  /// Has a block run when those that came before it have.
  func start(_ block: @escaping @Sendable () -> Void) {
    tailLock.locked {
      let previous = tail
      tail = Task.detached { [lock] in
        await previous?.value
        lock.run(block)
      }
    }
  }
}

// A coordinator is thread-safe, and a call of its methods is atomic; several together are in a block.
extension PersistentStoreCoordinator {
  /// Runs a block on the calling thread while no other block of the coordinator runs; waits for one that does. May be called
  /// within such a block. Calls outside of blocks, and what contexts read and save, are not kept from anything. Core Data:
  /// `performAndWait(_:)`.
  ///
  /// - Throws: what the block throws.
  @discardableResult
  public func performAndWait<R, Failure: Error>(_ block: () throws(Failure) -> R) throws(Failure) -> R {
    try blocks.lock.run(block)
  }

  /// Starts a block that runs while no other block of the coordinator does. Those that are started so run in the order of their
  /// starting. Core Data: `perform(_:)`.
  public func perform(_ block: @escaping @Sendable () -> Void) { blocks.start(block) }
}
