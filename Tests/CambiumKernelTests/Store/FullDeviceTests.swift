import CambiumTesting
import Testing

@testable import CambiumKernel

/// On a device that is full, the first call of a compaction gives dead room back, as far as the file has room to copy.
@Suite struct FullDeviceTests {
  private let device = FillingDevice(MemoryDevice())
  private let store: Store
  private let tree: TreeID
  private var random = SplitMix64(seed: 777)

  init() throws {
    var options = StoreOptions()
    options.logBytes = 256 << 10
    options.deltaBytes = 1 << 20
    options.cacheBytes = 1 << 20
    store = try Store.create(on: device, environment: TestEnvironment(seed: 3), options: options)
    let t = try store.beginWrite()
    tree = try t.createTree(.integer)
    try t.commit()
  }

  /// Compacts twice. The first call ends within a quarter of what is live, and leaves next to nothing to the second.
  private func expectThatOneCallIsEnough() throws {
    try store.compact()
    let first = try store.statistics()
    #expect(first.fileBytes <= first.liveBytes * 5 / 4 + first.logSegmentBytes)
    try store.compact()
    #expect(try first.fileBytes - store.statistics().fileBytes <= first.fileBytes / 64)
    #expect(try store.check().problems.isEmpty)
  }

  /// The checkpoints empty segments of large values whose copies do not fit any more.
  @Test mutating func deletionsBesideAViewThatIsLetGo() throws {
    var rows: UInt64 = 0
    func isRefused(_ error: StoreError) -> Bool {
      switch error {
      case .deviceFull, .reserveExhausted: error.description.contains("compact()")
      default: false
      }
    }
    do throws(StoreError) {
      while true {
        if try device.size() > 32 << 20 { device.fillUp() }
        let t = try store.beginWrite()
        for n in 0..<UInt64(100) { try t.put(tree, rows + n, random.bytes(n % 50 == 0 ? 100_000 : 500)) }
        try t.commit()
        rows += 100
      }
    } catch { #expect(isRefused(error)) }
    var view: Snapshot? = try store.snapshot()
    let hash = try StoreContent.hash(of: store.snapshot())
    for part in 0..<rows / 100 where part % 2 == 1 {
      let t = try store.beginWrite()
      for n in 0..<UInt64(100) { #expect(try t.delete(tree, part * 100 + n)) }
      try t.commit()
    }
    if let view { #expect(try StoreContent.hash(of: view) == hash) }
    view = nil
    #expect(device.refusalCount > 0)
    try expectThatOneCallIsEnough()
  }

  /// The file becomes as short as its last segment is, and what would be moved next does not fit it.
  @Test(arguments: [15, 20, 30, 40] as [UInt64]) mutating func deletionsOfOneTransaction(_ parts: UInt64) throws {
    for part in 0..<parts {
      let t = try store.beginWrite()
      for n in 0..<UInt64(500) { try t.put(tree, part * 500 + n, random.bytes(500)) }
      try t.commit()
    }
    try store.checkpoint()
    let t = try store.beginWrite()
    for n in 0..<parts * 500 where n % 5 > 0 { #expect(try t.delete(tree, n)) }
    try t.commit()
    try store.checkpoint()
    device.fillUp()
    try expectThatOneCallIsEnough()
  }
}
