import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Indexes whose building a migration put off: fetches answer the same before, meanwhile and after.
@Suite struct DeferredIndexTests {
  private static func definition(_ indexes: [IndexSchema]) -> SchemaDefinition {
    let thing = EntitySchema(
      "Thing", attributes: [AttributeSchema("n", .integer64), AttributeSchema("s", .string)], indexes: indexes)
    let special = EntitySchema("Special", parent: "Thing", attributes: [AttributeSchema("x", .double)])
    return SchemaDefinition([thing, special])
  }

  private static let byNumber = IndexSchema("byNumber", [IndexElement("n")])
  private static let evenTexts = IndexSchema("evenTexts", [IndexElement("s")], partialPredicate: "n > 10")

  /// 300 rows of two entities, migrated to a model with two indexes, which are not built yet.
  private static func prepared(_ random: inout SplitMix64) throws -> EntityStore {
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(definition([])))
    for _ in 0..<300 { try insert(store, &random) }
    return try store.migrate(to: definition([byNumber, evenTexts]), defers: true)
  }

  private static func insert(_ store: EntityStore, _ random: inout SplitMix64) throws {
    let entity = try #require(store.schema.entity(named: random.oneIn(3) ? "Special" : "Thing"))
    let number = Int64(random.below(40))
    let text = "text \(random.below(100))"
    try store.write { (t) throws(EngineError) in
      var values = RowValues()
      values.set("n", .integer(number))
      values.set("s", .string(text))
      try t.insert(try t.reserveReference(entity), values)
    }
  }

  private static func change(_ store: EntityStore, _ random: inout SplitMix64) throws {
    let thing = try #require(store.schema.entity(named: "Thing"))
    let all = try store.view().fetch(EngineFetch(thing))
    let victim = random.pick(all)
    switch random.below(3) {
    case 0: try insert(store, &random)
    case 1: try store.write { (t) throws(EngineError) in _ = try t.delete(victim) }
    default:
      let number = Int64(random.below(40))
      try store.write { (t) throws(EngineError) in
        var values = RowValues()
        values.set("n", .integer(number))
        try t.update(victim, values)
      }
    }
  }

  /// Every fetch answers as looking at every row does; and the index says whether it is whole.
  private static func verify(_ store: EntityStore, isBuilt: Bool, _ comment: Comment) throws {
    let view = try store.view()
    for name in ["Thing", "Special"] {
      let entity = try #require(store.schema.entity(named: name))
      var all: [ObjectReference: Int64] = [:]
      for row in try view.fetchRows(EngineFetch(entity)) {
        if case .integer(let number) = try row.value(keyPath: "n") { all[row.reference] = number }
      }
      for number: Int64 in [0, 7, 39] {
        let fetch = EngineFetch(entity, predicate: try Predicate(format: "n == \(number)"))
        let expected = Set(all.filter { $0.value == number }.keys)
        #expect(Set(try view.fetch(fetch)) == expected, comment)
        #expect(try view.count(fetch) == expected.count, comment)
        if isBuilt {
          var found: Set<ObjectReference> = []
          try view.lookup(entity, by: ["n"]).forEach(.integer(number)) { (row) throws(EngineError) in
            found.insert(row.reference)
            return true
          }
          #expect(found == expected, comment)
        }
      }
      if !isBuilt {
        let error = #expect(throws: EngineError.self, comment) { _ = try view.lookup(entity, by: ["n"]) }
        #expect(error?.description.contains("not built yet") ?? false, comment)
      }
    }
    let report = try store.check()
    #expect(report.isSound, "\(comment): \(report.problems)")
  }

  @Test func fetchesAnswerTheSameMeanwhile() throws {
    var random = SplitMix64(seed: 11)
    let store = try Self.prepared(&random)
    let tasks = try store.deferredTasks()
    #expect(tasks.map(\.kind) == [.buildIndex, .buildIndex] && tasks.map(\.index) == ["byNumber", "evenTexts"])
    #expect(tasks.allSatisfy { $0.entity == "Thing" && $0.rows == 300 && $0.nextRow == 0 })
    var parts = 0
    while true {
      let isBuilt = try store.deferredTasks().first?.index != "byNumber"
      try Self.verify(store, isBuilt: isBuilt, "after \(parts) parts")
      for _ in 0..<5 { try Self.change(store, &random) }
      try Self.verify(store, isBuilt: isBuilt, "after \(parts) parts and changes")
      guard try store.runDeferredTask(maximumRows: 40) else { break }
      parts += 1
    }
    // 40 rows a part, of two indexes.
    #expect(parts >= 12)
    try Self.verify(store, isBuilt: true, "all done")
    try Self.verify(try EntityStore.open(store.kernel), isBuilt: true, "opened again")
  }

  /// A view from before the index was whole does not use it, and one of a store that was opened before does afterwards.
  @Test func earlierViewsDoWithout() throws {
    var random = SplitMix64(seed: 12)
    let store = try Self.prepared(&random)
    let thing = try #require(store.schema.entity(named: "Thing"))
    let fetch = EngineFetch(thing, predicate: try Predicate(format: "n < 20"))
    let before = try store.view()
    let expected = try before.fetch(fetch)
    let other = try EntityStore.open(store.kernel)
    while try store.runDeferredTask(maximumRows: 100) {}
    #expect(try before.fetch(fetch) == expected && !expected.isEmpty)
    #expect(throws: EngineError.self) { _ = try before.lookup(thing, by: ["n"]) }
    for store in [store, other] {
      #expect(try Set(store.view().fetch(fetch)) == Set(expected))
      _ = try store.view().lookup(thing, by: ["n"])
    }
  }

  /// A migration in between goes on with an index that it keeps, and forgets one that goes.
  @Test func anotherMigrationGoesOn() throws {
    var random = SplitMix64(seed: 13)
    var store = try Self.prepared(&random)
    _ = try store.runDeferredTask(maximumRows: 100)
    let next = try #require(try store.deferredTasks().first?.nextRow)
    #expect(next > 0)
    var definition = Self.definition([Self.byNumber])
    definition.entities[0].attributes.append(AttributeSchema("added", .boolean))
    store = try store.migrate(to: definition)
    let tasks = try store.deferredTasks()
    #expect(tasks.map(\.index) == ["byNumber"] && tasks.map(\.nextRow) == [next])
    for _ in 0..<20 { try Self.change(store, &random) }
    try Self.verify(store, isBuilt: false, "in the midst")
    while try store.runDeferredTask(maximumRows: 100) {}
    try Self.verify(store, isBuilt: true, "all done")
  }

  /// A migration goes by what is put off now, not by what was when the store was opened: a task that was done is not
  /// begun anew, and the state before it is given up with the last one.
  @Test func whatWasDoneIsNotPutOffAgain() throws {
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(
        SchemaDefinition([
          EntitySchema("A", attributes: [AttributeSchema("n", .integer64)]),
          EntitySchema("B", attributes: [AttributeSchema("n", .integer64), AttributeSchema("gone", .string)]),
        ])))
    try store.write { (t) throws(EngineError) in
      for entity in store.schema.entities {
        for n in 0..<50 {
          var values = RowValues()
          values.set("n", .integer(Int64(n)))
          if entity.name == "B" { values.set("gone", .string("x")) }
          try t.insert(try t.reserveReference(entity), values)
        }
      }
    }
    let indexed = EntitySchema("A", attributes: [AttributeSchema("n", .integer64)], indexes: [Self.byNumber])
    let shorter = EntitySchema("B", attributes: [AttributeSchema("n", .integer64)])
    let second = try store.migrate(to: SchemaDefinition([indexed, shorter]), defers: true)
    #expect(try second.deferredTasks().map(\.kind) == [.buildIndex, .rewriteRows])
    #expect(try second.priorState() != nil)
    // The index alone is done; then B, which had the other task, goes.
    while try second.deferredTasks().count == 2 { _ = try second.runDeferredTask(maximumRows: 20) }
    let third = try second.migrate(to: SchemaDefinition([indexed]))
    #expect(try third.deferredTasks().isEmpty && third.priorState() == nil)

    // And rows that were written again hold nothing any more.
    let other = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)), schema: store.schema)
    let b = try #require(other.schema.entity(named: "B"))
    try other.write { (t) throws(EngineError) in
      var values = RowValues()
      values.set("gone", .string("x"))
      try t.insert(try t.reserveReference(b), values)
    }
    let a = EntitySchema("A", attributes: [AttributeSchema("n", .integer64)])
    let next = try other.migrate(to: SchemaDefinition([a, shorter]), defers: true)
    #expect(try next.deferredTasks().count == 1)
    while try next.runDeferredTask() {}
    let last = try next.migrate(
      to: SchemaDefinition([
        a, EntitySchema("B", attributes: [AttributeSchema("n", .integer64), AttributeSchema("m", .string)]),
      ]), defers: true)
    #expect(try last.deferredTasks().isEmpty && last.priorState() == nil)
  }

  /// The plan says what is put off.
  @Test func thePlanTells() throws {
    var random = SplitMix64(seed: 14)
    let store = try Self.prepared(&random)
    var definition = Self.definition([Self.byNumber, Self.evenTexts])
    definition.entities[0].indexes.append(IndexSchema("byText", [IndexElement("s")]))
    let later = try store.migrationPlan(to: definition, defers: true)
    #expect(later.isMetadataOnly && later.steps.contains { $0.kind == .buildIndex && $0.isPutOff })
    #expect(later.steps.contains { $0.description.hasPrefix("later, build index Thing.byText") })
    let atOnce = try store.migrationPlan(to: definition)
    #expect(!atOnce.isMetadataOnly && atOnce.steps.allSatisfy { !$0.isPutOff })
  }

  /// Where there is nothing to go through there is nothing to put off.
  @Test func anEmptyEntityHasItsIndexesAtOnce() throws {
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(Self.definition([])))
    let after = try store.migrate(to: Self.definition([Self.byNumber]), defers: true)
    #expect(try after.deferredTasks().isEmpty)
    _ = try after.view().lookup(try #require(after.schema.entity(named: "Thing")), by: ["n"])
  }
}
