import Testing

@testable import CambiumEngine

@Suite struct SchemaErrorTests {
  private func expect(
    _ error: SchemaError, composites: [CompositeSchema] = [], _ entities: EntitySchema...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(throws: error, sourceLocation: sourceLocation) {
      try Schema(SchemaDefinition(entities, composites: composites))
    }
  }

  private func string(_ name: String) -> AttributeSchema { AttributeSchema(name, .string) }

  @Test func names() {
    expect(.invalidName("", place: "entities", reason: "it is empty"), EntitySchema(""))
    expect(
      .invalidName("a\n", place: "A", reason: "it has a control character"),
      EntitySchema("A", attributes: [string("a\n")]))
    expect(
      .invalidName("a.b", place: "A", reason: "a point separates the components of a key path"),
      EntitySchema("A", attributes: [string("a.b")]))
    for name in ["@count", "$x"] {
      expect(
        .invalidName(name, place: "A", reason: "key paths give its first character a meaning"),
        EntitySchema("A", attributes: [string(name)]))
    }
    for name in ["objectID", "self"] {
      expect(
        .invalidName(name, place: "A", reason: "key paths mean the object itself by it"),
        EntitySchema("A", attributes: [string(name)]))
    }
    expect(.duplicateName("A", place: "entities"), EntitySchema("A"), EntitySchema("A"))
    expect(.duplicateName("x", place: "A"), EntitySchema("A", attributes: [string("x"), string("x")]))
    expect(
      .duplicateName("x", place: "A"),
      EntitySchema("A", attributes: [string("x")], relationships: [RelationshipSchema("x", to: "A")]))
    expect(
      .duplicateName("x", place: "A.c"),
      EntitySchema("A", attributes: [AttributeSchema("c", elements: [string("x"), string("x")])]))
    expect(
      .duplicateName("i", place: "A"),
      EntitySchema(
        "A", attributes: [string("x")],
        indexes: [IndexSchema("i", [IndexElement("x")]), IndexSchema("i", [IndexElement("x")])]))
    expect(
      .duplicateName("C", place: "composite types"),
      composites: [CompositeSchema("C", elements: []), CompositeSchema("C", elements: [])])
  }

  @Test func hierarchies() {
    expect(.unknownParent("P", entity: "A"), EntitySchema("A", parent: "P"))
    expect(.inheritanceCycle(entity: "A"), EntitySchema("A", parent: "A"))
    expect(
      .inheritanceCycle(entity: "A"), EntitySchema("A", parent: "B"), EntitySchema("B", parent: "A"), EntitySchema("C"))
    expect(
      .propertyShadowsAncestor("x", entity: "C", ancestor: "A"),
      EntitySchema("C", parent: "B", attributes: [string("x")]),
      EntitySchema("B", parent: "A"), EntitySchema("A", attributes: [string("x")]))
  }

  @Test func attributes() {
    expect(
      .undefinedType(attribute: "x", place: "A"), EntitySchema("A", attributes: [AttributeSchema("x", .undefined)]))
    for (type, value) in [
      (AttributeType.integer16, Value.integer(40_000)), (.integer32, .integer(1 << 40)), (.string, 1), (.date, "2001"),
      (.boolean, 2), (.uuid, "x"), (.integer64, 1.5), (.binary, ""), (.double, "1"), (.decimal, "1"),
    ] {
      expect(
        .invalidValue(what: "default value", attribute: "x", place: "A"),
        EntitySchema("A", attributes: [AttributeSchema("x", type, default: value)]))
    }
    var limited = string("x")
    limited.minimum = "a"
    expect(.invalidValue(what: "minimum", attribute: "x", place: "A"), EntitySchema("A", attributes: [limited]))
    limited = AttributeSchema("x", .date)
    limited.maximum = 1
    expect(.invalidValue(what: "maximum", attribute: "x", place: "A"), EntitySchema("A", attributes: [limited]))
  }

  @Test func patterns() {
    var coded = string("x")
    coded.regularExpression = "a**"
    expect(
      .invalidPattern(
        "a**", attribute: "x", place: "A",
        reason: "in the regular expression at character 2, '*': there is nothing to repeat; put a group around what is "
          + "repeated twice"), EntitySchema("A", attributes: [coded]))
    coded = AttributeSchema("x", .double)
    coded.regularExpression = "a"
    expect(
      .invalidPattern("a", attribute: "x", place: "A", reason: "a pattern is for strings only; leave it out"),
      EntitySchema("A", attributes: [coded]))
  }

  @Test(
    arguments: [
      ("SELF >", AttributeType.string, "expected"), ("name == 'a'", .string, "which has no property 'name'"),
      ("length > 1", .integer16, "which has no property 'length'"), ("SELF > 'a'", .integer16, "Integer 16"),
      ("SELF > $least", .integer16, "$least"), ("SELF != NULL", .transformable, "Transformable"),
      ("ANY SELF.all > 1", .double, "which has no property"), ("SELF MATCHES '(a'", .string, "there is no ')'"),
      ("FETCH(a, b, NO) == 1", .double, "FETCH is not supported"),
      ("SUBQUERY(SELF, $x, $x > 1).@count > 1", .string, "many values"),
    ] as [(String, AttributeType, String)])
  func validationRules(predicate: String, type: AttributeType, reason: String) throws {
    var attribute = AttributeSchema("x", type)
    attribute.validationRules = [ValidationRule("SELF == SELF"), ValidationRule(predicate, warning: "w")]
    if type == .transformable { attribute.validationRules.removeFirst() }
    do throws(SchemaError) {
      _ = try Schema(SchemaDefinition([EntitySchema("A", attributes: [attribute])]))
      Issue.record("\(predicate) is taken")
    } catch {
      guard case .invalidRule(predicate, attribute: "x", place: "A", let found) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(found.contains(reason), "\(found)")
      #expect(error.description.contains("A.x") && error.description.contains(predicate))
    }
  }

  @Test func validationRulesAreStored() throws {
    var name = string("name")
    name.validationRules = [
      ValidationRule("length BETWEEN {1, 5}", warning: "one to five"), ValidationRule("SELF != 'x'"),
    ]
    var place = AttributeSchema("place", composite: "Place")
    place.validationRules = [ValidationRule("low <= SELF.high AND inner.low > 0", warning: "the wrong way round")]
    var low = AttributeSchema("low", .double)
    low.validationRules = [ValidationRule("SELF < 90")]
    let inner = CompositeSchema("Inner", elements: [low])
    let composite = CompositeSchema(
      "Place", elements: [low, AttributeSchema("high", .double), AttributeSchema("inner", composite: "Inner")])
    let definition = SchemaDefinition(
      [EntitySchema("A", attributes: [name, place, AttributeSchema("plain", .string)])], composites: [composite, inner])
    let schema = try Schema(definition)
    let again = try Schema(bytes: schema.encoded())
    #expect(again == schema)
    let entity = try #require(again.entities.first)
    #expect(entity.attribute(named: "name")?.validationRules == name.validationRules)
    #expect(entity.attribute(named: "place")?.validationRules == place.validationRules)
    let element = entity.attribute(named: "place")?.element(named: "inner")?.element(named: "low")
    #expect(element?.validationRules == low.validationRules)
    #expect(entity.attribute(named: "plain")?.validationRules == [])
    // They are told to differ, and nothing has to be done for it.
    var changed = definition
    changed.entities[0].attributes[0].validationRules.removeLast()
    let difference = SchemaDifference(from: schema, to: try Schema(changed))
    #expect(!difference.isEmpty && !difference.isStored)
    // One that was stored where more could be read is left out, with a word about it.
    let bytes = schema.encoded()
    let places = bytes.indices.dropLast(4).filter { bytes[$0..<$0 + 4].elementsEqual("SELF".utf8) }
    var broken = bytes
    for place in places { broken[place] = UInt8(ascii: "(") }
    let (kept, warnings) = try Schema(bytes: broken).definition.withoutUnusableRules()
    #expect(warnings.count >= 2 && warnings.allSatisfy { $0.contains("validation predicate") })
    #expect(
      try Schema(kept).entities.first?.attribute(named: "name")?.validationRules == [name.validationRules[0]])
  }

  /// Rules of composite types are looked at with the elements that these have from others.
  @Test func unusableRulesOfTypes() throws {
    var low = AttributeSchema("low", .double)
    low.validationRules = [ValidationRule("SELF < 90")]
    var inner = AttributeSchema("inner", composite: "Inner")
    inner.validationRules = [ValidationRule("low > 1"), ValidationRule("deep > 1")]
    var box = AttributeSchema("box", elements: [inner])
    box.validationRules = [ValidationRule("inner.low > 0"), ValidationRule("inner.high > 0")]
    let definition = SchemaDefinition(
      [EntitySchema("A", attributes: [AttributeSchema("place", composite: "Place")])],
      composites: [CompositeSchema("Place", elements: [box]), CompositeSchema("Inner", elements: [low])])
    let (kept, warnings) = definition.withoutUnusableRules()
    #expect(warnings.count == 2)
    #expect(warnings.contains { $0.contains("Place.box:") && $0.contains("inner.high > 0") })
    #expect(warnings.contains { $0.contains("Place.box.inner:") && $0.contains("deep > 1") })
    let schema = try Schema(kept)
    let place = try #require(schema.entities.first?.attribute(named: "place")?.element(named: "box"))
    #expect(place.validationRules == [ValidationRule("inner.low > 0")])
    #expect(place.element(named: "inner")?.validationRules == [ValidationRule("low > 1")])
    // With the elements in the attributes of entities, too.
    #expect(schema.definition.withoutUnusableRules().warnings.isEmpty)
    #expect(try Schema(schema.definition).entities == schema.entities)
  }

  /// They count as properties do, so that no file has more than can be looked at.
  @Test func rulesAreBounded() {
    var many = AttributeSchema("x", .double)
    many.validationRules = Array(repeating: ValidationRule("SELF > 1"), count: Schema.propertyLimit)
    expect(.tooManyProperties, EntitySchema("A", attributes: [many]))
  }

  /// A store that was made before patterns were looked at.
  @Test func aStoredPatternThatCannotBeRead() throws {
    var coded = string("x")
    coded.regularExpression = "aaaa"
    var bytes = try Schema(SchemaDefinition([EntitySchema("A", attributes: [coded])])).encoded()
    let places = bytes.indices.dropLast(3).filter { bytes[$0..<$0 + 4].elementsEqual("aaaa".utf8) }
    #expect(places.count == 1)
    bytes[try #require(places.first)] = UInt8(ascii: "(")
    let stored = try Schema(bytes: bytes)
    #expect(stored.entities.first?.attribute(named: "x")?.regularExpression == "(aaa")
    let (definition, warnings) = stored.definition.withoutUnusableRules()
    #expect(warnings.count == 1 && warnings.first?.contains("A.x") == true)
    #expect(try Schema(definition).entities.first?.attribute(named: "x")?.regularExpression == nil)
  }

  @Test func composites() {
    expect(.unknownComposite("C", place: "A.x"), EntitySchema("A", attributes: [AttributeSchema("x", composite: "C")]))
    expect(
      .compositeCycle("C"),
      composites: [
        CompositeSchema("C", elements: [AttributeSchema("d", composite: "D")]),
        CompositeSchema("D", elements: [AttributeSchema("c", composite: "C")]),
      ])
    var odd = string("x")
    odd.compositeName = "C"
    expect(.notComposite(attribute: "x", place: "A"), EntitySchema("A", attributes: [odd]))
    var external = AttributeSchema("e", .binary)
    external.allowsExternalBinaryDataStorage = true
    var transient = string("e")
    transient.isTransient = true
    for (element, reason) in [
      (AttributeSchema("e", .objectID), "elements have a type, and not ObjectID"),
      (AttributeSchema("e", .undefined), "elements have a type, and not ObjectID"),
      (external, "elements cannot be stored externally"),
      (transient, "only a whole attribute can be transient or derived"),
    ] {
      expect(
        .invalidElement("e", place: "A.x", reason: reason),
        EntitySchema("A", attributes: [AttributeSchema("x", elements: [element])]))
    }
    var nested = string("leaf")
    for level in 0...Schema.compositeDepthLimit { nested = AttributeSchema("l\(level)", elements: [nested]) }
    #expect(throws: SchemaError.self) { try Schema(SchemaDefinition([EntitySchema("A", attributes: [nested])])) }
    #expect(throws: Never.self) { try Schema(SchemaDefinition([EntitySchema("A", attributes: [nested.elements[0]])])) }
  }

  @Test func compositesDoNotExplode() {
    var composites = [CompositeSchema("C0", elements: [string("x")])]
    for level in 1...40 {
      composites.append(
        CompositeSchema(
          "C\(level)",
          elements: [
            AttributeSchema("a", composite: "C\(level - 1)"), AttributeSchema("b", composite: "C\(level - 1)"),
          ]))
    }
    #expect(throws: SchemaError.tooManyProperties) { try Schema(SchemaDefinition([], composites: composites)) }
    // What a large entity has, each of many that inherit from it has as well; so does each of a long line.
    let root = EntitySchema("Root", attributes: (0..<2000).map { AttributeSchema("a\($0)", .string) })
    let many = (0..<140).map { EntitySchema("E\($0)", parent: "Root") }
    #expect(throws: SchemaError.tooManyProperties) { try Schema(SchemaDefinition([root] + many)) }
    let line = (0..<1000).map {
      EntitySchema(
        "E\($0)", parent: $0 == 0 ? nil : "E\($0 - 1)", attributes: [AttributeSchema("a\($0)", .string)])
    }
    #expect(throws: SchemaError.tooManyProperties) { try Schema(SchemaDefinition(line)) }
    #expect(throws: Never.self) { try Schema(SchemaDefinition([root] + many[..<20])) }
  }

  @Test func relationships() {
    expect(.unknownEntity("B", place: "A.r"), EntitySchema("A", relationships: [RelationshipSchema("r", to: "B")]))
    expect(
      .unknownInverse("i", relationship: "r", entity: "A"),
      EntitySchema("A", relationships: [RelationshipSchema("r", to: "B", inverse: "i")]), EntitySchema("B"))
    expect(
      .inverseMismatch(relationship: "r", entity: "A", inverse: "i", destination: "B"),
      EntitySchema("A", relationships: [RelationshipSchema("r", to: "B", inverse: "i")]),
      EntitySchema("B", relationships: [RelationshipSchema("i", to: "A")]))
    expect(
      .inverseMismatch(relationship: "r", entity: "A", inverse: "i", destination: "B"),
      EntitySchema("A", relationships: [RelationshipSchema("r", to: "B", inverse: "i")]),
      EntitySchema("B", relationships: [RelationshipSchema("i", to: "C", inverse: "r")]), EntitySchema("C"))
    var counted = RelationshipSchema("r", toMany: "A")
    counted.minimumCount = 3
    counted.maximumCount = 2
    expect(.invalidCounts(relationship: "r", entity: "A"), EntitySchema("A", relationships: [counted]))
    counted = RelationshipSchema("r", to: "A")
    counted.maximumCount = 2
    expect(.invalidCounts(relationship: "r", entity: "A"), EntitySchema("A", relationships: [counted]))
    counted = RelationshipSchema("r", to: "A")
    counted.isOrdered = true
    expect(.orderedToOne(relationship: "r", entity: "A"), EntitySchema("A", relationships: [counted]))
  }

  @Test func indexes() {
    func entity(_ paths: [String], kinds: [IndexKind] = []) -> EntitySchema {
      var transient = string("t")
      transient.isTransient = true
      return EntitySchema(
        "A",
        attributes: [
          string("x"), AttributeSchema("c", elements: [string("e"), AttributeSchema("n", .float)]), transient,
          AttributeSchema("o", .transformable), AttributeSchema("n", .integer16), AttributeSchema("d", .date),
          AttributeSchema("f", .boolean),
        ], relationships: [RelationshipSchema("one", to: "A"), RelationshipSchema("many", toMany: "A")],
        indexes: [
          IndexSchema(
            "i", paths.indices.map { IndexElement(paths[$0], kind: $0 < kinds.count ? kinds[$0] : .binary) })
        ])
    }
    expect(.invalidIndex("i", entity: "A", reason: "it has no elements"), entity([]))
    expect(
      .invalidIndex("i", entity: "A", reason: "its elements are of different kinds"),
      entity(["x", "x"], kinds: [.binary, .rTree])
    )
    expect(.unknownKeyPath("y", component: "y", entity: "A"), entity(["y"]))
    for (path, reason) in [
      ("c", "a composite has no order; index its elements"), ("t", "a transient attribute is not stored"),
      ("many", "a to-many relationship has no single value"),
      ("one.x", "an index holds values of its own entity's rows alone"), ("o", "transformed values have no order"),
      ("objectID", "objects are found by their identifiers without an index"),
    ] {
      expect(.invalidIndexPath(path, index: "i", entity: "A", reason: reason), entity([path]))
    }
    expect(
      .invalidIndexPath("x", index: "i", entity: "A", reason: "an R-tree holds numbers and dates"),
      entity(["x"], kinds: [.rTree]))
    expect(
      .invalidIndexPath("f", index: "i", entity: "A", reason: "an R-tree holds numbers and dates"),
      entity(["n", "f"], kinds: [.rTree, .rTree]))
    for count in [1, 3] {
      expect(
        .invalidIndex(
          "i", entity: "A",
          reason: "an R-tree is of two elements, the coordinates of places; this has \(count)"),
        entity(Array(["n", "d", "c.n"].prefix(count)), kinds: [.rTree, .rTree, .rTree]))
    }
    expect(
      .invalidIndex(
        "i", entity: "A", reason: "an R-tree is of two different elements, and both name one key path"),
      entity(["n", "n"], kinds: [.rTree, .rTree]))
    #expect(throws: Never.self) { try Schema(SchemaDefinition([entity(["n", "c.n"], kinds: [.rTree, .rTree])])) }
    #expect(throws: Never.self) { try Schema(SchemaDefinition([entity(["n", "d"], kinds: [.rTree, .rTree])])) }
    #expect(throws: Never.self) { try Schema(SchemaDefinition([entity(["c.e", "one", "x"])])) }
    expect(
      .invalidIndex("", entity: "A", reason: "a uniqueness constraint has no key paths"),
      EntitySchema("A", unique: [[]]))
    expect(
      .invalidIndex("x, x", entity: "A", reason: "a uniqueness constraint names a key path twice"),
      EntitySchema("A", attributes: [string("x")], unique: [["x", "x"]]))
  }

  @Test func conditionsOfIndexes() {
    func entity(_ condition: String) -> EntitySchema {
      EntitySchema(
        "A", attributes: [string("x"), AttributeSchema("n", .integer16)],
        relationships: [RelationshipSchema("one", to: "A"), RelationshipSchema("many", toMany: "A")],
        indexes: [IndexSchema("i", [IndexElement("x")], partialPredicate: condition)])
    }
    for condition in ["n > 3", "one != nil AND x BEGINSWITH 'a'", "TRUEPREDICATE"] {
      #expect(throws: Never.self, "\(condition)") { try Schema(SchemaDefinition([entity(condition)])) }
    }
    let rest =
      ", which changes without the indexed object: use its own attributes and to-one relationships alone, or leave the "
      + "condition out"
    for (condition, reason) in [
      ("y == 1", "its condition \"y == 1\": predicate, 'y': 'A' has no property 'y'; A has x, n, one, many"),
      ("one.x == 'a'", "its condition reads 'one.x'" + rest),
      ("ANY many.n == 1", "its condition reads 'many.n'" + rest),
      ("random() == n", "its condition depends on the time or on chance" + rest),
    ] {
      expect(.invalidIndex("i", entity: "A", reason: reason), entity(condition))
    }
    for condition in ["n >", "n == 'a'", "x == $X"] {
      do {
        _ = try Schema(SchemaDefinition([entity(condition)]))
        Issue.record("taken: \(condition)")
      } catch {
        #expect("\(error)".contains("its condition \"\(condition)\": "), "\(error)")
      }
    }
  }

  @Test func namedParts() {
    var definition = SchemaDefinition([EntitySchema("A")])
    definition.configurations = [ConfigurationSchema("C", entities: ["B"])]
    #expect(throws: SchemaError.unknownEntity("B", place: "C")) { try Schema(definition) }
    definition.configurations = [ConfigurationSchema("C", entities: []), ConfigurationSchema("C", entities: [])]
    #expect(throws: SchemaError.duplicateName("C", place: "configurations")) { try Schema(definition) }
    definition.configurations = []
    definition.fetchTemplates = [NamedFetchTemplate("t", FetchTemplate(entity: "B"))]
    #expect(throws: SchemaError.unknownEntity("B", place: "t")) { try Schema(definition) }
    definition.fetchTemplates = []
    definition.entities[0].fetchedProperties = [FetchedPropertySchema("f", request: FetchTemplate(entity: "B"))]
    #expect(throws: SchemaError.unknownEntity("B", place: "A.f")) { try Schema(definition) }
  }
}
