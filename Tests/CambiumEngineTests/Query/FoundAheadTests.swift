import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Rows of a fetch that come a part after the other, while other threads copy those behind.
@Suite struct FoundAheadTests {
  private static let count = 40_000

  private static func schema() throws -> Schema {
    let alone = EntitySchema(
      "Alone", attributes: [AttributeSchema("number", .integer64), AttributeSchema("text", .string)])
    let base = EntitySchema(
      "Base", attributes: [AttributeSchema("number", .integer64), AttributeSchema("text", .string)])
    return try Schema(SchemaDefinition([alone, base, EntitySchema("Sub", parent: "Base")]))
  }

  /// Many rows of an entity that has its tree alone, and of two that share one; a tenth of them deleted again.
  private static func filled(
    _ device: MemoryDevice, _ environment: any StoreEnvironment
  ) throws -> (store: EntityStore, left: [String: [ObjectReference]]) {
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: environment), schema: try schema())
    let entities = try ["Alone", "Base", "Sub"].map { try #require(store.schema.entity(named: $0)) }
    var left: [String: [ObjectReference]] = ["Alone": [], "Base": [], "Sub": []]
    try store.write { (t) throws(EngineError) in
      for n in 0..<2 * count {
        let entity = n < count ? entities[0] : entities[n % 3 == 0 ? 2 : 1]
        let reference = try t.reserveReference(entity)
        var values = RowValues()
        values.set("number", .integer(Int64(n)))
        // Here and there one that has its memory alone.
        values.set("text", .string(String(repeating: "x", count: n % 1_000 == 17 ? 3_000 : n % 60)))
        try t.insert(reference, values)
        if n % 10 == 4 { try t.delete(reference) } else { left[entity.name]?.append(reference) }
      }
    }
    return (store, left)
  }

  @Test(arguments: [1, 2, 5]) func rowsComeInOrder(threads: Int) throws {
    let environment = CountingEnvironment(processors: threads)
    let (store, left) = try Self.filled(MemoryDevice(copying: [], lock: ThreadLock()), environment)
    let view = try store.view()
    let shared = try #require(left["Base"]) + #require(left["Sub"])
    var ofSharing = EngineFetch(try #require(store.schema.entity(named: "Base")))
    let ofBoth = ofSharing
    ofSharing.includesSubentities = false
    let ofOne = EngineFetch(try #require(store.schema.entity(named: "Alone")))
    var few = ofOne
    few.predicate = try Predicate(format: "number < 100 OR number > 35000", arguments: [])
    var limited = ofOne
    limited.limit = 3_000
    let cases: [(EngineFetch, [ObjectReference], isInParts: Bool, toCome: Int)] = [
      (ofOne, try #require(left["Alone"]), true, 36_000),
      (ofBoth, shared.sorted { $0.row < $1.row }, true, 36_000),
      (ofSharing, try #require(left["Base"]), true, 0),
      (few, try #require(left["Alone"]).filter { $0.row <= 100 || $0.row > 35_001 }, true, 0),
      (limited, Array(try #require(left["Alone"])[..<3_000]), false, 0),
    ]
    for (fetch, expected, isInParts, toCome) in cases {
      let before = environment.calls
      var told: [ObjectReference] = []
      var parts = 0
      var wrong = 0
      try view.forEachFound(fetch) { rows, left in
        parts += 1
        let start = told.count
        rows.forEach { _, reference in told.append(reference) }
        if told.count - start != rows.count { wrong += 1 }
        // How many come is known to the one, and exactly.
        if left != (threads > 1 && toCome > 0 ? toCome - told.count : 0) { wrong += 1 }
        // What is lent may be read, and the view as well, from within.
        if parts == 3, (try? view.count(fetch)) != expected.count { wrong += 1 }
      }
      let isSame = told == expected
      #expect(isSame && wrong == 0)
      #expect((environment.calls > before) == (threads > 1 && isInParts))
      #expect(threads > 1 && isInParts ? parts > 4 : parts == 1)
      let isFound = try view.findRows(fetch).array.map(\.reference) == expected
      #expect(isFound)
    }
    // One within the other.
    var inner = 0
    var outer = 0
    try view.forEachFound(ofOne) { rows, _ in
      if outer == 0 { try? view.forEachFound(ofBoth) { rows, _ in inner += rows.count } }
      outer += rows.count
    }
    #expect(inner == 36_000 && outer == 36_000)
  }

  /// Rows that are kept by hand keep their memory, and no row that is given up does.
  @Test func rowsThatAreKeptByHand() throws {
    let device = MemoryDevice(copying: [], lock: ThreadLock())
    let (store, left) = try Self.filled(device, CountingEnvironment(processors: 2))
    let alone = try #require(store.schema.entity(named: "Alone"))
    let number = alone.attributeKeys[try #require(alone.allAttributes.firstIndex { $0.name == "number" })]
    let expected = try #require(left["Alone"])
    struct Watched { weak var block: RowBlock? }
    var blocks: [Watched] = []
    var kept: [(row: BorrowedRow, place: Int)] = []
    var place = 0
    try store.view().forEachFound(EngineFetch(alone)) { rows, _ in
      rows.forEach { row, reference in
        if reference != expected[place] { blocks = [] }
        if blocks.last?.block !== row.row.block { blocks.append(Watched(block: row.row.block)) }
        if place % 97 == 0 { kept.append((row.retained(), place)) }
        place += 1
      }
    }
    #expect(place == expected.count && blocks.count > 500)
    let alive = blocks.count { $0.block != nil }
    #expect(alive > 0 && alive <= kept.count)
    for (row, place) in kept {
      #expect(try row.integer(number) == .some(.some(Int64(expected[place].row) - 1)))
      row.release()
    }
    #expect(blocks.allSatisfy { $0.block == nil })
  }

  /// What a tree says of its rows is no measure of memory by itself: a damaged one may say anything.
  @Test func rowsToComeAreBoundedByThoseThatCame() {
    #expect(rowsToCome(of: 38_000, behind: 2_000, parts: 19) == 38_000)
    #expect(rowsToCome(of: .max, behind: 2_000, parts: 19) == 76_000)
    #expect(rowsToCome(of: 1 << 40, behind: 0, parts: 19) == 0)
    #expect(rowsToCome(of: 5, behind: 2_000, parts: 0) == 0)
    #expect(rowsToCome(of: .max, behind: .max, parts: .max) == 0)
    #expect(rowsToCome(of: .max, behind: 1 << 62, parts: 9) == 9 * 4096)
  }

  @Test func whatEndsIt() throws {
    let device = MemoryDevice(copying: [], lock: ThreadLock())
    let (store, left) = try Self.filled(device, CountingEnvironment(processors: 3))
    let alone = try #require(store.schema.entity(named: "Alone"))
    // Who asked for it has enough.
    let isEnough = Locked(false)
    var fetch = EngineFetch(alone)
    fetch.isCancelled = { isEnough.withLock { $0 } }
    var told = 0
    var error = #expect(throws: EngineError.self) {
      try store.view().forEachFound(fetch) { rows, _ in
        told += rows.count
        if told > 5_000 { isEnough.withLock { $0 = true } }
      }
    }
    guard case .cancelled = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // Some may have been copied by then.
    #expect(told > 5_000 && told < 36_000)
    try store.kernel.checkpoint()
    try store.close()
    // A host that does nothing is refused.
    let idle = try EntityStore.open(
      Store.open(
        on: MemoryDevice(copying: device.contents(), lock: ThreadLock()),
        environment: CountingEnvironment(processors: 2, callsWork: false)))
    error = #expect(throws: EngineError.self) { try idle.view().forEachFound(EngineFetch(alone)) { _, _ in } }
    guard case .misuse = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // Damage is told, behind rows that lie before it.
    var bytes = device.contents()
    for place in stride(from: bytes.count / 2, to: bytes.count * 3 / 4, by: 512) { bytes[place] ^= 0x55 }
    let damaged = try EntityStore.open(
      Store.open(
        on: MemoryDevice(copying: bytes, lock: ThreadLock()), environment: CountingEnvironment(processors: 3)))
    let expected = try #require(left["Base"]) + #require(left["Sub"])
    var found: [ObjectReference] = []
    #expect(throws: EngineError.self) {
      try damaged.view().forEachFound(EngineFetch(try #require(damaged.schema.entity(named: "Base")))) { rows, _ in
        rows.forEach { _, reference in found.append(reference) }
      }
    }
    let isPrefix = found == Array(expected.sorted { $0.row < $1.row }.prefix(found.count))
    #expect(isPrefix && found.count < expected.count)
  }
}
