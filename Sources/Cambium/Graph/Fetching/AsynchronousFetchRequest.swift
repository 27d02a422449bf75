import CambiumEngine

/// A fetch that looks for its objects beside the context, which is free meanwhile. Core Data:
/// `NSAsynchronousFetchRequest`.
///
///     let search = AsynchronousFetchRequest(request) { result in
///       show(result.finalResult ?? [])
///     }
///     let running = try context.execute(search)
///     // Another key was typed:
///     running.cancel()
public struct AsynchronousFetchRequest<Result: FetchRequestResult> {
  /// What is fetched. It is read when the fetch begins.
  public let fetchRequest: FetchRequest<Result>
  /// Called on the context's queue when the fetch has ended.
  public let completionBlock: (@Sendable (AsynchronousFetchResult<Result>) -> Void)?
  /// About how many objects there will be, for ``FetchProgress/estimatedCount``; 0 for what the plan estimates.
  public var estimatedResultCount = 0

  /// A fetch that calls a block when it has ended.
  public init(
    _ fetchRequest: FetchRequest<Result>,
    completionBlock: (@Sendable (AsynchronousFetchResult<Result>) -> Void)? = nil
  ) {
    self.fetchRequest = fetchRequest
    self.completionBlock = completionBlock
  }
}

/// How far a fetch has come.
public struct FetchProgress: Sendable, Equatable {
  /// How many objects were found.
  public var completedCount = 0
  /// About how many there will be, never fewer than were found.
  public var estimatedCount = 0
  /// Whether the fetch has ended, for whatever reason.
  public var isFinished = false
}

/// A fetch under way, and what it has given in the end. Core Data: `NSAsynchronousFetchResult`.
///
/// Any thread may ask how far it has come, and cancel it. The objects in ``finalResult`` belong to the context, as all
/// of its objects do: use them where the context is used.
public final class AsynchronousFetchResult<Result: FetchRequestResult>: @unchecked Sendable {
  // Unchecked, since results are no more Sendable than the context lets its objects be. All that changes is under
  // `lock`; the request is a copy that nobody changes.

  /// The context.
  public let managedObjectContext: ManagedObjectContext
  let request: FetchRequest<Result>
  private let completion: (@Sendable (AsynchronousFetchResult<Result>) -> Void)?
  private let lock = StateLock()
  private var found: [Result]?
  private var error: (any Error)?
  private var state = FetchProgress()
  private var wasCancelled = false

  init(
    _ context: ManagedObjectContext, _ request: FetchRequest<Result>, estimatedCount: Int,
    _ completion: (@Sendable (AsynchronousFetchResult<Result>) -> Void)?
  ) {
    managedObjectContext = context
    self.request = request
    self.completion = completion
    state.estimatedCount = max(0, estimatedCount)
  }

  /// What was found; `nil` as long as the fetch has not ended, and if it was cancelled or went wrong.
  public var finalResult: [Result]? { lock.locked { found } }

  /// What went wrong; a `CancellationError` if the fetch was cancelled.
  public var operationError: (any Error)? { lock.locked { error } }

  /// How far it has come.
  public var progress: FetchProgress { lock.locked { state } }

  /// Ends the fetch with a `CancellationError` as soon as it notices, unless it has ended before.
  public func cancel() { lock.locked { wasCancelled = true } }

  var isCancelled: Bool { lock.locked { wasCancelled } }

  func note(found count: Int) {
    lock.locked {
      state.completedCount = count
      state.estimatedCount = max(state.estimatedCount, count)
    }
  }

  /// Takes what `body` gives for the result, and says that the fetch has ended. On the context's queue.
  func end(_ body: () throws -> [Result]) {
    let result = Swift.Result {
      if isCancelled { throw CancellationError() }
      return try body()
    }
    lock.locked {
      switch result {
      case .success(let objects):
        found = objects
        state.completedCount = objects.count
        state.estimatedCount = objects.count
      case .failure(let failure): error = wasCancelled ? CancellationError() : failure
      }
      state.isFinished = true
    }
    completion?(self)
  }
}
