import CambiumTesting
import Testing

@testable import CambiumKernel

/// A store finds every generation that another process holds, and takes one for held if the system does not tell.
@Suite struct ForeignPinTests {
  private let shared = SharedDisk()
  private let tree: TreeID

  init() throws {
    let store = try Store.create(on: shared.disk, environment: TestEnvironment(seed: 1))
    let t = try store.beginWrite()
    tree = try t.createTree(.integer)
    try t.commit()
    try store.close()
  }

  private func open(_ seed: UInt64) throws -> (store: Store, handle: SharedHandle) {
    let handle = shared.open()
    return (try Store.open(on: handle, environment: TestEnvironment(seed: seed)), handle)
  }

  private func overwrite(_ store: Store, _ fill: UInt8) throws {
    let t = try store.beginWrite()
    for n in 0..<UInt64(200) { try t.put(tree, n, [UInt8](repeating: fill, count: 500)) }
    try t.commit()
    try store.checkpoint()
  }

  private static func hasDead(_ store: Store) -> Bool { store.space.table.segments.contains { $0.dead != 0 } }

  @Test func eachPinIsFound() throws {
    var random = SplitMix64(seed: testSeed(20_261_131))
    for _ in 0..<(isFullLength ? 500 : 50) {
      let (store, handle) = try open(2)
      let others = [shared.open(), shared.open()]
      var pinned = Set<UInt64>()
      for _ in 0..<random.below(40) {
        // Neighbouring locks of one owner may be one lock to the system.
        let (first, count) = (UInt64(random.below(300)), UInt64(1 + random.below(4)))
        for g in first..<first + count { pinned.insert(g) }
        let range = StoreLockPlace.pin(first).lowerBound..<StoreLockPlace.pin(first + count).lowerBound
        #expect(try others[random.below(2)].tryLock(.shared, range))
      }
      #expect(store.hasForeignPins(before: 400) == !pinned.isEmpty)
      let (from, to) = (UInt64(random.below(100)), UInt64(200 + random.below(100)))
      let held = HeldGenerations(store.foreignPins(in: from..<to))
      for g in UInt64(0)..<310 {
        #expect(held.holds(from: g, before: g + 1) == (from <= g && g < to && pinned.contains(g)))
        let end = g + UInt64(random.below(20))
        #expect(held.holds(from: g, before: end) == pinned.contains { g <= $0 && $0 < end && from <= $0 && $0 < to })
      }
      handle.kill()
      for other in others { other.kill() }
    }
  }

  /// Of very many pins, those that are not asked about count as held.
  @Test func theQuestionsAreBounded() throws {
    let (store, handle) = try open(2)
    let other = shared.open()
    let pinned = (0..<UInt64(1000)).map { $0 * 2 + 1 }
    for g in pinned { #expect(try other.tryLock(.shared, StoreLockPlace.pin(g))) }
    let before = handle.lockTestCount
    let held = HeldGenerations(store.foreignPins(in: 0..<4000))
    #expect(handle.lockTestCount - before <= Store.mostPinQuestions)
    #expect(pinned.allSatisfy { held.holds(from: $0, before: $0 + 1) })
    #expect(!held.holds(from: 2500, before: 4000))
  }

  @Test func whatTheSystemDoesNotTellCountsAsHeld() throws {
    let (writer, handle) = try open(2)
    let (reader, _) = try open(3)
    try overwrite(writer, 1)
    let view = try reader.snapshot()
    handle.refuseLockTests { $0.lowerBound >= StoreLockPlace.pins }
    for fill in 2..<UInt8(8) {
      try overwrite(writer, fill)
      #expect(Self.hasDead(writer))
    }
    for n in 0..<UInt64(200) { #expect(try view.value(tree, n) == [UInt8](repeating: 1, count: 500)) }
    handle.refuseLockTests(where: nil)
    try overwrite(writer, 8)
    for n in 0..<UInt64(200) { #expect(try view.value(tree, n) == [UInt8](repeating: 1, count: 500)) }
  }

  /// A view of another process that is older, or newer, than a segment does not hold it.
  @Test func viewsOfOtherProcessesHoldWhatLivedInTheirTime() throws {
    let (writer, _) = try open(2)
    let (early, _) = try open(3)
    let (late, _) = try open(4)
    try overwrite(writer, 1)
    let views = [try early.snapshot()]
    let first = writer.current.number
    for fill in 2..<UInt8(8) { try overwrite(writer, fill) }
    let newest = try late.snapshot()
    let second = writer.current.number
    for fill in 8..<UInt8(14) {
      try overwrite(writer, fill)
      for s in writer.space.table.segments where s.dead != 0 && s.dead < writer.current.number {
        #expect(s.born <= first && first < s.dead || s.born <= second && second < s.dead)
      }
    }
    for n in 0..<UInt64(200) {
      #expect(try views[0].value(tree, n) == [UInt8](repeating: 1, count: 500))
      #expect(try newest.value(tree, n) == [UInt8](repeating: 7, count: 500))
    }
  }
}
