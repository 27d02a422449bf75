import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Changes of models that random ones hardly ever meet, each with what must become of the objects.
@Suite struct MigrationRuleTests {
  static func store(_ entities: [EntitySchema]) throws -> EntityStore {
    try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 7)),
      schema: try Schema(SchemaDefinition(entities)))
  }

  /// Adds objects: their attributes, and by relationship the places of those they lead to. Answers their references.
  @discardableResult
  static func fill(
    _ store: EntityStore, _ objects: [(entity: String, values: [String: Value], links: [String: [Int]])]
  ) throws -> [ObjectReference] {
    try store.write { (t) throws(EngineError) in
      var references: [ObjectReference] = []
      for object in objects {
        guard let entity = store.schema.entity(named: object.entity) else { throw .misuse(object.entity) }
        references.append(try t.reserveReference(entity))
      }
      for (place, object) in objects.enumerated() {
        guard let entity = store.schema.entity(named: object.entity) else { continue }
        var row = RowValues()
        for (name, value) in object.values { row.set(name, value) }
        for (name, places) in object.links {
          let targets = places.map { references[$0] }
          if entity.relationship(named: name)?.isToMany ?? false {
            row.set(toMany: name, targets)
          } else {
            row.set(toOne: name, targets.first)
          }
        }
        try t.insert(references[place], row)
      }
      return references
    }
  }

  static func migrated(_ store: EntityStore, _ entities: [EntitySchema], defers: Bool = false) throws
    -> EntityStore
  {
    let after = try store.migrate(to: SchemaDefinition(entities), defers: defers)
    let report = try after.check()
    #expect(report.isSound, "\(report.problems) \(report.kernel.problems)")
    return after
  }

  static func blocks(
    _ store: EntityStore, _ entities: [EntitySchema], defers: Bool = false
  ) -> [MigrationBlock] {
    do throws(EngineError) { _ = try store.migrate(to: SchemaDefinition(entities), defers: defers) } catch {
      if case .migrationBlocked(let blocks) = error { return blocks }
      Issue.record("\(error.description)")
    }
    return []
  }

  /// The objects that a relationship leads to, as rows.
  static func rows(
    _ store: EntityStore, _ reference: ObjectReference, _ relationship: String
  ) throws -> [UInt64] {
    let view = try store.view()
    let row = try #require(try view.row(reference))
    let relationship = try #require(row.entity.relationship(named: relationship))
    return try view.related(row.reference, relationship).map { $0.row }
  }

  // MARK: Keys

  /// An index of some objects is made anew when its condition comes to mean other properties.
  @Test func conditionsOfIndexesFollowNames() throws {
    func model(_ a: String, _ b: String, renamed: Bool) -> [EntitySchema] {
      var first = AttributeSchema(a, .integer32)
      var second = AttributeSchema(b, .integer32)
      if renamed {
        first.renamingIdentifier = b
        second.renamingIdentifier = a
      }
      return [
        EntitySchema(
          "E", attributes: [AttributeSchema("x", .integer32), first, second],
          indexes: [IndexSchema("some", [IndexElement("x")], partialPredicate: "a == 1")])
      ]
    }
    let store = try Self.store(model("a", "b", renamed: false))
    for n in Int64(0)..<20 {
      try Self.fill(store, [("E", ["x": .integer(n), "a": .integer(n % 2), "b": .integer(n % 5)], [:])])
    }
    let after = try Self.migrated(store, model("b", "a", renamed: true))
    let entity = try #require(after.schema.entity(named: "E"))
    let view = try after.view()
    try view.rows(entity: entity) { (row) throws(EngineError) in
      if case .integer(let x) = try row.value(keyPath: "x") {
        let a = try row.value(keyPath: "a")
        #expect(a == .integer(x % 5))
      }
      return true
    }
  }

  /// A property that is renamed, also in a subentity, which has a new one of the former name.
  @Test func indexesFollowPropertiesThatMoveDown() throws {
    let store = try Self.store([
      EntitySchema(
        "P", attributes: [AttributeSchema("x", .integer32)], indexes: [IndexSchema("i", [IndexElement("x")])]),
      EntitySchema("C", parent: "P"),
    ])
    let objects = try Self.fill(store, [("P", ["x": .integer(1)], [:]), ("C", ["x": .integer(2)], [:])])
    var y = AttributeSchema("y", .integer32)
    y.renamingIdentifier = "x"
    let after = try Self.migrated(
      store,
      [
        EntitySchema("P", attributes: [y], indexes: [IndexSchema("i", [IndexElement("y")])]),
        EntitySchema("C", parent: "P", attributes: [AttributeSchema("x", .integer32)]),
      ])
    let view = try after.view()
    #expect(try view.row(objects[0])?.value(keyPath: "y") == .integer(1))
    #expect(try view.row(objects[1])?.value(keyPath: "y") == .integer(2))
    #expect(try view.row(objects[1])?.value(keyPath: "x") == .null)
  }

  /// An index of some objects stays as it is in a migration that has nothing to do with its condition, even if all rows
  /// are written anew; and is built again if what the condition reads comes to be other values.
  @Test(arguments: [false, true]) func conditionsThatMeanTheSameKeepTheirIndex(isKept: Bool) throws {
    let types: [(AttributeType, AttributeType)] = [(.integer32, .integer64), (.string, .string)]
    for (type, (from, to)) in types.enumerated() {
      let some = [IndexSchema("some", [IndexElement("x")], partialPredicate: "c.a != nil AND there != nil AND x > 3")]
      func model(_ element: AttributeType, _ more: [AttributeSchema], renamed: Bool) -> [EntitySchema] {
        var other = AttributeSchema(renamed ? "other" : "b", .integer32)
        other.renamingIdentifier = renamed ? "b" : nil
        return [
          EntitySchema(
            "E",
            attributes: [
              AttributeSchema("x", .integer32), other,
              AttributeSchema("c", elements: [AttributeSchema("a", element), AttributeSchema("q", .date)]),
            ] + more, relationships: [RelationshipSchema("there", to: "E")], indexes: some)
        ]
      }
      let store = try Self.store(model(from, [AttributeSchema("gone", .double)], renamed: false))
      for n in Int64(0)..<20 {
        let a: Value = n % 3 == 0 ? .null : from == .string ? .string("\(n)") : .integer(n)
        let c = Value.composite(CompositeValue(names: ["a", "q"], values: [a, .null]))
        try Self.fill(
          store, [("E", ["x": .integer(n), "b": .integer(n % 5), "c": c], n % 2 == 0 ? ["there": [0]] : [:])])
      }
      // The element's type changes, or not; all else is without effect on the condition.
      let goal = model(isKept ? from : to, [AttributeSchema("added", .string, default: .string("x"))], renamed: true)
      let plan = try store.migrationPlan(to: SchemaDefinition(goal))
      let stays = isKept || type == 1
      #expect(plan.steps.contains { $0.kind == .rewriteRows })
      #expect(!plan.steps.contains { $0.kind == .buildIndex || $0.kind == .dropIndex } == stays)
      let after = try Self.migrated(store, goal)
      let defined = [
        EntitySchema(
          "E",
          attributes: [
            AttributeSchema("x", .integer64), AttributeSchema("other", .integer32),
            AttributeSchema("c", elements: [AttributeSchema("a", isKept ? from : to)]),
          ], relationships: [RelationshipSchema("there", to: "E")], indexes: some)
      ]
      // `x` is wider, and so is what the condition compares.
      #expect(
        try after.migrationPlan(to: SchemaDefinition(defined)).steps.contains { $0.kind == .buildIndex })
    }
  }

  /// A condition that comes to hold for other rows, since what it reads has a default where it was null, gets a new
  /// index.
  @Test(arguments: [false, true]) func conditionsFollowDefaults(defers: Bool) throws {
    func model(_ b: AttributeSchema, _ e: AttributeSchema) -> [EntitySchema] {
      [
        EntitySchema(
          "E", attributes: [AttributeSchema("x", .integer32), b, AttributeSchema("c", elements: [e])],
          indexes: [
            IndexSchema("flat", [IndexElement("x")], partialPredicate: "b != nil"),
            IndexSchema("deep", [IndexElement("x")], partialPredicate: "c.e == nil"),
          ])
      ]
    }
    let (b, e) = (AttributeSchema("b", .integer32), AttributeSchema("e", .string))
    let store = try Self.store(model(b, e))
    let null = Value.composite(CompositeValue(names: ["e"], values: [.null]))
    try Self.fill(
      store, [("E", ["x": .integer(1), "b": .integer(2)], [:]), ("E", ["x": .integer(2), "c": null], [:])])
    for (b, e, built) in [
      (AttributeSchema("b", .integer32, optional: false, default: .integer(0)), e, "flat"),
      (b, AttributeSchema("e", .string, optional: false, default: .string("")), "deep"),
    ] {
      let plan = try store.migrationPlan(to: SchemaDefinition(model(b, e)), defers: defers)
      #expect(plan.steps.filter { $0.kind == .buildIndex }.map { $0.name } == [built])
    }
    let after = try Self.migrated(
      store,
      model(
        AttributeSchema("b", .integer32, optional: false, default: .integer(0)),
        AttributeSchema("e", .string, optional: false, default: .string(""))), defers: defers)
    while try after.runDeferredTask() {}
    #expect(try after.check().isSound)
  }

  // MARK: Hierarchies

  /// An entity without relatives goes into a hierarchy under an entity that is new there, however deep.
  @Test(arguments: [1, 2], [false, true]) func entitiesMoveUnderNewOnes(depth: Int, defers: Bool) throws {
    let before = [
      EntitySchema("P", attributes: [AttributeSchema("n", .integer32)]), EntitySchema("C", parent: "P"),
      EntitySchema(
        "X", attributes: [AttributeSchema("m", .string)], relationships: [RelationshipSchema("there", toMany: "X")]),
    ]
    let store = try Self.store(before)
    let objects = try Self.fill(
      store,
      [("P", ["n": .integer(1)], [:]), ("X", ["m": .string("x")], ["there": [1, 2]]), ("X", [:], ["there": [1]])])
    var after = before
    for place in 0..<depth {
      after.append(
        EntitySchema(
          "M\(place)", parent: place == 0 ? "C" : "M\(place - 1)",
          attributes: [AttributeSchema("k\(place)", .integer32, default: .integer(5))]))
    }
    after[2].parent = "M\(depth - 1)"
    let moved = try Self.migrated(store, after, defers: defers)
    let view = try moved.view()
    let row = try #require(try view.row(objects[1]))
    #expect(row.entity.name == "X" && row.reference.row == objects[1].row)
    #expect(try row.value(keyPath: "m") == .string("x"))
    #expect(try row.value(keyPath: "n") == .null)
    #expect(try row.value(keyPath: "k0") == .integer(5))
    #expect(try Self.rows(moved, objects[1], "there") == [objects[1].row, objects[2].row])
    #expect(try view.row(objects[0])?.value(keyPath: "n") == .integer(1))
    let family = try #require(moved.schema.entity(named: "P"))
    var count = 0
    try view.rows(entity: family) { _ in
      count += 1
      return true
    }
    #expect(count == 3)
    // Under nothing that was there, two hierarchies would become one.
    var merged = before
    merged.append(EntitySchema("R"))
    merged.append(EntitySchema("S", parent: "R"))
    merged[0].parent = "R"
    merged[2].parent = "S"
    // And out again, from under what goes.
    let out = try Self.migrated(moved, before, defers: defers)
    #expect(try out.view().row(objects[1])?.value(keyPath: "m") == .string("x"))
    do throws(EngineError) {
      _ = try SchemaMapping.infer(
        from: try resolved(SchemaDefinition(before)), to: try resolved(SchemaDefinition(merged)))
      Issue.record("two hierarchies became one")
    } catch {
      guard case .notInferable(let obstacles) = error else { throw error }
      #expect(obstacles.map { $0.entity } == ["X"])
    }
  }

  private func resolved(_ definition: SchemaDefinition) throws(EngineError) -> Schema {
    do throws(SchemaError) { return try Schema(definition) } catch { throw .schema(error) }
  }

  // MARK: Relationships

  /// Objects that are no longer of the entity that a relationship leads to are not led to any more.
  @Test(arguments: 0..<8)
  func objectsThatLeaveAHierarchyAreNotLedToAnyMore(bits: Int) throws {
    let (toMany, ordered, inverse) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)
    if ordered && !toMany { return }
    func entities(_ parent: String?) -> [EntitySchema] {
      let back = inverse ? "back" : nil
      let there =
        toMany
        ? RelationshipSchema("there", toMany: "P", inverse: back, ordered: ordered)
        : RelationshipSchema("there", to: "P", inverse: back)
      let backs = inverse ? [RelationshipSchema("back", toMany: "X", inverse: "there")] : []
      return [
        EntitySchema("P", attributes: [AttributeSchema("n", .integer32)], relationships: backs),
        EntitySchema("C", parent: parent, attributes: [AttributeSchema("m", .integer32)]),
        EntitySchema("X", relationships: [there]),
      ]
    }
    let store = try Self.store(entities("P"))
    let objects = try Self.fill(
      store,
      [
        ("P", ["n": .integer(1)], inverse ? ["back": toMany ? [2] : [3]] : [:]),
        ("C", ["m": .integer(2)], inverse ? ["back": [2]] : [:]),
        ("X", [:], ["there": toMany ? [1, 0] : [1]]), ("X", [:], ["there": toMany ? [] : [0]]),
      ])
    let after = try Self.migrated(store, entities(nil))
    #expect(try Self.rows(after, objects[2], "there") == (toMany ? [objects[0].row] : []))
    #expect(try Self.rows(after, objects[3], "there") == (toMany ? [] : [objects[0].row]))
    if inverse { #expect(try Self.rows(after, objects[0], "back") == [objects[toMany ? 2 : 3].row]) }
    #expect(try after.view().row(objects[1])?.value(keyPath: "m") == .integer(2))
  }

  /// A required relationship whose objects all go is in the way.
  @Test(arguments: [false, true]) func requiredRelationshipsAreNotEmptied(toMany: Bool) throws {
    func entities(_ all: Bool) -> [EntitySchema] {
      var there = toMany ? RelationshipSchema("there", toMany: "P") : RelationshipSchema("there", to: "P")
      there.isOptional = false
      there.minimumCount = 1
      return [EntitySchema("P"), EntitySchema("X", relationships: [there])]
        + (all ? [EntitySchema("C", parent: "P")] : [])
    }
    let store = try Self.store(entities(true))
    let objects = try Self.fill(
      store, [("P", [:], [:]), ("C", [:], [:]), ("X", [:], ["there": [0]]), ("X", [:], ["there": [1]])])
    let blocks = Self.blocks(store, entities(false))
    #expect(blocks.map { $0.entity } == ["X"] && blocks.map { $0.property } == ["there"])
    #expect(blocks.map { $0.reason } == [.missingValue])
    #expect(blocks.first?.objects == [objects[3]])
  }

  /// Relationships of siblings that become one of their parent, with one inverse: both sides agree.
  @Test(arguments: [false, true]) func relationshipsOfSiblingsThatBecomeOneAgreeWithTheirInverse(ordered: Bool) throws {
    let store = try Self.store([
      EntitySchema("P", abstract: true),
      EntitySchema("B", parent: "P", relationships: [RelationshipSchema("x", toMany: "Y", inverse: "bs")]),
      EntitySchema("C", parent: "P", relationships: [RelationshipSchema("x", toMany: "Y", inverse: "cs")]),
      EntitySchema(
        "Y",
        relationships: [
          RelationshipSchema("bs", toMany: "B", inverse: "x", ordered: ordered),
          RelationshipSchema("cs", toMany: "C", inverse: "x"),
        ]),
    ])
    let objects = try Self.fill(
      store,
      [
        ("B", [:], ["x": [2]]), ("C", [:], ["x": [2, 3]]), ("Y", [:], ["bs": [0], "cs": [1]]), ("Y", [:], ["cs": [1]]),
      ])
    var back = RelationshipSchema("ps", toMany: "P", inverse: "x", ordered: ordered)
    back.renamingIdentifier = "bs"
    for isFirst in [true, false] {
      let y = EntitySchema("Y", relationships: [back])
      let others = [
        EntitySchema("P", abstract: true, relationships: [RelationshipSchema("x", toMany: "Y", inverse: "ps")]),
        EntitySchema("B", parent: "P"), EntitySchema("C", parent: "P"),
      ]
      if isFirst {
        // The plan changes nothing.
        #expect(try store.migrationPlan(to: SchemaDefinition([y] + others)).blocks.isEmpty)
        continue
      }
      let after = try Self.migrated(store, [y] + others)
      #expect(try Self.rows(after, objects[0], "x") == [objects[2].row])
      #expect(try Self.rows(after, objects[1], "x") == [objects[2].row, objects[3].row])
      #expect(try Self.rows(after, objects[2], "ps").sorted() == [objects[0].row, objects[1].row])
      #expect(try Self.rows(after, objects[3], "ps") == [objects[1].row])
    }
  }

  /// A new required relationship is filled from its inverse; which objects it leaves out is told.
  @Test func newRequiredRelationshipsAreFilledFromTheirInverse() throws {
    let store = try Self.store([
      EntitySchema("A"), EntitySchema("B", relationships: [RelationshipSchema("as", toMany: "A")]),
    ])
    let objects = try Self.fill(store, [("A", [:], [:]), ("A", [:], [:]), ("B", [:], ["as": [0]])])
    var b = RelationshipSchema("b", to: "B", inverse: "as")
    b.isOptional = false
    let model = [
      EntitySchema("A", relationships: [b]),
      EntitySchema("B", relationships: [RelationshipSchema("as", toMany: "A", inverse: "b")]),
    ]
    #expect(Self.blocks(store, model).map { $0.objects } == [[objects[1]]])
    try store.write { (t) throws(EngineError) in
      var row = RowValues()
      row.set(toMany: "as", [objects[0], objects[1]])
      try t.update(objects[2], row)
    }
    let after = try Self.migrated(store, model)
    #expect(try Self.rows(after, objects[1], "b") == [objects[2].row])
  }

  /// A required to-many relationship, which is derived from its inverse: what that led to has objects, and only the
  /// rest of them stands in the way, whether the inverse stays, gets the links of another, or goes on with another
  /// name.
  @Test(arguments: [false, true]) func newRequiredToManyRelationshipsAreFilledFromTheirInverse(isKept: Bool) throws {
    let store = try Self.store([
      EntitySchema("A", relationships: [RelationshipSchema("b", to: "B")]),
      EntitySchema("B", relationships: isKept ? [] : [RelationshipSchema("as", toMany: "A")]),
    ])
    let objects = try Self.fill(
      store,
      [
        ("A", [:], ["b": [2]]), ("A", [:], [:]), ("B", [:], [:]), ("B", [:], isKept ? [:] : ["as": [1]]),
        ("B", [:], [:]),
      ])
    var many = RelationshipSchema("as", toMany: "A", inverse: "b")
    many.isOptional = false
    many.minimumCount = 1
    let model = [
      EntitySchema("A", relationships: [RelationshipSchema("b", to: "B", inverse: "as")]),
      EntitySchema("B", relationships: [many]),
    ]
    let without = isKept ? [objects[3], objects[4]] : [objects[4]]
    for defers in [false, true] {
      let blocks = try store.migrationPlan(to: SchemaDefinition(model), defers: defers).blocks
      #expect(blocks.map { $0.objects } == [without] && blocks.map { $0.count } == [without.count])
      #expect(blocks.map { [$0.entity, $0.property] } == [["B", "as"]] && blocks.map { $0.reason } == [.missingValue])
    }
    #expect(Self.blocks(store, model).map { $0.objects } == [without])
    try store.write { (t) throws(EngineError) in for object in without { try t.delete(object) } }
    let after = try Self.migrated(store, model)
    #expect(try Self.rows(after, objects[2], "as") == [objects[0].row])
    if !isKept { #expect(try Self.rows(after, objects[3], "as") == [objects[1].row]) }
  }

  /// A required to-many relationship without a minimum count may be empty: Core Data's stores hold such objects.
  @Test func requiredToManyRelationshipsWithoutAMinimumCountMayBeEmpty() throws {
    let store = try Self.store([EntitySchema("A"), EntitySchema("B")])
    let objects = try Self.fill(store, [("B", [:], [:])])
    func model(minimum: UInt32) -> [EntitySchema] {
      var many = RelationshipSchema("as", toMany: "A")
      many.isOptional = false
      many.minimumCount = minimum
      return [EntitySchema("A"), EntitySchema("B", relationships: [many])]
    }
    #expect(Self.blocks(store, model(minimum: 1)).map { $0.objects } == [objects])
    let after = try Self.migrated(store, model(minimum: 0))
    #expect(try Self.rows(after, objects[0], "as").isEmpty)
    // A minimum count that comes later asks for destinations.
    #expect(Self.blocks(after, model(minimum: 1)).map { $0.reason } == [.missingValue])
  }

  // MARK: Values

  /// Defaults may be given as any number; they are the attribute's type in rows.
  @Test func defaultsTakeTheTypeOfTheirAttribute() throws {
    let store = try Self.store([
      EntitySchema(
        "E",
        attributes: [
          AttributeSchema("n", .integer64), AttributeSchema("t", .string),
          AttributeSchema("c", elements: [AttributeSchema("e", .integer64)]),
        ])
    ])
    let objects = try Self.fill(
      store, [("E", ["c": .composite(CompositeValue(names: ["e"], values: [.null]))], [:])])
    var link = AttributeSchema("link", .string, optional: false, default: .string("x"))
    link.renamingIdentifier = "d.missing"
    var moved = AttributeSchema("amount", .decimal, optional: false, default: .integer(7))
    moved.renamingIdentifier = "c.e"
    let after = try Self.migrated(
      store,
      [
        EntitySchema(
          "E",
          attributes: [
            AttributeSchema("n", .double, optional: false, default: .integer(4)), link, moved,
          ])
      ])
    let row = try #require(try after.view().row(objects[0]))
    #expect(try row.value(keyPath: "n") == .double(4))
    #expect(try row.value(keyPath: "link") == .string("x"))
    #expect(try row.value(keyPath: "amount") == .decimal(DecimalValue(7)))
  }

  /// Each default is that of the step which brought it, whatever layout a row has.
  @Test(arguments: [false, true]) func defaultsAreThoseOfTheirStep(defers: Bool) throws {
    var store = try Self.store([EntitySchema("E", attributes: [AttributeSchema("n", .integer32)])])
    var objects = try Self.fill(store, [("E", ["n": .integer(1)], [:])])
    func step(_ attributes: [AttributeSchema], _ values: [String: Value]) throws {
      store = try Self.migrated(
        store, [EntitySchema("E", attributes: [AttributeSchema("n", .integer32)] + attributes)], defers: defers)
      objects += try Self.fill(store, [("E", values, [:])])
    }
    func expect(_ path: String, _ values: [Value]) throws {
      let view = try store.view()
      for (object, value) in zip(objects, values) {
        #expect(try view.row(object)?.value(keyPath: path) == value, "\(path) of \(object.row)")
      }
    }
    func composite(_ elements: [AttributeSchema]) -> AttributeSchema { AttributeSchema("c", elements: elements) }
    func value(_ values: KeyValuePairs<String, Value>) -> Value {
      .composite(CompositeValue(names: values.map { $0.key }, values: values.map { $0.value }))
    }
    try step(
      [AttributeSchema("x", .integer16, default: .integer(5)), composite([AttributeSchema("e", .string)])],
      ["c": value(["e": .string("one")])])
    try step(
      [
        AttributeSchema("x", .integer32, optional: false, default: .integer(6)),
        composite([AttributeSchema("e", .string), AttributeSchema("f", .integer32, default: .integer(1))]),
      ], ["x": .integer(9), "c": value(["e": .null, "f": .null])])
    try expect("x", [.integer(5), .integer(6), .integer(9)])
    try expect("c", [.null, value(["e": .string("one"), "f": .integer(1)]), value(["e": .null, "f": .null])])
    try step(
      [
        AttributeSchema("x", .integer64, default: .integer(7)),
        composite([
          AttributeSchema("e", .string), AttributeSchema("f", .integer32, optional: false, default: .integer(2)),
        ]),
      ], ["c": value(["e": .null, "f": .integer(3)])])
    try expect("x", [.integer(5), .integer(6), .integer(9), .null])
    try expect(
      "c",
      [
        .null, value(["e": .string("one"), "f": .integer(1)]), value(["e": .null, "f": .integer(2)]),
        value(["e": .null, "f": .integer(3)]),
      ])
    // Gone, and back under the name: nothing of what was there before.
    try step([], [:])
    try step([AttributeSchema("x", .integer64, default: .integer(8)), composite([AttributeSchema("e", .string)])], [:])
    try expect("x", [.integer(8), .integer(8), .integer(8), .integer(8), .integer(8), .null])
    try expect("c", [.null, .null, .null, .null, .null, .null])
    #expect(try store.view().row(objects[0])?.value(keyPath: "n") == .integer(1))
  }

  /// What is kept in memory for a while comes back empty.
  @Test(arguments: [false, true]) func whatWasTransientIsEmpty(defers: Bool) throws {
    func model(_ isTransient: Bool) -> [EntitySchema] {
      var x = AttributeSchema("x", .string, default: .string("new"))
      x.isTransient = isTransient
      return [EntitySchema("E", attributes: [x, AttributeSchema("n", .integer32)])]
    }
    var store = try Self.store(model(false))
    let objects = try Self.fill(store, [("E", ["x": .string("old"), "n": .integer(1)], [:])])
    store = try Self.migrated(store, model(true), defers: defers)
    store = try Self.migrated(store, model(false), defers: defers)
    let row = try #require(try store.view().row(objects[0]))
    #expect(try row.value(keyPath: "x") == .string("new"))
    #expect(try row.value(keyPath: "n") == .integer(1))
  }

  // MARK: Damage

  /// Layouts of any bytes are refused or read; nothing stops the program.
  @Test func damagedLayoutsAreRefused() throws {
    var random = SplitMix64(seed: testSeed(20_261_124))
    var opened = 0
    var refused = 0
    func model(_ more: [AttributeSchema]) -> [EntitySchema] {
      [
        EntitySchema(
          "E",
          attributes: [
            AttributeSchema("n", .integer32),
            AttributeSchema(
              "c",
              elements: [AttributeSchema("e", .string), AttributeSchema("d", elements: [AttributeSchema("f", .date)])]),
          ] + more, relationships: [RelationshipSchema("r", toMany: "E", ordered: true)],
          indexes: [IndexSchema("i", [IndexElement("c.e")])])
      ]
    }
    let tree = TreeID(rawValue: 16)
    let store = try Self.store(model([]))
    let objects = try Self.fill(
      store,
      [
        (
          "E", ["n": .integer(1), "c": .composite(CompositeValue(names: ["e", "d"], values: [.string("x"), .null]))],
          ["r": [0]]
        )
      ])
    let after = try Self.migrated(store, model([AttributeSchema("m", .string, default: .string("here"))]))
    try Self.fill(after, [("E", ["n": .integer(2)], [:])])
    let kernel = after.kernel
    let good = try (1...2).map { try #require(try kernel.snapshot().value(tree, Array("layout/\($0)".utf8))) }
    for n in 0..<1500 {
      let place = n % 2
      var bytes = good[place]
      for _ in 0..<(1 + random.below(3)) {
        let at = random.below(bytes.count)
        switch random.below(4) {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: at)
        case 2: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + random.below(12))], at: at)
        default: bytes[at] ^= 1 << UInt8(random.below(8))
        }
        if bytes.isEmpty { bytes = [0] }
      }
      let t = try kernel.beginWrite()
      try t.put(tree, Array("layout/\(place + 1)".utf8), bytes)
      try t.put(tree, Array("layout/\(2 - place)".utf8), good[1 - place])
      _ = try t.commit()
      do throws(EngineError) {
        let damaged = try EntityStore.open(kernel)
        opened += 1
        let view = try damaged.view()
        guard let entity = damaged.schema.entity(named: "E") else { continue }
        try view.rows(entity: entity) { (row) throws(EngineError) in
          for attribute in entity.allAttributes { _ = try row.value(attribute) }
          return true
        }
        _ = try damaged.check()
        _ = try view.related(objects[0], entity.allRelationships[0])
        _ = try damaged.migrationPlan(to: SchemaDefinition(model([])))
      } catch { refused += 1 }
    }
    #expect(opened > 50 && refused > 50, "\(opened) opened, \(refused) refused")
  }
}
