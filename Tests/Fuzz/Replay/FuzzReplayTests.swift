import CambiumTesting
import Foundation
import Testing

/// The corpora of the fuzzers, replayed: what was found once, and what reaches far.
@Suite struct FuzzReplayTests {
  static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Corpus")

  @Test(arguments: FuzzTarget.allCases) func theCorpusHolds(_ target: FuzzTarget) throws {
    let folder = Self.corpus.appendingPathComponent(target.rawValue)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(!names.isEmpty)
    for name in names where !name.hasPrefix(".") {
      let input = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
      if let problem = input.withUnsafeBytes({ target.problem($0) }) { Issue.record("\(target)/\(name): \(problem)") }
    }
  }

  /// Bytes that no fuzzer chose, for builds without one.
  @Test(arguments: FuzzTarget.allCases) func randomBytesHold(_ target: FuzzTarget) {
    let seed = testSeed(20_261_121)
    var random = SplitMix64(seed: seed)
    print("random bytes for \(target): seed \(seed)")
    // A program of operations takes its time without optimisation, and so does all that is done with a store.
    let isQuick = [.record, .key, .predicate, .model, .xml, .macros, .mover].contains(target)
    for n in 0..<(isQuick ? 100 : 2) {
      let input = random.bytes(random.below(target == .open ? 5000 : 400))
      if let problem = input.withUnsafeBytes({ target.problem($0) }) { Issue.record("input \(n): \(problem)") }
    }
  }
}
