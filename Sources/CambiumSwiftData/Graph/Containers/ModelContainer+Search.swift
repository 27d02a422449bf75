import Cambium
import Foundation
import Synchronization

extension ModelContainer {
  /// Looks for the models that a descriptor describes, beside all contexts, on another thread. For searches that take
  /// long, and that the user may give up. SwiftData has no such call.
  ///
  ///     let search = Task {
  ///       try await container.identifiers(of: descriptor) { found, estimated in show(found, of: estimated) }
  ///     }
  ///     search.cancel()
  ///
  /// - Parameters:
  ///   - descriptor: What is saved counts. Unsaved changes are the contexts' own.
  ///   - progress: Is called every 50 milliseconds with the number of models that were found, and about how many there
  ///     will be.
  /// - Throws: as `ModelContext.fetch`; `CancellationError` soon after the task was cancelled.
  public func identifiers<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>, progress: (@Sendable (_ found: Int, _ estimated: Int) -> Void)? = nil
  ) async throws -> [PersistentIdentifier] {
    try Task.checkCancellation()
    let search = IdentifierSearch()
    let reporter = progress.map { progress in
      Task {
        while (try? await Task.sleep(for: .milliseconds(50))) != nil {
          if let state = search.progress { progress(state.completedCount, state.estimatedCount) }
        }
      }
    }
    defer { reporter?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        do {
          let request: FetchRequest<ManagedObjectID> = try ModelContext(self).request(descriptor)
          let context = ManagedObjectContext(
            concurrencyType: .privateQueue, persistentStoreCoordinator: persistentStoreCoordinator)
          search.began(
            try context.execute(
              AsynchronousFetchRequest(request) { result in
                // The context lives until the search has ended.
                withExtendedLifetime(context) {
                  if let found = result.finalResult {
                    continuation.resume(returning: found.map { PersistentIdentifier($0) })
                  } else {
                    continuation.resume(throwing: result.operationError ?? CancellationError())
                  }
                }
              }))
        } catch {
          continuation.resume(throwing: (error as? CambiumError)?.asSwiftDataError ?? error)
        }
      }
    } onCancel: {
      search.cancel()
    }
  }
}

/// A search, which may be cancelled before it has begun.
private final class IdentifierSearch: Sendable {
  private struct State {
    var running: AsynchronousFetchResult<ManagedObjectID>?
    var isCancelled = false
  }

  private let state = Mutex(State())

  var progress: FetchProgress? { state.withLock { $0.running?.progress } }

  func began(_ running: AsynchronousFetchResult<ManagedObjectID>) {
    let isCancelled = state.withLock { state in
      state.running = running
      return state.isCancelled
    }
    if isCancelled { running.cancel() }
  }

  func cancel() {
    let running = state.withLock { state in
      state.isCancelled = true
      return state.running
    }
    running?.cancel()
  }
}
