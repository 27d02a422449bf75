import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Elements of composites: what they need, what they do not hold, and values that come to them from elsewhere.
@Suite struct MigrationElementTests {
  private typealias Rules = MigrationRuleTests

  private static func number(
    _ name: String, _ type: AttributeType = .integer64, required: Bool = false, default value: Value = .null,
    was: String? = nil
  ) -> AttributeSchema {
    var attribute = AttributeSchema(name, type, optional: !required, default: value)
    attribute.renamingIdentifier = was
    return attribute
  }

  private static func composite(_ name: String, _ elements: [AttributeSchema], was: String? = nil) -> AttributeSchema {
    var attribute = AttributeSchema(name, elements: elements)
    attribute.renamingIdentifier = was
    return attribute
  }

  private static func value(_ elements: KeyValuePairs<String, Value>) -> Value {
    .composite(CompositeValue(names: elements.map { $0.key }, values: elements.map { $0.value }))
  }

  private static func entity(_ attributes: [AttributeSchema]) -> [EntitySchema] {
    [EntitySchema("E", attributes: [AttributeSchema("n", .integer32)] + attributes)]
  }

  /// What stands in the way, in one form for all.
  private static func places(_ blocks: [MigrationBlock]) -> [String] {
    blocks.map { block in
      "\(block.entity).\(block.property ?? "") \(block.reason): \(block.objects.map { $0.row })"
    }
  }

  /// Migrates rows with these values of an attribute; answers the values of the destination's attributes but the first.
  private static func migrated(
    _ from: [AttributeSchema], _ rows: [[String: Value]], _ to: [AttributeSchema], defers: Bool = false
  ) throws -> [[String: Value]] {
    let store = try Rules.store(entity(from))
    let objects = try Rules.fill(store, rows.map { ("E", $0, [:]) })
    let naive = NaiveMigration(SchemaDefinition(entity(from)), SchemaDefinition(entity(to)))
    guard case .migrated(let expected) = naive.migrate(try NaiveStore(store)) else {
      Issue.record("the plain migration is blocked")
      return []
    }
    let after = try Rules.migrated(store, entity(to), defers: defers)
    let found = try NaiveStore(after)
    let difference = expected.difference(from: found)
    #expect(difference == nil, "\(difference ?? "")")
    return objects.map { object in
      var values = found.objects[object.row]?.attributes ?? [:]
      values["n"] = nil
      return values
    }
  }

  private static func blocks(
    _ from: [AttributeSchema], _ rows: [[String: Value]], _ to: [AttributeSchema]
  ) throws -> [String] {
    let store = try Rules.store(entity(from))
    try Rules.fill(store, rows.map { ("E", $0, [:]) })
    let naive = NaiveMigration(SchemaDefinition(entity(from)), SchemaDefinition(entity(to)))
    let blocks = Rules.blocks(store, entity(to))
    let before = try NaiveStore(store)
    if case .blocked(let obstacles) = naive.migrate(before) {
      let difference = ToldObstacles.difference(blocks, obstacles, before, store.schema)
      #expect(difference == nil, "\(difference ?? "")")
    } else {
      Issue.record("the plain migration is not blocked")
    }
    #expect(try store.migrationPlan(to: SchemaDefinition(entity(to))).blocks == blocks)
    return places(blocks)
  }

  // MARK: Required elements

  /// A composite that is there needs the elements which are required now; one that is null needs none.
  @Test func elementsThatBecomeRequiredAreNeeded() throws {
    let from = [Self.composite("c", [Self.number("x"), Self.composite("d", [Self.number("y")])])]
    let rows: [[String: Value]] = [
      ["c": Self.value(["x": .integer(1), "d": Self.value(["y": .integer(2)])])],
      ["c": Self.value(["x": .null, "d": Self.value(["y": .null])])], ["c": .null],
      ["c": Self.value(["x": .integer(1), "d": .null])],
    ]
    #expect(
      try Self.blocks(
        from, rows, [Self.composite("c", [Self.number("x", required: true), Self.composite("d", [Self.number("y")])])])
        == ["E.c.x missingValue: [2]"])
    #expect(
      try Self.blocks(
        from, rows, [Self.composite("c", [Self.number("x"), Self.composite("d", [Self.number("y", required: true)])])])
        == ["E.c.d.y missingValue: [2]"])
    var d = Self.composite("d", [Self.number("y")])
    d.isOptional = false
    #expect(
      try Self.blocks(from, rows, [Self.composite("c", [Self.number("x"), d])]) == ["E.c.d missingValue: [4]"])
    // With a default that takes the place of null.
    #expect(
      try Self.migrated(
        from, rows,
        [
          Self.composite(
            "c",
            [
              Self.number("x", required: true, default: .integer(7)),
              Self.composite("d", [Self.number("y", required: true, default: .integer(8))]),
            ])
        ])
        == [
          rows[0], ["c": Self.value(["x": .integer(7), "d": Self.value(["y": .integer(8)])])], ["c": .null], rows[3],
        ])
  }

  /// A required element that is new, in a composite that was there, and in one that is made of flat attributes.
  @Test func newRequiredElementsAreNeeded() throws {
    let from = [Self.composite("c", [Self.number("x")]), Self.number("a"), Self.number("b")]
    let rows: [[String: Value]] = [
      ["c": .null, "a": .null, "b": .null], ["c": Self.value(["x": .null]), "a": .integer(1), "b": .integer(2)],
      ["c": .null, "a": .null, "b": .integer(2)],
    ]
    #expect(
      try Self.blocks(
        from, rows, [Self.composite("c", [Self.number("x"), Self.number("z", required: true)])])
        == ["E.c.z missingValue: [2]"])
    #expect(
      try Self.blocks(
        from, rows,
        [Self.composite("g", [Self.number("a", required: true, was: "a"), Self.number("b", was: "b")])])
        == ["E.g.a missingValue: [3]"])
    #expect(
      try Self.blocks(
        from, rows, [Self.composite("g", [Self.number("z", required: true), Self.number("b", was: "b")])])
        == ["E.g.z missingValue: [2, 3]"])
    #expect(
      try Self.migrated(
        from, rows,
        [
          Self.composite(
            "g", [Self.number("a", required: true, default: .integer(5), was: "a"), Self.number("b", was: "b")])
        ])
        == [
          ["g": .null], ["g": Self.value(["a": .integer(1), "b": .integer(2)])],
          ["g": Self.value(["a": .integer(5), "b": .integer(2)])],
        ])
  }

  /// What was required before, and is missing all the same, is not the migration's doing.
  @Test func whatWasRequiredBeforeIsNotInTheWay() throws {
    let from = [Self.composite("c", [Self.number("x", required: true), Self.number("y")])]
    let rows: [[String: Value]] = [["c": Self.value(["x": .null, "y": .integer(2)])]]
    #expect(
      try Self.migrated(
        from, rows, [Self.composite("c", [Self.number("x", .integer32, required: true), Self.number("y")])]) == rows)
  }

  /// The mapping says which attributes need a value.
  @Test func theMappingSaysSo() throws {
    let from = try Schema(SchemaDefinition(Self.entity([Self.composite("c", [Self.number("x"), Self.number("y")])])))
    for (element, needed) in [
      (Self.number("x", required: true), true), (Self.number("x", required: true, default: .integer(1)), false),
      (Self.number("x"), false), (Self.number("z", required: true), true),
    ] {
      let to = try Schema(SchemaDefinition(Self.entity([Self.composite("c", [element, Self.number("y")])])))
      let mapping = try SchemaMapping.infer(from: from, to: to)
      let attribute = mapping.entity(toDestination: "E")?.attributes.first { $0.destination == "c" }
      #expect(attribute?.needsValue == needed)
    }
  }

  // MARK: Numbers that do not fit

  /// The element is named that does not hold its number, with its type; so is one that comes from elsewhere.
  @Test func elementsThatDoNotHoldTheirNumberAreNamed() throws {
    let large = Value.integer(100_000)
    let from = [
      Self.composite("c", [Self.number("x"), Self.composite("d", [Self.number("y")]), Self.number("z")]),
      Self.number("a"),
    ]
    let rows: [[String: Value]] = [
      ["c": Self.value(["x": large, "d": .null, "z": large])],
      ["c": Self.value(["x": .integer(1), "d": Self.value(["y": large]), "z": large]), "a": large],
    ]
    #expect(
      try Self.blocks(
        from, rows,
        [
          Self.composite(
            "c",
            [
              Self.number("x", .integer16), Self.composite("d", [Self.number("y", .integer16)]),
              Self.number("z", .integer32),
            ])
        ])
        == [
          "E.c.x overflow(CambiumEngine.AttributeType.integer16): [1]",
          "E.c.d.y overflow(CambiumEngine.AttributeType.integer16): [2]",
        ])
    #expect(
      try Self.blocks(
        from, rows, [Self.composite("g", [Self.number("f", .integer16, was: "a")])])
        == ["E.g.f overflow(CambiumEngine.AttributeType.integer16): [2]"])
    #expect(
      try Self.blocks(from, rows, [Self.number("x", .integer16, was: "c.x")])
        == ["E.x overflow(CambiumEngine.AttributeType.integer16): [1]"])
  }

  /// A number that does not fit does not hide an element that is missing beside it.
  @Test func whatIsMissingBesideAnOverflowIsNamed() throws {
    let from = [Self.composite("c", [Self.number("x"), Self.number("y")])]
    let rows: [[String: Value]] = [
      ["c": Self.value(["x": .integer(100_000), "y": .null])], ["c": Self.value(["x": .integer(1), "y": .null])],
      ["c": Self.value(["x": .integer(100_000), "y": .integer(2)])], ["c": .null],
    ]
    var needed = Self.number("y")
    needed.isOptional = false
    #expect(
      try Self.blocks(from, rows, [Self.composite("c", [Self.number("x", .integer16), needed])])
        == [
          "E.c.x overflow(CambiumEngine.AttributeType.integer16): [1, 3]", "E.c.y missingValue: [1, 2]",
        ])
  }

  // MARK: Values that change their level

  /// A flat attribute that becomes an element of a composite that is there.
  @Test(arguments: [false, true]) func attributesGoIntoCompositesThatAreThere(defers: Bool) throws {
    let from = [Self.composite("c", [Self.number("x")]), Self.number("a", .integer32)]
    let rows: [[String: Value]] = [
      ["c": .null, "a": .null], ["c": .null, "a": .integer(1)], ["c": Self.value(["x": .integer(2)]), "a": .null],
      ["c": Self.value(["x": .integer(2)]), "a": .integer(3)],
    ]
    #expect(
      try Self.migrated(
        from, rows, [Self.composite("c", [Self.number("x"), Self.number("y", was: "a")])], defers: defers)
        == [
          ["c": .null], ["c": Self.value(["x": .null, "y": .integer(1)])],
          ["c": Self.value(["x": .integer(2), "y": .null])], ["c": Self.value(["x": .integer(2), "y": .integer(3)])],
        ])
    // Into a composite within it, which may be new.
    #expect(
      try Self.migrated(
        from, rows,
        [Self.composite("c", [Self.number("x"), Self.composite("d", [Self.number("y", was: "a")])])], defers: defers)
        == [
          ["c": .null], ["c": Self.value(["x": .null, "d": Self.value(["y": .integer(1)])])],
          ["c": Self.value(["x": .integer(2), "d": .null])],
          ["c": Self.value(["x": .integer(2), "d": Self.value(["y": .integer(3)])])],
        ])
  }

  /// An element that goes into another composite, and from one level of its own to another.
  @Test(arguments: [false, true]) func elementsGoIntoOtherComposites(defers: Bool) throws {
    let from = [
      Self.composite("c", [Self.number("x"), Self.composite("d", [Self.number("y")])]),
      Self.composite("e", [Self.number("z")]),
    ]
    let rows: [[String: Value]] = [
      ["c": .null, "e": Self.value(["z": .integer(1)])],
      ["c": Self.value(["x": .integer(2), "d": Self.value(["y": .integer(3)])]), "e": .null],
      ["c": Self.value(["x": .integer(4), "d": .null]), "e": .null],
    ]
    #expect(
      try Self.migrated(
        from, rows,
        [
          Self.composite("c", [Self.number("y", was: "c.d.y")]),
          Self.composite("e", [Self.number("z"), Self.number("x", was: "c.x")]),
        ], defers: defers)
        == [
          ["c": .null, "e": Self.value(["z": .integer(1), "x": .null])],
          ["c": Self.value(["y": .integer(3)]), "e": Self.value(["z": .null, "x": .integer(2)])],
          ["c": Self.value(["y": .null]), "e": Self.value(["z": .null, "x": .integer(4)])],
        ])
  }

  /// A whole composite that goes into another one, and out of it.
  @Test(arguments: [false, true]) func compositesGoIntoCompositesAndOutOfThem(defers: Bool) throws {
    let flat = [Self.composite("d", [Self.number("y", .integer32), Self.number("w")]), Self.number("a")]
    let rows: [[String: Value]] = [
      ["d": .null, "a": .null], ["d": .null, "a": .integer(1)],
      ["d": Self.value(["y": .integer(2), "w": .null]), "a": .null],
    ]
    #expect(
      try Self.migrated(
        flat, rows,
        [
          Self.composite(
            "c", [Self.composite("f", [Self.number("y")], was: "d"), Self.number("a", was: "a")])
        ], defers: defers)
        == [
          ["c": .null], ["c": Self.value(["f": .null, "a": .integer(1)])],
          ["c": Self.value(["f": Self.value(["y": .integer(2)]), "a": .null])],
        ])
    let nested = [Self.composite("c", [Self.composite("f", [Self.number("y")]), Self.number("a")])]
    #expect(
      try Self.migrated(
        nested,
        [
          ["c": .null], ["c": Self.value(["f": .null, "a": .integer(1)])],
          ["c": Self.value(["f": Self.value(["y": .integer(2)]), "a": .null])],
        ], [Self.composite("d", [Self.number("y"), Self.number("w")], was: "c.f")], defers: defers)
        == [["d": .null], ["d": .null], ["d": Self.value(["y": .integer(2), "w": .null])]])
  }

  /// An identifier is that of the first version, whatever the element was called in between.
  @Test func pathsAreOfCanonicalNames() throws {
    let from = [Self.composite("c", [Self.number("y", was: "x"), Self.number("x", was: "w")], was: "b")]
    let rows: [[String: Value]] = [["c": Self.value(["y": .integer(1), "x": .integer(2)])]]
    #expect(
      try Self.migrated(from, rows, [Self.number("p", was: "b.x"), Self.number("q", was: "c.w")])
        == [["p": .integer(1), "q": .integer(2)]])
  }

  /// An identifier stays what it was, however often the value changes its level: from each version to the next, and
  /// from the first to the last. What stays where it is goes nowhere else.
  @Test(arguments: [false, true]) func identifiersStayTheSame(defers: Bool) throws {
    let versions = [
      [Self.number("a"), Self.composite("c", [Self.number("x"), Self.number("y")])],
      [
        Self.composite("e", [Self.number("z", was: "a"), Self.number("v")]), Self.number("b", was: "c.x"),
        Self.composite("c", [Self.number("y")]),
      ],
      [
        Self.number("d", was: "a"), Self.composite("f", [Self.number("w", was: "c.x")]),
        Self.composite("c", [Self.number("y")]),
      ],
    ]
    let rows: [[String: Value]] = [
      ["a": .integer(1), "c": Self.value(["x": .integer(2), "y": .integer(3)])], ["a": .null, "c": .null],
    ]
    let second: [[String: Value]] = [
      [
        "e": Self.value(["z": .integer(1), "v": .null]), "b": .integer(2), "c": Self.value(["y": .integer(3)]),
      ], ["e": .null, "b": .null, "c": .null],
    ]
    let last: [[String: Value]] = [
      ["d": .integer(1), "f": Self.value(["w": .integer(2)]), "c": Self.value(["y": .integer(3)])],
      ["d": .null, "f": .null, "c": .null],
    ]
    #expect(try Self.migrated(versions[0], rows, versions[1], defers: defers) == second)
    #expect(try Self.migrated(versions[1], second, versions[2], defers: defers) == last)
    #expect(try Self.migrated(versions[0], rows, versions[2], defers: defers) == last)
    #expect(
      try Self.migrated(versions[1], second, versions[1] + [Self.number("new", was: "a")], defers: defers)
        == second.map { $0.merging(["new": .null]) { $1 } })
  }

  /// Types that do not match are refused with the element's path, wherever the value comes from.
  @Test func typesAreComparedWhereValuesGo() throws {
    let from = try Schema(
      SchemaDefinition(Self.entity([Self.composite("c", [Self.number("x")]), AttributeSchema("t", .string)])))
    let to = try Schema(
      SchemaDefinition(Self.entity([Self.composite("c", [Self.number("x"), Self.number("y", was: "t")])])))
    do throws(EngineError) {
      _ = try SchemaMapping.infer(from: from, to: to)
      Issue.record("text became a number")
    } catch {
      guard case .notInferable(let obstacles) = error else { throw error }
      #expect(obstacles.map { $0.property } == ["c.y"])
    }
  }
}
