import CambiumTesting
import Foundation
import Synchronization
import Testing

@testable import CambiumKernel

/// Readers beside a writer, writers that compete, with a cache that evicts all the time.
///
/// To be run with `swift test --sanitize=thread --filter Threads` as well.
@Suite struct ThreadsTests {
  static let rows: UInt64 = 3000

  /// A row holds its key, a version, and a filling that follows from both.
  static func row(_ key: UInt64, _ version: UInt64) -> [UInt8] {
    modelKey(key) + modelKey(version) + [UInt8](repeating: UInt8(truncatingIfNeeded: key ^ version), count: 150)
  }

  private final class Shared: Sendable {
    let store: Store
    let tree: TreeID
    let names: TreeID
    let isDone = Atomic<Bool>(false)
    let problems = Locked<[String]>([])
    let reads = Atomic<Int>(0)
    init(_ store: Store, _ tree: TreeID, _ names: TreeID) {
      self.store = store
      self.tree = tree
      self.names = names
    }
    func fail(_ text: String) { problems.withLock { if $0.count < 20 { $0.append(text) } } }
  }

  private static func threads(_ bodies: [@Sendable () -> Void]) {
    let group = DispatchGroup()
    for body in bodies {
      let thread = Thread {
        body()
        group.leave()
      }
      group.enter()
      thread.start()
    }
    group.wait()
  }

  private static func makeStore(_ durability: Durability) throws -> Shared {
    var options = StoreOptions()
    options.durability = durability
    options.cacheBytes = 96 << 10
    options.logBytes = 64 << 10
    options.deltaBytes = 256 << 10
    options.logValueLimit = 4000
    let device = MemoryDevice(lock: ThreadLock())
    let store = try Store.create(on: device, environment: TestEnvironment(), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    let names = try t.createTree(.bytes)
    for key in 0..<rows {
      try t.put(tree, key * 2, row(key * 2, 0))
      try t.put(names, Array("row \(key % 10) \(key)".utf8), modelKey(0))
    }
    try t.commit()
    return Shared(store, tree, names)
  }

  /// Each commit `n` gives version n to some rows, to their names, and to row 0: so a view at version v of row 0 must
  /// see no row above v, and the version that `versions` tells.
  @Test(arguments: [Durability.full, .normal]) func fourReadersBesideAWriter(_ durability: Durability) throws {
    let shared = try Self.makeStore(durability)
    let commits = isFullLength ? 4000 : 600
    let started = Date()
    let reader: @Sendable (Int) -> Void = { number in
      var random = SplitMix64(seed: UInt64(number))
      while !shared.isDone.load(ordering: .relaxed) {
        do {
          let snapshot = try shared.store.snapshot()
          guard let first = try snapshot.value(shared.tree, 0) else { return shared.fail("row 0 is gone") }
          let version = integerKey(Array(first[8..<16]))
          for _ in 0..<60 {
            let key = UInt64(random.below(Int(Self.rows))) * 2
            guard let value = try snapshot.value(shared.tree, key) else { return shared.fail("row \(key) is gone") }
            let seen = integerKey(Array(value[8..<16]))
            if value != Self.row(key, seen) { shared.fail("row \(key) is mixed up") }
            if seen > version { shared.fail("row \(key) has version \(seen) in a view of \(version)") }
            // The writer gives version n to the rows n * 7 and following: what is seen must be the newest up to then.
            if seen != Self.newest(key, upTo: version) { shared.fail("row \(key) has version \(seen) at \(version)") }
          }
          let cursor = try snapshot.cursor(shared.tree)
          var more = try cursor.seek(UInt64(random.below(Int(Self.rows))) * 2)
          var last: UInt64?
          for _ in 0..<200 where more {
            if let last, cursor.integerKey != last + 2 { shared.fail("\(cursor.integerKey) follows \(last)") }
            last = cursor.integerKey
            more = try cursor.next()
          }
          let names = try snapshot.cursor(shared.names)
          more = try names.seek(Array("row \(random.below(10))".utf8))
          var previous: [UInt8] = []
          for _ in 0..<100 where more {
            let key = Array(names.key)
            if !previous.lexicographicallyPrecedes(key) { shared.fail("names are out of order") }
            previous = key
            more = try names.next()
          }
          if try snapshot.count(shared.tree) != Self.rows { shared.fail("the count is wrong") }
          shared.reads.wrappingAdd(1, ordering: .relaxed)
        } catch { return shared.fail("\(error)") }
      }
    }
    let writer: @Sendable () -> Void = {
      defer { shared.isDone.store(true, ordering: .relaxed) }
      var random = SplitMix64(seed: 99)
      do {
        for version in UInt64(1)...UInt64(commits) {
          let t = try shared.store.beginWrite()
          for key in Self.touched(version) { try t.put(shared.tree, key, Self.row(key, version)) }
          try t.put(shared.names, Array("row \(version % 10) \(random.below(3000))".utf8), modelKey(version))
          // Short-lived keys between the others, so that entries are linked before existing ones.
          try t.commit()
        }
      } catch { shared.fail("writer: \(error)") }
    }
    Self.threads((0..<4).map { n in { reader(n) } } + [writer])
    #expect(shared.problems.withLock { $0 }.isEmpty, "\(shared.problems.withLock { $0 })")
    print("threads: \(shared.reads.load(ordering: .relaxed)) views read in \(Date().timeIntervalSince(started)) s")
    #expect(try shared.store.check().problems.isEmpty)
    try shared.store.close()
  }

  /// Transactions that write everything anew, whose replaced pages leave the cache at once, beside readers who keep a
  /// view for long and find the pages of it again and again: by number, by name, and from end to end, past the cache.
  @Test func readersBesideTransactionsThatReplaceEverything() throws {
    var options = StoreOptions()
    options.cacheBytes = 96 << 10
    options.deltaBytes = 64 << 10
    options.durability = .normal
    let store = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(), options: options)
    let t = try store.beginWrite()
    let (tree, names) = (try t.createTree(.integer), try t.createTree(.bytes))
    let shared = Shared(store, tree, names)
    @Sendable func name(_ key: UInt64) -> [UInt8] { Array("\(key % 7) nam\u{E9} \(key &* 0x9E37_79B9)".utf8) }
    @Sendable func write(_ t: WriteTransaction, _ version: UInt64) throws {
      for key in 0..<Self.rows {
        try t.put(tree, key, Self.row(key, version))
        try t.put(names, name(key), modelKey(version))
      }
    }
    try write(t, 0)
    try t.commit()
    let rounds = isFullLength ? 60 : 12
    let reader: @Sendable (Int) -> Void = { number in
      var random = SplitMix64(seed: UInt64(number))
      while !shared.isDone.load(ordering: .relaxed) {
        do {
          let view = try store.snapshot()
          guard let first = try view.value(tree, 0) else { return shared.fail("row 0 is gone") }
          let version = integerKey(Array(first[8..<16]))
          for _ in 0..<8 {
            if shared.isDone.load(ordering: .relaxed) { break }
            for _ in 0..<200 {
              let key = UInt64(random.below(Int(Self.rows)))
              if try view.value(tree, key) != Self.row(key, version) { shared.fail("row \(key) at \(version)") }
              if try view.value(names, name(key)) != modelKey(version) { shared.fail("name \(key) at \(version)") }
            }
            var next: UInt64 = 0
            try view.forEach(tree) { (key, bytes) in
              if key != next || !bytes.elementsEqual(Self.row(key, version)) {
                shared.fail("\(key) for \(next) at \(version)")
              }
              next += 1
              return true
            }
            if next != Self.rows { shared.fail("\(next) rows at \(version)") }
          }
          shared.reads.wrappingAdd(1, ordering: .relaxed)
        } catch { return shared.fail("\(error)") }
      }
    }
    let writer: @Sendable () -> Void = {
      defer { shared.isDone.store(true, ordering: .relaxed) }
      do {
        for version in 1...UInt64(rounds) {
          let t = try store.beginWrite()
          try write(t, version)
          if version % 5 == 0 { t.rollBack() } else { try t.commit() }
          if version % 5 == 0 {
            let again = try store.beginWrite()
            try write(again, version)
            try again.commit()
          }
        }
      } catch { shared.fail("writer: \(error)") }
    }
    Self.threads((0..<3).map { n in { reader(n) } } + [writer])
    #expect(shared.problems.withLock { $0 }.isEmpty, "\(shared.problems.withLock { $0 })")
    #expect(shared.reads.load(ordering: .relaxed) > 0)
    #expect(try store.check().problems.isEmpty)
    try store.close()
  }

  /// The rows that commit `version` writes.
  static func touched(_ version: UInt64) -> [UInt64] {
    [0] + (0..<5).map { (version &* 37 &+ $0 &* 641) % (rows - 1) * 2 + 2 }
  }

  static func newest(_ key: UInt64, upTo version: UInt64) -> UInt64 {
    var v = version
    // Row k is written by every version that is congruent; at most `rows` back.
    while v > 0 {
      if key == 0 { return v }
      for n in UInt64(0)..<5 where (v &* 37 &+ n &* 641) % (rows - 1) * 2 + 2 == key { return v }
      v -= 1
    }
    return 0
  }

  /// Writers that compete for the turn and share syncs: every increment counts.
  @Test func competingWritersShareSyncs() throws {
    let shared = try Self.makeStore(.full)
    let each = isFullLength ? 1000 : 150
    let writer: @Sendable (UInt64) -> Void = { number in
      do {
        for n in 0..<each {
          let t = try shared.store.beginWrite()
          let value = try t.value(shared.tree, 1) ?? modelKey(0)
          try t.put(shared.tree, 1, modelKey(integerKey(value) + 1))
          try t.put(shared.tree, 1_000_001 + number * 1_000_000 + UInt64(n), Self.row(number, UInt64(n)))
          try t.addToCounter(shared.tree, 0, 1)
          let sequence = try t.commit()
          let snapshot = try shared.store.snapshot()
          if snapshot.sequence < sequence { shared.fail("commit \(sequence) is not seen at \(snapshot.sequence)") }
          if try snapshot.value(shared.tree, 1_000_001 + number * 1_000_000 + UInt64(n)) == nil {
            shared.fail("a row of one's own commit is not seen")
          }
        }
      } catch { shared.fail("writer \(number): \(error)") }
    }
    Self.threads((0..<4).map { n in { writer(UInt64(n)) } })
    #expect(shared.problems.withLock { $0 }.isEmpty, "\(shared.problems.withLock { $0 })")
    let snapshot = try shared.store.snapshot()
    #expect(try snapshot.value(shared.tree, 1).map(integerKey) == UInt64(4 * each))
    #expect(try snapshot.counter(shared.tree, 0) == Int64(4 * each))
    #expect(try shared.store.check().problems.isEmpty)
    try shared.store.close()
  }

  /// One thread compacts all the time, one writes and deletes small and large values, and what two hold stays as it
  /// was.
  @Test func compactionBesideReadersAndAWriter() throws {
    let shared = try Self.makeStore(.normal)
    let rounds = isFullLength ? 300 : 40
    let compacter: @Sendable () -> Void = {
      do {
        while !shared.isDone.load(ordering: .relaxed) { _ = try shared.store.compactStep(bytes: 1 << 17) }
      } catch { shared.fail("compaction: \(error)") }
    }
    let reader: @Sendable (Int) -> Void = { number in
      do {
        while !shared.isDone.load(ordering: .relaxed) {
          let snapshot = try shared.store.snapshot()
          let hash = try StoreContent.hash(of: snapshot)
          for _ in 0..<(2 + number) where try StoreContent.hash(of: snapshot) != hash {
            return shared.fail("a view has changed")
          }
          shared.reads.wrappingAdd(1, ordering: .relaxed)
        }
      } catch { shared.fail("reader: \(error)") }
    }
    let writer: @Sendable () -> Void = {
      defer { shared.isDone.store(true, ordering: .relaxed) }
      var random = SplitMix64(seed: 5)
      do {
        for round in 0..<rounds {
          let t = try shared.store.beginWrite()
          for _ in 0..<60 {
            let key = UInt64(random.below(Int(Self.rows))) * 2
            if round % 3 == 1 {
              try t.delete(shared.tree, key)
            } else {
              try t.put(shared.tree, key, random.bytes(random.oneIn(10) ? 9000 : 200))
            }
          }
          try t.commit()
        }
      } catch { shared.fail("writer: \(error)") }
    }
    Self.threads((0..<2).map { n in { reader(n) } } + [writer, compacter])
    #expect(shared.problems.withLock { $0 }.isEmpty, "\(shared.problems.withLock { $0 })")
    #expect(shared.reads.load(ordering: .relaxed) > 0)
    try shared.store.compact()
    #expect(try shared.store.check().problems.isEmpty)
    try shared.store.close()
  }

  /// Trees come and go; a view lists those that the row written with them names, whatever has been made since.
  @Test func treesComeAndGoBesideReaders() throws {
    let shared = try Self.makeStore(.normal)
    let rounds = isFullLength ? 2000 : 300
    let writer: @Sendable () -> Void = {
      defer { shared.isDone.store(true, ordering: .relaxed) }
      do {
        var known = [shared.tree, shared.names]
        for round in 0..<rounds {
          let t = try shared.store.beginWrite()
          known.append(try t.createTree(round % 2 == 0 ? .integer : .bytes))
          if known.count > 12 { try t.dropTree(known.remove(at: 2 + round % 10)) }
          try t.put(shared.names, Array("trees".utf8), known.sorted().flatMap { modelKey(UInt64($0.rawValue)) })
          try t.commit()
        }
      } catch { shared.fail("writer: \(error)") }
    }
    let reader: @Sendable () -> Void = {
      do {
        // The last time when the writer is done, so that there is one.
        var isLast = false
        while !isLast {
          isLast = shared.isDone.load(ordering: .relaxed)
          let snapshot = try shared.store.snapshot()
          guard let row = try snapshot.value(shared.names, Array("trees".utf8)) else { continue }
          let expected = stride(from: 0, to: row.count, by: 8).map { integerKey(Array(row[$0..<$0 + 8])) }
          let found = snapshot.trees().map { UInt64($0.rawValue) }
          if found != expected { return shared.fail("\(found) instead of \(expected)") }
          shared.reads.wrappingAdd(1, ordering: .relaxed)
        }
      } catch { shared.fail("reader: \(error)") }
    }
    Self.threads([reader, reader, writer])
    #expect(shared.problems.withLock { $0 }.isEmpty, "\(shared.problems.withLock { $0 })")
    #expect(shared.reads.load(ordering: .relaxed) > 0)
    #expect(try shared.store.check().problems.isEmpty)
    try shared.store.close()
  }
}
