import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Every kind of change that a migration puts off: cut short at every write of its commit and of each task; over every
/// prefix of the tasks another migration, changes of the application, and the way back. What is read is always what a
/// plain migration in memory makes, before, between and after the parts.
@Suite struct DeferredMatrixTests {
  struct Change: Sendable, CustomTestStringConvertible {
    var name: String
    var before: SchemaDefinition
    var after: SchemaDefinition
    /// Whether anything is to be done later.
    var hasTask = true
    /// Whether nothing is to be done later, and a migration that puts nothing off has more to do.
    var isDoneWithout = false
    /// The model before once more, where it says by renaming identifiers what its properties are in the model after.
    var undone: SchemaDefinition?
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

  private static let composite = AttributeSchema(
    "speed", elements: [AttributeSchema("knots", .double), AttributeSchema("inner", elements: times)])
  private static var extended: AttributeSchema {
    var result = composite
    var mach = AttributeSchema("mach", .integer16)
    mach.renamingIdentifier = "m"
    result.elements[1].elements.append(mach)
    return result
  }
  private static var taken: AttributeSchema {
    var result = AttributeSchema("m", .integer16)
    result.renamingIdentifier = "speed.inner.mach"
    return result
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
      after: SchemaDefinition([entity("Entry", [gathered(true)])]), undone: SchemaDefinition([entity("Entry", spread)])),
    Change(
      name: "composite spread", before: SchemaDefinition([entity("Entry", [gathered(false)])]),
      after: SchemaDefinition([entity("Entry", spread)]), undone: SchemaDefinition([entity("Entry", [gathered(true)])])),
    Change(
      name: "gathered into a composite that is there",
      before: SchemaDefinition([entity("Entry", [composite, AttributeSchema("m", .integer16)])]),
      after: SchemaDefinition([entity("Entry", [extended])]), hasTask: false,
      undone: SchemaDefinition([entity("Entry", [composite, taken])])),
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
      name: "entity of a hierarchy dropped",
      before: SchemaDefinition([entity("Entry"), EntitySchema("Special", parent: "Entry")]),
      after: SchemaDefinition([entity("Entry")]), hasTask: false),
    Change(
      name: "entity becomes a root",
      before: SchemaDefinition([entity("Entry"), EntitySchema("Special", parent: "Entry")]),
      after: SchemaDefinition([entity("Entry"), entity("Special")]), hasTask: false, isDoneWithout: true),
  ]

  private static func value(_ attribute: AttributeSchema, _ random: inout SplitMix64) -> Value {
    if random.oneIn(4) { return .null }
    if attribute.type != .composite { return RandomModel.value(attribute.type, &random) }
    return .composite(
      CompositeValue(
        names: attribute.elements.map { $0.name }, values: attribute.elements.map { value($0, &random) }))
  }

  /// A store of the model before the change.
  static func store(_ change: Change, on device: any StorageDevice, rows: Int) throws -> EntityStore {
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

  /// Does a part; rows are written anew in their pages, as while others write, or by commits.
  private static func runPart(_ store: EntityStore, rows: Int, beside: Bool) throws -> Bool {
    try store.runDeferredPart(within: DeferredPartLimit(rows: rows, rowsBesideOthers: beside ? rows : 0)).isLeft
  }

  private static func finish(_ store: EntityStore, beside: Bool) throws {
    while try runPart(store, rows: 5, beside: beside) {}
  }

  private static func verify(_ store: EntityStore, _ expected: NaiveStore, _ text: String) throws {
    let difference = expected.difference(from: try NaiveStore(store))
    #expect(difference == nil, "\(text): \(difference ?? "")")
    let report = try store.check()
    #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
  }

  // MARK: Over every prefix

  @Test(arguments: changes, [false, true]) func everyPrefixCanBeGoneOnFrom(_ change: Change, beside: Bool) throws {
    if beside, !change.hasTask { return }
    var prefix = 0
    var isDone = false
    while !isDone {
      for way in 0..<(change.undone == nil ? 5 : 7) {
        let text = "\(change.name), \(prefix) parts, way \(way), \(beside)"
        let store = try Self.store(change, on: MemoryDevice(), rows: 14)
        let before = try NaiveStore(store)
        var expected = try Self.expected(store, change.after)
        var after = try store.migrate(to: change.after, defers: true)
        #expect(try after.deferredTasks().isEmpty != change.hasTask, "\(text)")
        for _ in 0..<prefix { _ = try Self.runPart(after, rows: 4, beside: beside) }
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
        case 5, 6:
          // Undone and made again by migrations that carry the values, with what was put off done in part or not.
          guard let undone = change.undone else { continue }
          for next in [undone, change.after, undone] {
            let goal = try Self.expected(after, next)
            after = try after.migrate(to: next, defers: way == 6)
            expected = goal
            try Self.verify(after, expected, text)
            if prefix % 2 == 1 { _ = try after.runDeferredTask(maximumRows: 4) }
          }
          for (row, object) in before.objects {
            #expect(expected.objects[row]?.attributes.mapValues(Self.bare) == object.attributes.mapValues(Self.bare))
          }
        default:
          try Self.changeAll(after, &expected)
          try Self.verify(after, expected, text + ", changed")
        }
        try Self.finish(after, beside: beside)
        try Self.verify(try EntityStore.open(after.kernel), expected, text + ", finished")
      }
      prefix += 1
    }
    #expect(prefix > (change.hasTask ? 3 : 0))
  }

  /// A composite without any value is as good as null after a way there and back.
  private static func bare(_ value: Value) -> Value {
    guard case .composite(let composite) = value else { return value }
    let values = composite.values.map { bare($0) }
    return values.allSatisfy { $0.isNull } ? .null : .composite(CompositeValue(names: composite.names, values: values))
  }

  /// Gives every third object other links and another number, removes every fourth; where there is an inverse, it
  /// follows.
  private static func changeAll(_ store: EntityStore, _ expected: inout NaiveStore) throws {
    let before = expected
    var result = expected
    for (row, object) in before.objects.sorted(by: { $0.key < $1.key }) {
      guard let entity = store.schema.entity(named: object.entity) else { continue }
      let isRemoved = row % 3 != 0 && row % 4 == 0 && entity.name == "Entry"
      if row % 3 == 0 { result.objects[row]?.attributes["n"] = .integer(Int64(row)) }
      for relationship in entity.relationships where isRemoved || row % 3 == 0 {
        let inverse = store.schema.inverse(of: relationship)?.name
        // The other side follows.
        if inverse != nil, entity.name != "Entry" { continue }
        let rows = result.objects[row]?.relationships[relationship.name] ?? []
        let others = before.objects.filter { $0.value.entity == relationship.destination && !rows.contains($0.key) }
        let all =
          isRemoved ? [] : (relationship.isToMany ? Array(rows.dropFirst()) : []) + others.keys.sorted().prefix(1)
        result.objects[row]?.relationships[relationship.name] = relationship.isOrdered ? all : all.sorted()
        guard let inverse else { continue }
        for other in rows where !all.contains(other) {
          result.objects[other]?.relationships[inverse]?.removeAll { $0 == row }
        }
        for other in all where !rows.contains(other) {
          let back = result.objects[other]?.relationships[inverse] ?? []
          result.objects[other]?.relationships[inverse] = (back + [row]).sorted()
        }
      }
      if isRemoved { result.objects[row] = nil }
    }
    #expect(result != before)
    try store.write { (t) throws(EngineError) in
      for (row, old) in before.objects.sorted(by: { $0.key < $1.key }) where result.objects[row] != old {
        guard let entity = store.schema.entity(named: old.entity) else { continue }
        let reference = ObjectReference(entity: entity.id, row: row)
        guard let new = result.objects[row] else {
          try t.delete(reference)
          continue
        }
        var values = RowValues()
        values.set("n", new.attributes["n"] ?? .null)
        for relationship in entity.relationships {
          guard let other = store.schema.entity(named: relationship.destination) else { continue }
          let targets = (new.relationships[relationship.name] ?? []).map { ObjectReference(entity: other.id, row: $0) }
          if relationship.isToMany {
            values.set(toMany: relationship.name, targets)
          } else {
            values.set(toOne: relationship.name, targets.first)
          }
        }
        try t.update(reference, values)
      }
    }
    expected = result
  }

  // MARK: Cut short

  @Test(arguments: changes) func everyWriteMayBeTheLast(_ change: Change) throws {
    let made = MemoryDevice()
    try Self.store(change, on: made, rows: 8).close()
    var images = 0
    for (isStrict, beside) in [(false, false), (true, false), (false, true), (true, true)] {
      if beside, !change.hasTask { continue }
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
      while try Self.runPart(after, rows: 4, beside: beside) {}
      try after.close()
      for point in start...disk.operationCount {
        for image in disk.crashImages(
          at: point, limit: 4, tearing: isStrict ? .sector(bytes: 512) : .byteRange, seed: UInt64(point))
        {
          images += 1
          let text = "\(change.name), point \(point), \(beside)"
          let found = try EntityStore.open(
            try Store.open(on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 1)))
          let isNew = found.schema == after.schema
          #expect(isNew || (found.schema == store.schema && point < acknowledged), "\(text)")
          try Self.verify(found, isNew ? expected : before, text)
          try Self.finish(found, beside: beside)
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
    if ["unordered to ordered", "entity of a hierarchy dropped", "gathered into a composite that is there"].contains(
      change.name)
    {
      return
    }
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
