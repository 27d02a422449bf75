// What Foundation has on Apple platforms alone, and code for Core Data commonly uses with it.

@_spi(CoreData) import Cambium

#if !canImport(Darwin)
  /// Runs a block. There are no pools that could be emptied: an object goes with its last reference.
  public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
#endif

extension FetchRequest {
  /// What the request gives, by Core Data's name.
  public typealias ResultType = Result
}

extension AsynchronousFetchRequest {
  /// What the request gives, by Core Data's name.
  public typealias ResultType = Result
}

extension AsynchronousFetchResult {
  /// What the request gives, by Core Data's name.
  public typealias ResultType = Result
}

extension FetchedResultsController {
  /// What the controller fetches, by Core Data's name.
  public typealias ResultType = Result
}
