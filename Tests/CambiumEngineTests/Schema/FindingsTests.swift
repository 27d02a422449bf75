import Testing

@testable import CambiumEngine

@Suite struct FindingsTests {
  private func rules(_ definition: SchemaDefinition, sync: Bool = false) throws -> [String] {
    let schema = try Schema(definition)
    return (sync ? schema.syncFindings() : schema.findings()).map { "\($0.rule) \($0.place)" }
  }

  @Test func aModelInOrder() throws {
    let a = EntitySchema(
      "A", attributes: [AttributeSchema("x", .string, optional: false, default: "")],
      relationships: [RelationshipSchema("bs", toMany: "B", inverse: "a")])
    let b = EntitySchema(
      "B", attributes: [AttributeSchema("y", .string)], relationships: [RelationshipSchema("a", to: "A", inverse: "bs")]
    )
    #expect(try rules(SchemaDefinition([a, b])) == [])
    #expect(try rules(SchemaDefinition([a, b]), sync: true) == [])
  }

  /// Two properties of one level with one renaming identifier. Those of a parent count. The name of another property is
  /// no shared identifier: `w` gets the values of `v`, and `v` is new.
  @Test func sharedIdentifiers() throws {
    func text(_ name: String, was identifier: String? = nil) -> AttributeSchema {
      var attribute = AttributeSchema(name, .string)
      attribute.renamingIdentifier = identifier
      return attribute
    }
    let model = SchemaDefinition([
      EntitySchema(
        "A",
        attributes: [
          text("x", was: "z"), text("y", was: "z"), text("v"), text("w", was: "v"), text("u", was: "t"),
          AttributeSchema("place", elements: [text("x", was: "z"), text("b", was: "a"), text("c", was: "a")]),
        ], relationships: [RelationshipSchema("z", to: "A", inverse: "z")]),
      EntitySchema("B", parent: "A", attributes: [text("s", was: "t")]),
    ])
    #expect(
      try rules(model).filter { $0.hasPrefix("shared") }.sorted() == [
        "shared-identifier A.place.c", "shared-identifier A.y", "shared-identifier B.s",
      ])
  }

  @Test func everyRule() throws {
    var untransformed = AttributeSchema("object", .transformable)
    untransformed.isOptional = true
    var derived = AttributeSchema("sum", .double)
    derived.derivation = "median(x)"
    var bs = RelationshipSchema("bs", toMany: "b", inverse: "a")
    bs.deleteRule = .deny
    var cascading = RelationshipSchema("others", toMany: "A", inverse: "another")
    cascading.deleteRule = .cascade
    var another = RelationshipSchema("another", to: "A", inverse: "others")
    another.deleteRule = .cascade
    var nullifying = RelationshipSchema("cs", toMany: "C", inverse: "a")
    nullifying.deleteRule = .nullify
    var required = RelationshipSchema("a", to: "A", inverse: "cs")
    required.isOptional = false
    required.deleteRule = .noAction
    var back = RelationshipSchema("a", to: "A", inverse: "bs")
    back.deleteRule = .deny
    let path = IndexElement("Name")
    var a = EntitySchema(
      "A",
      attributes: [
        AttributeSchema("Name", .string, optional: false), untransformed, derived, AttributeSchema("value", .string),
        AttributeSchema("number", .double), AttributeSchema("other", .double),
      ],
      relationships: [bs, cascading, another, nullifying, RelationshipSchema("alone", to: "C")],
      indexes: [
        IndexSchema("one", [path]), IndexSchema("two", [path]),
        IndexSchema("three", [IndexElement("number", kind: .rTree), IndexElement("other", kind: .rTree)]),
      ], unique: [["Name"]])
    a.fetchedProperties = [
      FetchedPropertySchema("fetched", request: FetchTemplate(entity: "A", predicate: "missing == 1")),
      FetchedPropertySchema(
        "beside", request: FetchTemplate(entity: "A", predicate: "SELF != $FETCH_SOURCE AND mising == $x")),
      FetchedPropertySchema(
        "right", request: FetchTemplate(entity: "A", predicate: "SELF != $FETCH_SOURCE AND Name == $x")),
    ]
    var definition = SchemaDefinition(
      [
        a, EntitySchema("b", attributes: [AttributeSchema("x", .string)], relationships: [back]),
        EntitySchema("C", relationships: [required]), EntitySchema("Empty"),
        EntitySchema("Leaf", abstract: true, attributes: [AttributeSchema("x", .string)]),
      ],
      composites: [
        CompositeSchema("Unused", elements: [AttributeSchema("inner", composite: "Inner")]),
        CompositeSchema("Inner", elements: []),
      ])
    definition.configurations = [ConfigurationSchema("Some", entities: ["A", "b", "Leaf"])]
    definition.fetchTemplates = [
      NamedFetchTemplate("broken", FetchTemplate(entity: "A", predicate: "Name ==")),
      NamedFetchTemplate("fine", FetchTemplate(entity: "A", predicate: "Name == $NAME")),
    ]
    #expect(
      try rules(definition).sorted()
        == [
          "abstract-leaf Leaf", "capital-property A.Name", "cascade-both A.another", "clashing-name A.value",
          "crossing A.alone", "crossing A.cs", "deny-both A.bs", "derivation A.sum", "duplicate-index A",
          "duplicate-index A", "duplicate-index A", "empty-composite Inner", "empty-entity Empty", "no-action C.a",
          "no-configuration C", "no-configuration Empty", "no-inverse A.alone", "nullify-required A.cs",
          "required-without-default A.Name", "small-entity b", "template A.beside", "template A.fetched",
          "template broken",
          "untransformed A.object", "unused-composite Inner", "unused-composite Unused",
        ])
  }

  @Test func classesOfSeveralEntities() throws {
    var entities = ["A", "B", "C", "D", "E"].map { EntitySchema($0, attributes: [AttributeSchema("x", .string)]) }
    for (place, name) in ["App.Note", "App.Note", "NSManagedObject", "NSManagedObject"].enumerated() {
      entities[place].className = name
    }
    #expect(try rules(SchemaDefinition(entities)) == ["shared-class B"])
  }

  @Test func contradictingRules() throws {
    func attribute(
      _ name: String, _ type: AttributeType, _ value: Value, _ minimum: Value, _ maximum: Value,
      _ pattern: String? = nil
    ) -> AttributeSchema {
      var result = AttributeSchema(name, type, default: value)
      (result.minimum, result.maximum, result.regularExpression) = (minimum, maximum, pattern)
      return result
    }
    func ruled(_ name: String, _ type: AttributeType, _ value: Value, _ predicate: String) -> AttributeSchema {
      var result = AttributeSchema(name, type, default: value)
      result.validationRules = [ValidationRule(predicate)]
      return result
    }
    let attributes = [
      attribute("fine", .integer16, 3, 3, 3), attribute("turned", .double, .null, 2, 1),
      attribute("small", .integer16, 0, 1, 8), attribute("large", .date, .date(9), .date(1), .date(8)),
      attribute("short", .string, "a", 2, .null), attribute("long", .uri, .uri("http://a"), .null, 2),
      attribute("odd", .string, "a1", .null, .null, "[a-z]+"), attribute("even", .string, "aa", 1, 2, "[a-z]+"),
      AttributeSchema("inner", elements: [attribute("bytes", .binary, .null, 5, 4)]),
      ruled("asked", .integer16, 3, "SELF > 3"), ruled("met", .integer16, 3, "SELF < 4"),
      ruled("later", .date, .date(3), "SELF > now()"), ruled("none", .integer16, .null, "SELF > 3"),
    ]
    #expect(
      try rules(SchemaDefinition([EntitySchema("A", attributes: attributes)])).sorted() == [
        "default-outside A.asked", "default-outside A.large", "default-outside A.long", "default-outside A.odd",
        "default-outside A.short",
        "default-outside A.small", "limits A.inner.bytes", "limits A.turned",
      ])
  }

  @Test func syncRules() throws {
    #expect(
      try rules(exampleDefinition(), sync: true).sorted() == [
        "sync Aircraft", "sync Aircraft.logEntries", "sync LogEntry.aircraft", "sync Pilot.vehicles", "sync Vehicle",
        "sync Vehicle.cached",
      ])
  }

  /// Each rule finds its one violation, and no other.
  @Test func everySyncRule() throws {
    func findings(
      _ attribute: AttributeSchema? = nil, unique: [[String]] = [],
      _ change: (inout RelationshipSchema) -> Void = { _ in }
    ) throws -> [String] {
      var relationship = RelationshipSchema("bs", toMany: "B", inverse: "a")
      change(&relationship)
      let a = EntitySchema(
        "A", attributes: [AttributeSchema("x", .string)] + (attribute.map { [$0] } ?? []),
        relationships: [relationship], unique: unique)
      let b = EntitySchema(
        "B", attributes: [AttributeSchema("y", .string)],
        relationships: [RelationshipSchema("a", to: "A", inverse: relationship.inverse == nil ? nil : "bs")])
      var definition = SchemaDefinition([a, b])
      definition.configurations = [ConfigurationSchema("All", entities: ["A", "B"])]
      return try Schema(definition).syncFindings().map { "\($0.place): \($0.text)" }
    }
    func transient(_ type: AttributeType) -> AttributeSchema {
      var attribute = AttributeSchema("t", type)
      attribute.isTransient = true
      return attribute
    }
    func required(_ name: String, _ value: Value = .null) -> AttributeSchema {
      AttributeSchema(name, .string, optional: false, default: value)
    }
    #expect(try findings() == [])
    #expect(
      try findings(unique: [["x"]]) == ["A: uniqueness constraints cannot be kept by several devices; remove them"])
    #expect(
      try findings(transient(.undefined)) == [
        "A.t: Undefined attributes cannot be mirrored, transient or not; give it a type"
      ])
    #expect(
      try findings(transient(.objectID)) == [
        "A.t: ObjectID attributes cannot be mirrored, transient or not; use a relationship"
      ])
    #expect(
      try findings(AttributeSchema("o", .objectID)) == [
        "A.o: ObjectID attributes cannot be mirrored; use a relationship"
      ])
    #expect(try findings(transient(.string)) == [])
    let advice = "make it optional or give it a default: records come in parts"
    #expect(try findings(required("r")) == ["A.r: " + advice])
    #expect(try findings(required("r", "a")) == [])
    #expect(
      try findings(
        AttributeSchema("c", elements: [required("in"), AttributeSchema("d", .string, default: "d")], optional: false))
        == ["A.c.in: " + advice])
    #expect(
      try findings(AttributeSchema("c", elements: [AttributeSchema("in", .string)], optional: false)) == [
        "A.c: " + advice
      ])
    #expect(try findings { $0.isOptional = false } == ["A.bs: make it optional: records come one by one"])
    #expect(try findings { $0.inverse = nil } == ["A.bs: give it an inverse", "B.a: give it an inverse"])
    #expect(try findings { $0.isOrdered = true }.map { $0.prefix(32) } == ["A.bs: ordered relationships cann"])
    #expect(
      try findings { $0.deleteRule = .deny } == [
        "A.bs: Deny cannot be kept by several devices; use another delete rule"
      ])
    var torn = SchemaDefinition([
      EntitySchema("A", relationships: [RelationshipSchema("b", to: "B", inverse: "a")]),
      EntitySchema("B", relationships: [RelationshipSchema("a", to: "A", inverse: "b")]),
    ])
    torn.configurations = [ConfigurationSchema("Some", entities: ["A"])]
    #expect(
      try Schema(torn).syncFindings().map { "\($0)" } == [
        "A.b: leads out of configuration Some; put both entities into it [sync]"
      ])
  }

  @Test(
    arguments: [
      ("a", .keyPath("a")), ("aircraft.tailNumber", .keyPath("aircraft.tailNumber")), ("now()", .now),
      ("canonical:(name)", .text(.canonical, "name")), ("lowercase:(a.b)", .text(.lowercase, "a.b")),
      ("uppercase:(name)", .text(.uppercase, "name")), ("logs.@count", .count(relationship: "logs")),
      ("logs.@sum.a.b", .sum(relationship: "logs", path: "a.b")), ("", nil), ("a..b", nil), ("a b", nil),
      ("now(", nil), ("@count", nil), ("a.@count.b", nil), ("a.b.@count", nil), ("a.@sum", nil), ("a.@avg.b", nil),
      ("lowercase:(a + b)", nil), ("lowercase:()", nil), ("1a", nil), ("firstName ++ lastName", nil),
    ] as [(String, Derivation?)])
  func derivations(text: String, expected: Derivation?) { #expect(Derivation(text) == expected) }
}
