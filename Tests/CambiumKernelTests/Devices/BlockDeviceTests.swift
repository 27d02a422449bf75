import CambiumTesting
import Testing

@testable import CambiumKernel

/// Stores on a medium of blocks, by way of ``BlockDevice``.
struct BlockDeviceTests {
  /// Blocks in memory, which may fail.
  private final class Card: BlockMedium, @unchecked Sendable {
    // Unchecked: one thread uses it.
    let blockBytes: Int
    let blockCount: UInt64
    var bytes: [UInt8]
    var failsToWrite = false
    var syncs = 0

    init(blockBytes: Int, blockCount: Int) {
      self.blockBytes = blockBytes
      self.blockCount = UInt64(blockCount)
      bytes = [UInt8](repeating: 0, count: blockBytes * blockCount)
    }

    private func range(_ first: UInt64, _ count: Int) throws(StoreError) -> Range<Int> {
      let start = Int(first) * blockBytes
      guard count > 0, count % blockBytes == 0, start + count <= bytes.count else {
        throw .device(operation: .read, offset: first, code: 22)
      }
      return start..<start + count
    }

    func read(from first: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) {
      let range = try range(first, buffer.count)
      bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    func write(_ new: UnsafeRawBufferPointer, from first: UInt64) throws(StoreError) {
      if failsToWrite { throw .device(operation: .write, offset: first, code: 5) }
      bytes.replaceSubrange(try range(first, new.count), with: new)
    }

    func sync() throws(StoreError) { syncs += 1 }
  }

  @Test(arguments: [(512, 300), (2048, 70), (7, 9000)]) func agreesWithAnArray(_ blockBytes: Int, _ count: Int) throws {
    let card = Card(blockBytes: blockBytes, blockCount: count)
    try DeviceModel.compare(
      try BlockDevice(card), capacity: blockBytes * count, rounds: 2000, seed: testSeed(UInt64(count))
    ) { try BlockDevice(card) }
  }

  @Test func aStoreLivesOnACard() throws {
    let card = Card(blockBytes: 512, blockCount: 1 << 11)
    // What was there before does not matter.
    for i in card.bytes.indices { card.bytes[i] = UInt8(truncatingIfNeeded: i &* 31) }
    let environment = TestEnvironment(seed: 1)
    var store = try Store.create(on: BlockDevice(card), environment: environment, options: .small)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    for key in UInt64(0)..<1500 {
      t = try store.beginWrite()
      try t.put(tree, key, [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 60))
      try t.commit()
    }
    #expect(card.syncs > 1500)
    // Left without closing.
    store = try Store.open(on: BlockDevice(card), environment: environment, options: .small)
    #expect(try store.snapshot().count(tree) == 1500)
    #expect(try store.check().problems.isEmpty)
    card.failsToWrite = true
    t = try store.beginWrite()
    try t.put(tree, 1, [1])
    #expect(throws: StoreError.device(operation: .write, offset: 0, code: 5).self) {
      do throws(StoreError) { try t.commit() } catch {
        guard case .device(.write, _, 5) = error else { throw error }
        throw StoreError.device(operation: .write, offset: 0, code: 5)
      }
    }
    card.failsToWrite = false
    store = try Store.open(on: BlockDevice(card), environment: environment, options: .small)
    #expect(try store.snapshot().count(tree) == 1500)
    try store.close()
  }

  @Test func aFullCardRefuses() throws {
    let card = Card(blockBytes: 512, blockCount: 400)
    let store = try Store.create(on: BlockDevice(card), environment: TestEnvironment(seed: 2), options: .small)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    var key: UInt64 = 0
    var refusal: StoreError?
    while refusal == nil {
      do throws(StoreError) {
        t = try store.beginWrite()
        try t.put(tree, key, [UInt8](repeating: 3, count: 500))
        try t.commit()
        key += 1
      } catch { refusal = error }
    }
    switch refusal {
    case .deviceFull, .reserveExhausted: break
    default: Issue.record("\(String(describing: refusal))")
    }
    #expect(try store.snapshot().count(tree) == key)
  }
}
