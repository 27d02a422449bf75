import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Conditions of related objects, asked of so many rows that the engine finds the related objects instead and counts
/// the rows that they lead to; and conditions of one related object that null meets. All answers are the evaluator's.
@Suite struct ManyOwnersTests {
  private struct Made {
    let store: EntityStore
    let owner: EntitySchema
    let entry: EntitySchema
  }

  /// - Parameters:
  ///   - leadsAlways: Whether every entry has a place.
  ///   - hasGone: Whether some of the places are deleted, and entries still lead to them.
  private static func made(
    _ random: inout SplitMix64, leadsAlways: Bool, hasGone: Bool = false
  ) throws -> Made {
    let owner = EntitySchema(
      "Owner", attributes: [AttributeSchema("kind", .integer64)],
      relationships: [
        RelationshipSchema("entries", toMany: "Entry", inverse: "owner"),
        RelationshipSchema("tags", toMany: "Tag", inverse: "owners"),
      ])
    let entry = EntitySchema(
      "Entry", attributes: [AttributeSchema("value", .integer64), AttributeSchema("kind", .integer64)],
      relationships: [
        RelationshipSchema("owner", to: "Owner", inverse: "entries"),
        RelationshipSchema("place", to: "Place", inverse: "entries"),
      ], indexes: [IndexSchema("byValue", [IndexElement("value")])])
    let place = EntitySchema(
      "Place", attributes: [AttributeSchema("name", .string), AttributeSchema("size", .integer64)],
      relationships: [RelationshipSchema("entries", toMany: "Entry", inverse: "place")])
    let tag = EntitySchema(
      "Tag", attributes: [AttributeSchema("name", .string)],
      relationships: [RelationshipSchema("owners", toMany: "Owner", inverse: "tags")])
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([owner, entry, place, tag])))
    func entity(_ name: String) throws -> EntitySchema { try #require(store.schema.entity(named: name)) }
    let (owners, entries, places, tags) = (
      try entity("Owner"), try entity("Entry"), try entity("Place"), try entity("Tag")
    )
    try store.write { (t) throws(EngineError) in
      var madePlaces: [ObjectReference] = []
      for n in 0..<12 {
        var row = RowValues()
        if n % 4 != 0 { row.set("name", .string(["Aspen", "boston", "Kyiv"][n % 3])) }
        if n % 3 != 0 { row.set("size", .integer(Int64(n))) }
        madePlaces.append(try t.reserveReference(places))
        try t.insert(madePlaces[n], row)
      }
      var madeTags: [ObjectReference] = []
      for n in 0..<3 {
        var row = RowValues()
        if n > 0 { row.set("name", .string("tag\(n)")) }
        madeTags.append(try t.reserveReference(tags))
        try t.insert(madeTags[n], row)
      }
      for n in 0..<240 {
        var row = RowValues()
        row.set("kind", .integer(Int64(random.below(4))))
        row.set(toMany: "tags", madeTags.filter { _ in random.oneIn(3) })
        let made = try t.reserveReference(owners)
        try t.insert(made, row)
        for _ in 0..<(n % 40 == 0 ? 50 : random.below(5)) {
          var row = RowValues()
          if !random.oneIn(5) { row.set("value", .integer(Int64(random.below(30)))) }
          if !random.oneIn(5) { row.set("kind", .integer(Int64(random.below(3)))) }
          if !random.oneIn(10) { row.set(toOne: "owner", made) }
          if leadsAlways || !random.oneIn(6) { row.set(toOne: "place", random.pick(madePlaces)) }
          try t.insert(try t.reserveReference(entries), row)
        }
      }
    }
    if hasGone {
      let gone = try store.view().fetch(EngineFetch(places, predicate: try Predicate(format: "size IN {1, 2, 8}")))
      #expect(gone.count == 3)
      try store.write { (t) throws(EngineError) in
        try t.delete(gone) { _ in .noAction }
      }
    }
    try store.kernel.checkpoint()
    return Made(store: store, owner: owners, entry: entries)
  }

  private static func constant(_ path: String, _ random: inout SplitMix64) -> Value {
    if random.oneIn(5) { return .null }
    if path.hasSuffix("name") { return .string(random.pick(["Aspen", "Boston", "Kyiv", "K", "tag1"])) }
    return .integer(Int64(random.below(random.oneIn(2) ? 4 : 32)))
  }

  /// A comparison of `path`; a text test of a name, with options or without.
  private static func comparison(_ path: String, _ random: inout SplitMix64, _ modifier: ComparisonModifier)
    -> Predicate
  {
    let comparators: [Comparator] =
      path.hasSuffix("name")
      ? [.equal, .notEqual, .less, .beginsWith, .contains, .in]
      : [.equal, .notEqual, .less, .greaterOrEqual, .between, .in]
    let comparator = random.pick(comparators)
    let value: Value
    switch comparator {
    case .in: value = .list((0..<(1 + random.below(3))).map { _ in constant(path, &random) })
    case .between: value = .list([.integer(Int64(random.below(9))), .integer(Int64(9 + random.below(20)))])
    case .beginsWith, .contains: value = .string(random.pick(["A", "b", "Ky", ""]))
    default: value = constant(path, &random)
    }
    var made = Comparison(left: .keyPath(path), comparator: comparator, right: .constant(value))
    made.modifier = modifier
    if path.hasSuffix("name"), comparator != .in, random.oneIn(3) { made.options = [.caseInsensitive] }
    return .comparison(made)
  }

  private static func ofOwner(_ random: inout SplitMix64) throws -> Predicate {
    let paths = [
      "entries.value", "entries.kind", "entries.place.name", "entries.place.size", "entries.place", "tags.name",
      "entries.owner.kind",
    ]
    switch random.below(5) {
    case 0, 1, 2:
      let path = random.pick(paths)
      let modifier = random.pick([ComparisonModifier.any, .any, .all, .none])
      if path == "entries.place" {
        return .compare(
          .keyPath(path), random.pick([.equal, .notEqual]), .constant(.null), modifier: modifier)
      }
      return comparison(path, &random, modifier)
    case 3:
      let inner = random.pick([
        "$e.value > 20", "$e.place.name == NULL", "$e.kind != 1", "NOT ($e.value < 12)",
        "$e.place.size > 3 OR $e.kind == NULL", "$e.owner.kind == 2", "NOT $e.owner.kind > 1",
      ])
      return try Predicate(
        format: "SUBQUERY(entries, $e, \(inner)).@count \(random.pick(["==", "<=", ">", "!="])) \(random.below(4))")
    default:
      return .not(
        .and([comparison("entries.value", &random, .any), .compare(.keyPath("kind"), .less, .constant(.integer(3)))]))
    }
  }

  private static func ofEntry(_ random: inout SplitMix64) throws -> Predicate {
    switch random.below(7) {
    case 6:
      return .and([
        .compare(.keyPath("place"), .notEqual, .constant(.null)), comparison("place.size", &random, .direct),
      ])
    case 0: return comparison("place.name", &random, .direct)
    case 1: return comparison("place.size", &random, .direct)
    case 2: return .not(comparison("place.name", &random, .direct))
    case 3: return .or([comparison("place.name", &random, .direct), comparison("place.size", &random, .direct)])
    case 4:
      return .and([
        .not(.or([comparison("place.size", &random, .direct), comparison("owner.kind", &random, .direct)])),
        .compare(.keyPath("value"), .notEqual, .constant(.null)),
      ])
    default:
      let path = random.pick(["owner", "place", "value"])
      return .compare(.keyPath(path), random.pick([.equal, .notEqual]), .constant(.null))
    }
  }

  @Test(arguments: [(false, false), (true, false), (true, true), (false, true)])
  func answersAreTheEvaluators(leadsAlways: Bool, hasGone: Bool) throws {
    var random = SplitMix64(seed: testSeed(leadsAlways ? 20_261_214 : 20_261_213))
    let made = try Self.made(&random, leadsAlways: leadsAlways, hasGone: hasGone)
    let view = try made.store.view()
    var rows: [UInt32: [Row]] = [:]
    for entity in [made.owner, made.entry] {
      rows[entity.id] = try view.fetchRows(EngineFetch(entity))
    }
    var found = 0
    for n in 0..<testCount("CAMBIUM_OWNERS", short: 300, full: 6_000) {
      let entity = n % 3 == 0 ? made.entry : made.owner
      let predicate = try n % 3 == 0 ? Self.ofEntry(&random) : Self.ofOwner(&random)
      let checked: Predicate
      do { checked = try predicate.check(against: made.store.schema, entity: entity.id) } catch { continue }
      let reader = PathReader(view: view)
      let expected = try rows[entity.id, default: []].filter { try reader.matches(checked, $0) }.map(\.reference)
      if !expected.isEmpty { found += 1 }
      for way in 0..<3 {
        var fetch = EngineFetch(entity, predicate: predicate)
        if way == 1 { fetch.usesIndexes = false }
        if way == 2 { fetch = EngineFetch.preferringIndexes(entity, predicate) }
        #expect(try view.fetch(fetch) == expected, "\(predicate), \(way)")
        #expect(try view.count(fetch) == expected.count, "\(predicate), \(way)")
      }
    }
    #expect(found > 100)
  }

  /// The objects are found at last, and not asked for owner by owner: of 240 owners with 1,000 entries, for which an
  /// index has three.
  @Test func manyOwnersAreCounted() throws {
    var random = SplitMix64(seed: 7)
    let made = try Self.made(&random, leadsAlways: true)
    let view = try made.store.view()
    let entries = try #require(made.owner.relationship(named: "entries"))
    let counts = try #require(OwnerCounts(entries, try Predicate(format: "value == 3"), PathReader(view: view)))
    let owners = try view.fetch(EngineFetch(made.owner))
    #expect(counts.count(of: owners[0].row) == nil)
    for _ in 0..<200 { try counts.note(links: 4) }
    for owner in owners {
      let count = try view.count(
        EngineFetch(
          made.entry,
          predicate: .and([
            .compare(.keyPath("owner"), .equal, .constant(.reference(owner))), try Predicate(format: "value == 3"),
          ])))
      #expect(counts.count(of: owner.row) == count)
    }
    let tags = try #require(made.owner.relationship(named: "tags"))
    #expect(OwnerCounts(tags, try Predicate(format: "name == 'tag1'"), PathReader(view: view)) == nil)
  }

  /// Numbers of rows come from the trees alone, where an index or a relationship decides a condition.
  @Test func countsComeFromTrees() throws {
    var random = SplitMix64(seed: 9)
    let made = try Self.made(&random, leadsAlways: true)
    let view = try made.store.view()
    for (format, isOfTrees) in [
      ("value > 3", true), ("NOT value == nil", true), ("place.name CONTAINS 'k'", true), ("'K' IN place.name", true),
      ("place.name == nil", true), ("kind > 1", false), ("value > 3 AND kind > 1", false),
    ] {
      var fetch = EngineFetch(made.entry, predicate: try Predicate(format: format))
      // As if there were so many rows that looking up what they lead to is worth while.
      fetch.costs.scannedRow = 20
      let chosen = try view.choose(fetch, for: .count)
      let decides: Bool
      switch chosen.path {
      case .ranges: decides = chosen.residual == nil
      case .related(let related): decides = chosen.residual == nil && related.known != nil
      default: decides = false
      }
      #expect(decides == isOfTrees, "\(format)")
      #expect(try view.count(fetch) == (try view.fetch(fetch)).count, "\(format)")
    }
  }
}
