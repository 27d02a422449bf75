import CambiumTesting
import Testing

@testable import CambiumKernel

/// Every operation of every crash workload fails in turn, in every way of ``IOFault``: nothing acknowledged is lost,
/// nothing refused is there, errors are those of the device, and the store goes on when the fault is gone.
///
/// In an optimised build up to 24 operations of each kind do, at durability `.full`, and 8 at the others; otherwise one
/// for some faults, at least one in each workload. `CAMBIUM_FAULTS` sets how many at most per workload and fault (a
/// million: every one; ten minutes on two cores), `CAMBIUM_SEED` where chance begins.
@Suite struct FaultMatrixTests {
  static let limit =
    testCount("CAMBIUM_FAULTS", short: 1, full: 24)

  @Test(arguments: CrashScenario.allCases) func everyOperationMayFail(_ scenario: CrashScenario) throws {
    var runs = 0
    var met = 0
    var failures: [String] = []
    // Each scenario draws for itself: alike, they would all leave out the same.
    let ordinal = CrashScenario.allCases.firstIndex(of: scenario) ?? 0
    var random = SplitMix64(seed: CrashTests.seed ^ (UInt64(ordinal) &* 0x9E37_79B9_7F4A_7C15))
    for (place, mode) in CrashRunner.Mode.all.enumerated() {
      let counts = try FaultRun.counts(scenario, mode, seed: CrashTests.seed)
      let possible = IOFault.allCases.filter { counts[$0] ?? 0 > 0 }
      // However chance falls, one is met.
      let sure = place == 0 && !possible.isEmpty ? random.pick(possible) : nil
      for fault in IOFault.allCases {
        let count = counts[fault] ?? 0
        // One mode has them all; of the others a few.
        var wanted = place == 0 ? Self.limit : min(Self.limit, 8)
        if !isFullLength, fault != sure { wanted = random.oneIn(place == 0 ? 8 : 24) ? wanted : 0 }
        let numbers = count <= wanted ? Array(0..<count) : (0..<wanted).map { _ in random.below(count) }
        for number in numbers where failures.count < 5 {
          var run = FaultRun(scenario, mode, fault, number, CrashTests.seed)
          run.run()
          runs += 1
          if run.isMet { met += 1 }
          failures += run.problems.prefix(2)
        }
      }
    }
    print("faults: \(scenario), seed \(CrashTests.seed): \(runs) runs, \(met) with the fault met")
    for failure in failures { Issue.record("\(failure)") }
    #expect(runs > 0 && met * 10 >= runs * 9)
  }

  /// Cutting the file off comes after a publication is durable: that it fails must not be told of a commit that the
  /// publication holds, and must not undo what it wrote.
  @Test func aFileThatCannotBeCutOffIsNoFailureOfTheCommit() throws {
    let mode = CrashRunner.Mode.all[0]
    let counts = try FaultRun.counts(.spill, mode, seed: CrashTests.seed)
    var runs = 0
    for fault in [IOFault.resize, .resizeForGood] {
      for number in (counts[fault] ?? 0) / 2..<(counts[fault] ?? 0) {
        var run = FaultRun(.spill, mode, fault, number, CrashTests.seed)
        run.run()
        runs += 1
        #expect(run.problems.isEmpty)
      }
    }
    #expect(runs > 4)
  }
}
