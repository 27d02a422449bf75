import CambiumTesting
import Testing

@testable import CambiumKernel

/// What may go wrong within a transaction that goes on.
@Suite struct TransactionFaultTests {
  private func options(logBytes: Int = 64 << 10) -> StoreOptions {
    var options = StoreOptions()
    options.logBytes = logBytes
    options.deltaBytes = 32 << 10
    options.cacheBytes = 64 << 10
    return options
  }

  /// The device is full, or fails, in the middle of a large value; the caller goes on without it.
  @Test(arguments: [StoreError.deviceFull(bytes: 1), .device(operation: .write, offset: 0, code: 5)])
  func aLargeValueThatFailedLeavesNothing(_ error: StoreError) throws {
    for n in 0..<5 {
      let memory = MemoryDevice()
      let device = FaultDevice(memory)
      var store = try Store.create(on: device, environment: TestEnvironment(seed: 1), options: options())
      var t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      try t.put(tree, 1, [UInt8](repeating: 1, count: 70_000))
      try t.commit()
      t = try store.beginWrite()
      device.plan(.init(.write, at: device.operationCount(of: .write) + n, error: error))
      let result = Result { try t.put(tree, 2, [UInt8](repeating: 2, count: 3 << 20)) }
      if n < 3 { #expect(throws: error) { try result.get() } }
      device.reset()
      try t.put(tree, 3, [3])
      try t.commit()
      try store.checkpoint()
      var problems = try store.check().problems
      #expect(problems.isEmpty, "write \(n): \(problems)")
      try store.close()
      store = try Store.open(on: memory, environment: TestEnvironment(seed: 2), options: options())
      problems = try store.check().problems
      #expect(problems.isEmpty, "write \(n): \(problems)")
      #expect(try store.snapshot().value(tree, 3) == [3])
      try store.close()
    }
  }

  /// A cursor made while a checkpoint is under way sees what it saw, also when the transaction finishes the checkpoint
  /// since its changes outgrow memory.
  @Test func aCursorOutlivesTheSpillOfItsTransaction() throws {
    let store = try Store.create(
      on: MemoryDevice(), environment: TestEnvironment(seed: 1), options: options(logBytes: 1 << 20))
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for n in 0..<UInt64(9000) { try t.put(tree, n * 2, [UInt8](repeating: 1, count: 100)) }
    try t.commit()
    var n: UInt64 = 1
    while store.checkpointUnderWay == nil {
      t = try store.beginWrite()
      for _ in 0..<20 {
        try t.put(tree, n * 97 % 18000, [UInt8](repeating: 2, count: 100))
        n += 2
      }
      try t.commit()
    }
    let expected = try StoreContent.hash(of: store.snapshot())
    var model: [(UInt64, [UInt8])] = []
    let view = try store.snapshot()
    let all = try view.cursor(tree)
    var more = try all.seekFirst()
    while more {
      model.append((all.integerKey, try all.value() ?? []))
      more = try all.next()
    }
    t = try store.beginWrite()
    let cursor = try t.cursor(tree)
    more = try cursor.seekFirst()
    var seen: [(UInt64, [UInt8])] = []
    while more {
      if seen.count == 50 {
        for n in 0..<UInt64(800) { try t.put(tree, 1_000_000 + n, [UInt8](repeating: 9, count: 100)) }
        #expect(!t.spilled.isEmpty)
      }
      seen.append((cursor.integerKey, try cursor.value() ?? []))
      more = try cursor.next()
    }
    #expect(seen.count == model.count)
    #expect(zip(seen, model).allSatisfy { $0.0 == $1.0 && $0.1 == $1.1 })
    t.rollBack()
    #expect(try StoreContent.hash(of: store.snapshot()) == expected)
    try store.close()
  }

  /// Whoever goes on after a step that failed is told that the cursor stands nowhere, and is not led past entries.
  @Test func aCursorStandsNowhereAfterAFailedStep() throws {
    let device = FaultDevice(MemoryDevice())
    var options = options()
    options.cacheBytes = 17_000
    options.deltaBytes = 4 << 20
    options.logBytes = 8 << 20
    options.maxRecordBytes = 4 << 20
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 1), options: options)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for n in 0..<UInt64(3000) { try t.put(tree, n, [UInt8](repeating: 1, count: 400)) }
    try t.commit()
    try store.checkpoint()
    // Changes over every entry, so that the cursor stands on them.
    for from in stride(from: UInt64(0), to: 3000, by: 100) {
      t = try store.beginWrite()
      for n in from..<(from + 100) {
        if n % 7 == 0 { try t.delete(tree, n) } else { try t.put(tree, n, [2]) }
      }
      try t.commit()
    }
    #expect(store.current.active.nodeCount >= 3000)
    let view = try store.snapshot()
    var failures = 0
    for forward in [true, false] {
      let cursor = try view.cursor(tree)
      var more = forward ? try cursor.seekFirst() : try cursor.seekLast()
      while more {
        let key = cursor.integerKey
        device.plan(.init(.read, at: device.operationCount(of: .read)))
        let result = Result { forward ? try cursor.next() : try cursor.previous() }
        device.reset()
        switch result {
        case .success(let isThere): more = isThere
        case .failure:
          failures += 1
          #expect(!cursor.isValid)
          #expect(try !(forward ? cursor.next() : cursor.previous()))
          more = forward ? try cursor.seek(key + 1) : try cursor.seek(before: key)
        }
        if more { #expect(cursor.integerKey == (forward ? next(key) : previous(key))) }
      }
    }
    #expect(failures > 10)
    for seek in [{ try $0.seekFirst() }, { try $0.seekLast() }] as [(Cursor) throws -> Bool] {
      let cursor = try view.cursor(tree)
      // Far enough for the cache of a few pages to have forgotten both ends.
      for n in stride(from: UInt64(1000), through: 2000, by: 5) { #expect(try cursor.seek(n % 7 == 0 ? n + 1 : n)) }
      device.plan(.init(.read, at: device.operationCount(of: .read)))
      #expect(throws: (any Error).self) { try seek(cursor) }
      device.reset()
      #expect(!cursor.isValid)
    }
    try store.close()
  }

  private func next(_ key: UInt64) -> UInt64 { (key + 1) % 7 == 0 ? key + 2 : key + 1 }
  private func previous(_ key: UInt64) -> UInt64 { (key - 1) % 7 == 0 ? key - 2 : key - 1 }
}
