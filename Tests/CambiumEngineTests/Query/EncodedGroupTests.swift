import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Groups gathered from encoded rows: of every type, of elements of composites, through relationships, and of entities
/// whose rows have other layouts; against sums over values that were read row by row.
@Suite struct EncodedGroupTests {
  private static let numbers = ["small", "wide", "half", "single", "day", "spot.x"]
  private static let keys = [
    "small", "flag", "half", "text", "day", "mark", "spot.x", "spot.name", "to.text", "to.small",
  ]

  private static func schema() throws -> Schema {
    let spot = CompositeSchema("Spot", elements: [AttributeSchema("x", .double), AttributeSchema("name", .string)])
    let thing = EntitySchema(
      "Thing",
      attributes: [
        AttributeSchema("small", .integer16), AttributeSchema("wide", .integer64), AttributeSchema("half", .double),
        AttributeSchema("single", .float), AttributeSchema("flag", .boolean), AttributeSchema("day", .date),
        AttributeSchema("text", .string), AttributeSchema("mark", .uuid), AttributeSchema("exact", .decimal),
        AttributeSchema("spot", composite: "Spot"),
      ],
      relationships: [
        RelationshipSchema("to", to: "Thing", inverse: "from"),
        RelationshipSchema("from", toMany: "Thing", inverse: "to"),
      ])
    let special = EntitySchema("Special", parent: "Thing", attributes: [AttributeSchema("extra", .integer32)])
    return try Schema(SchemaDefinition([thing, special], composites: [spot]))
  }

  private static func value(_ name: String, _ random: inout SplitMix64) -> Value {
    if random.oneIn(6) { return .null }
    let n = Int64(random.below(7)) - 3
    switch name {
    case "small": return .integer(n)
    case "wide": return .integer([.max, .min, n, n, n][random.below(5)])
    case "half", "x": return .double([Double(n) / 2, -0.0, 0, .nan][min(3, random.below(9))])
    case "single": return .float([Float(n) / 4, 0.1][random.below(2)])
    case "flag": return .boolean(random.oneIn(2))
    case "day": return .date(Double(n))
    case "mark": return .uuid(UUIDBytes(high: UInt64(random.below(2)), low: UInt64(random.below(2))))
    case "exact":
      return .decimal(DecimalValue(isNegative: random.oneIn(2), coefficient: UInt128(random.below(9)), exponent: -1))
    default:
      return .string(
        random.pick(["", "a", "b", "\u{E9}", "e\u{301}", String(repeating: "long ", count: 60), "K", "\u{212A}"]))
    }
  }

  @Test(arguments: 1...24) func groupsAreThoseOfTheValues(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed &+ testSeed(20_261_202))
    let kernel = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: seed))
    let store = try EntityStore.create(in: kernel, schema: try Self.schema())
    let thing = try #require(store.schema.entity(named: "Thing"))
    let special = try #require(store.schema.entity(named: "Special"))
    var made: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      for n in 0..<150 {
        var row = RowValues()
        for name in ["small", "wide", "half", "single", "flag", "day", "text", "mark", "exact"] {
          row.set(name, Self.value(name, &random))
        }
        if !random.oneIn(5) {
          row.set(
            "spot",
            .composite(
              CompositeValue(
                names: ["x", "name"], values: [Self.value("x", &random), Self.value("name", &random)])))
        }
        if n > 0, !random.oneIn(4) { row.set(toOne: "to", made[random.below(made.count)]) }
        made.append(try t.reserveReference(random.oneIn(3) ? special : thing))
        try t.insert(made[n], row)
      }
    }
    let view = try store.view()
    var fetch = EngineFetch(thing)
    fetch.includesSubentities = !random.oneIn(4)
    if random.oneIn(2) { fetch.predicate = try Predicate(format: "small > -2") }
    var paths: [String] = []
    for _ in 0..<random.below(3) { paths.append(random.pick(Self.keys)) }
    paths = Array(Set(paths)).sorted()
    let functions = ["count", "sum", "average", "min:", "max:", "median", "stddev"]
    var columns = paths.map { EngineColumn($0, .keyPath($0)) }
    var asked: [(function: String, path: String)] = []
    for n in 0..<6 {
      let function = random.pick(functions)
      var path = random.pick(Self.numbers + ["exact", "to.wide"])
      if path == "day", !["count", "min:", "max:"].contains(function) { path = "half" }
      // Of these, rows tell by their bytes which values were seen.
      if ["min:", "max:"].contains(function), random.oneIn(2) {
        path = random.pick(["text", "to.text", "mark", "to.half", "spot.name", "to.spot.name"])
      }
      asked.append((function, path))
      columns.append(EngineColumn("c\(n)", .function(function, [.keyPath(path)])))
    }
    for (n, ask) in asked.enumerated() {
      columns.append(EngineColumn("d\(n)", .function(ask.function, [.function("noindex", [.keyPath(ask.path)])])))
    }
    columns.append(EngineColumn("n", .function("count", [.evaluatedObject])))
    var request = EngineValuesFetch(fetch, columns: columns)
    request.groupBy = paths
    let found = try view.fetchValues(request)

    // The same by the columns of each object, one by one, and the evaluator's own aggregates of lists.
    var rowColumns = paths.enumerated().map { EngineColumn("k\($0.offset)", .keyPath($0.element)) }
    for (n, ask) in asked.enumerated() { rowColumns.append(EngineColumn("v\(n)", .keyPath(ask.path))) }
    rowColumns.append(EngineColumn("self", .evaluatedObject))
    let rows = try view.fetchValues(EngineValuesFetch(fetch, columns: rowColumns))
    var order: [[Value]] = paths.isEmpty ? [[]] : []
    var groups: [[Value]: [[Value]]] = paths.isEmpty ? [[]: []] : [:]
    for row in rows {
      let key = Array(row[..<paths.count])
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(row)
    }
    #expect(found.count == order.count)
    for (result, key) in zip(found, order) {
      let members = groups[key] ?? []
      #expect(Array(result[..<paths.count]) == key)
      for (n, ask) in asked.enumerated() {
        let values = members.map { $0[paths.count + n] }.filter { !$0.isNull }
        let ours = result[paths.count + n]
        switch ask.function {
        case "count": #expect(ours == .integer(Int64(values.count)))
        case "min:", "max:":
          let wanted: ValueOrdering = ask.function == "min:" ? .less : .greater
          var best = Value.null
          for value in values where best.isNull || value.compare(to: best) == wanted { best = value }
          #expect(ours == best, "\(ask)")
        default: break
        }
        // An argument that is computed is read as a value, and gathered by values.
        #expect(ours == result[paths.count + asked.count + n], "\(ask), \(values)")
      }
      #expect(result.last == .integer(Int64(members.count)))
    }
  }
}
