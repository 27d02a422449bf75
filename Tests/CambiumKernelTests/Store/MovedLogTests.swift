import CambiumTesting
import Testing

@testable import CambiumKernel

/// The log moves to other segments while a power cut may come at any moment.
@Suite struct MovedLogTests {
  @Test func aPowerCutLeavesOneOfBothLogs() throws {
    let disk = SimulatedDisk()
    let store = try Store.create(on: disk, environment: TestEnvironment(seed: 2))
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.put(tree, 1, [1])
    try t.commit()
    try store.checkpoint()
    try store.takeTurn()
    try store.space.extend(to: store.space.table.fileUnits + 64)
    let first = disk.operationCount
    let old = store.log.segments
    #expect(try store.moveLog(into: store.space.table.usedUnits..<store.space.table.fileUnits))
    #expect(store.log.segments.allSatisfy { !old.contains($0) })
    store.endTurn()
    for point in first...disk.operationCount {
      for image in disk.crashImages(at: point, limit: 30, tearing: .byteRange, seed: 7) {
        let opened = try Store.open(on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 3))
        #expect(try opened.snapshot().value(tree, 1) == [1], "\(image)")
        #expect(try opened.check().problems.isEmpty, "\(image)")
      }
    }
  }
}
