import CambiumTesting
import Foundation
import Synchronization
import Testing

@testable import CambiumKernel

/// Each check of the kernel is needed: without it, the crash simulation or damage finds a store that loses something,
/// that is taken although it is wrong, that traps, or that is never done. (A check that cannot fail protects nothing.)
///
/// Each is tried in a process of its own, since what is found may be a trap; set `SWIFT_BACKTRACE=enable=no`. The
/// kernel has to be built with `CAMBIUM_VERIFICATION_SWITCHES`, and optimised.
@Suite struct VerificationTests {
  /// Specs has a table of the checks: each of them is in it, with what finds out that it is missing.
  @Test func theTableInSpecsIsComplete() throws {
    var folder = URL(filePath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    let text = try String(contentsOf: folder.appending(path: "Specs/03-commit-and-recovery.md"), encoding: .utf8)
    for check in Verification.allCases {
      let row = "| `\(check)` | \(VerificationFinding.all(check)) |"
      #expect(text.contains(row), "\(row)")
    }
  }

  #if CAMBIUM_VERIFICATION_SWITCHES
    /// Two halves, one after the other each, next to each other.
    @Suite(.enabled(if: isFullLength, "needs an optimised build"), .serialized)
    struct FileAndLog {
      @Test(arguments: Verification.allCases.filter { $0.rawValue < Verification.pageReference.rawValue })
      func isNeeded(_ check: Verification) async {
        let raw = check.rawValue
        await #expect(processExitsWith: .failure, "nothing is found without \(check)") { [raw = raw as UInt8] in
          VerificationTests.hunt(raw)
        }
      }
    }

    @Suite(.enabled(if: isFullLength, "needs an optimised build"), .serialized)
    struct PagesAndReports {
      @Test(arguments: Verification.allCases.filter { $0.rawValue >= Verification.pageReference.rawValue })
      func isNeeded(_ check: Verification) async {
        let raw = check.rawValue
        await #expect(processExitsWith: .failure, "nothing is found without \(check)") { [raw = raw as UInt8] in
          VerificationTests.hunt(raw)
        }
      }
    }

    /// With all checks in place none of it finds anything. (The crash simulation has a test of its own.)
    @Test(.enabled(if: isFullLength, "needs an optimised build")) func withAllChecksNothingIsFound() throws {
      #expect(try DamageHunt(kind: .bytes, seconds: 20).run() == nil)
      #expect(try DamageHunt(kind: .wrongStores).run() == nil)
    }

    /// What the process ends with when nothing happens any more; none while the stores are made, which tells of no
    /// progress.
    private static let statusOfAHang = Atomic<Int>(-1)

    /// Ends the process with a failure when harm is found, or nothing happens any more. That the search itself fails is
    /// no finding.
    private static func hunt(_ raw: UInt8) {
      do { try search(raw) } catch {
        FileHandle.standardError.write(Data("the search failed: \(error)\n".utf8))
        exit(0)
      }
    }

    /// Begins to look for a hang.
    private static func watch(_ status: Int) {
      // What was told before is not what is told now.
      DamageHunt.progress.add(1, ordering: .relaxed)
      statusOfAHang.store(status, ordering: .relaxed)
    }

    private static func search(_ raw: UInt8) throws {
      guard let check = Verification(rawValue: raw) else { return }
      let finding = VerificationFinding.all(check)
      Thread.detachNewThread {
        var before = -1
        while true {
          Thread.sleep(forTimeInterval: 15)
          let status = statusOfAHang.load(ordering: .relaxed)
          let now = DamageHunt.progress.load(ordering: .relaxed)
          if status >= 0, now == before { exit(Int32(truncatingIfNeeded: status)) }
          before = now
        }
      }
      if !finding.coveredBy.isEmpty {
        // What is listed as covered has to be: alone it makes no difference.
        var alone = DamageHunt(kind: finding.kind, seconds: 2)
        alone.prepare = {
          Verification.switchedOff = [check]
          watch(0)
        }
        alone.withAllChecks = { look in
          Verification.switchedOff = []
          defer { Verification.switchedOff = [check] }
          return look()
        }
        if let found = try alone.run() {
          FileHandle.standardError.write(Data("\(check) is not covered: \(found)\n".utf8))
          exit(0)
        }
      }
      statusOfAHang.store(-1, ordering: .relaxed)
      Verification.switchedOff = []
      let off = [check] + finding.coveredBy
      var hunt = DamageHunt(kind: finding.kind)
      hunt.prepare = {
        Verification.switchedOff = off
        watch(12)
      }
      hunt.withAllChecks = { look in
        Verification.switchedOff = []
        defer { Verification.switchedOff = off }
        return look()
      }
      if let found = try hunt.run() {
        FileHandle.standardError.write(Data("\(check): \(found)\n".utf8))
        exit(11)
      }
    }
  #else
    @Test(.disabled("needs a build with -DCAMBIUM_VERIFICATION_SWITCHES")) func eachCheckIsNeeded() {}
  #endif
}
