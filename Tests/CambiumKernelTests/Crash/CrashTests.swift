import CambiumKernel
import CambiumTesting
import Foundation
import Testing

/// Power cuts at every operation of workloads, with every sort of loss of what was not synced; kills; failed syncs.
///
/// `CAMBIUM_CRASH_IMAGES` sets how many images are made in all (50,000 in release, 600 in debug unless told), and
/// `CAMBIUM_SEED` where chance begins.
@Suite struct CrashTests {
  static let seed = ProcessInfo.processInfo.environment["CAMBIUM_SEED"].flatMap(UInt64.init) ?? 20_261_121

  static var budget: Int { testCount("CAMBIUM_CRASH_IMAGES", short: 600, full: 50_000) }

  @Test(arguments: CrashScenario.allCases)
  func everyCrashLeavesACommittedState(_ scenario: CrashScenario) {
    let budget = Self.budget / CrashScenario.allCases.count
    // A run of a workload is good for so many images; then comes another one, with another seed.
    let perRun = min(1000, max(8, budget / CrashRunner.Mode.all.count))
    var images = 0
    var states = 0
    var failures: [String] = []
    var run: UInt64 = 0
    while images < budget, failures.count < 5 {
      for mode in CrashRunner.Mode.all where failures.count < 5 {
        var runner = CrashRunner(scenario: scenario, mode: mode, seed: Self.seed &+ run, budget: perRun)
        runner.run()
        images += runner.images
        states += runner.states.count
        failures += runner.failures
        run += 1
      }
    }
    print("crash: \(scenario), seed \(Self.seed): \(images) images, \(states) distinct states after them")
    for failure in failures { Issue.record("\(failure)") }
    #expect(states * 20 >= images || !failures.isEmpty, "too few distinct states")
  }
}
