#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A model, its stores and a context for the main thread, set up together. Core Data: `NSPersistentContainer`.
///
///     let container = PersistentContainer(name: "Flights", managedObjectModel: model)
///     try container.loadPersistentStores()
///     let context = container.viewContext
///
/// Set ``persistentStoreDescriptions`` before loading, on one thread. The rest is thread-safe.
open class PersistentContainer: @unchecked Sendable {
  // `@unchecked`: ``persistentStoreDescriptions`` is for setting up, on one thread; nothing else of it changes.
  /// The name, after which the file in ``defaultDirectoryURL()`` is called.
  public let name: String
  /// The model.
  public let managedObjectModel: ManagedObjectModel
  /// The coordinator of the stores.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// A context for the main thread.
  public let viewContext: ManagedObjectContext
  /// The stores to load: at first one file called `<name>.cambium` in ``defaultDirectoryURL()``.
  public var persistentStoreDescriptions: [PersistentStoreDescription]

  /// A container whose stores are not loaded yet.
  public init(name: String, managedObjectModel: ManagedObjectModel) {
    self.name = name
    self.managedObjectModel = managedObjectModel
    persistentStoreCoordinator = PersistentStoreCoordinator(managedObjectModel: managedObjectModel)
    viewContext = ManagedObjectContext(
      concurrencyType: .mainQueue, persistentStoreCoordinator: persistentStoreCoordinator)
    persistentStoreDescriptions = [
      PersistentStoreDescription(url: Self.defaultDirectoryURL().appendingPathComponent(name + ".cambium"))
    ]
  }

  /// Where stores are kept unless a description says otherwise: the user's application support directory, or what the
  /// platform has in its place.
  open class func defaultDirectoryURL() -> URL {
    let support = try? FileManager.default.url(
      for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: false)
    return support ?? FileManager.default.temporaryDirectory
  }

  /// A new context with a private queue.
  open func newBackgroundContext() -> ManagedObjectContext {
    ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: persistentStoreCoordinator)
  }

  /// Runs a block with a new context, on the context's queue.
  @discardableResult
  nonisolated(nonsending)
    public func performBackgroundTask<R: Sendable, Failure: Error>(
      _ block: @escaping @Sendable (ManagedObjectContext) throws(Failure) -> R
    ) async throws(Failure) -> R
  {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) in try block(context) }
  }

  /// Runs a block with a new context, and again with another new one if others changed what the block changes.
  ///
  /// The block begins anew if it throws ``CambiumError/Code/managedObjectMerge`` or
  /// ``CambiumError/Code/managedObjectConstraintMerge``, which are what a save throws that conflicts with another one.
  /// So it has to fetch what it changes, and must do nothing outside of the store that can't be done twice.
  ///
  /// - Parameter attempts: How often the block is run at most. Of `n` blocks that change the same object at the same
  ///   time, one succeeds in each round, so that none of them needs more than `n` attempts.
  /// - Throws: What the block throws, the last conflict included; `CancellationError` if the task is cancelled between
  ///   two attempts.
  @discardableResult
  nonisolated(nonsending)
    public func performBackgroundTask<R: Sendable>(
      attempts: Int, _ block: @escaping @Sendable (ManagedObjectContext) throws -> R
    ) async throws -> R
  {
    for _ in 1..<max(1, attempts) {
      do {
        return try await performBackgroundTask(block)
      } catch let error as CambiumError where error.isConflict {
        try Task.checkCancellation()
      }
    }
    return try await performBackgroundTask(block)
  }

  /// Starts a block with a new context, on the context's queue, and returns.
  @available(
    *, noasync,
    message: "in an async function, await it; at the top level of main.swift, call an async function that awaits it"
  )
  public func performBackgroundTask(_ block: @escaping @Sendable (ManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.start { block(context) }
  }
}
