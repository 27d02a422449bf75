import CambiumTesting
import Synchronization
import Testing

@testable import CambiumKernel

/// The list of changes against a dictionary of all of them.
@Suite struct DeltaListTests {
  private struct Change: Equatable {
    var sequence: UInt64
    var value: UInt8
  }

  /// A list, and what is to be in it: of each key the changes, newest first.
  private final class Pair {
    let table = DeltaTable(largestChunk: Arena.usualLargest)
    let list: DeltaList
    let isInteger: Bool
    var model: [[UInt8]: [Change]] = [:]
    var sequence: UInt64 = 0

    init(isInteger: Bool) {
      self.isInteger = isInteger
      list = table.makeList(TreeID(rawValue: 20), isInteger ? .integer : .bytes)
    }

    func with<R>(_ key: [UInt8], _ body: (TreeKey) -> R) -> R {
      if isInteger { return body(TreeKey(key.reduce(0) { $0 << 8 | UInt64($1) })) }
      return key.withUnsafeBytes { body(TreeKey($0)) }
    }

    func add(_ key: [UInt8]) {
      sequence += 1
      let value = UInt8(truncatingIfNeeded: sequence &* 31)
      with(key) { k in
        withUnsafeBytes(of: value) { v in
          _ = table.add(list, sequence: sequence, key: k, value: v, op: .put, effect: 1)
        }
      }
      model[key, default: []].insert(Change(sequence: sequence, value: value), at: 0)
    }

    /// The same of many at once, as opening does with what the log holds.
    func add(together keys: [[UInt8]]) {
      var nodes: [DeltaNode] = []
      for key in keys {
        sequence += 1
        let value = UInt8(truncatingIfNeeded: sequence &* 31)
        with(key) { k in
          withUnsafeBytes(of: value) { v in
            nodes.append(table.makeNode(sequence: sequence, key: k, value: v, op: .put, effect: 1))
          }
        }
        model[key, default: []].insert(Change(sequence: sequence, value: value), at: 0)
      }
      table.add(list, nodes)
    }

    func bytes(_ key: TreeKey) -> [UInt8] {
      if !isInteger { return Array(key.buffer) }
      return (0..<8).map { UInt8(truncatingIfNeeded: key.head >> UInt64(56 - 8 * $0)) }
    }

    /// What a view of the commits in (`after`, `upTo`] sees, in order.
    func seen(after: UInt64, upTo: UInt64) -> [([UInt8], Change)] {
      model.compactMap { key, changes in
        guard let c = changes.first(where: { $0.sequence <= upTo }), c.sequence > after else { return nil }
        return (key, c)
      }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
    }

    func change(_ node: DeltaNode) -> Change { Change(sequence: node.sequence, value: node.value.first ?? 0) }
  }

  private enum Order: CaseIterable { case random, ascending, descending, groups, fewKeys }

  private func key(_ i: Int, _ order: Order, _ isInteger: Bool, _ random: inout SplitMix64) -> [UInt8] {
    func integer(_ n: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: n >> (56 - 8 * $0)) } }
    switch order {
    case .random:
      if isInteger { return integer(random.below(1 << 40)) }
      // Heads that are equal, keys that begin with others, the empty key.
      return (0..<random.below(12)).map { _ in UInt8(random.below(3)) }
    case .ascending: return integer(i * 3)
    case .descending: return integer(1_000_000 - i)
    case .groups: return integer(random.below(6) * 1_000_000 + i)
    case .fewKeys: return integer(random.below(50))
    }
  }

  /// One by one, or as many together: few are sorted otherwise than many.
  @Test(arguments: [false, true], [1, 100, 400, 1_000]) func holdsWhatWasAdded(isInteger: Bool, together: Int) {
    for order in Order.allCases {
      var random = SplitMix64(seed: 71)
      let pair = Pair(isInteger: isInteger)
      let keys = (0..<1_000).map { key($0, order, isInteger, &random) }
      for start in stride(from: 0, to: keys.count, by: together) {
        if together == 1 {
          pair.add(keys[start])
        } else {
          pair.add(together: Array(keys[start..<min(start + together, keys.count)]))
        }
      }
      for (after, upTo) in [(UInt64(0), UInt64(1_000)), (0, 400), (300, 800)] {
        let expected = pair.seen(after: after, upTo: upTo)
        var cursor = DeltaCursor(pair.list, after: after, upTo: upTo)
        var found: [([UInt8], Change)] = []
        cursor.seekFirst()
        while let n = cursor.node {
          found.append((pair.bytes(n.key), pair.change(n)))
          cursor.next()
        }
        #expect(found.elementsEqual(expected) { $0 == $1 }, "\(order)")
        found = []
        cursor.seekBefore(nil)
        while let n = cursor.node {
          found.append((pair.bytes(n.key), pair.change(n)))
          cursor.previous()
        }
        #expect(found.reversed().elementsEqual(expected) { $0 == $1 }, "\(order), backwards")
        for _ in 0..<100 {
          let wanted =
            random.oneIn(2)
            ? key(random.below(1_000), order, isInteger, &random) : expected[random.below(expected.count)].0
          pair.with(wanted) { k in
            let hit = pair.list.find(k, after: after, upTo: upTo)
            #expect(hit.map(pair.change) == expected.first { $0.0 == wanted }?.1)
            cursor.seek(k)
            let next = expected.first { !$0.0.lexicographicallyPrecedes(wanted) }
            #expect(cursor.node.map { pair.bytes($0.key) } == next?.0)
            cursor.seekBefore(k)
            let previous = expected.last { $0.0.lexicographicallyPrecedes(wanted) }
            #expect(cursor.node.map { pair.bytes($0.key) } == previous?.0)
          }
        }
      }
    }
  }

  /// A cursor goes on over what its view sees while leaves under it are split.
  @Test func cursorsOutliveWhatIsAdded() {
    for order in Order.allCases {
      var random = SplitMix64(seed: 72)
      let pair = Pair(isInteger: false)
      for i in 0..<200 { pair.add(key(i, order, false, &random)) }
      var open: [(cursor: DeltaCursor, expected: [([UInt8], Change)], at: Int)] = []
      for i in 200..<1_200 {
        pair.add(key(i, order, false, &random))
        if i % 100 == 0 {
          var cursor = DeltaCursor(pair.list, after: 0, upTo: pair.sequence)
          cursor.seekFirst()
          open.append((cursor, pair.seen(after: 0, upTo: pair.sequence), 0))
        }
        guard !open.isEmpty else { continue }
        let n = random.below(open.count)
        var one = open[n]
        let end = min(one.expected.count, one.at + random.below(40))
        while one.at < end {
          let node = one.cursor.node
          #expect(node.map { pair.bytes($0.key) } == one.expected[one.at].0)
          #expect(node.map(pair.change) == one.expected[one.at].1)
          one.cursor.next()
          one.at += 1
        }
        if one.at == one.expected.count { #expect(one.cursor.node == nil) }
        open[n] = one
      }
    }
  }

  @Test func linksManyAtOnce() {
    for order in Order.allCases {
      var random = SplitMix64(seed: 73)
      let pair = Pair(isInteger: false)
      var nodes: [DeltaNode] = []
      for i in 0..<3_000 {
        let k = key(i, order, false, &random)
        pair.sequence += 1
        let value = UInt8(truncatingIfNeeded: i)
        nodes.append(
          pair.with(k) { k in
            withUnsafeBytes(of: value) {
              pair.table.makeNode(sequence: pair.sequence, key: k, value: $0, op: .put, effect: 0)
            }
          })
        pair.model[k, default: []].insert(Change(sequence: pair.sequence, value: value), at: 0)
      }
      pair.table.add(pair.list, nodes)
      let expected = pair.seen(after: 0, upTo: .max)
      var cursor = DeltaCursor(pair.list, after: 0, upTo: .max)
      var superseded = 0
      var i = 0
      cursor.seekFirst()
      while let n = cursor.node, i < expected.count {
        #expect(pair.bytes(n.key) == expected[i].0 && pair.change(n) == expected[i].1)
        cursor.next { _ in superseded += 1 }
        i += 1
      }
      #expect(i == expected.count && cursor.node == nil && superseded == 3_000 - expected.count)
    }
  }
}
