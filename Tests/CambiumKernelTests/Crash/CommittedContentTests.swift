import CambiumTesting
import Testing

@testable import CambiumKernel

/// The workloads of the crash tests without a crash: the content is right every few commits, and again in a store that
/// is opened on what the disk holds then.
@Suite struct CommittedContentTests {
  @Test(arguments: CrashScenario.allCases) func whatWasCommittedIsThere(_ scenario: CrashScenario) throws {
    let w = CrashWorkload(options: scenario.options(.full), seed: CrashTests.seed)
    var commits = 0
    w.onDurable = { [unowned w] store in
      commits += 1
      if commits % 6 != 0 { return }
      try Self.expect(w.content, in: store, "commit \(commits)")
      let copy = MemoryDevice(copying: w.disk.contents)
      let opened = try Store.open(on: copy, environment: TestEnvironment(seed: 5), options: w.options)
      try Self.expect(w.content, in: opened, "commit \(commits), opened")
    }
    try scenario.run(w)
    #expect(w.problems.isEmpty, "\(w.problems.prefix(3))")
    #expect(commits > 6)
  }

  private static func expect(_ content: StoreContent, in store: Store, _ text: String) throws {
    #expect(try StoreContent.hash(of: store.snapshot()) == content.hash, "\(text)")
    let problems = try store.check().problems
    #expect(problems.isEmpty, "\(text): \(problems.prefix(3))")
  }
}
