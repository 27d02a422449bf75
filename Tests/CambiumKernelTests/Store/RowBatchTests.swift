import CambiumTesting
import Testing

@testable import CambiumKernel

/// Batches of rows against a dictionary: by way of memory and straight into pages, small and large values, among other
/// changes of the same tree, commits, rollbacks and reopenings.
@Suite struct RowBatchTests {
  @Test(arguments: [1 << 14, 1 << 20, 64 << 20])
  func agreesWithAModel(_ deltaBytes: Int) throws {
    var merges = 0
    for seed in 0..<UInt64(isFullLength ? 40 : 4) {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      var options = StoreOptions()
      options.deltaBytes = deltaBytes
      options.logBytes = 64 << 10
      options.cacheBytes = 128 << 10
      options.logValueLimit = 4000
      let device = MemoryDevice()
      var store = try Store.create(on: device, environment: TestEnvironment(seed: seed), options: options)
      var t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      try t.commit()
      var committed: [UInt64: [UInt8]] = [:]
      for _ in 0..<6 {
        t = try store.beginWrite()
        var model = committed
        var saved: (point: Savepoint, model: [UInt64: [UInt8]])?
        for _ in 0..<(1 + random.below(6)) {
          if random.oneIn(6) {
            saved = (t.savepoint(), model)
          } else if random.oneIn(6), let saved {
            try t.rollBack(to: saved.point)
            model = saved.model
          } else if random.oneIn(3) {
            let key = UInt64(random.below(5000))
            if random.oneIn(2) {
              #expect(try t.delete(tree, key) == (model.removeValue(forKey: key) != nil))
            } else {
              model[key] = random.bytes(random.oneIn(5) ? 6000 : 30)
              try t.put(tree, key, model[key] ?? [])
            }
          } else {
            let batch = RowBatch()
            var key = UInt64(random.below(1000))
            let large = random.oneIn(3)
            while key < 5000 {
              let value = random.bytes(random.oneIn(30) ? 6000 : random.below(large ? 900 : 60))
              try value.withUnsafeBytesTyped { (v) throws(StoreError) in try batch.add(key, v) }
              model[key] = value
              key += UInt64(1 + random.below(large ? 3 : 400))
            }
            let before = t.spilled[tree]?.root
            try t.apply(batch, to: tree)
            if t.spilled[tree]?.root != before { merges += 1 }
          }
          #expect(try t.count(tree) == UInt64(model.count))
          if random.oneIn(2) {
            #expect(try Self.content(t, tree) == model, "seed \(CrashTests.seed &+ seed), unfinished")
          }
        }
        if random.oneIn(4) {
          t.rollBack()
        } else {
          try t.commit()
          committed = model
        }
        if random.oneIn(4) {
          try store.close()
          store = try Store.open(on: device, environment: TestEnvironment(seed: seed &+ 99), options: options)
        }
        #expect(try Self.content(store.snapshot(), tree) == committed, "seed \(CrashTests.seed &+ seed)")
      }
      let problems = try store.check().problems
      #expect(problems.isEmpty, "seed \(CrashTests.seed &+ seed): \(problems)")
      try store.close()
    }
    #expect(merges > 0)
  }

  private static func content(_ view: TreeView, _ tree: TreeID) throws -> [UInt64: [UInt8]] {
    let cursor = try view.cursor(tree)
    var found: [UInt64: [UInt8]] = [:]
    var more = try cursor.seekFirst()
    while more {
      found[cursor.integerKey] = try cursor.value()
      more = try cursor.next()
    }
    return found
  }

  @Test func refusals() throws {
    let batch = RowBatch()
    let fill: (UInt64) throws -> Void = { key in
      try [UInt8]([1, 2]).withUnsafeBytesTyped { (v) throws(StoreError) in try batch.add(key, v) }
    }
    try fill(5)
    #expect(throws: StoreError.self) { try fill(5) }
    #expect(throws: StoreError.self) { try fill(4) }
    #expect(throws: StoreError.self) {
      try batch.add(6, count: 3) { (_) throws(StoreError) in throw .misuse("not written") }
    }
    #expect(throws: StoreError.self) { try batch.add(6, count: -1) { (_) throws(StoreError) in } }
    try fill(6)
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(), options: StoreOptions())
    let t = try store.beginWrite()
    let names = try t.createTree(.bytes)
    #expect(throws: StoreError.self) { try t.apply(batch, to: names) }
    let tree = try t.createTree(.integer)
    try t.apply(batch, to: tree)
    #expect(try t.count(tree) == 2)
    batch.removeAll()
    #expect(batch.isEmpty && batch.bytes == 0)
    try fill(1)
    try t.apply(batch, to: tree)
    #expect(try t.count(tree) == 3)
    t.rollBack()
    try store.close()
  }

  /// Once taking rows into pages has failed, nothing can be done but to roll back, and the store is as it was.
  @Test func aTransactionEndsWithAFailedMerge() throws {
    var options = StoreOptions()
    options.deltaBytes = 1 << 14
    let base = MemoryDevice()
    var random = SplitMix64(seed: 3)
    let store = try Store.create(on: base, environment: TestEnvironment(), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for key in 0..<200 { try t.put(tree, UInt64(key), random.bytes(key % 20 == 0 ? 9000 : 300)) }
    try t.commit()
    try store.close()
    let contents = base.contents()
    let rows = RowBatch()
    for key in 0..<150 {
      try random.bytes(key % 15 == 0 ? 8000 : 200).withUnsafeBytesTyped { (v) throws(StoreError) in
        try rows.add(UInt64(key), v)
      }
    }
    var failures = 0
    for operation in 0..<200 {
      let memory = MemoryDevice(copying: contents)
      let device = FaultDevice(memory)
      let store = try Store.open(on: device, environment: TestEnvironment(), options: options)
      let before = try StoreContent.hash(of: store.snapshot())
      let t = try store.beginWrite()
      device.plan(FaultDevice.Fault(at: device.operationCount + operation))
      do throws(StoreError) { try t.apply(rows, to: tree) } catch {
        if t.failure != nil {
          failures += 1
          #expect(throws: StoreError.self) { try t.apply(rows, to: tree) }
          #expect(throws: StoreError.self) { try t.put(tree, 1, [1]) }
          #expect(throws: StoreError.self) { try t.commit() }
        }
        t.rollBack()
        // After a write that failed the store says that it has to be opened again; after a read it goes on.
        if let found = try? StoreContent.hash(of: store.snapshot()) {
          #expect(found == before, "operation \(operation)")
        }
        try? store.close()
        let again = try Store.open(
          on: MemoryDevice(copying: memory.contents()), environment: TestEnvironment(), options: options)
        #expect(try StoreContent.hash(of: again.snapshot()) == before, "operation \(operation)")
        #expect(try again.check().problems.isEmpty, "operation \(operation)")
        continue
      }
      // The fault comes later than that.
      t.rollBack()
      break
    }
    #expect(failures > 3)
  }
}
