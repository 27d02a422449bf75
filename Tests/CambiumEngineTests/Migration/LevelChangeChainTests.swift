import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Values gathered into composites and spread out again, step after step: put off or not, the same values.
@Suite struct LevelChangeChainTests {
  struct Chain: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let models: [[AttributeSchema]]
    /// The attribute that rows are filled with, and its values.
    let attribute: String
    let values: [Value]
  }

  private static func composite(_ name: String, _ elements: [AttributeSchema]) -> AttributeSchema {
    AttributeSchema(name, elements: elements)
  }

  private static func number(_ name: String, was: String? = nil) -> AttributeSchema {
    var attribute = AttributeSchema(name, .integer64)
    attribute.renamingIdentifier = was
    return attribute
  }

  private static func value(_ names: [String], _ values: [Value]) -> Value {
    .composite(CompositeValue(names: names, values: values))
  }

  static var chains: [Chain] {
    let seven = Value.integer(7)
    let withDefault = { (name: String) in AttributeSchema(name, .integer64, default: seven) }
    let required = { (name: String) in AttributeSchema(name, .integer64, optional: false, default: seven) }
    let five = value(["x"], [.integer(5)])
    let both = value(["x", "y"], [.integer(5), .integer(6)])
    let half = value(["x", "y"], [.null, .integer(6)])
    let none = value(["x", "y"], [.null, .null])
    return [
      Chain(
        testDescription: "spread, then gathered elsewhere",
        models: [
          [composite("C", [number("x")])], [number("a", was: "C.x")], [composite("E", [number("z", was: "a")])],
        ], attribute: "C", values: [five, .null]),
      Chain(
        testDescription: "added with a default, then gathered",
        models: [[], [withDefault("a")], [composite("E", [number("z", was: "a")])]], attribute: "", values: [.null]),
      Chain(
        testDescription: "required with a default, then gathered",
        models: [[number("a")], [required("a")], [composite("E", [number("z", was: "a")])]], attribute: "a",
        values: [.integer(3), .null]),
      Chain(
        testDescription: "element added with a default, then spread",
        models: [
          [composite("C", [number("y")])], [composite("C", [number("y"), withDefault("x")])], [number("a", was: "C.x")],
        ], attribute: "C", values: [value(["y"], [.integer(1)]), .null]),
      Chain(
        testDescription: "element required with a default, then spread",
        models: [
          [composite("C", [number("x"), number("y")])], [composite("C", [required("x"), number("y")])],
          [number("a", was: "C.x")],
        ], attribute: "C", values: [both, half, none, .null]),
      Chain(
        testDescription: "gathered, then an element with a default",
        models: [
          [number("a")], [composite("E", [number("z", was: "a")])], [composite("E", [number("z"), withDefault("y")])],
        ], attribute: "a", values: [.integer(3), .null]),
      Chain(
        testDescription: "gathered, then an element required",
        models: [
          [number("a"), number("b")], [composite("E", [number("z", was: "a"), number("w", was: "b")])],
          [composite("E", [required("z"), number("w")])],
        ], attribute: "b", values: [.integer(3), .null]),
      Chain(
        testDescription: "gathered, then spread",
        models: [[number("a")], [composite("E", [number("z", was: "a")])], [number("q", was: "E.z")]], attribute: "a",
        values: [.integer(3), .null]),
      Chain(
        testDescription: "spread, then required",
        models: [[composite("C", [number("x")])], [number("a", was: "C.x")], [required("a")]], attribute: "C",
        values: [five, .null]),
      Chain(
        testDescription: "gathered, then the element with the value dropped",
        models: [
          [number("a"), number("b")], [composite("E", [number("z", was: "a"), number("w", was: "b")])],
          [composite("E", [number("z")])],
        ], attribute: "b", values: [.integer(3), .null]),
      Chain(
        testDescription: "gathered, then the element with the value spread",
        models: [
          [number("a"), number("b")], [composite("E", [number("z", was: "a"), number("w", was: "b")])],
          [composite("E", [number("z")]), number("c", was: "E.w")],
        ], attribute: "b", values: [.integer(3), .null]),
      Chain(
        testDescription: "gathered with one that has a default",
        models: [
          [number("a")], [number("a"), withDefault("b")],
          [composite("E", [number("z", was: "a"), number("w", was: "b")])],
        ], attribute: "a", values: [.integer(3), .null]),
      Chain(
        testDescription: "gathered with one that was added",
        models: [
          [number("a")], [number("a"), number("b")],
          [composite("E", [number("z", was: "a"), number("w", was: "b")])],
        ], attribute: "a", values: [.integer(3), .null]),
      Chain(
        testDescription: "one element added, then both spread",
        models: [
          [composite("C", [number("x")])], [composite("C", [number("x"), number("y")])],
          [number("a", was: "C.x"), number("b", was: "C.y")],
        ], attribute: "C", values: [five, value(["x"], [.null]), .null]),
      Chain(
        testDescription: "composite added with a default, then spread",
        models: [[], [composite("C", [withDefault("x")])], [number("a", was: "C.x")]], attribute: "", values: [.null]),
      Chain(
        testDescription: "names used again",
        models: [
          [number("a")], [number("a2"), composite("E", [number("z", was: "a")])],
          [number("a3", was: "E.z"), composite("F", [number("q", was: "a2")])],
        ], attribute: "a", values: [.integer(3), .null]),
      Chain(
        testDescription: "one element spread, then gathered elsewhere",
        models: [
          [composite("C", [number("x"), number("y")])], [composite("C", [number("y")]), number("a", was: "C.x")],
          [composite("C", [number("y")]), composite("E", [number("z", was: "a")])],
        ], attribute: "C", values: [both, half, none, .null]),
    ]
  }

  /// What the rows have after each step, and after the tasks.
  private func run(_ chain: Chain, defers: [Bool], finishes: Bool) throws -> [[[Value]]] {
    func definition(_ attributes: [AttributeSchema]) -> SchemaDefinition {
      SchemaDefinition([EntitySchema("Entry", attributes: [AttributeSchema("n", .integer64)] + attributes)])
    }
    var store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(definition(chain.models[0])))
    try store.write { (t) throws(EngineError) in
      guard let entity = store.schema.entity(named: "Entry") else { return }
      for value in chain.values {
        var values = RowValues()
        values.set("n", .integer(1))
        if !chain.attribute.isEmpty { values.set(chain.attribute, value) }
        try t.insert(try t.reserveReference(entity), values)
      }
    }
    var seen: [[[Value]]] = []
    func look() throws {
      let entity = try #require(store.schema.entity(named: "Entry"))
      var rows: [[Value]] = []
      try store.view().rows(entity: entity) { (row) throws(EngineError) in
        var values: [Value] = []
        for attribute in entity.allAttributes { values.append(try row.value(attribute)) }
        rows.append(values)
        return true
      }
      seen.append(rows)
    }
    for (model, defers) in zip(chain.models.dropFirst(), defers) {
      store = try store.migrate(to: definition(model), defers: defers)
      try look()
      if finishes { while try store.runDeferredTask() {} }
    }
    while try store.runDeferredTask() {}
    try look()
    return seen
  }

  @Test(arguments: LevelChangeChainTests.chains) func valuesAreTheSame(chain: Chain) throws {
    let expected = try run(chain, defers: [false, false], finishes: false)
    #expect(expected.allSatisfy { $0.count == chain.values.count })
    for defers in [[true, true], [true, false], [false, true]] {
      for finishes in [false, true] {
        #expect(try run(chain, defers: defers, finishes: finishes) == expected, "\(defers), finished: \(finishes)")
      }
    }
  }
}
