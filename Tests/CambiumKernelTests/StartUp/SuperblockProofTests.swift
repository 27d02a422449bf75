import CambiumTesting
import Testing

@testable import CambiumKernel

/// An opener writes the superblock that it read again, and at every moment one copy of it is whole and durable.
@Suite struct SuperblockProofTests {
  /// One copy of the newest superblock is torn, or none, and no older superblock can stand in for it.
  @Test(arguments: [true, false], [nil, 0, 1]) func aPowerCutLeavesAWholeCopy(_ closed: Bool, _ torn: Int?) throws {
    var image = try StartUpCaseTests.image(closed: closed, durability: .strict)
    let slot = try StartUpCaseTests.log(image).superblock.slot
    if let torn { StartUpCaseTests.flip(&image, Superblock.offset(slot: slot, copy: torn) + 200) }
    for copy in 0..<2 { StartUpCaseTests.flip(&image, Superblock.offset(slot: 1 - slot, copy: copy) + 200) }
    let disk = SimulatedDisk(image)
    // At this durability a torn sector may hold garbage, and a write of the bytes that are there may tear them.
    var options = StoreOptions()
    options.durability = .strict
    let store = try Store.open(on: disk, environment: TestEnvironment(seed: 12), options: options)
    let t = try store.beginWrite()
    try t.put(StartUpCaseTests.tree, 30, Array(repeating: 30, count: 100))
    try t.commit()
    for point in 0...disk.operationCount {
      for image in disk.crashImages(at: point, limit: 30, tearing: .sector(bytes: 512), seed: 3) {
        let rows = try StartUpCaseTests.rows(image.bytes)
        #expect(rows == 29 || rows == 30, "\(image)")
      }
    }
  }

  /// A process that was killed before it synced its clean mark leaves the next one a mark that may not be durable.
  @Test func aCleanMarkThatWasNotSyncedIsWrittenAgain() throws {
    var image = try StartUpCaseTests.image(closed: true)
    let slot = try StartUpCaseTests.log(image).superblock.slot
    let places = [0, 1].map { Superblock.offset(slot: slot, copy: $0) }
    let mark = places.map { Array(image[Int($0)..<Int($0) + Superblock.copySize]) }
    for place in places { StartUpCaseTests.flip(&image, place + 200) }
    let disk = SimulatedDisk(image)
    for (place, copy) in zip(places, mark) { try copy.withUnsafeBytes { try disk.write($0, at: place) } }
    let store = try Store.open(on: disk, environment: TestEnvironment(seed: 13))
    #expect(store.superblock.isClean)
    let opened = disk.operationCount
    let t = try store.beginWrite()
    try t.put(StartUpCaseTests.tree, 30, Array(repeating: 30, count: 100))
    try t.commit()
    for point in 0...disk.operationCount {
      // Only a crash that takes both copies of the mark and tears both copies of the superblock behind it would leave
      // none.
      let limit = (opened...opened + 6).contains(point) ? 400 : 10
      for image in disk.crashImages(at: point, limit: limit, tearing: .byteRange, seed: 3) {
        let rows = try StartUpCaseTests.rows(image.bytes)
        #expect(rows == 29 || rows == 30, "\(image)")
      }
    }
  }
}
