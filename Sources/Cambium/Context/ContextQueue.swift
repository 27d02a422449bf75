/// The blocks of a context, in the order in which they were started.
final class ContextQueue {
  /// Runs the blocks of a private queue one after the other. The event ends with each block.
  actor Runner {
    func run<R: Sendable, Failure: Error>(
      _ context: ManagedObjectContext, _ body: @Sendable () throws(Failure) -> R
    ) throws(Failure) -> R {
      try context.runEvent(body)
    }
  }

  let runner = Runner()
  private let lock = StateLock()
  private var tail: Task<Void, Never>?

  /// The last block that was started.
  var last: Task<Void, Never>? { lock.locked { tail } }

  /// Starts a block, which runs after all blocks that were started before.
  func start(_ block: @escaping @Sendable () async -> Void) {
    lock.locked {
      let previous = tail
      tail = Task.detached {
        await previous?.value
        await block()
      }
    }
  }
}
