import CambiumTesting
import Testing

@testable import CambiumKernel
@testable import CambiumSystem

/// Stores that share a file, each with an open file of its own, as different processes have.
@Suite struct SharingTests {
  private let environment = SystemEnvironment()

  private func make(_ path: String) throws {
    let device = try FileDevice.create(at: path) { (device) throws(StoreError) in
      try Store.format(device, environment: environment)
    }
    device.close()
  }

  private func open(
    _ path: String, _ durability: Durability = .normal, sharing: FileDevice.Sharing = .shared, isReadOnly: Bool = false
  ) throws(StoreError) -> Store {
    var options = StoreOptions()
    options.durability = durability
    options.isReadOnly = isReadOnly
    options.logBytes = 32 << 10
    let device = try FileDevice(path: path, access: isReadOnly ? .readOnly : .readWrite, sharing: sharing)
    return try Store.open(on: device, environment: environment, options: options)
  }

  private func opening(
    _ path: String, _ durability: Durability = .normal, sharing: FileDevice.Sharing = .shared, isReadOnly: Bool = false
  ) -> StoreError? {
    do throws(StoreError) {
      try open(path, durability, sharing: sharing, isReadOnly: isReadOnly).close()
      return nil
    } catch { return error }
  }

  /// The turn of one that does not give it up, over real files; and what is waited for with a limit comes when it is
  /// free.
  @Test func theTurnIsWaitedForWithALimit() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try make(path)
      let a = try open(path)
      var t = try a.beginWrite()
      let tree = try t.createTree(.integer)
      try t.commit()
      var options = StoreOptions()
      options.durability = .normal
      options.turnTimeoutMilliseconds = 20
      let b = try Store.open(
        on: try FileDevice(path: path, sharing: .shared), environment: environment, options: options)
      t = try a.beginWrite()
      #expect(thrown { () throws(StoreError) in _ = try b.beginWrite() } == .busy)
      #expect(try b.snapshot().count(tree) == 0)
      try t.put(tree, 1, [1])
      try t.commit()
      t = try b.beginWrite()
      try t.put(tree, 2, [2])
      try t.commit()
      #expect(try a.snapshot().count(tree) == 2)
      for store in [a, b] { try store.close() }
      // A range of a device's own, and limits that make no sense.
      let first = try FileDevice(path: path, sharing: .shared)
      let second = try FileDevice(path: path, sharing: .shared)
      let range: Range<UInt64> = 1 << 40..<(1 << 40 + 1)
      #expect(try first.waitForLock(range, atMost: .max) != nil)
      #expect(try second.waitForLock(range, atMost: 0) == nil && second.waitForLock(range, atMost: -5) == nil)
      #expect(try second.waitForLock(range, atMost: 5) == nil)
      try first.unlock(range)
      #expect(try second.waitForLock(range, atMost: 1000).map { $0 > 0 } == true)
      first.close()
      second.close()
    }
  }

  @Test func writersSeeOneAnother() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try make(path)
      let a = try open(path)
      let b = try open(path)
      let reader = try open(path, isReadOnly: true)
      var t = try a.beginWrite()
      let tree = try t.createTree(.integer)
      try t.commit()
      for n in 0..<UInt64(400) {
        t = try (n % 3 == 0 ? a : b).beginWrite()
        #expect(try t.count(tree) == n)
        try t.put(tree, n, [UInt8](repeating: UInt8(truncatingIfNeeded: n), count: 700))
        try t.commit()
        if n % 50 == 0 { try (n % 100 == 0 ? a : b).checkpoint() }
        for store in [a, b, reader] { #expect(try store.snapshot().count(tree) == n + 1) }
      }
      #expect(try reader.check().problems.isEmpty)
      try a.close()
      try b.close()
      try reader.close()
      let alone = try open(path, sharing: .exclusive)
      #expect(try alone.snapshot().count(tree) == 400)
      try alone.close()
    }
  }

  /// What a view of another process needs is kept, and used again when the view is gone.
  @Test func viewsOfOthersHoldRoom() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try make(path)
      let writer = try open(path)
      let reader = try open(path, isReadOnly: true)
      let t = try writer.beginWrite()
      let tree = try t.createTree(.integer)
      for n in 0..<UInt64(2000) { try t.put(tree, n, [UInt8](repeating: 1, count: 200)) }
      try t.commit()
      try writer.checkpoint()
      var view: Snapshot? = try reader.snapshot()
      /// Answers the least bytes that segments took after one of the rounds.
      func rewrite(_ rounds: Int) throws -> UInt64 {
        var least = UInt64.max
        for round in 0..<rounds {
          let t = try writer.beginWrite()
          for n in 0..<UInt64(2000) { try t.put(tree, n, [UInt8](repeating: UInt8(2 + round), count: 200)) }
          try t.commit()
          try writer.checkpoint()
          least = min(least, try writer.statistics().segmentBytes)
        }
        return least
      }
      let held = try rewrite(6)
      for n in 0..<UInt64(2000) where n % 10 == 0 {
        #expect(try view?.value(tree, n)?.allSatisfy { $0 == 1 } ?? false)
      }
      view = nil
      // The view held a whole state of 400,000 bytes.
      #expect(try rewrite(6) + 200_000 < held)
      try writer.close()
      try reader.close()
    }
  }

  @Test func oneThatWantsTheFileForItselfIsRefused() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try make(path)
      let store = try open(path)
      #expect(opening(path, sharing: .exclusive) == .busy)
      #expect(opening(path, sharing: .exclusive, isReadOnly: true) == .busy)
      #expect(opening(path) == nil)
      try store.close()
      let alone = try open(path, sharing: .exclusive)
      #expect(opening(path) == .busy)
      #expect(opening(path, isReadOnly: true) == .busy)
      try alone.close()
      #expect(opening(path) == nil)
    }
  }

  @Test func durabilitiesOfAnotherKindAreRefused() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try make(path)
      for (kept, fits) in [(Durability.full, [Durability.full, .normal]), (.strict, [.strict]), (.none, [.none])] {
        let store = try open(path, kept)
        for other in [Durability.full, .normal, .strict, .none] {
          #expect(opening(path, other) == (fits.contains(other) ? nil : .misuse("")))
        }
        #expect(opening(path, isReadOnly: true) == nil)
        try store.close()
      }
    }
  }

  @Test func suspensionGivesEveryLockUp() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try make(path)
      let store = try open(path)
      var t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      for n in 0..<UInt64(2000) { try t.put(tree, n, [UInt8](repeating: 1, count: 200)) }
      try t.commit()
      try store.checkpoint()
      let view = try store.snapshot()
      try store.suspend()
      try store.suspend()
      #expect(thrown { () throws(StoreError) in _ = try store.snapshot() } == .suspended)
      #expect(thrown { () throws(StoreError) in _ = try store.beginWrite() } == .suspended)
      #expect(thrown { () throws(StoreError) in _ = try view.value(tree, 7) } == .suspended)
      // Nobody has done anything: the view is good.
      try store.resume()
      #expect(try view.value(tree, 7)?.first == 1)

      try store.suspend()
      let alone = try open(path, sharing: .exclusive)
      #expect(thrown { () throws(StoreError) in try store.resume() } == .busy)
      for round in 0..<4 {
        t = try alone.beginWrite()
        for n in 0..<UInt64(2000) { try t.put(tree, n, [UInt8](repeating: UInt8(2 + round), count: 200)) }
        try t.commit()
        try alone.checkpoint()
      }
      try alone.close()
      try store.resume()
      #expect(thrown { () throws(StoreError) in _ = try view.value(tree, 7) } == .snapshotExpired)
      #expect(try store.snapshot().value(tree, 7)?.first == 5)
      try store.close()
    }
  }

  /// Threads of two stores write beside one another: each commit counts on from the last.
  @Test func threadsOfTwoStoresTakeTurns() async throws {
    let path = "/tmp/cambium-\(UInt64.random(in: 0 ... .max)).store"
    try make(path)
    defer { _ = FileCalls.system.unlink(path) }
    let stores = [try open(path), try open(path)]
    let t = try stores[0].beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    let errors = await withTaskGroup(of: StoreError?.self) { group in
      for n in 0..<4 {
        let store = stores[n % 2]
        group.addTask {
          thrown { () throws(StoreError) in
            for _ in 0..<100 {
              let t = try store.beginWrite()
              try t.addToCounter(tree, 0, 1)
              try t.put(tree, UInt64(clamping: try t.counter(tree, 0)), [1, 2, 3])
              try t.commit()
            }
          }
        }
        group.addTask {
          thrown { () throws(StoreError) in
            var last: Int64 = 0
            for _ in 0..<200 {
              let view = try store.snapshot()
              let now = try view.counter(tree, 0)
              if now < last { throw .misuse("a commit is gone") }
              if try view.count(tree) != UInt64(clamping: now) { throw .misuse("half a commit") }
              last = now
            }
          }
        }
      }
      return await group.reduce(into: [StoreError?]()) { $0.append($1) }
    }
    #expect(errors.allSatisfy { $0 == nil }, "\(errors)")
    for store in stores {
      #expect(try store.snapshot().counter(tree, 0) == 400)
      try store.close()
    }
  }
}
