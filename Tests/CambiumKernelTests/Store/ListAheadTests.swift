import CambiumKernel
import CambiumTesting
import Foundation
import Synchronization
import Testing

/// Entries of many keys whose pages are not in the cache: other threads bring them, and nothing else is different.
@Suite struct ListAheadTests {
  private static let count: UInt64 = 20_000
  private static let tree = TreeID(rawValue: 16)

  /// Every third key, and some that there are not.
  private static let keys = stride(from: 1, through: count + 3_000, by: 3).map { UInt64($0) }

  private static func value(_ key: UInt64) -> [UInt8] {
    // Of a few the value lies in pages of its own.
    let length = key % 601 == 0 ? 9_000 : 900 + Int(key % 200)
    return [UInt8](repeating: UInt8(truncatingIfNeeded: key &* 0x9E37), count: length)
  }

  /// A store of entries of about a kilobyte, 20 MB of them.
  private static let content: Result<[UInt8], any Error> = Result {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 3))
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try #require(tree == Self.tree)
    for key in 1...count { try t.put(tree, key, value(key)) }
    try t.commit()
    try store.checkpoint()
    try store.close()
    return device.contents()
  }

  /// A cache of a fifth of the pages.
  private static func open(
    _ bytes: [UInt8], _ environment: any StoreEnvironment, cacheBytes: Int = 4 << 20
  ) throws -> Store {
    var options = StoreOptions()
    options.cacheBytes = cacheBytes
    return try Store.open(
      on: MemoryDevice(copying: bytes, lock: ThreadLock()), environment: environment, options: options)
  }

  @Test(arguments: [(2, true), (4, true), (16, true), (4, false)])
  func agreesWithOneThread(processors: Int, hasThreads: Bool) throws {
    let environment = CountingEnvironment(processors: processors, hasThreads: hasThreads)
    let store = try Self.open(Self.content.get(), environment)
    // Some lie in changes that no page has yet.
    let t = try store.beginWrite()
    for key in stride(from: UInt64(4), to: Self.count, by: 700) { try t.put(Self.tree, key, [7]) }
    for key in stride(from: UInt64(7), to: Self.count, by: 900) { try t.delete(Self.tree, key) }
    try t.commit()
    let view = try store.snapshot()
    var random = SplitMix64(seed: testSeed(88))
    for keys in [Self.keys, Array(Self.keys.reversed()), Self.keys.shuffled(using: &random)] {
      var told = 0
      let before = environment.calls
      try view.forEach(Self.tree, of: keys[...]) { (key, bytes) throws(StoreError) in
        // Those that there are not are passed over.
        while told < keys.count, keys[told] != key {
          #expect(try view.value(Self.tree, keys[told]) == nil)
          told += 1
        }
        let expected = (key % 700 == 4 && key < Self.count) ? [7] : Self.value(key)
        if !bytes.elementsEqual(expected) { Issue.record("entry \(key)") }
        told += 1
        return true
      }
      #expect(told > keys.count - 1_100)
      #expect(environment.calls == before + 1)
    }
    try store.close()
  }

  /// What is in the cache needs nobody else, nor does a list that is short.
  @Test func noThreadsWherePagesAreThere() throws {
    let environment = CountingEnvironment(processors: 4, hasThreads: true)
    let store = try Self.open(Self.content.get(), environment, cacheBytes: 64 << 20)
    let view = try store.snapshot()
    func tell(_ keys: ArraySlice<UInt64>) throws -> Int {
      let before = environment.calls
      try view.forEach(Self.tree, of: keys) { (_, _) in true }
      return environment.calls - before
    }
    #expect(try tell(Self.keys.prefix(2_000)) == 0)
    #expect(try tell(Self.keys[...]) == 1)
    #expect(try tell(Self.keys[...]) == 0)
    try store.close()
  }

  /// Who has enough is told no more; what they throw is thrown.
  @Test func endsWhereTheBodySaysSo() throws {
    let store = try Self.open(Self.content.get(), CountingEnvironment(processors: 3, hasThreads: true))
    let view = try store.snapshot()
    for end in [1, 1_024, 1_025, 1_088, 3_000, 6_500] {
      var told: [UInt64] = []
      try view.forEach(Self.tree, of: Self.keys[...]) { (key, _) in
        told.append(key)
        return told.count < end
      }
      #expect(told == Array(Self.keys.prefix(end)))
      told = []
      #expect(throws: StoreError.wrongTreeKind(Self.tree)) {
        try view.forEach(Self.tree, of: Self.keys[...]) { (key, _) throws(StoreError) in
          told.append(key)
          if told.count == end { throw .wrongTreeKind(Self.tree) }
          return true
        }
      }
      #expect(told == Array(Self.keys.prefix(end)))
    }
    try store.close()
  }

  /// Rows are written anew, and pages used again, while the snapshot is told: it tells what there was.
  @Test func tellsItsOwnCommitBesideAWriter() throws {
    let environment = CountingEnvironment(processors: 4, hasThreads: true)
    let store = try Self.open(Self.content.get(), environment)
    let view = try store.snapshot()
    let isOver = Atomic(false)
    let failures = Locked<[String]>([])
    TestEnvironment(processors: 2).runConcurrently(2) { thread in
      do {
        if thread == 0 {
          defer { isOver.store(true, ordering: .relaxed) }
          for _ in 0..<3 {
            var told = 0
            try view.forEach(Self.tree, of: Self.keys[...]) { (key, bytes) in
              if !bytes.elementsEqual(Self.value(key)) { failures.withLock { $0.append("entry \(key)") } }
              told += 1
              return true
            }
            if told != (Self.count + 2) / 3 { failures.withLock { $0.append("\(told) entries") } }
          }
          return
        }
        var random = SplitMix64(seed: 5)
        // At least a few, in case that the reader has ended before.
        for round in 0... {
          if round > 3, isOver.load(ordering: .relaxed) { break }
          let t = try store.beginWrite()
          for _ in 0..<200 { try t.put(Self.tree, 1 + UInt64(random.below(Int(Self.count))), [9]) }
          try t.commit()
          if round % 4 == 3 { try store.checkpoint() }
        }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(environment.calls >= 3)
    try store.close()
  }

  /// A host that does not call what it was given is told so: nobody may take a part of the entries for all.
  @Test func aHostThatCallsNothingIsAnError() throws {
    let store = try Self.open(Self.content.get(), CountingEnvironment(processors: 4, callsWork: false))
    let view = try store.snapshot()
    var told = 0
    do throws(StoreError) {
      try view.forEach(Self.tree, of: Self.keys[...]) { (_, _) in
        told += 1
        return true
      }
      Issue.record("\(told) entries are told as all")
    } catch {
      guard case .misuse = error else { throw error }
    }
    #expect(told == 1_024)
  }

  /// Lists that end anywhere: at a stretch, at a chunk, at a batch, and one beside; with the first and last keys that
  /// there may be, and the same one many times.
  @Test func listsOfAnyLengthAreToldWhole() throws {
    let store = try Self.open(Self.content.get(), CountingEnvironment(processors: 3))
    let view = try store.snapshot()
    for length in [4_095, 4_096, 4_097, 5_119, 5_120, 5_121, 5_120 + 15, 5_120 + 16, 5_120 + 65, 6_144 + 63] {
      var keys = [UInt64](repeating: 0, count: length)
      for i in 0..<length { keys[i] = i % 97 == 0 ? .max : i % 89 == 0 ? 77 : UInt64((i &* 7_919) % 23_000) }
      let expected = keys.filter { $0 >= 1 && $0 <= Self.count }
      var told: [UInt64] = []
      try view.forEach(Self.tree, of: keys[...]) { (key, bytes) in
        if !bytes.elementsEqual(Self.value(key)) { Issue.record("entry \(key)") }
        told.append(key)
        return true
      }
      #expect(told == expected)
    }
    try store.close()
  }

  /// Entries before a page that is damaged are told, and then the error, as by one thread.
  @Test func entriesBeforeDamageAreTold() throws {
    let bytes = try Self.content.get()
    var failures = 0
    for place in stride(from: bytes.count / 4, to: bytes.count * 9 / 10, by: bytes.count / 12) {
      var damaged = bytes
      damaged[place] ^= 0x5A
      var ends: [(told: Int, error: StoreError?)] = []
      for processors in [1, 4] {
        let environment = CountingEnvironment(processors: processors, hasThreads: true)
        guard let store = try? Self.open(damaged, environment) else { continue }
        let view = try store.snapshot()
        var told = 0
        var failure: StoreError?
        do throws(StoreError) {
          try view.forEach(Self.tree, of: Self.keys[...]) { (key, bytes) in
            if !bytes.elementsEqual(Self.value(key)) { Issue.record("entry \(key)") }
            told += 1
            return true
          }
        } catch { failure = error }
        ends.append((told, failure))
        try store.close()
      }
      #expect(ends.first?.told == ends.last?.told)
      #expect(ends.first?.error == ends.last?.error)
      if ends.last?.error != nil { failures += 1 }
    }
    #expect(failures > 0)
  }
}
