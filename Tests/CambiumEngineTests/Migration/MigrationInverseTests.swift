import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Relationships that get an inverse, or another one: no link is lost in silence, and both sides agree.
@Suite struct MigrationInverseTests {
  private typealias Rules = MigrationRuleTests

  private static func relationship(
    _ name: String, _ destination: String, many: Bool, ordered: Bool = false, inverse: String? = nil
  ) -> RelationshipSchema {
    many
      ? RelationshipSchema(name, toMany: destination, inverse: inverse, ordered: ordered)
      : RelationshipSchema(name, to: destination, inverse: inverse)
  }

  /// A to-many relationship that gets a to-one inverse: which of several objects that lead to one is to keep it, only
  /// the application knows.
  @Test(arguments: [false, true], [false, true])
  func aNewToOneInverseOfSeveralObjectsIsInTheWay(ordered: Bool, defers: Bool) throws {
    let store = try Rules.store([
      EntitySchema("A", relationships: [Self.relationship("bs", "B", many: true, ordered: ordered)]), EntitySchema("B"),
    ])
    let objects = try Rules.fill(
      store,
      [
        ("A", [:], ["bs": [3, 2]]), ("A", [:], ["bs": [4, 3]]), ("B", [:], [:]), ("B", [:], [:]), ("B", [:], [:]),
        ("B", [:], [:]),
      ])
    let model = [
      EntitySchema(
        "A", relationships: [Self.relationship("bs", "B", many: true, ordered: ordered, inverse: "a")]),
      EntitySchema("B", relationships: [Self.relationship("a", "A", many: false, inverse: "bs")]),
    ]
    let before = try NaiveStore(store)
    let blocks = Rules.blocks(store, model, defers: defers)
    #expect(blocks.map { $0.entity } == ["B"] && blocks.map { $0.property } == ["a"])
    #expect(blocks.map { $0.reason } == [.ambiguousInverse])
    #expect(blocks.first?.objects == [objects[3]] && blocks.first?.count == 1)
    #expect(try store.migrationPlan(to: SchemaDefinition(model), defers: defers).blocks == blocks)
    #expect(try NaiveStore(store) == before)
    try store.write { (t) throws(EngineError) in
      var row = RowValues()
      row.set(toMany: "bs", [objects[4]])
      try t.update(objects[1], row)
    }
    let after = try Rules.migrated(store, model, defers: defers)
    #expect(try Rules.rows(after, objects[2], "a") == [objects[0].row])
    #expect(try Rules.rows(after, objects[3], "a") == [objects[0].row])
    #expect(try Rules.rows(after, objects[4], "a") == [objects[1].row])
    #expect(try Rules.rows(after, objects[5], "a") == [])
    #expect(
      try Rules.rows(after, objects[0], "bs")
        == (ordered ? [objects[3].row, objects[2].row] : [objects[2].row, objects[3].row]))
    #expect(try Rules.rows(after, objects[1], "bs") == [objects[4].row])
  }

  /// A to-one relationship that gets a to-one inverse, likewise.
  @Test func aNewToOneInverseOfToOneIsInTheWay() throws {
    let store = try Rules.store([
      EntitySchema("A"), EntitySchema("B", relationships: [RelationshipSchema("a", to: "A")]),
    ])
    let objects = try Rules.fill(
      store, [("A", [:], [:]), ("A", [:], [:]), ("B", [:], ["a": [0]]), ("B", [:], ["a": [0]]), ("B", [:], ["a": [1]])])
    let model = [
      EntitySchema("A", relationships: [RelationshipSchema("b", to: "B", inverse: "a")]),
      EntitySchema("B", relationships: [RelationshipSchema("a", to: "A", inverse: "b")]),
    ]
    let blocks = Rules.blocks(store, model)
    #expect(blocks.map { $0.entity } == ["A"] && blocks.map { $0.property } == ["b"])
    #expect(blocks.map { $0.reason } == [.ambiguousInverse] && blocks.map { $0.objects } == [[objects[0]]])
    try store.write { (t) throws(EngineError) in
      var row = RowValues()
      row.set(toOne: "a", nil)
      try t.update(objects[3], row)
    }
    let after = try Rules.migrated(store, model)
    #expect(try Rules.rows(after, objects[0], "b") == [objects[2].row])
    #expect(try Rules.rows(after, objects[1], "b") == [objects[4].row])
    #expect(try Rules.rows(after, objects[2], "a") == [objects[0].row])
    #expect(try Rules.rows(after, objects[3], "a") == [])
    #expect(try Rules.rows(after, objects[4], "a") == [objects[1].row])
  }

  /// Two relationships that were there become each other's inverses: both have the links of both.
  @Test(arguments: [false, true], [false, true])
  func relationshipsThatBecomeInversesHaveTheLinksOfBoth(ordered: Bool, turned: Bool) throws {
    func model(_ areInverse: Bool) -> [EntitySchema] {
      let a = EntitySchema(
        "A",
        relationships: [
          Self.relationship("bs", "B", many: true, ordered: ordered, inverse: areInverse ? "as" : nil)
        ])
      let b = EntitySchema(
        "B", relationships: [Self.relationship("as", "A", many: true, inverse: areInverse ? "bs" : nil)])
      return turned ? [b, a] : [a, b]
    }
    let mapping = try SchemaMapping.infer(
      from: try Schema(SchemaDefinition(model(false))), to: try Schema(SchemaDefinition(model(true))))
    #expect(mapping.entities.flatMap { $0.relationships.map { $0.kind } } == [.relate, .relate])
    let store = try Rules.store(model(false))
    let objects = try Rules.fill(
      store,
      [
        ("A", [:], ["bs": [3]]), ("A", [:], [:]), ("B", [:], ["as": [1, 0]]), ("B", [:], ["as": [0]]),
        ("B", [:], [:]),
      ])
    let after = try Rules.migrated(store, model(true))
    let (b2, b3) = (objects[2].row, objects[3].row)
    // What was there comes first, what the other side adds after it.
    #expect(try Rules.rows(after, objects[0], "bs") == (ordered ? [b3, b2] : [b2, b3]))
    #expect(try Rules.rows(after, objects[1], "bs") == [b2])
    #expect(try Rules.rows(after, objects[2], "as") == [objects[0].row, objects[1].row])
    #expect(try Rules.rows(after, objects[3], "as") == [objects[0].row])
    #expect(try Rules.rows(after, objects[4], "as") == [])
  }

  /// A to-one and a to-many relationship that become inverses: all links, and told if that would be too many.
  @Test(arguments: [false, true]) func aToOneThatBecomesAnInverseMayNotGetSeveral(turned: Bool) throws {
    func model(_ areInverse: Bool) -> [EntitySchema] {
      let a = EntitySchema(
        "A", relationships: [Self.relationship("bs", "B", many: true, inverse: areInverse ? "a" : nil)])
      let b = EntitySchema(
        "B", relationships: [Self.relationship("a", "A", many: false, inverse: areInverse ? "bs" : nil)])
      return turned ? [b, a] : [a, b]
    }
    let store = try Rules.store(model(false))
    let objects = try Rules.fill(
      store,
      [("A", [:], ["bs": [2, 3]]), ("A", [:], [:]), ("B", [:], ["a": [1]]), ("B", [:], [:]), ("B", [:], ["a": [1]])])
    let blocks = Rules.blocks(store, model(true))
    #expect(blocks.map { $0.reason } == [.ambiguousInverse] && blocks.map { $0.objects } == [[objects[2]]])
    #expect(blocks.map { $0.entity } == ["B"] && blocks.map { $0.property } == ["a"])
    try store.write { (t) throws(EngineError) in
      var row = RowValues()
      row.set(toOne: "a", nil)
      try t.update(objects[2], row)
    }
    let after = try Rules.migrated(store, model(true))
    #expect(try Rules.rows(after, objects[0], "bs") == [objects[2].row, objects[3].row])
    #expect(try Rules.rows(after, objects[1], "bs") == [objects[4].row])
    for (place, owner) in [(2, 0), (3, 0), (4, 1)] {
      #expect(try Rules.rows(after, objects[place], "a") == [objects[owner].row])
    }
  }

  /// An inverse that is inherited may lead here from objects that the relationship does not lead to.
  @Test func aNewRelationshipLeadsOnlyWhereItMay() throws {
    func model(_ isNew: Bool) -> [EntitySchema] {
      [
        EntitySchema(
          "A", relationships: isNew ? [Self.relationship("children", "Child", many: true, inverse: "as")] : []),
        EntitySchema("B", relationships: [Self.relationship("as", "A", many: true, inverse: isNew ? "children" : nil)]),
        EntitySchema("Child", parent: "B"),
      ]
    }
    let store = try Rules.store(model(false))
    let objects = try Rules.fill(store, [("A", [:], [:]), ("B", [:], ["as": [0]]), ("Child", [:], ["as": [0]])])
    let after = try Rules.migrated(store, model(true))
    #expect(try Rules.rows(after, objects[0], "children") == [objects[2].row])
    #expect(try Rules.rows(after, objects[1], "as") == [objects[0].row])
    #expect(try Rules.rows(after, objects[2], "as") == [objects[0].row])
  }

  // MARK: Its own inverse

  /// A relationship that becomes its own inverse leads back wherever it leads to.
  @Test(arguments: [false, true], [false, true])
  func aRelationshipThatBecomesItsOwnInverseLeadsBack(ordered: Bool, defers: Bool) throws {
    func model(_ isOwn: Bool) -> [EntitySchema] {
      [
        EntitySchema(
          "A", attributes: [AttributeSchema("n", .integer32)],
          relationships: [
            Self.relationship("friends", "A", many: true, ordered: ordered, inverse: isOwn ? "friends" : nil)
          ])
      ]
    }
    let store = try Rules.store(model(false))
    let objects = try Rules.fill(
      store,
      [
        ("A", ["n": .integer(0)], ["friends": [3, 1]]), ("A", ["n": .integer(1)], ["friends": [0, 1]]),
        ("A", ["n": .integer(2)], [:]), ("A", ["n": .integer(3)], ["friends": [2]]),
      ])
    let after = try Rules.migrated(store, model(true), defers: defers)
    while try after.runDeferredTask() {}
    let rows = objects.map { $0.row }
    let expected = [[3, 1], [0, 1], [3], [2, 0]].map { $0.map { rows[$0] } }
    for (object, friends) in zip(objects, expected) {
      #expect(try Rules.rows(after, object, "friends") == (ordered ? friends : friends.sorted()))
    }
    #expect(try after.view().row(objects[3])?.value(keyPath: "n") == .integer(3))
  }

  /// One that leads to one object only leaves pairs, and says who would be in two.
  @Test(arguments: [false, true]) func aToOneThatBecomesItsOwnInverseMakesPairs(isRequired: Bool) throws {
    func model(_ isOwn: Bool) -> [EntitySchema] {
      var twin = Self.relationship("twin", "A", many: false, inverse: isOwn ? "twin" : nil)
      twin.isOptional = !(isOwn && isRequired)
      return [EntitySchema("A", relationships: [twin])]
    }
    let store = try Rules.store(model(false))
    let objects = try Rules.fill(
      store,
      [
        ("A", [:], ["twin": [1]]), ("A", [:], ["twin": [2]]), ("A", [:], [:]), ("A", [:], ["twin": [3]]),
        ("A", [:], ["twin": [5]]), ("A", [:], ["twin": [4]]),
      ])
    var blocks = Rules.blocks(store, model(true))
    #expect(blocks.map { $0.reason } == [.ambiguousInverse] && blocks.map { $0.objects } == [[objects[1]]])
    func set(_ place: Int, _ target: Int?) throws {
      try store.write { (t) throws(EngineError) in
        var row = RowValues()
        row.set(toOne: "twin", target.map { objects[$0] })
        try t.update(objects[place], row)
      }
    }
    try set(1, nil)
    if isRequired {
      // The first leads to the second, which counts for both; the third is left alone.
      blocks = Rules.blocks(store, model(true))
      #expect(blocks.map { $0.reason } == [.missingValue] && blocks.map { $0.objects } == [[objects[2]]])
      try set(2, 2)
    }
    let after = try Rules.migrated(store, model(true))
    let rows = objects.map { $0.row }
    for (place, twin) in [1, 0, isRequired ? 2 : nil, 3, 5, 4].enumerated() {
      #expect(try Rules.rows(after, objects[place], "twin") == (twin.map { [rows[$0]] } ?? []))
    }
  }
}
