import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Every kind of change that a migration puts off: cut short at every write of its commit and of each task; over every prefix of
/// the tasks another migration, changes of the application, and the way back. What is read is always what a plain migration in
/// memory makes, before, between and after the parts.
@Suite struct DeferredMatrixTests {
  struct Change: Sendable, CustomTestStringConvertible {
    var name: String
    var before: SchemaDefinition
    var after: SchemaDefinition
    /// Whether anything is to be done later.
    var hasTask = true
    var testDescription: String { name }
  }

  private static func entity(
    _ name: String, _ attributes: [AttributeSchema] = [], _ relationships: [RelationshipSchema] = [],
    parent: String? = nil, indexes: [IndexSchema] = []
  ) -> EntitySchema {
    EntitySchema(
      name, parent: parent, attributes: [AttributeSchema("n", .integer64), AttributeSchema("s", .string)] + attributes,
      relationships: relationships, indexes: indexes)
  }

  /// `Entry` with a relationship to `Place`, perhaps with an inverse there.
  private static func linked(_ relationship: RelationshipSchema, _ inverse: RelationshipSchema? = nil)
    -> SchemaDefinition
  {
    SchemaDefinition([entity("Entry", [], [relationship]), entity("Place", [], inverse.map { [$0] } ?? [])])
  }

  private static let one = RelationshipSchema("places", to: "Place")
  private static let many = RelationshipSchema("places", toMany: "Place")
  private static let list = RelationshipSchema("places", toMany: "Place", ordered: true)
  private static func inverse(_ relationship: RelationshipSchema) -> (RelationshipSchema, RelationshipSchema) {
    var there = relationship
    there.inverse = "entries"
    return (there, RelationshipSchema("entries", toMany: "Entry", inverse: "places"))
  }

  private static func between(
    _ name: String, _ from: RelationshipSchema, _ to: RelationshipSchema, both: Bool, hasTask: Bool = true
  ) -> Change {
    if !both { return Change(name: name, before: linked(from), after: linked(to), hasTask: hasTask) }
    let (a, x) = inverse(from)
    let (b, y) = inverse(to)
    return Change(
      name: name + ", with inverse", before: linked(a, x), after: linked(b, y), hasTask: hasTask)
  }

  private static let times = ["a", "b"].map { AttributeSchema($0, .integer32) }
  private static func gathered(_ renamed: Bool) -> AttributeSchema {
    AttributeSchema(
      "times",
      elements: ["a", "b"].map {
        var element = AttributeSchema($0, .integer64)
        if renamed { element.renamingIdentifier = $0 }
        return element
      })
  }
  private static var spread: [AttributeSchema] {
    ["a", "b"].map {
      var attribute = AttributeSchema($0, .integer64)
      attribute.renamingIdentifier = "times." + $0
      return attribute
    }
  }

  static let changes: [Change] = [
    between("to-one to to-many", one, many, both: false),
    between("to-one to to-many", one, many, both: true),
    between("to-one to ordered", one, list, both: false),
    between("to-one to ordered", one, list, both: true),
    between("ordered to unordered", list, many, both: false),
    between("ordered to unordered", list, many, both: true),
    between("unordered to ordered", many, list, both: false, hasTask: false),
    Change(
      name: "attribute dropped", before: SchemaDefinition([entity("Entry", times)]),
      after: SchemaDefinition([entity("Entry")])),
    Change(
      name: "attributes gathered", before: SchemaDefinition([entity("Entry", times)]),
      after: SchemaDefinition([entity("Entry", [gathered(true)])])),
    Change(
      name: "composite spread", before: SchemaDefinition([entity("Entry", [gathered(false)])]),
      after: SchemaDefinition([entity("Entry", spread)])),
    Change(
      name: "index added", before: SchemaDefinition([entity("Entry")]),
      after: SchemaDefinition([entity("Entry", indexes: [IndexSchema("byNumber", [IndexElement("n")])])])),
    Change(
      name: "entity dropped", before: SchemaDefinition([entity("Entry"), entity("Place")]),
      after: SchemaDefinition([entity("Entry")]), hasTask: false),
    Change(
      name: "relationship dropped", before: linked(many), after: SchemaDefinition([entity("Entry"), entity("Place")]),
      hasTask: false),
    Change(
      name: "entity leaves its hierarchy",
      before: SchemaDefinition([entity("Entry"), EntitySchema("Special", parent: "Entry")]),
      after: SchemaDefinition([entity("Entry")]), hasTask: false),
  ]

  private static func value(_ attribute: AttributeSchema, _ random: inout SplitMix64) -> Value {
    if random.oneIn(4) { return .null }
    if attribute.type != .composite { return RandomModel.value(attribute.type, &random) }
    return .composite(
      CompositeValue(
        names: attribute.elements.map { $0.name }, values: attribute.elements.map { value($0, &random) }))
  }

  /// A store of the model before the change.
  private static func store(_ change: Change, on device: any StorageDevice, rows: Int) throws -> EntityStore {
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: TestEnvironment(seed: 5)), schema: try Schema(change.before))
    var random = SplitMix64(seed: 17)
    // As many links as rows, so that most rows have some.
    for _ in 0..<2 { try RandomMigrationTests.fill(store, &random, fewerThan: rows) { value($0, &$1) } }
    try store.kernel.checkpoint()
    return store
  }

  private static func expected(_ store: EntityStore, _ definition: SchemaDefinition) throws -> NaiveStore {
    let before = try NaiveStore(store)
    guard case .migrated(let result) = NaiveMigration(store.schema.definition, definition).migrate(before) else {
      Issue.record("the plain migration is blocked")
      return before
    }
    return result
  }

  private static func finish(_ store: EntityStore) throws { while try store.runDeferredTask(maximumRows: 5) {} }

  private static func verify(_ store: EntityStore, _ expected: NaiveStore, _ text: String) throws {
    let difference = expected.difference(from: try NaiveStore(store))
    #expect(difference == nil, "\(text): \(difference ?? "")")
    let report = try store.check()
    #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
  }

  // MARK: Over every prefix

  @Test(arguments: changes) func everyPrefixCanBeGoneOnFrom(_ change: Change) throws {
    var prefix = 0
    var isDone = false
    while !isDone {
      for way in 0..<5 {
        let text = "\(change.name), \(prefix) parts, way \(way)"
        let store = try Self.store(change, on: MemoryDevice(), rows: 14)
        let before = try NaiveStore(store)
        var expected = try Self.expected(store, change.after)
        var after = try store.migrate(to: change.after, defers: true)
        #expect(try after.deferredTasks().isEmpty != change.hasTask, "\(text)")
        for _ in 0..<prefix { _ = try after.runDeferredTask(maximumRows: 4) }
        isDone = try after.deferredTasks().isEmpty
        try Self.verify(after, expected, text)
        switch way {
        case 0:
          // The process ends, another one goes on.
          after = try EntityStore.open(after.kernel)
          try Self.verify(after, expected, text)
        case 1:
          // Back.
          if isDone { break }
          let back = try after.rollBackMigration()
          try Self.verify(back, before, text)
          #expect(try back.deferredTasks().isEmpty && back.schema == store.schema, "\(text)")
          continue
        case 2, 3:
          // Another migration, which lets what was put off be, and then the change undone by a migration.
          var definition = change.after
          definition.entities[0].attributes.append(AttributeSchema("added", .integer16, default: 3))
          for next in [definition, change.before] {
            let goal = try Self.expected(after, next)
            let outcome = RandomMigrationTests.migrate(after, next, defers: way == 3)
            // Which of several objects a to-one leads to cannot be inferred.
            if case .failure(.notInferable) = outcome, change.name.hasPrefix("to-one") { continue }
            after = try outcome.get()
            expected = goal
            try Self.verify(after, expected, text)
          }
        default:
          try Self.changeAll(after, &expected)
          try Self.verify(after, expected, text + ", changed")
        }
        try Self.finish(after)
        try Self.verify(try EntityStore.open(after.kernel), expected, text + ", finished")
      }
      prefix += 1
    }
    #expect(prefix > (change.hasTask ? 3 : 0))
  }

  /// Gives every third object other links and another number, removes every fourth.
  private static func changeAll(_ store: EntityStore, _ expected: inout NaiveStore) throws {
    var result = expected
    try store.write { (t) throws(EngineError) in
      for (row, object) in result.objects.sorted(by: { $0.key < $1.key }) {
        guard let entity = store.schema.entity(named: object.entity) else { continue }
        let reference = ObjectReference(entity: entity.id, row: row)
        if row % 3 == 0 {
          var values = RowValues()
          values.set("n", .integer(Int64(row)))
          result.objects[row]?.attributes["n"] = .integer(Int64(row))
          // Where the other side would have to follow, links stay.
          for relationship in entity.relationships
          where relationship.isToMany && store.schema.inverse(of: relationship) == nil {
            guard let other = store.schema.entity(named: relationship.destination) else { continue }
            let rows = (object.relationships[relationship.name] ?? []).dropFirst()
            let more = result.objects.filter { $0.value.entity == other.name && !rows.contains($0.key) }.keys.min()
            let all = Array(rows) + (more.map { [$0] } ?? [])
            values.set(toMany: relationship.name, all.map { ObjectReference(entity: other.id, row: $0) })
            result.objects[row]?.relationships[relationship.name] = relationship.isOrdered ? all : all.sorted()
          }
          try t.update(reference, values)
        } else if row % 4 == 0, entity.name == "Entry",
          entity.relationships.allSatisfy({ store.schema.inverse(of: $0) == nil })
        {
          try t.delete(reference)
          result.objects[row] = nil
        }
      }
    }
    expected = result
  }

  // MARK: Cut short

  @Test(arguments: changes) func everyWriteMayBeTheLast(_ change: Change) throws {
    let made = MemoryDevice()
    try Self.store(change, on: made, rows: 8).close()
    var images = 0
    for isStrict in [false, true] {
      let disk = SimulatedDisk(made.contents())
      var options = StoreOptions()
      if isStrict { options.durability = .strict }
      let store = try EntityStore.open(
        try Store.open(on: disk, environment: TestEnvironment(seed: 3), options: options))
      let before = try NaiveStore(store)
      let expected = try Self.expected(store, change.after)
      let start = disk.operationCount
      let after = try store.migrate(to: change.after, defers: true)
      let acknowledged = disk.operationCount
      while try after.runDeferredTask(maximumRows: 4) {}
      try after.close()
      for point in start...disk.operationCount {
        for image in disk.crashImages(
          at: point, limit: 4, tearing: isStrict ? .sector(bytes: 512) : .byteRange, seed: UInt64(point))
        {
          images += 1
          let text = "\(change.name), point \(point)"
          let found = try EntityStore.open(
            try Store.open(on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 1)))
          let isNew = found.schema == after.schema
          #expect(isNew || (found.schema == store.schema && point < acknowledged), "\(text)")
          try Self.verify(found, isNew ? expected : before, text)
          try Self.finish(found)
          try Self.verify(found, isNew ? expected : before, text + ", finished")
        }
      }
    }
    #expect(images > 20)
  }

  // MARK: Cost

  /// What costs the same at any size: neither more nor longer writes for many times the rows. Dropped entities and
  /// relationships need no task for that.
  @Test(arguments: changes) func theCommitDoesNotDependOnTheData(_ change: Change) throws {
    if change.name == "unordered to ordered" || change.name == "entity leaves its hierarchy" { return }
    func cost(_ rows: Int) throws -> CountingDevice.Counts {
      let device = CountingDevice(MemoryDevice())
      let store = try Self.store(change, on: device, rows: rows)
      device.reset()
      _ = try store.migrate(to: change.after, defers: true)
      return device.counts
    }
    let small = try cost(60)
    let large = try cost(3000)
    #expect(large.writes <= small.writes + 4 && large.syncs <= small.syncs + 1, "\(large), \(small)")
    #expect(large.writtenBytes < small.writtenBytes + 16_384, "\(large), \(small)")
  }
}
