import CambiumTesting
import Testing

@testable import Cambium

/// Two contexts of one store, and two children of one of them, do at random what changes relationships, while what they
/// have read grows old: whatever they save, nothing in the store leads one way or nowhere, and in the end all show what
/// is stored.
///
/// `CAMBIUM_AGREEMENTS` says how many runs there are, `CAMBIUM_SEED` with which they begin.
@Suite struct AgreementTests {
  @Test func relationshipsAgree() throws {
    let first = testSeed(20_261_127)
    let count = testCount("CAMBIUM_AGREEMENTS", short: 150, full: 1500)
    print("agreement from seed \(first)")
    var steps = 0
    for n in 0..<UInt64(count) {
      let run = try AgreementRun(seed: first &+ n)
      if try run.problem() != nil {
        Issue.record("seed \(first &+ n): \(try Self.shortest(seed: first &+ n))")
        return
      }
      steps += run.log.count
    }
    #expect(steps > count * 60)
  }

  /// Runs that have found something.
  @Test(arguments: [6614, 7073, 50066, 502_810, 503_816, 1_303_443] as [UInt64]) func found(seed: UInt64) throws {
    #expect(try AgreementRun(seed: seed).problem() == nil)
  }

  /// What goes wrong by as few steps as can be found, and these.
  private static func shortest(seed: UInt64) throws -> String {
    var left = Set<Int>()
    var found = ""
    func fails(without left: Set<Int>) throws -> Bool {
      let run = try AgreementRun(seed: seed, without: left)
      guard let problem = try run.problem() else { return false }
      found = "\(problem)\n\(run.log.joined(separator: "\n"))\nstored is\n\(try run.stored().joined(separator: "\n"))"
      return true
    }
    _ = try fails(without: [])
    var size = 40
    while size > 0 {
      var isShorter = false
      for start in stride(from: 0, to: AgreementRun.steps, by: size) {
        let some = Set(start..<min(start + size, AgreementRun.steps)).subtracting(left)
        if some.isEmpty { continue }
        if try fails(without: left.union(some)) {
          left.formUnion(some)
          isShorter = true
        }
      }
      if size > 1 { size /= 2 } else if !isShorter { size = 0 }
    }
    return found
  }
}
