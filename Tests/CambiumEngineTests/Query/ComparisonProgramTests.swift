import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// What programs on registers and memos of destinations answer is what the reference answers, on values at the edges:
/// overflow at each operator, not-a-number, both zeros, text that is not ASCII at each place, nulls, and objects that
/// are gone.
@Suite struct ComparisonProgramTests {
  private static let integers: [Int64] = [.min, .min + 1, -7, -1, 0, 1, 2, 7, 1 << 53, .max - 1, .max]
  private static let doubles: [Double] = [
    .nan, -.infinity, -0x1p63, -2.5, -0.0, 0.0, 0.1, 2, 2.5, 0x1p53, 0x1p63, .infinity,
  ]
  private static let texts = [
    "", "a", "A", "b", "ab", "AB", "aB", "abc", "xabx", "aab", "a*b", "a\\b", "?", "é", "éa", "aé", "aéb", "e\u{301}",
    "ß",
    "SS", "İ", "\u{301}a", "ab\u{301}", "a\u{0}b", String(repeating: "ab", count: 30),
    String(repeating: "ab", count: 200),
  ]

  private struct Store {
    let store: EntityStore
    let item: EntitySchema
    let rows: [ObjectReference]
  }

  /// Items with random edges in their columns, most of which lead to one of few others.
  private static func store(_ random: inout SplitMix64, count: Int) throws -> Store {
    let columns = [
      AttributeSchema("i", .integer64), AttributeSchema("j", .integer16), AttributeSchema("d", .double),
      AttributeSchema("f", .float), AttributeSchema("t", .string), AttributeSchema("u", .string),
      AttributeSchema("m", .date), AttributeSchema("n", .date), AttributeSchema("b", .boolean),
      AttributeSchema("part", composite: "Part"),
    ]
    let item = EntitySchema(
      "Item", attributes: columns,
      relationships: [
        RelationshipSchema("to", to: "Item", inverse: "from"),
        RelationshipSchema("from", toMany: "Item", inverse: "to"),
        RelationshipSchema("way", to: "Item"),
      ])
    // Has rows among those of items, of another layout.
    let special = EntitySchema("Special", parent: "Item", attributes: [AttributeSchema("k", .integer64)])
    let part = CompositeSchema("Part", elements: [AttributeSchema("i", .integer32), AttributeSchema("t", .string)])
    let store = try EntityStore.create(
      in: try CambiumKernel.Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([item, special], composites: [part])))
    let entity = try #require(store.schema.entity(named: "Item"))
    let child = try #require(store.schema.entity(named: "Special"))
    var rows: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      for _ in 0..<count {
        var values = RowValues()
        for column in columns where !random.oneIn(6) {
          if let value = value(column.name, &random) { values.set(column.name, value) }
        }
        if !random.oneIn(6) {
          values.set(
            "part",
            .composite(
              CompositeValue(
                distinct: ["i", "t"],
                [
                  random.oneIn(5) ? .null : .integer(Int64(random.below(20)) - 5),
                  random.oneIn(5) ? .null : .string(random.pick(texts)),
                ])))
        }
        let reference = try t.reserveReference(random.oneIn(4) ? child : entity)
        if !random.oneIn(5), let other = rows.isEmpty ? nil : random.pick(rows) { values.set(toOne: "to", other) }
        if !random.oneIn(5), let other = rows.isEmpty ? nil : random.pick(rows) { values.set(toOne: "way", other) }
        try t.insert(reference, values)
        rows.append(reference)
      }
    }
    // `way` has no inverse, so that rows lead to objects that are gone.
    let gone = rows.filter { _ in random.oneIn(9) }
    try store.write { (t) throws(EngineError) in
      for reference in gone { try t.delete(reference) }
    }
    return Store(store: store, item: entity, rows: rows.filter { !gone.contains($0) })
  }

  private static func value(_ column: String, _ random: inout SplitMix64) -> Value? {
    switch column {
    case "i": return .integer(random.oneIn(2) ? random.pick(integers) : Int64(random.below(9)) - 4)
    case "j": return .integer(Int64(random.below(9)) - 4)
    case "d": return .double(random.pick(doubles))
    case "f": return .float(Float(random.pick(doubles)))
    case "t", "u": return .string(random.pick(texts))
    case "m", "n": return .date(random.pick(doubles.filter { !$0.isNaN }))
    case "b": return .boolean(random.oneIn(2))
    default: return nil
    }
  }

  // MARK: Random comparisons

  private static let paths = ["i", "j", "d", "f", "t", "u", "m", "n", "b", "part.i", "part.t"]

  private static func constant(_ random: inout SplitMix64) -> Value {
    random.oneIn(8) ? .null : value(random.pick(["i", "j", "d", "f", "t", "m", "b"]), &random) ?? .null
  }

  private static func expression(_ random: inout SplitMix64, _ prefix: String, depth: Int) -> Expression {
    switch depth > 2 ? random.below(4) : random.below(11) {
    case 0, 1, 2: return .keyPath(prefix + random.pick(paths))
    case 3: return .constant(constant(&random))
    case 4, 5, 6:
      return .arithmetic(
        random.pick([.add, .subtract, .multiply, .divide]), expression(&random, prefix, depth: depth + 1),
        expression(&random, prefix, depth: depth + 1))
    case 7: return .negated(expression(&random, prefix, depth: depth + 1))
    case 8:
      var condition = comparison(&random, prefix)
      if random.oneIn(3) { condition = .not(condition) }
      if random.oneIn(3) {
        condition = .or([condition, .and([comparison(&random, prefix), comparison(&random, prefix)])])
      }
      return .ternary(
        condition, then: expression(&random, prefix, depth: depth + 2),
        otherwise: expression(&random, prefix, depth: depth + 2))
    case 9:
      return .function(
        random.pick(["modulus:by:", "min", "max"]),
        [expression(&random, prefix, depth: depth + 1), expression(&random, prefix, depth: depth + 1)])
    default:
      return .function(random.pick(["abs", "length", "noindex"]), [expression(&random, prefix, depth: depth + 1)])
    }
  }

  private static func comparison(_ random: inout SplitMix64, _ prefix: String) -> Predicate {
    let options: ComparisonOptions = random.pick([
      [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ])
    let text = Expression.keyPath(prefix + random.pick(["t", "u", "part.t"]))
    let word = Expression.constant(.string(random.pick(texts)))
    switch random.below(7) {
    case 6:
      return .compare(
        .keyPath(prefix + "way"), random.pick([.equal, .notEqual, .less]),
        random.oneIn(2)
          ? .constant(random.oneIn(2) ? .null : .reference(ObjectReference(entity: 1, row: 5)))
          : .keyPath(prefix + "to"))
    case 0:
      return .compare(
        text, random.pick([.beginsWith, .endsWith, .contains, .in, .equal, .less, .greaterOrEqual]),
        random.oneIn(3) ? .keyPath(prefix + "u") : word, options)
    case 1:
      let pattern = random.pick([
        "*", "a*", "*b", "*a*b*", "?b", "a?", "??", "", "a\\*b", "a\\", "*é*", "A*", "*bx", "a**b",
      ])
      return .compare(text, .like, .constant(.string(pattern)), options)
    case 2:
      return .compare(
        expression(&random, prefix, depth: 1), .between, .constant(.list([constant(&random), constant(&random)])),
        options)
    case 3:
      return .compare(
        expression(&random, prefix, depth: 1), .in,
        .constant(.list((0..<random.below(5)).map { _ in constant(&random) })), options)
    default:
      return .compare(
        expression(&random, prefix, depth: 0),
        random.pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]),
        expression(&random, prefix, depth: 0), options)
    }
  }

  private static func predicate(_ random: inout SplitMix64, depth: Int) -> Predicate {
    switch depth > 2 ? 3 : random.below(11) {
    case 0: return .not(predicate(&random, depth: depth + 1))
    case 1: return .and([predicate(&random, depth: depth + 1), predicate(&random, depth: depth + 1)])
    case 2: return .or([predicate(&random, depth: depth + 1), predicate(&random, depth: depth + 1)])
    case 3, 4, 5: return comparison(&random, random.pick(["", "", "to.", "way.", "to.way.", "way.to."]))
    case 6:
      return .compare(
        .aggregate(.count, .keyPath(random.oneIn(4) ? "to.from" : "from"), path: nil),
        random.pick([.equal, .notEqual, .less, .greaterOrEqual, .between]),
        .constant(
          random.oneIn(5)
            ? .list([.integer(1), .double(2.5)]) : random.oneIn(5) ? .double(1.5) : .integer(Int64(random.below(4)))))
    case 7:
      let part: Predicate = .compare(
        .member(.variable("x"), path: random.pick(["i", "j", "d", "t"])),
        random.pick([.equal, .notEqual, .less, .greaterOrEqual]), .constant(constant(&random)))
      let left: Expression =
        random.oneIn(2)
        ? .aggregate(.count, .subquery(collection: .keyPath("from"), variable: "x", condition: part), path: nil)
        : .aggregate(
          random.pick([.sum, .average, .minimum, .maximum]), .keyPath("from"),
          path: random.pick(["i", "j", "d", "way.j"]))
      return .compare(
        left, random.pick([.equal, .notEqual, .less, .greaterOrEqual]),
        .constant(random.oneIn(4) ? constant(&random) : .integer(Int64(random.below(4)))))
    // Of the objects that lead to the same one, and of that one itself.
    case 8:
      if random.oneIn(3) {
        return .compare(
          .keyPath("to.self"), random.pick([.equal, .notEqual]),
          .constant(random.oneIn(3) ? .null : .reference(ObjectReference(entity: 1, row: UInt64(1 + random.below(20)))))
        )
      }
      return .compare(
        .keyPath(random.pick(["to.from.j", "from.j"])), random.pick([.equal, .notEqual, .less]),
        .constant(.integer(Int64(random.below(5)))),
        modifier: random.pick([.any, .all, .none]))
    // One side of the row itself, the other of another one.
    default:
      return .compare(
        expression(&random, "", depth: 1), random.pick([.equal, .notEqual, .less]), expression(&random, "to.", depth: 1)
      )
    }
  }

  @Test func programsAgreeWithTheReference() throws {
    var random = SplitMix64(seed: testSeed(20_261_129))
    let count = testCount("CAMBIUM_PROGRAMS", short: 3000, full: 60_000)
    var telling = 0
    var asked = 0
    while asked < count {
      let made = try Self.store(&random, count: 60)
      let view = try made.store.view()
      for _ in 0..<200 {
        let predicate = Self.predicate(&random, depth: 0)
        var fetch = EngineFetch(made.item, predicate: predicate)
        fetch.usesIndexes = random.oneIn(2)
        // The check refuses comparisons of kinds that never compare; nothing of it is asked of a row.
        guard let found = try Self.unlessRefused({ try view.fetch(fetch).map(\.row) }) else { continue }
        // The check gives constants the types of the attributes beside them: a float is compared with the float 0.1.
        let checked = try predicate.check(against: made.store.schema, entity: made.item.id)
        let expected = try Self.expected(checked, made, view)
        #expect(found == expected, "\(predicate)")
        asked += 1
        if !found.isEmpty, found.count < made.rows.count { telling += 1 }
        if found != expected { return }
      }
    }
    #expect(telling * 4 > asked)
  }

  /// Nil if the check refuses the predicate.
  private static func unlessRefused<Found>(_ find: () throws -> Found) throws -> Found? {
    do { return try find() } catch {
      if case .predicate = error as? EngineError { return nil }
      throw error
    }
  }

  /// The rows for which the reference says that the predicate holds: evaluated on values that were read out one by
  /// one.
  private static func expected(_ predicate: Predicate, _ made: Store, _ view: EntityView) throws -> [UInt64] {
    try made.rows.sorted { $0.row < $1.row }.filter { reference in
      try predicate.evaluate { (object: ObjectReference?, path: String) throws(EngineError) -> Value in
        try value(path, of: object ?? reference, view)
      }
    }.map(\.row)
  }

  private static func value(_ path: String, of reference: ObjectReference, _ view: EntityView) throws(EngineError)
    -> Value
  {
    if path == "self" { return .reference(reference) }
    guard let row = try view.row(reference) else { return .null }
    if path == "to" || path == "way" {
      guard let relationship = row.entity.relationship(named: path) else { return .null }
      return try row.reference(relationship).map { .reference($0) } ?? .null
    }
    for name in ["to", "way"] where path.hasPrefix(name + ".") {
      guard let relationship = row.entity.relationship(named: name), let next = try row.reference(relationship),
        try view.row(next) != nil
      else { return .null }
      return try value(String(path.dropFirst(name.count + 1)), of: next, view)
    }
    if path == "from" || path == "from.j" {
      guard let relationship = row.entity.relationship(named: "from") else { return .null }
      var found: [Value] = []
      try view.destinations(of: relationship).forEach(from: reference) { (object) throws(EngineError) in
        found.append(path == "from" ? .reference(object) : try value("j", of: object, view))
        return true
      }
      return .list(found)
    }
    return try row.value(keyPath: path)
  }

  // MARK: Values

  /// Columns that are computed, orders and groups through to-one relationships give what the reference gives.
  @Test func valuesAgreeWithTheReference() throws {
    var random = SplitMix64(seed: testSeed(20_261_130))
    for _ in 0..<testCount("CAMBIUM_PROGRAM_VALUES", short: 20, full: 200) {
      let made = try Self.store(&random, count: 60)
      let view = try made.store.view()
      for _ in 0..<20 {
        let expression = Self.expression(&random, random.pick(["", "", "to.", "way.to."]), depth: 0)
        let request = EngineValuesFetch(EngineFetch(made.item), columns: [EngineColumn("x", expression)])
        guard let found = try Self.unlessRefused({ try view.fetchValues(request) }) else { continue }
        var state = EvaluationState()
        let expected = try made.rows.sorted { $0.row < $1.row }.map { reference in
          try expression.read(
            &state,
            { (object: ObjectReference?, path: String) throws(EngineError) -> Value in
              try Self.value(path, of: object ?? reference, view)
            }, depth: 0)
        }
        // The sign of not-a-number is the processor's own.
        let texts = [found.map { $0[0] }, expected].map { "\($0)".replacing("-nan", with: "nan") }
        #expect(texts[0] == texts[1], "\(expression)")
      }
      for path in ["to.i", "way.t", "way.to.m"] {
        var fetch = EngineFetch(made.item)
        fetch.sort = [EngineSort(path, ascending: random.oneIn(2)), EngineSort("j")]
        fetch.limit = random.oneIn(2) ? 7 : nil
        let keys = try made.rows.map { reference in
          (try Self.value(path, of: reference, view), try Self.value("j", of: reference, view), reference.row)
        }
        let expected = keys.sorted { a, b in
          let first = a.0.sortOrder(b.0)
          if first != 0 { return fetch.sort[0].isAscending ? first < 0 : first > 0 }
          let second = a.1.sortOrder(b.1)
          return second != 0 ? second < 0 : a.2 < b.2
        }
        #expect(try view.fetch(fetch).map(\.row) == expected.prefix(fetch.limit ?? .max).map { $0.2 })
      }
    }
  }

  // MARK: Memos

  /// A memo with more destinations than slots, and one in a transaction that has changed what rows lead to.
  @Test func memosGrowAndFollowATransaction() throws {
    let target = EntitySchema(
      "Target", attributes: [AttributeSchema("n", .integer64)],
      relationships: [RelationshipSchema("sources", toMany: "Source", inverse: "target")])
    let source = EntitySchema(
      "Source", attributes: [AttributeSchema("n", .integer64)],
      relationships: [RelationshipSchema("target", to: "Target", inverse: "sources")])
    let store = try EntityStore.create(
      in: try CambiumKernel.Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([target, source])))
    let (targetEntity, sourceEntity) = (
      try #require(store.schema.entity(named: "Target")), try #require(store.schema.entity(named: "Source"))
    )
    let count = 3000
    var targets: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      for n in 0..<count {
        var values = RowValues()
        values.set("n", .integer(Int64(n % 7)))
        let reference = try t.reserveReference(targetEntity)
        try t.insert(reference, values)
        targets.append(reference)
      }
      for n in 0..<(2 * count) {
        var values = RowValues()
        values.set("n", .integer(Int64(n)))
        values.set(toOne: "target", targets[n % count])
        try t.insert(try t.reserveReference(sourceEntity), values)
      }
    }
    // An alternative of the row itself keeps the planner from going the other way.
    let predicate = try Predicate(format: "target.n == 3 OR n + 1 < 0")
    func found(_ view: EntityView) throws -> Int {
      try view.fetch(EngineFetch(sourceEntity, predicate: predicate)).count
    }
    let expected = 2 * (0..<count).filter { $0 % 7 == 3 }.count
    #expect(try found(try store.view()) == expected)
    try store.write { (t) throws(EngineError) in
      do { #expect(try found(t) == expected) } catch { Issue.record(error) }
      for target in targets.prefix(700) {
        var values = RowValues()
        values.set("n", .integer(5))
        try t.update(target, values)
      }
      let changed = 2 * (700..<count).filter { $0 % 7 == 3 }.count
      do { #expect(try found(t) == changed) } catch { Issue.record(error) }
    }
  }
}
