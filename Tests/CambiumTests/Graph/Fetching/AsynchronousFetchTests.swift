import Cambium
import Foundation
import Testing

/// Fetches beside the context: what they give, how far they have come, and that they end when they are told to.
@Suite struct AsynchronousFetchTests {
  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private var context: ManagedObjectContext { container.viewContext }

  init() throws {
    directory = try TemporaryDirectory()
    container = try directory.container()
  }

  private func fill(_ count: Int) throws {
    for n in 0..<count { try context.make("Aircraft", ["tailNumber": "N\(n)", "colorScheme": ["primary": "red"]]) }
    try context.save()
  }

  private func run<Result: FetchRequestResult>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext
  ) async throws -> AsynchronousFetchResult<Result> {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try context.execute(AsynchronousFetchRequest(request) { continuation.resume(returning: $0) })
      } catch { continuation.resume(throwing: error) }
    }
  }

  @Test func givesWhatAFetchGives() async throws {
    try fill(700)
    let background = container.newBackgroundContext()
    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    request.predicate = try FetchPredicate(format: "tailNumber BEGINSWITH 'N1'")
    request.sortDescriptors = [FetchSortDescriptor(key: "tailNumber", ascending: false)]
    request.fetchLimit = 20
    request.fetchOffset = 2
    let result = try await run(request, in: background)
    // The request is another's by then.
    request.predicate = nil
    #expect(result.operationError == nil)
    let progress = result.progress
    #expect(progress.completedCount == 20 && progress.estimatedCount == 20 && progress.isFinished)
    let expected = try context.performAndWait {
      request.predicate = try FetchPredicate(format: "tailNumber BEGINSWITH 'N1'")
      return try context.fetch(request).map { $0.objectID }
    }
    let found = background.performAndWait { result.finalResult?.map { $0.objectID } }
    #expect(found == expected && expected.count == 20)
    let ids = FetchRequest<ManagedObjectID>(entityName: "Aircraft")
    #expect(try await run(ids, in: background).finalResult?.count == 700)
    let counts = FetchRequest<Int>(entityName: "Aircraft")
    #expect(try await run(counts, in: background).finalResult == [700])
  }

  @Test func seesUnsavedChanges() async throws {
    try fill(10)
    try context.make("Aircraft", ["tailNumber": "unsaved", "colorScheme": ["primary": "red"]])
    let request = FetchRequest<ManagedObjectID>(entityName: "Aircraft")
    #expect(try await run(request, in: context).finalResult?.count == 11)
    request.includesPendingChanges = false
    #expect(try await run(request, in: context).finalResult?.count == 10)
  }

  @Test func endsWhenCancelled() async throws {
    try fill(300)
    let background = container.newBackgroundContext()
    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    // Nothing is found by it, so that only looking can notice.
    request.predicate = try FetchPredicate(format: "tailNumber MATCHES '.*[xyz]{3}.*'")
    let ended = AsyncStream<AsynchronousFetchResult<ManagedObject>>.makeStream()
    // The fetch cannot end while the context is busy, so that it is cancelled in time.
    try background.performAndWait {
      let running = try background.execute(
        AsynchronousFetchRequest(request) {
          ended.continuation.yield($0)
          ended.continuation.finish()
        })
      running.cancel()
    }
    for await result in ended.stream {
      #expect(result.operationError is CancellationError)
      #expect(result.finalResult == nil && result.progress.isFinished)
    }
  }

  @Test func refusesAtOnce() throws {
    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    request.predicate = try FetchPredicate(format: "wings == 2")
    #expect(throws: CambiumError.self) { try context.execute(AsynchronousFetchRequest(request)) }
  }

  @Test func tellsHowManyAreExpected() async throws {
    try fill(30)
    let background = container.newBackgroundContext()
    /// What is expected before the fetch ends, which it cannot while the context is busy, and behind it.
    func expected<Result: FetchRequestResult>(
      _ request: FetchRequest<Result>, _ estimate: Int
    ) async throws -> (Int, Int) {
      let ended = AsyncStream<Void>.makeStream()
      var search = AsynchronousFetchRequest(request) { _ in ended.continuation.finish() }
      search.estimatedResultCount = estimate
      let (running, before) = try background.performAndWait {
        let running = try background.execute(search)
        return (running, running.progress.estimatedCount)
      }
      for await _ in ended.stream {}
      return (before, running.progress.estimatedCount)
    }
    let objects = FetchRequest<ManagedObject>(entityName: "Aircraft")
    #expect(try await expected(objects, 5_000) == (5_000, 30))
    #expect(try await expected(objects, 0) == (30, 30))
    // Done as a whole on the context's queue.
    let counts = FetchRequest<Int>(entityName: "Aircraft")
    #expect(try await expected(counts, 5_000) == (5_000, 1))
    #expect(try await expected(counts, -5) == (0, 1))
  }
}
