import CambiumTesting
import Foundation
import Synchronization
import Testing

@testable import CambiumKernel

/// A list that is read while it is written to: what was there when a look began is found, however leaves and inner
/// nodes are split meanwhile.
@Suite struct DeltaThreadsTests {
  // `@unchecked`: it is the list that is being tested.
  private final class Shared: @unchecked Sendable {
    let table = DeltaTable(largestChunk: Arena.usualLargest)
    let list: DeltaList
    let published = Atomic<Int>(0)
    let ended = Atomic<Bool>(false)

    init(_ kind: TreeKind) { list = table.makeList(TreeID(rawValue: 20), kind) }
  }

  /// Keys that are in the list are multiples of it.
  private static let distance: UInt64 = 4

  private static func with<R>(_ kind: TreeKind, _ key: UInt64, _ body: (TreeKey) -> R) -> R {
    if kind == .integer { return body(TreeKey(key)) }
    // The first eight bytes are the same: all of it is behind them.
    return withUnsafeBytes(of: (UInt64(7), key.bigEndian)) { body(TreeKey($0)) }
  }

  private static func number(_ kind: TreeKind, _ node: DeltaNode) -> UInt64 {
    if kind == .integer { return node.head }
    return UInt64(bigEndian: node.key.buffer.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// Looks for one of the first `count` of `keys` in every way; answers what does not fit.
  private static func problem(
    _ shared: Shared, _ kind: TreeKind, _ keys: [UInt64], _ count: Int, _ random: inout SplitMix64
  ) -> String? {
    let upTo = UInt64(count)
    let key = keys[random.below(count)]
    let found = with(kind, key) { shared.list.find($0, after: 0, upTo: upTo) }
    if found.map({ number(kind, $0) }) != key { return "\(key) is not found" }
    var cursor = DeltaCursor(shared.list, after: 0, upTo: upTo)
    let below = random.oneIn(2) ? key : key - 1
    with(kind, below) { cursor.seek($0) }
    if cursor.node.map({ number(kind, $0) }) != key { return "\(below) does not lead to \(key)" }
    let above = key + 1
    with(kind, above) { cursor.seekBefore($0) }
    if cursor.node.map({ number(kind, $0) }) != key { return "\(key) is not what comes before \(above)" }
    return nil
  }

  /// Goes from a key through some of those behind it, or before it; answers what was passed over or should not be seen.
  /// `places` tells when each key was added, by its number.
  private static func problemOfAWay(
    _ shared: Shared, _ kind: TreeKind, _ keys: [UInt64], _ places: [Int], _ count: Int, _ random: inout SplitMix64
  ) -> String? {
    var cursor = DeltaCursor(shared.list, after: 0, upTo: UInt64(count))
    let (start, isForward) = (keys[random.below(count)], random.oneIn(2))
    if isForward { with(kind, start) { cursor.seek($0) } } else { with(kind, start + 1) { cursor.seekBefore($0) } }
    var last = start
    for step in 0..<60 {
      let number = cursor.node.map { Int(Self.number(kind, $0) / distance) }
      let from = Int(last / distance)
      if step == 0 {
        if number != from { return "a way from \(start) begins at \(number ?? -1)" }
      } else {
        // All that lie between were added later.
        let (low, high) = isForward ? (from + 1, number ?? places.count) : ((number ?? 0) + 1, from)
        if low > high { return "\(isForward ? "behind" : "before") \(last) comes \(number ?? -1)" }
        if let missed = (low..<high).first(where: { places[$0] < count }) {
          return "\(isForward ? "behind" : "before") \(last), \(UInt64(missed) * distance) is passed over"
        }
      }
      guard let number else { return nil }
      if places[number] >= count { return "\(UInt64(number) * distance) was added later" }
      last = UInt64(number) * distance
      if isForward { cursor.next() } else { cursor.previous() }
    }
    return nil
  }

  @Test(arguments: [TreeKind.integer, .bytes]) func whatWasThereIsFoundWhileNodesAreSplit(_ kind: TreeKind) {
    let seed = testSeed(20_261_125)
    print("keys in a list that is written to: seed \(seed)")
    var problems: [String] = []
    for round in 0..<(isFullLength ? 200 : 30) {
      var random = SplitMix64(seed: seed &+ UInt64(round))
      var keys = (1...4000).map { UInt64($0) * Self.distance }
      // At random, or, as new rows and index entries come, at the end of a few stretches.
      if round % 3 == 0 {
        keys.sort { ($0 / 4 % 5, $0) < ($1 / 4 % 5, $1) }
      } else {
        keys.shuffle(using: &random)
      }
      let all = keys
      // By number; there is none of 0.
      var places = [Int](repeating: .max, count: keys.count + 1)
      for (place, key) in keys.enumerated() { places[Int(key / Self.distance)] = place }
      let shared = Shared(kind)
      var last: UInt64 = 0
      let writer = Thread {
        for (i, key) in all.enumerated() {
          _ = Self.with(kind, key) { k in
            withUnsafeBytes(of: UInt8(1)) { v in
              shared.table.add(shared.list, sequence: UInt64(i + 1), key: k, value: v, op: .put, effect: 1)
            }
          }
          shared.published.store(i + 1, ordering: .releasing)
        }
        shared.ended.store(true, ordering: .releasing)
      }
      writer.start()
      var isLast = false
      var looks = 0
      while !isLast {
        isLast = shared.ended.load(ordering: .acquiring)
        let count = shared.published.load(ordering: .acquiring)
        if count == 0 { continue }
        looks += 1
        if let problem = Self.problem(shared, kind, all, count, &random) {
          problems.append("round \(round), \(count) keys: \(problem)")
        }
        if let problem = Self.problemOfAWay(shared, kind, all, places, count, &random) {
          problems.append("round \(round), \(count) keys: \(problem)")
        }
        // The last key of all, of those that are seen.
        var cursor = DeltaCursor(shared.list, after: 0, upTo: UInt64(count))
        cursor.seekBefore(nil)
        let greatest = cursor.node.map { Self.number(kind, $0) } ?? 0
        if greatest < last { problems.append("round \(round), \(count) keys: the last is \(greatest), not \(last)") }
        last = max(last, greatest)
      }
      #expect(looks > 0)
    }
    #expect(problems.isEmpty, "seed \(seed): \(problems.prefix(5)), \(problems.count) in all")
  }
}
