import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// What a plan says before a migration is what the migration then does.
@Suite struct MigrationPlanTests {
  private static func store(_ entities: [EntitySchema]) throws -> EntityStore {
    try EntityStore.create(
      in: try Store.create(on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment()),
      schema: try Schema(SchemaDefinition(entities)))
  }

  private static func lines(_ steps: [MigrationStep]) -> [String] { steps.map { $0.description } }

  /// Something of a step or a task, to compare them by.
  private struct Work: Hashable {
    var isIndex: Bool
    var entity: String
    var index: String?
  }

  // MARK: What is put off

  /// What a plan says to be put off is what there is to do afterwards, and what an eager plan says could be is what a
  /// deferred migration does not do at once.
  @Test(arguments: DeferredMatrixTests.changes)
  func whatIsPutOffIsTold(_ change: DeferredMatrixTests.Change) throws {
    let store = try DeferredMatrixTests.store(change, on: MemoryDevice(), rows: 14)
    let eager = try store.migrationPlan(to: change.after)
    let deferred = try store.migrationPlan(to: change.after, defers: true)
    #expect(eager.steps.allSatisfy { !$0.isPutOff })
    let saves = change.hasTask || change.isDoneWithout
    #expect(eager.steps.contains { $0.isDeferrable } == saves, "\(Self.lines(eager.steps))")
    let later = deferred.steps.filter { $0.isPutOff }
    #expect(deferred.steps.suffix(later.count) == later, "what is put off comes last")
    #expect(deferred.steps.allSatisfy { $0.isDeferrable == $0.isPutOff })
    // Whatever an eager migration does and a deferred one does not do at once could be put off; nothing else could.
    for step in eager.steps where step.kind != .keepRows {
      let isDoneAtOnce = deferred.steps.contains {
        !$0.isPutOff && $0.kind == step.kind && $0.entity == step.entity && $0.name == step.name
      }
      #expect(step.isDeferrable != isDoneAtOnce, "\(step)")
    }
    let after = try store.migrate(to: change.after, defers: true)
    let tasks = Set(
      try after.deferredTasks().map { Work(isIndex: $0.kind == .buildIndex, entity: $0.entity, index: $0.index) })
    #expect(Set(later.map { Work(isIndex: $0.kind == .buildIndex, entity: $0.entity ?? "", index: $0.name) }) == tasks)
    if change.hasTask {
      #expect(
        later.allSatisfy { $0.entries > 0 && $0.pages > 0 && $0.bytes > 0 && $0.description.hasPrefix("later, ") })
    }
  }

  // MARK: Passes

  /// A to-one relationship that gets a to-many inverse stays as it is; what leads back is built of all rows, which a
  /// plan does not keep to itself.
  @Test func theWayBackIsAStep() throws {
    let store = try Self.store([
      EntitySchema("A", relationships: [RelationshipSchema("b", to: "B")]), EntitySchema("B"),
    ])
    _ = try MigrationRuleTests.fill(store, [("B", [:], [:])] + Array(repeating: ("A", [:], ["b": [0]]), count: 30))
    try store.kernel.checkpoint()
    let goal = SchemaDefinition([
      EntitySchema("A", relationships: [RelationshipSchema("b", to: "B", inverse: "as")]),
      EntitySchema("B", relationships: [RelationshipSchema("as", toMany: "A", inverse: "b")]),
    ])
    let plan = try store.migrationPlan(to: goal)
    #expect(plan.steps.map { $0.kind } == [.writeModel, .buildInverse])
    #expect(plan.steps.last?.description == "build the way back of A.b (30 entries, 1 pages)")
    #expect(!plan.isMetadataOnly && plan.steps.allSatisfy { !$0.isDeferrable })
    // Once it is there, it stays, and goes with the inverse.
    let after = try store.migrate(to: goal)
    var renamed = goal
    renamed.entities[1].relationships[0].name = "others"
    renamed.entities[1].relationships[0].renamingIdentifier = "as"
    renamed.entities[0].relationships[0].inverse = "others"
    #expect(try after.migrationPlan(to: renamed).isMetadataOnly)
    let without = try after.migrationPlan(
      to: SchemaDefinition([EntitySchema("A", relationships: [RelationshipSchema("b", to: "B")]), EntitySchema("B")]))
    #expect(Self.lines(without.steps) == ["write the model", "drop the links of A.b (30 entries, 0 pages)"])
  }

  /// The rows of a hierarchy are gone through once for all its entities: each step has its own rows, and the first the
  /// pages.
  @Test func pagesOfAHierarchyAreCountedOnce() throws {
    func model(_ type: AttributeType) -> [EntitySchema] {
      [
        EntitySchema("Vehicle", attributes: [AttributeSchema("n", type)]),
        EntitySchema("Car", parent: "Vehicle"), EntitySchema("Boat", parent: "Vehicle"),
      ]
    }
    let store = try Self.store(model(.integer64))
    let names = ["Vehicle", "Vehicle"] + Array(repeating: "Car", count: 5) + Array(repeating: "Boat", count: 40)
    _ = try MigrationRuleTests.fill(store, names.enumerated().map { ($1, ["n": .integer(Int64($0))], [:]) })
    try store.kernel.checkpoint()
    let plan = try store.migrationPlan(to: SchemaDefinition(model(.integer16)))
    #expect(
      Self.lines(plan.steps) == [
        "write the model", "rewrite the rows of Vehicle (2 entries, 1 pages)",
        "rewrite the rows of Car (5 entries, 0 pages)", "rewrite the rows of Boat (40 entries, 0 pages)",
      ])
    #expect(plan.steps.map { $0.bytes > 0 } == [false, true, false, false])
    // What goes is told with what is gone through for it.
    let fewer = try store.migrationPlan(to: SchemaDefinition([model(.integer64)[0], model(.integer64)[2]]))
    #expect(Self.lines(fewer.steps) == ["write the model", "remove the rows of Car (5 entries, 1 pages)"])
    let two = IndexSchema("two", [IndexElement("n", ascending: false)])
    var indexed = model(.integer64)
    indexed[0].indexes = [IndexSchema("one", [IndexElement("n")]), two]
    let indexes = try store.migrationPlan(to: SchemaDefinition(indexed))
    #expect(
      Self.lines(indexes.steps) == [
        "write the model", "build index Vehicle.one (47 entries, 1 pages)",
        "build index Vehicle.two (47 entries, 0 pages)",
      ])
  }

  /// The keys of a new parent are made of the rows of those under it, and what is in their way is found.
  @Test func keysOfNewParentsAreSteps() throws {
    let name = AttributeSchema("name", .string)
    let store = try Self.store([EntitySchema("A", attributes: [name])])
    let objects = try MigrationRuleTests.fill(
      store, (0..<12).map { ("A", ["name": .string($0 < 3 ? "same" : "n\($0)")], [:]) })
    try store.kernel.checkpoint()
    func goal(unique: Bool) -> SchemaDefinition {
      var parent = EntitySchema("P", abstract: true, attributes: [name])
      if unique {
        parent.uniquenessConstraints = [UniquenessConstraint(["name"])]
      } else {
        parent.indexes = [IndexSchema("byName", [IndexElement("name")])]
      }
      return SchemaDefinition([parent, EntitySchema("A", parent: "P")])
    }
    let blocked = try store.migrationPlan(to: goal(unique: true))
    #expect(blocked.blocks.map { $0.objects } == [Array(objects[..<3])] && !blocked.isMetadataOnly)
    #expect(blocked.steps.last?.description == "build the uniqueness constraint P.name (12 entries, 1 pages)")
    let eager = try store.migrationPlan(to: goal(unique: false))
    #expect(eager.steps.last?.description == "build index P.byName (12 entries, 1 pages)")
    #expect(eager.steps.last?.isDeferrable == true)
    let deferred = try store.migrationPlan(to: goal(unique: false), defers: true)
    #expect(deferred.steps.last?.description == "later, build index P.byName (12 entries, 1 pages)")
    #expect(try store.migrate(to: goal(unique: false), defers: true).deferredTasks().map { $0.index } == ["byName"])
  }

  /// A required relationship that is derived from an inverse which leads to a subentity only: objects of the others
  /// lose what they had, and are told.
  @Test func inversesOfSubentitiesFillNoOthers() throws {
    func model(_ isNew: Bool) -> [EntitySchema] {
      var many = RelationshipSchema("cs", toMany: "X", inverse: "p")
      many.isOptional = !isNew
      many.minimumCount = isNew ? 1 : 0
      return [
        EntitySchema("P", relationships: isNew ? [many] : []), EntitySchema("C", parent: "P"),
        EntitySchema("X", relationships: [RelationshipSchema("p", to: "P", inverse: isNew ? "cs" : nil)]),
      ]
    }
    let store = try Self.store(model(false))
    let objects = try MigrationRuleTests.fill(
      store, [("P", [:], [:]), ("C", [:], [:]), ("P", [:], [:]), ("X", [:], ["p": [0]]), ("X", [:], ["p": [1]])])
    let blocks = try store.migrationPlan(to: SchemaDefinition(model(true))).blocks
    #expect(blocks.map { $0.objects } == [[objects[2]]])
  }

  // MARK: Duplicates

  /// All objects that hurt a new constraint are told, of every constraint, by the names that they have in the store.
  @Test(arguments: [false, true]) func allDuplicatesAreTold(cuts: Bool) throws {
    // With keys that are cut, objects have to be looked at.
    let prefix = String(repeating: "x", count: cuts ? 3000 : 1)
    func model(_ isUnique: Bool) -> [EntitySchema] {
      var entity = EntitySchema(
        "Plane", attributes: [AttributeSchema("tail", .string), AttributeSchema("n", .integer64)])
      if isUnique { entity.uniquenessConstraints = [UniquenessConstraint(["tail"]), UniquenessConstraint(["n"])] }
      return [entity]
    }
    let store = try Self.store(model(false))
    // Of 60: 20 share a tail by pairs, 12 more have the same; 3 share a number.
    let objects = try MigrationRuleTests.fill(
      store,
      (0..<60).map { number in
        let tail = number < 20 ? number / 2 : number < 32 ? 1000 : number
        return ("Plane", ["tail": .string(prefix + String(tail)), "n": .integer(Int64(min(number, 57)))], [:])
      })
    let goal = SchemaDefinition(model(true))
    let blocks = try store.migrationPlan(to: goal).blocks
    #expect(blocks.map { $0.reason } == [.duplicate(["tail"]), .duplicate(["n"])])
    #expect(blocks.map { $0.count } == [32, 3])
    #expect(blocks.map { $0.objects } == [Array(objects[..<10]), Array(objects[57...])])

    do throws(EngineError) {
      _ = try store.migrate(to: goal)
      Issue.record("it was migrated")
    } catch {
      guard case .migrationBlocked(let found) = error else { throw error }
      #expect(found == blocks)
    }
    // Once they are mended, there are none.
    try store.write { (t) throws(EngineError) in
      for (number, object) in objects.enumerated() {
        var row = RowValues()
        row.set("tail", .string(prefix + "-" + String(number)))
        row.set("n", .integer(Int64(number)))
        try t.update(object, row)
      }
    }
    #expect(try store.migrationPlan(to: goal).blocks.isEmpty)
    _ = try store.migrate(to: goal)
  }

  /// Many objects with one long value are told without comparing each with each: this would take hours.
  @Test func manyEqualLongValuesAreTold() throws {
    func model(_ isUnique: Bool) -> [EntitySchema] {
      var entity = EntitySchema("Plane", attributes: [AttributeSchema("tail", .string)])
      if isUnique { entity.uniquenessConstraints = [UniquenessConstraint(["tail"])] }
      return [entity]
    }
    let store = try Self.store(model(false))
    let long = Value.string(String(repeating: "x", count: 1500))
    _ = try MigrationRuleTests.fill(store, Array(repeating: ("Plane", ["tail": long], [:]), count: 3000))
    let blocks = try store.migrationPlan(to: SchemaDefinition(model(true))).blocks
    #expect(blocks.map { $0.count } == [3000])
  }

  /// Duplicates are told beside values that are missing.
  @Test func duplicatesAreToldBesideWhatIsMissing() throws {
    func model(_ isNew: Bool) -> [EntitySchema] {
      var entity = EntitySchema(
        "Plane", attributes: [AttributeSchema("tail", .string, optional: !isNew), AttributeSchema("n", .integer64)])
      if isNew { entity.uniquenessConstraints = [UniquenessConstraint(["n"])] }
      return [entity]
    }
    let store = try Self.store(model(false))
    _ = try MigrationRuleTests.fill(
      store,
      (0..<6).map { ("Plane", ["tail": $0 == 3 ? .null : .string("N"), "n": .integer(Int64($0 / 4))], [:]) })
    let blocks = try store.migrationPlan(to: SchemaDefinition(model(true))).blocks
    #expect(blocks.map { $0.reason } == [.missingValue, .duplicate(["n"])])
    #expect(blocks.map { $0.count } == [1, 6])
  }
}
