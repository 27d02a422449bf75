import CambiumTesting
import Testing

@testable import CambiumKernel

/// What a store refuses or bounds, whatever is asked of it.
@Suite struct LimitTests {
  @Test func aKeyTakesAQuarterOfAPageAtMost() throws {
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2))
    let t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    let longest = store.maxKeyLength
    try t.put(tree, [UInt8](repeating: 1, count: longest), [])
    #expect(throws: StoreError.keyTooLong(length: longest + 1, limit: longest)) {
      try t.put(tree, [UInt8](repeating: 1, count: longest + 1), [])
    }
    try t.commit()
    try store.checkpoint()
    #expect(try store.check().problems.isEmpty)
  }

  /// A checkpoint gives up the log before its mark.
  @Test func theLogTakesNoMoreSegmentsThanItNeeds() throws {
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2))
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    for round in 0..<100 {
      t = try store.beginWrite()
      try t.put(tree, UInt64(round), [UInt8](repeating: 1, count: 5000))
      try t.commit()
      try store.checkpoint()
      #expect(store.log.segments.count <= 3)
    }
  }
}
