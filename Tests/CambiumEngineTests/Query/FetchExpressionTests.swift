import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Random predicates with operators, functions, collections and subqueries over objects that are related: a fetch finds
/// what the evaluator says of values that are read without the engine's paths, whatever index and filter it uses.
@Suite struct FetchExpressionTests {
  static func schema() throws -> Schema {
    let thing = EntitySchema(
      "Thing",
      attributes: [
        AttributeSchema("small", .integer16), AttributeSchema("price", .decimal), AttributeSchema("half", .double),
        AttributeSchema("text", .string), AttributeSchema("day", .date),
      ],
      relationships: [
        RelationshipSchema("whole", to: "Thing", inverse: "parts"),
        RelationshipSchema("parts", toMany: "Thing", inverse: "whole"),
        RelationshipSchema("steps", toMany: "Thing", ordered: true),
      ],
      indexes: [
        IndexSchema("bySmall", [IndexElement("small")]), IndexSchema("byText", [IndexElement("text")]),
        IndexSchema("byDay", [IndexElement("day")]),
      ])
    return try Schema(SchemaDefinition([thing]))
  }

  /// Following a path takes a call for each name, and the stack is finite.
  @Test func longKeyPathsAreRefused() throws {
    let schema = try Self.schema()
    let thing = try #require(schema.entity(named: "Thing"))
    for count in [199, 200, 20_000] {
      let path = Array(repeating: "whole", count: count).joined(separator: ".")
      let predicate = try Predicate(format: path + ".small == 1")
      if count < 200 {
        _ = try predicate.check(against: schema, entity: thing.id)
      } else {
        let error = #expect(throws: PredicateError.self) { try predicate.check(against: schema, entity: thing.id) }
        #expect(error?.kind == .tooDeep)
        #expect(throws: SchemaError.self) { try schema.resolve(keyPath: path + ".small", from: thing.id) }
      }
    }
  }

  /// A number. `object` is what paths begin with: nothing, or a variable of a subquery.
  static func number(_ random: inout SplitMix64, _ object: String, _ depth: Int) -> String {
    func inner() -> String { number(&random, object, depth - 1) }
    let collection = object + random.pick(["parts", "steps", "whole.parts"])
    switch random.below(depth > 0 ? 18 : 5) {
    case 0: return object + "small"
    case 1: return object + random.pick(["price", "half", "whole.small", "whole.price"])
    case 2, 3: return "\(random.below(5) - 1)"
    case 4: return random.pick(["0.5", "2.0", "-1.5"])
    case 5, 6, 7: return "(\(inner()) \(random.pick(["+", "-", "*", "/"])) \(inner()))"
    case 8: return "-(\(inner()))"
    case 9: return "\(random.pick(["abs", "floor", "ceiling", "trunc", "noindex", "sqrt"]))(\(inner()))"
    case 10: return "length(\(text(&random, object, depth - 1)))"
    case 11: return "\(collection).@count"
    case 12:
      return "\(collection).@\(random.pick(["sum", "avg", "min", "max"])).\(random.pick(["small", "price", "half"]))"
    case 13: return "(\(object)steps[\(random.pick(["FIRST", "LAST", "0", "1"]))]).small"
    case 14: return "TERNARY(\(comparison(&random, object, depth - 1)), \(inner()), \(inner()))"
    case 15:
      let variable = "$v\(depth)."
      return "SUBQUERY(\(collection), $v\(depth), \(comparison(&random, variable, depth - 1))).@count"
    case 16: return "\(random.pick(["min", "max", "sum"]))(\(inner()), \(inner()))"
    default: return "modulus:by:(\(inner()), \(inner()))"
    }
  }

  static func text(_ random: inout SplitMix64, _ object: String, _ depth: Int) -> String {
    switch random.below(depth > 0 ? 6 : 3) {
    case 0: return object + "text"
    case 1: return object + "whole.text"
    case 2: return random.pick(["'a'", "'Ab'", "''", "'é'"])
    case 3: return "\(random.pick(["lowercase", "uppercase", "canonical"]))(\(text(&random, object, depth - 1)))"
    case 4: return "CAST(\(object)small, 'NSString')"
    default: return "TERNARY(\(comparison(&random, object, depth - 1)), \(object)text, 'b')"
    }
  }

  static func comparison(_ random: inout SplitMix64, _ object: String, _ depth: Int) -> String {
    let order = random.pick(["==", "!=", "<", "<=", ">", ">="])
    switch random.below(9) {
    case 0:
      return "\(text(&random, object, depth)) \(random.pick(["BEGINSWITH", "CONTAINS[c]", "==", "LIKE", "<"])) "
        + text(&random, object, depth)
    case 1: return "\(text(&random, object, depth)) MATCHES[cd] \(random.pick(["'a.*'", "'[^x]?b'", "'(e|b)+'"]))"
    case 2: return "\(object)day - CAST(\(number(&random, object, depth)), 'NSDate') \(order) 1"
    case 3: return "\(number(&random, object, depth)) IN {1, \(number(&random, object, depth)), NULL}"
    case 4: return "ANY \(object)parts.small \(order) \(number(&random, object, depth))"
    case 5: return "\(number(&random, object, depth)) BETWEEN {\(number(&random, object, depth)), 3}"
    default: return "\(number(&random, object, depth)) \(order) \(number(&random, object, depth))"
    }
  }

  static func predicate(_ random: inout SplitMix64, _ depth: Int) -> String {
    switch random.below(6) {
    case 0: return "small == \(random.below(4)) AND \(comparison(&random, "", depth))"
    case 1: return "text BEGINSWITH 'a' AND (\(comparison(&random, "", depth)) OR \(comparison(&random, "", depth)))"
    case 2: return "NOT (\(comparison(&random, "", depth)) AND small < 3)"
    case 3: return "\(comparison(&random, "", depth)) AND small IN {1, 1 + 1}"
    default: return comparison(&random, "", depth)
    }
  }

  /// What is at a path from an object, step by step.
  static func value(_ view: EntityView, _ object: ObjectReference, _ path: String) throws(EngineError) -> Value {
    if path == "self" { return .reference(object) }
    guard let row = try view.row(object) else { return .null }
    let names = path.split(separator: ".", maxSplits: 1).map { String($0) }
    guard let relationship = row.entity.relationship(named: names[0]) else { return try row.value(keyPath: path) }
    var values: [Value] = []
    for target in try view.related(object, relationship) {
      let found = names.count > 1 ? try value(view, target, names[1]) : .reference(target)
      guard relationship.isToMany else { return found }
      if case .list(let inner) = found { values += inner } else { values.append(found) }
    }
    return relationship.isToMany ? .list(values) : .null
  }

  @Test func fetchesAgreeWithTheEvaluator() throws {
    var random = SplitMix64(seed: testSeed(20_261_123))
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)), schema: try Self.schema())
    let thing = try #require(store.schema.entity(named: "Thing"))
    try store.write { (t) throws(EngineError) in
      var things: [ObjectReference] = []
      for _ in 0..<60 { things.append(try t.reserveReference(thing)) }
      for reference in things {
        var values = RowValues()
        let n = Int64(random.below(7)) - 2
        values.set("small", random.oneIn(6) ? .null : .integer(n))
        values.set("price", random.oneIn(6) ? .null : .decimal(DecimalValue("\(n).25") ?? .zero))
        values.set("half", random.oneIn(6) ? .null : .double(Double(n) / 2))
        values.set("text", random.oneIn(6) ? .null : .string(random.pick(["a", "Ab", "é", "", "abb", "xb"])))
        values.set("day", random.oneIn(6) ? .null : .date(Double(n)))
        values.set(toOne: "whole", random.oneIn(4) ? nil : random.pick(things))
        values.set(toMany: "steps", (0..<random.below(4)).map { _ in random.pick(things) })
        try t.insert(reference, values)
      }
    }
    let view = try store.view()
    var rows: [ObjectReference] = []
    try view.rows(entity: thing) { (row) throws(EngineError) in
      rows.append(row.reference)
      return true
    }
    var checked = 0
    var some = 0
    var byIndex = 0
    for _ in 0..<1500 {
      let text = Self.predicate(&random, 3)
      let predicate = try Predicate(format: text)
      #expect(try Predicate(format: predicate.description) == predicate, "\(text)")
      let fetch = EngineFetch.preferringIndexes(thing, predicate)
      guard let found = try FetchRandomTests.found(fetch, view) else { continue }
      checked += 1
      if try !view.explain(fetch).kinds.contains(.scan) { byIndex += 1 }
      let normal = try predicate.check(against: store.schema, entity: thing.id)
      var state = EvaluationState()
      let expected = try rows.filter { row in
        try normal.evaluate(&state) { (object: ObjectReference?, path: String) throws(EngineError) in
          try Self.value(view, object ?? row, path)
        }
      }
      #expect(found == expected, "\(text)")
      #expect(try view.count(fetch) == expected.count, "\(text)")
      if !expected.isEmpty, expected.count < rows.count { some += 1 }
    }
    #expect(checked > 1000 && some > 400 && byIndex > 100, "\(checked) \(some) \(byIndex)")
  }

  @Test func timeIsTheSameForAllRows() throws {
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)), schema: try Self.schema())
    let thing = try #require(store.schema.entity(named: "Thing"))
    let now = Double(store.kernel.nowMilliseconds()) / 1000 - 978_307_200
    try store.write { (t) throws(EngineError) in
      for n in 0..<10 {
        var values = RowValues()
        values.set("day", .date(now + Double(n - 5) * 3600))
        try t.insert(try t.reserveReference(thing), values)
      }
    }
    let view = try store.view()
    let fetch = EngineFetch.preferringIndexes(thing, try Predicate(format: "day < now() - 1800"))
    #expect(try view.fetch(fetch).count == 5)
    // What is computed from the time and other constants is a constant.
    #expect(try view.explain(fetch).kinds.contains(.range))
    let plans: [(String, String)] = [
      ("small == 2 * 3 - 1", "one value of index 'bySmall' on (small)"),
      ("lowercase('AB') == text", "one value of index 'byText' on (text)"),
      ("small * 2 > 3 AND text == 'a'", "one value of index 'byText' on (text)"),
      ("noindex(text) == 'a'", "scan of Thing"), ("small * 2 == 4", "scan of Thing"),
      ("lowercase(text) == 'a'", "scan of Thing"), ("text MATCHES 'a.*'", "scan of Thing"),
      ("small == half", "scan of Thing"),
    ]
    for (text, plan) in plans {
      let explanation = try view.explain(.preferringIndexes(thing, try Predicate(format: text)))
      #expect(explanation.steps.first?.text == plan, "\(text)")
    }
    let chance = EngineFetch(thing, predicate: try Predicate(format: "random() < 1 AND randomn(3) < 3"))
    #expect(try view.count(chance) == 10)
  }
}
