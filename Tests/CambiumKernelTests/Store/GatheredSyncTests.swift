import CambiumTesting
import Dispatch
import Foundation
import Testing

@testable import CambiumKernel

/// One sync for all who commit at once, whatever happens while they are gathered.
@Suite struct GatheredSyncTests {
  /// Threads commit durably until they are refused; answers how many commits each has had acknowledged.
  private static func commit(_ store: Store, _ tree: TreeID, threads: Int, atMost: Int) -> [Int] {
    let counts = Locked([Int](repeating: 0, count: threads))
    store.environment.runConcurrently(threads) { thread in
      for n in 0..<atMost {
        do {
          let t = try store.beginWrite()
          try t.put(tree, UInt64(thread * 1_000_000 + n), [UInt8(truncatingIfNeeded: n)])
          try t.commit()
        } catch { return }
        counts.withLock { $0[thread] += 1 }
      }
    }
    return counts.withLock { $0 }
  }

  private static func make(_ device: any StorageDevice) throws -> (Store, TreeID) {
    let store = try Store.create(on: device, environment: TestEnvironment(processors: 4), options: StoreOptions())
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    return (store, tree)
  }

  private static func expectAcknowledged(_ counts: [Int], _ disk: SimulatedDisk, _ tree: TreeID) throws {
    let store = try Store.open(on: disk, environment: TestEnvironment(seed: 9), options: StoreOptions())
    let rows = try ValueConversionTests.rows(try store.snapshot(), tree)
    for (thread, count) in counts.enumerated() {
      for n in 0..<count { #expect(rows[UInt64(thread * 1_000_000 + n)] == [UInt8(truncatingIfNeeded: n)]) }
    }
    #expect(try store.check().problems.isEmpty)
  }

  /// Nobody waits for ever, and all that was acknowledged is there.
  @Test func closingEndsIt() throws {
    for round in 0..<6 as Range<UInt64> {
      let disk = SimulatedDisk()
      let (store, tree) = try Self.make(disk)
      let closed = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        usleep(UInt32(2000 + round * 1500))
        try? store.close()
        closed.signal()
      }
      let counts = Self.commit(store, tree, threads: 6, atMost: 100_000)
      closed.wait()
      try Self.expectAcknowledged(counts, disk, tree)
    }
  }

  /// A sync that fails is told to all who wait for it.
  @Test func aSyncThatFailsIsToldToAll() throws {
    for index in 0..<6 {
      let disk = SimulatedDisk()
      let faults = FaultDevice(disk)
      let (store, tree) = try Self.make(faults)
      faults.reset()
      faults.plan(.init(.sync, at: 3 + index, error: .deviceFull(bytes: 1)))
      let counts = Self.commit(store, tree, threads: 6, atMost: 100_000)
      #expect(throws: StoreError.self) { try store.close() }
      try Self.expectAcknowledged(counts, disk, tree)
    }
  }
}
