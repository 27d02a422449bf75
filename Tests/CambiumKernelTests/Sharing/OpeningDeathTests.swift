import CambiumTesting
import Testing

@testable import CambiumKernel

/// A process that is killed while it opens a store which others have open.
@Suite struct OpeningDeathTests {
  /// At each of its calls: what the others commit afterwards is followed by those that read, and found by those that
  /// open the store, also where their log goes on in the segment that was prepared before. Of others that are suspended
  /// it does not know.
  @Test(arguments: [Durability.full, .normal], [false, true])
  func othersGoOn(_ durability: Durability, suspended: Bool) throws {
    var call = 0
    var untouched = 0
    var wasCut = true
    while wasCut {
      wasCut = try open(killedAt: call, durability, suspended, partialBytes: 0, &untouched)
      // In the midst of a write: of the header of a segment, of a superblock, or of what lies behind them.
      for bytes in [40, 104, 5000] where wasCut {
        _ = try open(killedAt: call, durability, suspended, partialBytes: bytes, &untouched)
      }
      call += 1
    }
    #expect(call > 10 && (suspended || untouched > 10))
  }

  /// Answers whether the opening was cut short. Counts those in `untouched` after which nothing was published, so that
  /// all hangs on the log.
  private func open(
    killedAt call: Int, _ durability: Durability, _ suspended: Bool, partialBytes: Int, _ untouched: inout Int
  ) throws -> Bool {
    var options = CrashScenario.commits.options(durability)
    // No checkpoint: only the log tells of the commits.
    options.logBytes = 4 << 20
    options.deltaBytes = 4 << 20
    let shared = SharedDisk()
    try Store.create(on: shared.disk, environment: TestEnvironment(seed: 1), options: options).close()
    let a = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 2), options: options)
    var t = try a.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    options.isReadOnly = true
    let reader = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 3), options: options)
    options.isReadOnly = false
    if suspended { for store in [a, reader] { try store.suspend() } }
    let handle = shared.open()
    handle.kill(afterCalls: call, partialBytes: partialBytes)
    var wasCut = false
    do { _ = try Store.open(on: handle, environment: TestEnvironment(seed: 4), options: options) } catch {
      guard handle.isDead else { throw error }
      wasCut = true
    }
    if !handle.isDead { handle.kill() }
    if suspended { for store in [a, reader] { try store.resume() } }
    let publication = a.superblock.publication
    let first = a.log.present
    for n in 0..<UInt64(24) {
      t = try a.beginWrite()
      try t.put(tree, n, [UInt8](repeating: UInt8(truncatingIfNeeded: n), count: 1500))
      let sequence = try t.commit()
      let seen = try reader.snapshot().sequence
      #expect(seen == sequence, "killed at call \(call): commit \(seen) is read, and \(sequence) was acknowledged")
      if seen != sequence { return false }
    }
    if wasCut, a.superblock.publication == publication {
      #expect(a.log.present != first, "the log did not go on in another segment")
      untouched += 1
    }
    let late = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 5), options: options)
    let view = try late.snapshot()
    #expect(try view.count(tree) == 24, "killed at call \(call)")
    #expect(try late.check().problems.isEmpty)
    return wasCut
  }
}
