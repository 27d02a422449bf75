import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

@Suite struct HistoryCodecTests {
  private static func transaction(_ random: inout SplitMix64, changes: Int) -> HistoryTransaction {
    var result = HistoryTransaction(timestamp: Double(random.below(1_000_000)) / 7)
    result.author = random.oneIn(2) ? "a\u{e9}\u{0}" : nil
    result.contextName = random.oneIn(2) ? "" : "context"
    result.programName = "program"
    result.processName = random.oneIn(3) ? nil : "17"
    for _ in 0..<changes {
      var change = HistoryChange(
        random.pick(HistoryChange.Kind.allCases),
        ObjectReference(entity: UInt32(random.below(300)), row: random.next() >> UInt64(random.below(60))))
      switch change.kind {
      case .insert: break
      case .update: change.properties = (0..<random.below(5)).map { _ in UInt32(random.below(1000)) }
      case .delete:
        for _ in 0..<random.below(3) {
          change.tombstone[UInt32(random.below(50))] = RandomModel.value(
            random.pick(RandomModel.plainTypes), &random)
        }
      }
      result.changes.append(change)
    }
    result.changeCount = changes
    return result
  }

  private static func store() throws -> EntityStore {
    try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([EntitySchema("Thing")])))
  }

  @Test func storesTellWhatTheyWereTold() throws {
    var random = SplitMix64(seed: testSeed(77))
    let store = try Self.store()
    #expect(try store.view().historyBounds() == HistoryBounds(isOn: false, last: 0, deletedTo: 0))
    #expect(throws: EngineError.self) {
      try store.write { (t) throws(EngineError) in try t.appendHistory(HistoryTransaction(timestamp: 0)) }
    }
    try store.write { (t) throws(EngineError) in try t.startHistory() }
    var expected: [HistoryTransaction] = []
    for n in 0..<20 {
      var entry = Self.transaction(&random, changes: n == 7 ? 2001 : n == 8 ? 500 : random.below(9))
      let number = try store.write { (t) throws(EngineError) in try t.appendHistory(entry) }
      entry.number = number
      expected.append(entry)
      if n == 11 { try store.kernel.checkpoint() }
    }
    let opened = try EntityStore.open(store.kernel)
    var found: [HistoryTransaction] = []
    try opened.view().forEachHistoryTransaction { (entry) throws(EngineError) in
      found.append(entry)
      return true
    }
    #expect(found == expected)
    #expect(try opened.check().isSound)
    try opened.write { (t) throws(EngineError) in
      try t.deleteHistory(upTo: 9)
      try t.deleteHistory(upTo: 3)
      try t.stopHistory()
    }
    #expect(try opened.view().historyBounds() == HistoryBounds(isOn: false, last: 20, deletedTo: 9))
    found = []
    try opened.view().forEachHistoryTransaction(after: 2) { (entry) throws(EngineError) in
      found.append(entry)
      return found.count < 4
    }
    #expect(found == Array(expected[9..<13]))
    try opened.write { (t) throws(EngineError) in try t.deleteHistory(upTo: .max) }
    #expect(try opened.view().historyBounds().isEmpty)
  }

  /// Whatever bytes there are in place of changes, reading them gives something or an error.
  @Test func brokenEntriesAreErrors() throws {
    var random = SplitMix64(seed: testSeed(78))
    var errors = 0
    for _ in 0..<3000 {
      let entry = Self.transaction(&random, changes: 1 + random.below(4))
      var bytes = random.oneIn(2) ? HistoryCodec.encode(entry.changes[...]) : HistoryCodec.encode(entry)
      for _ in 0..<(1 + random.below(3)) where !bytes.isEmpty {
        switch random.below(3) {
        case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
        case 1: bytes.removeLast(random.below(bytes.count))
        default: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count))
        }
      }
      var transaction = HistoryTransaction(timestamp: 0)
      do { try HistoryCodec.decode(bytes, into: &transaction) } catch { errors += 1 }
      do { _ = try HistoryCodec.decode(bytes, 1) } catch { errors += 1 }
    }
    #expect(errors > 1000)
  }
}
