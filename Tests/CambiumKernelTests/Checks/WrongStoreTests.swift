import CambiumTesting
import Testing

@testable import CambiumKernel

/// Every wrong store is told from a right one, and every right one is taken.
@Suite struct WrongStoreTests {
  @Test func eachComesToWhatItHasTo() throws {
    let all = try WrongStore.all()
    #expect(all.count > 60)
    for wrong in all {
      let difference = wrong.difference()
      #expect(difference == nil)
    }
  }

  /// Beside others who write, the segment behind the newest record is taken for log that is in use. It must be another
  /// one than those that hold records, because a writer would overwrite these.
  @Test func aLogDoesNotGoOnWhereItComesFrom() throws {
    var forge = try Forge(try StartUpCaseTests.image(closed: false))
    let last = try #require(forge.outcome.records.last)
    try forge.lastRecord {
      $0.put(last.segment.start, 56)
      $0.put(UInt16(last.segment.units), 60)
    }
    var place: StorePlace?
    do {
      _ = try Store.load(
        on: MemoryDevice(copying: forge.bytes), environment: TestEnvironment(), options: StoreOptions(), use: .following
      )
    } catch StoreError.corrupt(let found, _, _) { place = found }
    #expect(place == .log)
  }
}
