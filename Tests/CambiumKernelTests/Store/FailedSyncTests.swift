import CambiumTesting
import Testing

@testable import CambiumKernel

/// After a failed sync a handle writes nothing more.
@Suite struct FailedSyncTests {
  @Test func aFailedSyncEndsTheHandle() throws {
    let disk = SimulatedDisk()
    let store = try Store.create(on: disk, environment: TestEnvironment(seed: 2))
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    disk.failSyncs()
    t = try store.beginWrite()
    try t.put(tree, 1, [1])
    #expect(throws: StoreError.poisoned) { try t.commit() }
    let operations = disk.operationCount
    #expect(throws: StoreError.poisoned) { try store.beginWrite() }
    #expect(throws: StoreError.poisoned) { try store.checkpoint() }
    // Reads go on, and show what was acknowledged.
    #expect(try store.snapshot().value(tree, 1) == nil)
    #expect(throws: StoreError.poisoned) { try store.close() }
    #expect(disk.operationCount == operations)
  }
}
