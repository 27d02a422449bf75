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

  /// Beside others who write, a prepared segment may turn out to be something else by now, and is forgotten. One that records were
  /// found in is not, whatever these name as the next.
  @Test func aSegmentWithRecordsIsNotForgotten() throws {
    let whole = try StartUpCaseTests.image(closed: false)
    var forge = try Forge(whole)
    let last = try #require(forge.outcome.records.last)
    forge.segmentHeader(last.segment) { $0.put(UInt32(64), 4) }
    try forge.lastRecord { $0.put(last.segment, 56) }
    var place: StorePlace?
    do {
      _ = try Store.load(
        on: MemoryDevice(copying: forge.bytes), environment: TestEnvironment(), options: StoreOptions(), use: .following
      )
    } catch StoreError.corrupt(let found, _, _) { place = found }
    #expect(place == .log)
  }
}
