import CambiumTesting
import Testing

@testable import CambiumKernel

/// What tests of rows by their bytes alone have in common.
enum RowTestChecks {
  /// Lends `body` a row cut short or damaged, four times, in memory of its exact size, for the sanitizer to see what
  /// lies behind it.
  static func eachDamaged(_ row: [UInt8], _ random: inout SplitMix64, _ body: (UnsafeRawBufferPointer) -> Void) {
    for _ in 0..<4 {
      var damaged = Array(row.prefix(random.below(row.count + 1)))
      for _ in 0..<random.below(3) where damaged.count > 2 {
        damaged[2 + random.below(damaged.count - 2)] = UInt8(truncatingIfNeeded: random.next())
      }
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: damaged.count, alignment: 1)
      copy.copyBytes(from: damaged)
      body(UnsafeRawBufferPointer(copy))
      copy.deallocate()
    }
  }

  /// Many rows at once are told the same as one by one. Answers how many runs of several there were.
  static func comparePassing(
    _ store: Store, _ tree: TreeID, _ excludes: (UnsafeRawBufferPointer) -> Bool,
    _ passing: (LentRun, Range<Int>, UnsafeMutablePointer<Int32>) -> Int
  ) throws -> Int {
    var runs = 0
    try store.snapshot().forEachRun(tree) { (run) throws(StoreError) in
      withUnsafeTemporaryAllocation(of: Int32.self, capacity: run.indices.count) { places in
        guard let base = places.baseAddress else { return }
        let count = passing(run, run.indices, base)
        #expect(run.indices.filter { !excludes(run.value($0)) } == (0..<count).map { Int(base[$0]) })
        runs += run.indices.count > 1 ? 1 : 0
      }
      return true
    }
    return runs
  }
}
