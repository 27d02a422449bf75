#if CAMBIUM_VERIFICATION_SWITCHES
  import CambiumTesting
  import Foundation
  import Synchronization
  import Testing

  @testable import CambiumKernel

  /// Each check of the kernel is needed: without it, the crash simulation or damage finds a store that loses something,
  /// that is taken although it is wrong, that traps, or that is never done. (A check that cannot fail protects nothing.)
  ///
  /// Each is tried in a process of its own, since what is found may be a trap. Set `SWIFT_BACKTRACE=enable=no`.
  @Suite(.enabled(if: CrashTests.isOptimized, "needs an optimised build"), .serialized)
  struct VerificationTests {
    @Test(arguments: Verification.allCases) func isNeeded(_ check: Verification) async {
      let raw = check.rawValue
      let result = await #expect(processExitsWith: .failure, "nothing is found without \(check)") { [raw = raw as UInt8] in
        try VerificationTests.hunt(raw)
      }
      print("without \(check): \(VerificationFinding.all(check)); \(result.map { "\($0.exitStatus)" } ?? "nothing")")
    }

    @Test func allChecksTogetherFindNothing() throws {
      #expect(Verification.switchedOff.isEmpty)
      #expect(try DamageHunt(kind: .bytes, seconds: 20).run() == nil)
    }

    /// Ends the process with a failure when harm is found, or nothing happens any more.
    private static func hunt(_ raw: UInt8) throws {
      guard let check = Verification(rawValue: raw) else { return }
      let finding = VerificationFinding.all(check)
      Thread.detachNewThread {
        var before = -1
        while true {
          Thread.sleep(forTimeInterval: 15)
          let now = DamageHunt.progress.load(ordering: .relaxed)
          if now == before { exit(12) }
          before = now
        }
      }
      let off = [check] + finding.coveredBy
      var hunt = DamageHunt(kind: finding.kind)
      hunt.prepare = { Verification.switchedOff = off }
      hunt.withAllChecks = { look in
        Verification.switchedOff = []
        defer { Verification.switchedOff = off }
        return look()
      }
      if let found = try hunt.run() {
        print("\(check): \(found)")
        exit(11)
      }
    }
  }
#endif
