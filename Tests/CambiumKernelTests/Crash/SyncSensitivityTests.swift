import CambiumKernel
import CambiumTesting
import Testing

/// Each sync of the kernel is needed: without it, the crash simulation finds a store that lost or damaged something.
/// (A crash test that cannot fail tells nothing.)
@Suite struct SyncSensitivityTests {
  @Test(.enabled(if: isFullLength), arguments: SyncSite.allCases) func withoutItACrashIsFound(
    _ site: SyncSite
  ) {
    var images = 0
    var skipped = 0
    // The log moves in one scenario only, and its moves are few.
    let movesLog = site == .movedLogSegments || site == .movedLogPublication
    let scenarios: [CrashScenario] = movesLog ? [.compaction] : CrashScenario.allCases
    for round in 0..<UInt64(movesLog ? 150 : 12) {
      for mode in CrashRunner.Mode.all {
        for scenario in scenarios {
          let counted = SkipCount()
          var runner = CrashRunner(
            scenario: scenario, mode: mode, seed: CrashTests.seed &+ round, budget: 300, stopsAtFirst: true
          ) { disk in
            let device = SyncSkippingDevice(disk, skipping: site)
            counted.devices.append(device)
            return device
          }
          runner.run()
          images += runner.images
          skipped += counted.devices.reduce(0) { $0 + $1.skipped }
          if let failure = runner.failures.first {
            print("without the sync of \(site): found after \(images) images: \(failure.prefix(300))")
            return
          }
        }
      }
    }
    Issue.record("without the sync of \(site), \(images) images (\(skipped) syncs left out) are as they should be")
  }
}

private final class SkipCount {
  var devices: [SyncSkippingDevice] = []
}
