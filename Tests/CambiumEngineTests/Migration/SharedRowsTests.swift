import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Entities that left their hierarchy by a deferred migration: their rows stay in its tree, which several hierarchies
/// share then.
@Suite struct SharedRowsTests {
  private static let number = AttributeSchema("n", .integer64)
  private static let text = AttributeSchema("s", .string)

  /// `P`, with `C` and `D` under it or not, and `D`'s child `E`. None of them if it is left out.
  private static func model(
    _ names: String = "PCDE", outside: String = "", constraint: Bool = false, indexes: Bool = false
  ) -> SchemaDefinition {
    var entities: [EntitySchema] = []
    let parents: [(String, String?)] = [("P", nil), ("C", "P"), ("D", "P"), ("E", "D")]
    for (name, parent) in parents where names.contains(name) {
      var entity = EntitySchema(name, parent: outside.contains(name) ? nil : parent)
      if entity.parent == nil {
        entity.attributes = [number, text]
        if constraint { entity.uniquenessConstraints = [UniquenessConstraint(["n"])] }
        if indexes { entity.indexes = [IndexSchema("byText" + name, [IndexElement("s")])] }
      }
      // Parents have none, which the entities that leave would lose.
      if "CE".contains(name) { entity.attributes.append(AttributeSchema("own" + name, .integer32)) }
      entities.append(entity)
    }
    return SchemaDefinition(entities)
  }

  /// A store of a model all of whose hierarchies have their rows in one tree: a deferred migration has taken a common
  /// ancestor from them.
  static func sharing(_ kernel: Store, _ definition: SchemaDefinition) throws -> EntityStore {
    var before = definition
    for place in before.entities.indices where before.entities[place].parent == nil {
      before.entities[place].parent = "Common"
    }
    before.entities.append(EntitySchema("Common", abstract: true))
    return try EntityStore.create(in: kernel, schema: try Schema(before)).migrate(to: definition, defers: true)
  }

  /// Whether any hierarchies of a store share a tree.
  static func isShared(_ store: EntityStore) -> Bool {
    let roots = store.schema.entities.filter { $0.parentID == nil }
    return (try? treeCount(store)).map { $0 < roots.count } ?? false
  }

  /// A store of a model with objects of each entity in turn.
  private static func store(_ model: SchemaDefinition, rows: Int, on device: any StorageDevice = MemoryDevice()) throws
    -> EntityStore
  {
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: TestEnvironment(seed: 3)), schema: try Schema(model))
    try fill(store, rows: rows)
    try store.kernel.checkpoint()
    return store
  }

  private static func fill(_ store: EntityStore, rows: Int) throws {
    try store.write { (t) throws(EngineError) in
      for n in 0..<rows {
        let entity = store.schema.entities[n % store.schema.entities.count]
        var values = RowValues()
        let reference = try t.reserveReference(entity)
        values.set("n", .integer(Int64(reference.row)))
        values.set("s", .string("text \(reference.row * 7919 % 100)"))
        for attribute in entity.allAttributes where attribute.name.hasPrefix("own") {
          values.set(attribute.name, .integer(Int64(n % 10)))
        }
        try t.insert(reference, values)
      }
    }
  }

  private static func lines(_ plan: MigrationPlan) -> [String] { plan.steps.map { $0.description } }

  /// Migrates, and compares the objects with those of a plain migration.
  private static func migrate(
    _ store: EntityStore, _ model: SchemaDefinition, defers: Bool, _ comment: String
  ) throws -> EntityStore {
    let before = try NaiveStore(store)
    guard case .migrated(let expected) = NaiveMigration(store.schema.definition, model).migrate(before) else {
      Issue.record("\(comment): the plain migration is blocked")
      return store
    }
    let plan = try store.migrationPlan(to: model, defers: defers)
    var done: [String] = []
    let after = try store.migrate(to: model, defers: defers) { done.append($0.description) }
    #expect(done == Self.lines(plan), "\(comment)")
    try verify(after, expected, comment)
    return after
  }

  private static func verify(_ store: EntityStore, _ expected: NaiveStore, _ comment: String) throws {
    let difference = expected.difference(from: try NaiveStore(store))
    #expect(difference == nil, "\(comment): \(difference ?? "")")
    let report = try store.check()
    #expect(report.isSound && report.relationships.isEmpty, "\(comment): \(report.problems) \(report.kernel.problems)")
    #expect(report.rows == expected.objects.count, "\(comment)")
    for entity in store.schema.entities {
      for includes in [true, false] {
        let family = Set((includes ? store.schema.entityAndDescendants(entity.id) : [entity]).map { $0.name })
        var fetch = EngineFetch(entity)
        fetch.includesSubentities = includes
        let objects = expected.objects.filter { family.contains($0.value.entity) }
        #expect(try store.view().count(fetch) == objects.count, "\(comment): \(entity.name)")
        let found = try store.view().fetch(fetch).map { $0.row }
        #expect(found == objects.keys.sorted(), "\(comment): \(entity.name), \(includes)")
      }
    }
  }

  // MARK: The migration

  /// No row is read or written: the plan says so, and no more is written for many rows than for few.
  @Test func anEntityLeavesItsHierarchyWithoutItsRows() throws {
    let store = try Self.store(Self.model(), rows: 400)
    let eager = try store.migrationPlan(to: Self.model(outside: "C"))
    #expect(
      eager.steps.map { "\($0.kind) \($0.entity ?? "")" } == ["writeModel ", "removeRows C", "rewriteRows C"])
    #expect(eager.steps.filter { $0.isDeferrable }.map { $0.entity } == ["C", "C"])
    let plan = try store.migrationPlan(to: Self.model(outside: "C"), defers: true)
    #expect(plan.isMetadataOnly)
    #expect(Self.lines(plan) == ["write the model", "keep the rows of C among those of P"])
    func cost(_ rows: Int) throws -> CountingDevice.Counts {
      let device = CountingDevice(MemoryDevice())
      let store = try Self.store(Self.model(), rows: rows, on: device)
      device.reset()
      let after = try store.migrate(to: Self.model(outside: "C"), defers: true)
      #expect(try after.deferredTasks().isEmpty)
      #expect(try after.priorState() == nil, "nothing is left to be done")
      return device.counts
    }
    let (small, large) = (try cost(100), try cost(5000))
    #expect(large.writes <= small.writes + 1, "\(large), \(small)")
    #expect(large.writtenBytes < small.writtenBytes + 8192, "\(large), \(small)")
    #expect(large.readBytes <= small.readBytes + 8192, "\(large), \(small)")
  }

  /// Several entities leave at once, one with its child, and one while the parent goes.
  @Test(arguments: ["C", "D", "CD", "CDE"]) func severalLeave(_ outside: String) throws {
    for names in ["PCDE", "CDE"] where names == "PCDE" || outside.contains("CD") {
      let comment = "\(outside) of \(names)"
      let store = try Self.store(Self.model(), rows: 200)
      let after = try Self.migrate(store, Self.model(names, outside: outside), defers: true, comment)
      try Self.fill(after, rows: 40)
      try Self.verify(after, try NaiveStore(after), comment)
      #expect(try after.migrationPlan(to: Self.model(outside: outside), defers: true).isMetadataOnly || names != "PCDE")
      // Opened again, by what the catalogue says.
      try Self.verify(try EntityStore.open(after.kernel), try NaiveStore(after), comment)
    }
  }

  /// Hierarchies that share a tree are migrated again: entities return, are dropped, renamed and changed, at once and
  /// deferring.
  @Test(arguments: [false, true]) func laterMigrations(defers: Bool) throws {
    var renamed = Self.model(outside: "CD")
    renamed.entities[1].name = "Other"
    renamed.entities[1].renamingIdentifier = "C"
    var converted = Self.model(outside: "CD")
    converted.entities[1].attributes[0].type = .integer16
    var added = Self.model(outside: "CD")
    added.entities[0].attributes.append(AttributeSchema("added", .string))
    let goals: [(String, SchemaDefinition)] = [
      ("back", Self.model()), ("one back", Self.model(outside: "D")), ("without P", Self.model("CDE", outside: "CD")),
      ("without C", Self.model("PDE", outside: "D")), ("without D and E", Self.model("PC", outside: "C")),
      ("C alone", Self.model("C", outside: "C")), ("without all but D", Self.model("DE", outside: "D")),
      ("all leave", Self.model(outside: "CDE")), ("renamed", renamed), ("converted", converted), ("added", added),
    ]
    for (name, goal) in goals {
      for first in [false, true] {
        let comment = "\(name), \(defers), \(first)"
        let store = try Self.store(Self.model(), rows: 120)
        var after = try Self.migrate(store, Self.model(outside: "CD"), defers: true, comment)
        if first { try Self.fill(after, rows: 30) }
        if name == "back" {
          // `D` has a child: a hierarchy cannot come back.
          #expect(throws: EngineError.self, "\(comment)") { try after.migrate(to: goal, defers: defers) }
          continue
        }
        after = try Self.migrate(after, goal, defers: defers, comment)
        try Self.fill(after, rows: 30)
        let filled = try NaiveStore(after)
        while try after.runDeferredTask(maximumRows: 20) {}
        try Self.verify(after, filled, comment)
        // Once more, at once: each hierarchy has a tree of its own then, and the next migration has nothing to move.
        var next = after.schema.definition
        next.entities[0].attributes.append(AttributeSchema("last", .integer32))
        after = try Self.migrate(after, next, defers: false, comment + ", once more")
        next.entities[0].attributes.append(AttributeSchema("veryLast", .integer32))
        #expect(try after.migrationPlan(to: next).isMetadataOnly, "\(comment)")
        #expect(try Self.treeCount(after) == Set(after.schema.entities.map { $0.rootID }).count, "\(comment)")
      }
    }
  }

  /// A migration that puts nothing off gives each hierarchy a tree of its own. The first one in the model keeps its
  /// tree.
  @Test func anEagerMigrationPartsTheRows() throws {
    let store = try Self.store(Self.model(), rows: 200)
    let shared = try store.migrate(to: Self.model(outside: "C"), defers: true)
    #expect(try Self.treeCount(shared) == 1)
    var next = Self.model(outside: "C")
    next.entities[0].attributes.append(AttributeSchema("added", .string))
    // Deferring, nothing becomes of them.
    #expect(try shared.migrationPlan(to: next, defers: true).isMetadataOnly)
    let plan = try shared.migrationPlan(to: next)
    let deferrable = plan.steps.filter { $0.isDeferrable }.map { "\($0.kind) \($0.entity ?? "") \($0.entries)" }
    #expect(deferrable == ["removeRows C 50", "rewriteRows C 50"])
    let parted = try Self.migrate(shared, next, defers: false, "parted")
    #expect(try Self.treeCount(parted) == 2)
  }

  /// Going back behind the migration, with commits of the application between.
  @Test func theMigrationCanBeUndone() throws {
    let store = try Self.store(Self.model(), rows: 100)
    let before = try NaiveStore(store)
    let after = try store.migrate(to: Self.model(outside: "CD"), defers: true, keepsPriorState: true)
    try Self.fill(after, rows: 20)
    let back = try after.rollBackMigration(discardsCommits: true)
    try Self.verify(back, before, "undone")
    #expect(back.schema == store.schema)
  }

  /// How many trees have the rows of hierarchies.
  private static func treeCount(_ store: EntityStore) throws -> Int {
    Set(try store.schema.entities.filter { $0.parentID == nil }.map { try tree(store, $0.id) }).count
  }

  /// The tree of the rows of a hierarchy, as the catalogue has it.
  private static func tree(_ store: EntityStore, _ root: UInt32) throws -> TreeID {
    let bytes = try #require(try store.kernel.snapshot().value(TreeID(rawValue: 16), Array("tree/e/\(root)".utf8)))
    return TreeID(rawValue: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
  }

  // MARK: Keys

  /// Constraints and indexes of the old hierarchy, and of the entity that left it, have the keys of their own objects.
  @Test(arguments: [false, true]) func keysAreThoseOfTheirOwnHierarchy(defers: Bool) throws {
    let store = try Self.store(Self.model(constraint: true, indexes: true), rows: 100)
    let goal = Self.model(outside: "C", constraint: true, indexes: true)
    // The constraint is built at once, by a pass over the rows that moves none of them.
    let plan = try store.migrationPlan(to: goal, defers: defers)
    #expect(plan.steps.contains { $0.kind == .buildConstraint && $0.entity == "P" })
    #expect(plan.steps.contains { $0.kind == .shareRows } == defers)
    #expect(plan.steps.contains { $0.kind == .rewriteRows || $0.kind == .removeRows } != defers)
    let after = try Self.migrate(store, goal, defers: defers, "migrated")
    while try after.runDeferredTask(maximumRows: 7) {}
    try Self.verify(after, try NaiveStore(after), "built")
    let view = try after.view()
    for (name, count) in [("P", 75), ("C", 25)] {
      let entity = try #require(after.schema.entity(named: name))
      let lookup = try view.lookup(entity, by: ["n"])
      let found = try view.fetch(EngineFetch(entity))
      #expect(found.count == count)
      for reference in found { #expect(try lookup.first(.integer(Int64(reference.row))) == reference) }
      for text in Set(try found.map { try view.row($0)?.value(keyPath: "s") ?? .null }) {
        let predicate = Predicate.compare(.keyPath("s"), .equal, .constant(text))
        var scanned = EngineFetch(entity, predicate: predicate)
        scanned.usesIndexes = false
        let indexed = EngineFetch(entity, predicate: predicate)
        #expect(try view.fetch(indexed) == view.fetch(scanned))
        #expect(try view.count(indexed) == view.count(scanned))
      }
    }
    // The same number once more: in the other hierarchy, and in its own.
    let (p, c) = (try #require(after.schema.entity(named: "P")), try #require(after.schema.entity(named: "C")))
    let taken = try #require(try view.fetch(EngineFetch(c)).first)
    var values = RowValues()
    values.set("n", .integer(Int64(taken.row)))
    try after.write { (t) throws(EngineError) in try t.insert(try t.reserveReference(p), values) }
    #expect(throws: EngineError.self) {
      try after.write { (t) throws(EngineError) in try t.insert(try t.reserveReference(c), values) }
    }
    try Self.verify(after, try NaiveStore(after), "inserted")
  }

  // MARK: References

  /// A reference that names an entity of the hierarchy that an object has left leads nowhere, as if its row were in
  /// another tree.
  @Test func referencesOfTheOldHierarchyLeadNowhere() throws {
    var model = Self.model()
    model.entities.append(EntitySchema("X", relationships: [RelationshipSchema("there", to: "P")]))
    // Without the relationship, no row has to be written anew.
    let store = try Self.store(Self.model(), rows: 400)
    model.entities[1] = Self.model(outside: "C").entities[1]
    for (isShared, after) in [
      (false, try Self.store(Self.model(), rows: 400).migrate(to: model)),
      (true, try store.migrate(to: model, defers: true)),
    ] {
      #expect(try Self.treeCount(after) == (isShared ? 2 : 3))
      let entity = { (name: String) in try #require(after.schema.entity(named: name)) }
      let (p, c, x) = (try entity("P"), try entity("C"), try entity("X"))
      let view = try after.view()
      let own = try view.fetch(EngineFetch(c))
      let former = own.map { ObjectReference(entity: p.id, row: $0.row) }
      let all = try view.fetch(EngineFetch(p))
      #expect(own.count == 100 && all.count == 300)
      let (object, reference) = (own[5], former[5])
      #expect(try view.row(object)?.entity.name == "C" && view.contains(object) && view.rowVersion(object) != nil)
      #expect(try view.row(reference) == nil && !view.contains(reference) && view.rowVersion(reference) == nil)
      #expect(try view.missing(among: own + all).isEmpty && view.missing(among: former) == Set(former))
      #expect(try view.findRows(of: former).count == 0 && view.findRows(of: own).count == 100)
      #expect(try view.findRows(of: former + all).count == 300)
      #expect(try view.findRows(of: [reference, all[200]]).count == 1)
      let relationship = try #require(x.relationship(named: "there"))
      for change in 0..<4 {
        #expect(throws: EngineError.self) {
          try after.write { (t) throws(EngineError) in
            switch change {
            case 0: try t.update(reference, RowValues())
            case 1: try t.delete(reference)
            case 2: try t.delete([reference, all[0]])
            default:
              let made = try t.reserveReference(x)
              try t.insert(made, RowValues())
              try t.link(made, relationship, to: reference)
            }
          }
        }
      }
      try after.write { (t) throws(EngineError) in
        let found = try t.contains(reference)
        let row = try t.row(reference)
        let gone = try t.deletion(of: [reference]).objects
        #expect(!found && row == nil && gone.isEmpty)
      }
      var fetch = EngineFetch(p, predicate: .compare(.evaluatedObject, .equal, .constant(.reference(reference))))
      #expect(try view.fetch(fetch).isEmpty && view.count(fetch) == 0)
      fetch.predicate = .compare(.evaluatedObject, .in, .constant(.list(own.map { .reference($0) })))
      #expect(try view.fetch(fetch).isEmpty && view.count(fetch) == 0)
      fetch.entity = c
      #expect(try view.fetch(fetch) == own && view.count(fetch) == 100)
    }
  }

  // MARK: The check

  /// A row in a tree that does not have the rows of its entity is told.
  @Test func rowsOfOtherHierarchiesAreFound() throws {
    let store = try Self.store(Self.model(outside: "C"), rows: 20)
    let (p, c) = (
      try #require(store.schema.entity(named: "P")), try #require(store.schema.entity(named: "C"))
    )
    let reference = try #require(try store.view().fetch(EngineFetch(c)).first)
    #expect(try store.check().isSound)
    let row = try #require(try store.kernel.snapshot().value(try Self.tree(store, c.id), reference.row))
    let t = try store.kernel.beginWrite()
    try t.put(try Self.tree(store, p.id), reference.row, row)
    try t.commit()
    let report = try store.check()
    #expect(report.problems.count == 1 && report.problems[0].contains("in the tree of another hierarchy"))
  }
}
