import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Plans that follow an inverse back from the objects that a condition holds for, for all kinds of relationships that
/// are kept on both sides.
@Suite struct InversePlanTests {
  private static func schema() throws -> Schema {
    func relationship(_ name: String, _ destination: String, _ inverse: String, many: Bool, ordered: Bool = false)
      -> RelationshipSchema
    {
      many
        ? RelationshipSchema(name, toMany: destination, inverse: inverse, ordered: ordered)
        : RelationshipSchema(name, to: destination, inverse: inverse)
    }
    var hosts = relationship("hosts", "Person", "visits", many: true)
    // What leads to a person may lead nowhere once that is gone.
    hosts.deleteRule = .noAction
    var visits = relationship("visits", "Club", "hosts", many: true)
    visits.deleteRule = .noAction
    let person = EntitySchema(
      "Person", attributes: [AttributeSchema("number", .integer64)],
      relationships: [
        relationship("clubs", "Club", "members", many: true), relationship("badge", "Club", "holder", many: false),
        relationship("steps", "Club", "walker", many: true, ordered: true),
        relationship("ranks", "Club", "ranked", many: true, ordered: true),
        relationship("chief", "Club", "team", many: false), visits,
      ])
    let club = EntitySchema(
      "Club", attributes: [AttributeSchema("code", .integer64), AttributeSchema("size", .integer64)],
      relationships: [
        relationship("members", "Person", "clubs", many: true), relationship("holder", "Person", "badge", many: false),
        relationship("walker", "Person", "steps", many: false), relationship("ranked", "Person", "ranks", many: true),
        relationship("team", "Person", "chief", many: true, ordered: true), hosts,
      ], indexes: [IndexSchema("byCode", [IndexElement("code")])])
    return try Schema(SchemaDefinition([person, club]))
  }

  private static let conditions = [
    "ANY clubs.code == 7", "ANY clubs.code > 190", "badge.code == 12", "badge.code IN {3, 4, 5, 6}",
    "ANY steps.code == 11", "ANY ranks.code == 20", "ANY ranks.code < 4", "chief.code == 9",
    "SUBQUERY(clubs, $c, $c.code > 195 AND $c.size == 1).@count > 0", "ANY visits.code == 30",
    "SUBQUERY(clubs, $c, $c.code < 5).@count >= 2", "ANY clubs.code == 7 AND number > 100",
  ]

  @Test func agreeWithAScan() throws {
    var random = SplitMix64(seed: testSeed(20_261_130))
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)), schema: try Self.schema())
    let person = try #require(store.schema.entity(named: "Person"))
    let club = try #require(store.schema.entity(named: "Club"))
    var people: [ObjectReference] = []
    var clubs: [ObjectReference] = []
    while people.count < 2_000 {
      people.append(try Self.insert(person, ["number": .integer(Int64(people.count))], store))
    }
    for number in 0..<200 {
      clubs.append(
        try Self.insert(club, ["code": .integer(Int64(number)), "size": .integer(Int64(random.below(3)))], store))
    }
    for relationship in person.relationships {
      try store.write { (t) throws(EngineError) in
        for _ in 0..<600 {
          try t.link(random.pick(people), relationship, to: random.pick(clubs))
        }
      }
    }
    try store.write { (t) throws(EngineError) in
      try t.delete([people[4], people[77], clubs[7], clubs[30]])
    }
    var byInverse = 0
    for text in Self.conditions {
      var fetch = EngineFetch(person)
      fetch.predicate = try Predicate(format: text)
      let view = try store.view()
      let found = try view.fetch(fetch)
      let kinds = try view.explain(fetch).kinds
      if kinds.contains(.toMany) || kinds.contains(.toOne) { byInverse += 1 }
      fetch.usesIndexes = false
      #expect(try view.fetch(fetch).sorted() == found.sorted(), "\(text)")
    }
    #expect(byInverse >= Self.conditions.count - 2)
  }

  private static func insert(
    _ entity: EntitySchema, _ values: NameMap<Value>, _ store: EntityStore
  ) throws -> ObjectReference {
    try store.write { (t) throws(EngineError) in
      let reference = try t.reserveReference(entity)
      try t.insert(reference, RowValues(values))
      return reference
    }
  }
}
