import CambiumKernel
import CambiumTesting
import Testing

@Suite struct StoreCopyTests {
  private func options(pageSize: Int = 4096) -> StoreOptions {
    var options = StoreOptions()
    options.logBytes = 1 << 16
    options.deltaBytes = 1 << 18
    options.pageSize = pageSize
    return options
  }

  /// What a view holds, tree by tree.
  private func content(_ view: TreeView, _ trees: [TreeID]) throws -> [[UInt64: [UInt8]]] {
    try trees.map { tree in
      var result: [UInt64: [UInt8]] = [:]
      let cursor = try view.cursor(tree)
      var more = try cursor.seekFirst()
      while more {
        result[cursor.integerKey] = try cursor.value()
        more = try cursor.next()
      }
      return result
    }
  }

  /// Copies made at random moments, with writing, dropping and compaction in the middle of the copying, hold exactly
  /// the commit that was retained, are sound, and can be written to and copied again.
  @Test(arguments: [4096, 16384]) func copiesBesideAWriter(pageSize: Int) throws {
    let seed = testSeed(0xC0B1E5)
    print("copies beside a writer: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let device = MemoryDevice()
    let environment = TestEnvironment(seed: seed)
    let store = try Store.create(on: device, environment: environment, options: options(pageSize: pageSize))
    var trees: [TreeID] = []
    let t = try store.beginWrite()
    for _ in 0..<4 { trees.append(try t.createTree(.integer)) }
    try t.addToCounter(trees[0], 1, 77)
    try t.commit()
    func change(_ count: Int) throws {
      for _ in 0..<count {
        let t = try store.beginWrite()
        for _ in 0..<40 {
          guard let tree = trees.randomElement(using: &random) else { continue }
          let key = UInt64.random(in: 0..<2000, using: &random)
          if UInt8.random(in: 0..<4, using: &random) == 0 {
            _ = try t.delete(tree, key)
          } else {
            // Some of them are so large that they lie outside of the pages.
            let large = UInt8.random(in: 0..<50, using: &random) == 0
            let count = Int.random(in: 0..<(large ? 40_000 : 300), using: &random)
            try t.put(tree, key, Array(repeating: UInt8.random(in: 0...255, using: &random), count: count))
          }
        }
        try t.commit()
      }
    }
    try change(40)
    var before: [RetainedCommit] = []
    for round in 0..<6 {
      try change(Int.random(in: 1..<30, using: &random))
      let commit = try store.retain(reason: "copy \(round)")
      before.append(commit)
      if round == 3 { try store.release(retained: before[1].id) }
      let expected = try content(try store.snapshot(retained: commit.id), trees)
      try change(5)
      let target = MemoryDevice()
      var calls = 0
      var last: Store.CopyProgress?
      let isWhole = try store.copy(retained: commit.id, to: target) { progress in
        calls += 1
        #expect(progress.copiedBytes <= progress.totalBytes && progress.copiedBytes >= last?.copiedBytes ?? 0)
        last = progress
        // The turn is free: others go on.
        #expect(throws: Never.self) {
          try change(3)
          _ = try store.compactStep(bytes: 1 << 18)
        }
        return true
      }
      #expect(isWhole && calls > 0 && last?.copiedBytes == last?.totalBytes)
      for _ in 0..<2 {
        let copy = try Store.open(on: target, environment: environment, options: options(pageSize: pageSize))
        #expect(copy.uuid == store.uuid)
        #expect(try content(try copy.snapshot(), trees) == expected)
        #expect(try copy.snapshot().counter(trees[0], 1) == 77)
        #expect(try copy.check().problems.isEmpty)
        #expect(try copy.retainedCommits().isEmpty)
        try copy.close()
      }
      // It lives: it can be written to, checked and compacted.
      let copy = try Store.open(on: target, environment: environment, options: options(pageSize: pageSize))
      let t = try copy.beginWrite()
      let extra = try t.createTree(.integer)
      #expect(!trees.contains(extra))
      for key in 0..<3000 as Range<UInt64> { try t.put(extra, key, [1, 2, 3]) }
      try t.commit()
      try copy.compact()
      #expect(try copy.check().problems.isEmpty)
      #expect(try content(try copy.snapshot(), trees) == expected)
      try copy.close()
      #expect(try store.check().problems.isEmpty)
    }
  }

  @Test func refusals() throws {
    let environment = TestEnvironment(seed: 5)
    let store = try Store.create(on: MemoryDevice(), environment: environment, options: options())
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for key in 0..<20_000 as Range<UInt64> { try t.put(tree, key, Array(repeating: 7, count: 400)) }
    try t.commit()
    #expect(throws: StoreError.snapshotExpired) { _ = try store.copy(retained: 9, to: MemoryDevice()) }
    let commit = try store.retain(reason: "copy")
    // Given up half-way.
    #expect(try store.copy(retained: commit.id, to: MemoryDevice()) { _ in false } == false)
    // Released while it is copied.
    #expect(throws: StoreError.snapshotExpired) {
      _ = try store.copy(retained: commit.id, to: MemoryDevice()) { progress in
        // Once, while it is there.
        if progress.copiedBytes <= progress.totalBytes { try? store.release(retained: commit.id) }
        return true
      }
    }
    // A device without room.
    let again = try store.retain(reason: "copy")
    let small = MemoryDevice(capacityBytes: 100_000)
    #expect(throws: StoreError.self) { _ = try store.copy(retained: again.id, to: small) }
    #expect(try store.check().problems.isEmpty)
  }
}
