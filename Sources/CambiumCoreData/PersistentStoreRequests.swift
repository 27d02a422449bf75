// One type for all requests, for code that passes them on.

@_spi(CoreData) import Cambium

/// A request to a context, of whatever kind.
public protocol NSPersistentStoreRequest {
  /// Runs the request; `NSManagedObjectContext.execute(_:)` calls it.
  func run(in context: ManagedObjectContext) throws -> any NSPersistentStoreResult
}

/// What a request gives. Cast it to the result of the kind of request, such as ``NSBatchDeleteResult``.
public protocol NSPersistentStoreResult {}

extension BatchResult: NSPersistentStoreResult {}
extension PersistentHistoryResult: NSPersistentStoreResult {}
extension AsynchronousFetchResult: NSPersistentStoreResult {}

extension NSBatchInsertRequest: NSPersistentStoreRequest {
  /// Runs the request.
  public func run(in context: ManagedObjectContext) throws -> any NSPersistentStoreResult {
    try context.execute(self) as NSBatchInsertResult
  }
}

extension NSBatchUpdateRequest: NSPersistentStoreRequest {
  /// Runs the request.
  public func run(in context: ManagedObjectContext) throws -> any NSPersistentStoreResult {
    try context.execute(self) as NSBatchUpdateResult
  }
}

extension NSBatchDeleteRequest: NSPersistentStoreRequest {
  /// Runs the request.
  public func run(in context: ManagedObjectContext) throws -> any NSPersistentStoreResult {
    try context.execute(self) as NSBatchDeleteResult
  }
}

extension PersistentHistoryChangeRequest: NSPersistentStoreRequest {
  /// Runs the request.
  public func run(in context: ManagedObjectContext) throws -> any NSPersistentStoreResult {
    try context.execute(self) as PersistentHistoryResult
  }
}

extension AsynchronousFetchRequest: NSPersistentStoreRequest {
  /// Begins the fetch.
  public func run(in context: ManagedObjectContext) throws -> any NSPersistentStoreResult {
    try context.execute(self) as AsynchronousFetchResult<Result>
  }
}

extension ManagedObjectContext {
  /// Runs a request of any kind.
  @_disfavoredOverload @discardableResult
  public func execute(_ request: any NSPersistentStoreRequest) throws -> any NSPersistentStoreResult {
    try request.run(in: self)
  }
}
