import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// A log's second migration in one piece: codes that became objects go, and times are gathered into composites.
@Suite struct GatherAfterLinksTests {
  private static func number(_ name: String, was: String? = nil, _ type: AttributeType = .integer32) -> AttributeSchema
  {
    var attribute = AttributeSchema(name, type)
    attribute.renamingIdentifier = was
    return attribute
  }

  private static func definition(_ version: Int) -> SchemaDefinition {
    var attributes = [number("delay")]
    if version < 3 {
      attributes += [number("depScheduled"), number("depActual"), number("code", was: nil, .string)]
    } else {
      attributes.append(
        AttributeSchema(
          "departure",
          elements: [number("scheduled", was: "depScheduled"), number("actual", was: "depActual")]))
    }
    let relationship = RelationshipSchema("airline", to: "Airline", inverse: "entries")
    var entities = [
      EntitySchema(
        "Entry", attributes: attributes, relationships: version == 1 ? [] : [relationship],
        indexes: [IndexSchema("byDelay", [IndexElement("delay")])])
    ]
    if version > 1 {
      entities.append(
        EntitySchema(
          "Airline", attributes: [number("code", was: nil, .string)],
          relationships: [RelationshipSchema("entries", toMany: "Entry", inverse: "airline")]))
    }
    return SchemaDefinition(entities)
  }

  private static func filled() throws -> (EntityStore, [ObjectReference]) {
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 7)),
      schema: try Schema(definition(1)))
    var references: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      guard let entity = store.schema.entity(named: "Entry") else { return }
      for i in 0..<10 {
        var values = RowValues()
        values.set("delay", .integer(Int64(i)))
        values.set("depScheduled", .integer(Int64(100 + i)))
        if i % 2 == 0 { values.set("depActual", .integer(Int64(200 + i))) }
        values.set("code", .string("UA"))
        let reference = try t.reserveReference(entity)
        try t.insert(reference, values)
        references.append(reference)
      }
    }
    return (store, references)
  }

  /// Links the first entries, as an application does between the migrations: their rows have the second version's
  /// layout.
  private static func link(_ references: ArraySlice<ObjectReference>, _ store: EntityStore) throws {
    try store.write { (t) throws(EngineError) in
      guard let airline = store.schema.entity(named: "Airline") else { return }
      let target = try t.reserveReference(airline)
      var values = RowValues()
      values.set("code", .string("UA"))
      try t.insert(target, values)
      for reference in references {
        var values = RowValues()
        values.set(toOne: "airline", target)
        try t.update(reference, values)
      }
    }
  }

  /// What the entries have, in their order.
  private static func content(_ store: EntityStore) throws -> [[Value]] {
    let entity = try #require(store.schema.entity(named: "Entry"))
    let view = try store.view()
    var rows: [[Value]] = []
    var references: [ObjectReference] = []
    try view.rows(entity: entity) { (row) throws(EngineError) in
      var values: [Value] = []
      for attribute in entity.allAttributes { values.append(try row.value(attribute)) }
      rows.append(values)
      references.append(row.reference)
      return true
    }
    let airline = try #require(entity.allRelationships.first)
    for (place, reference) in references.enumerated() {
      rows[place].append(.integer(Int64(try view.related(reference, airline).count)))
    }
    return rows
  }

  @Test(arguments: [0, 1, 10]) func rowsAreWrittenLater(linked: Int) throws {
    var (store, references) = try Self.filled()
    store = try store.migrate(to: Self.definition(2), defers: true)
    try Self.link(references.prefix(linked), store)
    let plan = try store.migrationPlan(to: Self.definition(3), defers: true)
    #expect(plan.isMetadataOnly, "\(plan.steps.map { $0.description })")
    store = try store.migrate(to: Self.definition(3), defers: true)
    #expect(try store.deferredTasks().map { $0.entity } == ["Entry"])
    var expected: [[Value]] = []
    for i in 0..<10 {
      let actual = i % 2 == 0 ? Value.integer(Int64(200 + i)) : Value.null
      let times = CompositeValue(names: ["scheduled", "actual"], values: [.integer(Int64(100 + i)), actual])
      expected.append([.integer(Int64(i)), .composite(times), .integer(i < linked ? 1 : 0)])
    }
    #expect(try Self.content(store) == expected)
    while try store.runDeferredTask() {}
    #expect(try Self.content(store) == expected)
  }
}
