import CambiumKernel
import CambiumTesting
import Foundation
import Testing

/// Random operations on trees, transactions, savepoints, snapshots, checkpoints and reopenings, compared with sorted
/// arrays. `CAMBIUM_MODEL_OPERATIONS` sets how many (40,000 unless told), `CAMBIUM_SEED` where they begin.
@Suite struct RandomOperationsTests {
  static let operations = testCount("CAMBIUM_MODEL_OPERATIONS", short: 40_000, full: 40_000)
  static let seed = ProcessInfo.processInfo.environment["CAMBIUM_SEED"].flatMap(UInt64.init) ?? 20_261_121

  @Test(arguments: [0, 1, 2, 3]) func agreesWithSortedArrays(_ variant: Int) throws {
    print("random operations: seed \(Self.seed), variant \(variant), \(Self.operations / 4) operations")
    let seed = Self.seed &+ UInt64(variant)
    var run = try RandomRun(seed: seed, variant: variant, environment: TestEnvironment(seed: seed)) { what, line in
      Issue.record("\(what), at line \(line) of RandomRun.swift")
    }
    try run.go(operations: Self.operations / 4)
  }
}
