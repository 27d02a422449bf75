import Synchronization
import Testing

@testable import CambiumKernel

@Suite struct DeltaCounterTests {
  private let table = DeltaTable(largestChunk: Arena.usualLargest)
  private let tree = TreeID(rawValue: 20)

  @Test func countersAreKnownAsOfEveryCommit() {
    let list = table.makeList(tree, .integer)
    for sequence in 1...100 {
      let total = Int64(sequence)
      table.addCounterEvent(list, 1, sequence: UInt64(sequence), total: total)
      if sequence % 10 == 0 { table.addCounterEvent(list, 2, sequence: UInt64(sequence), total: -total) }
    }
    for sequence in 0...100 {
      #expect(list.counterChange(1, upTo: UInt64(sequence)) == Int64(sequence))
      #expect(list.counterChange(2, upTo: UInt64(sequence)) == -Int64(sequence / 10 * 10))
      #expect(list.counterChange(3, upTo: UInt64(sequence)) == 0)
    }
    #expect(Set(list.counterIndexes(upTo: 100)) == [1, 2])
    #expect(list.counterIndexes(upTo: 9) == [1])
    #expect(list.counterIndexes(upTo: 0).isEmpty)
  }

  /// Every view asks for a counter that changes with the model alone. When that was searched for behind the changes of
  /// the others, each commit since the last checkpoint made the next one slower.
  @Test func aCounterIsNotSearchedForBehindTheChangesOfOthers() throws {
    let list = table.makeList(tree, .integer)
    table.addCounterEvent(list, 2, sequence: 1, total: 7)
    for sequence in 2...1_000 { table.addCounterEvent(list, 1, sequence: UInt64(sequence), total: Int64(sequence)) }

    var counters = 0
    var counter = DeltaCounter(word: list.counters.pointee.load(ordering: .relaxed))
    while let c = counter {
      counters += 1
      counter = c.next
    }
    #expect(counters == 2)
    let own = try #require(list.counter(2))
    let newest = try #require(DeltaEvent(word: own.newest.pointee.load(ordering: .relaxed)))
    #expect(newest.total == 7)
    #expect(newest.next == nil)
  }
}
