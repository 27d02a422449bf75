@testable import CambiumEngine

extension EngineFetch {
  /// A fetch that uses an index wherever there is one, however few rows there are: the tests' stores are small.
  static func preferringIndexes(_ entity: EntitySchema, _ predicate: Predicate? = nil) -> EngineFetch {
    var fetch = EngineFetch(entity, predicate: predicate)
    fetch.costs.scannedRow = 10_000
    return fetch
  }
}
