import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// What is said of groups is checked, and its constants brought into the types of what they are compared with.
@Suite struct ValuesCheckTests {
  private static let identifier = UUIDBytes(high: 0xE621_E1F8_C36C_495A, low: 0x93FC_0C24_7A3E_6E5F)
  private static let text = "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'"

  private func store(rows: Int = 3) throws -> EntityStore {
    let thing = EntitySchema(
      "Thing",
      attributes: [
        AttributeSchema("price", .decimal), AttributeSchema("id", .uuid), AttributeSchema("remarks", .string),
        AttributeSchema("minutes", .integer32), AttributeSchema("weight", .float), AttributeSchema("at", .date),
      ])
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([thing])))
    let values = (0..<rows).map { number in
      var row = RowValues()
      row.set("price", .decimal(DecimalValue(isNegative: false, coefficient: 1, exponent: -1)))
      row.set("id", .uuid(Self.identifier))
      row.set("remarks", .string("x"))
      row.set("minutes", .integer(Int64(number)))
      row.set("weight", .float(0.1))
      row.set("at", .date(5))
      return row
    }
    _ = try ExactRangeTests.insert(store, values)
    return store
  }

  private func request(_ store: EntityStore, having: String?, column: String? = nil) throws -> EngineValuesFetch {
    let thing = try #require(store.schema.entity(named: "Thing"))
    var columns = [
      EngineColumn("total", .function("sum", [.keyPath("price")])),
      EngineColumn("dearer", .arithmetic(.multiply, .keyPath("price"), .constant(2))),
    ]
    if let column, case .comparison(let comparison) = try Predicate(format: "\(column) == nil") {
      columns.append(EngineColumn("column", comparison.left))
    }
    var request = EngineValuesFetch(EngineFetch(thing), columns: columns)
    request.groupBy = ["price", "id", "remarks", "weight", "at"]
    request.having = try having.map { try Predicate(format: $0) }
    return request
  }

  @Test(arguments: [
    "price == 0.1", "0.1 == price", "price IN {0.1, 7}", "price BETWEEN {0.1, 0.1}", "NOT price != 0.1",
    "sum(price) <= 0.3", "0.3 >= sum(price)", "total == 0.3", "$total == 0.3", "dearer == 0.2", "price + 0.1 == 0.2",
    "max(price) == 0.1", "min(price) == 0.1", "average(price) == 0.1", "median(price) == 0.1", "mode(price) == 0.1",
    "sum(price * 2) == 0.6", "sum(price) / count(SELF) == 0.1", "id == \(text)", "max(id) == \(text)",
    "\(text) == id", "weight == 0.1", "max(weight) == 0.1", "sum(minutes) == 3.0", "average(minutes) == 1",
    "count(SELF) == 3", "median(minutes) == 1", "max(at) == CAST(5, 'NSDate')", "remarks ==[c] 'X'",
    "TERNARY(price == 0.1, 1, 2) == 1",
  ])
  func constantsTakeTheTypeOfWhatTheyAreComparedWith(_ having: String) throws {
    let store = try store()
    let view = try store.view()
    #expect(try view.fetchValues(try request(store, having: having)).count == 1, "\(having)")
    #expect(try view.fetchValues(try request(store, having: "NOT (\(having))")).isEmpty, "NOT (\(having))")
  }

  /// Also without rows, and so without groups.
  @Test(
    arguments: [
      ("NOT (remarks > 5)", "remarks > 5"), ("5 < remarks", "remarks > 5"), ("remarks MATCHES '('", "MATCHES"),
      ("id == 'x'", "id == \"x\""), ("sum(minutes) == 'x'", "sum(minutes) == \"x\""), ("total == 'x'", "sum(price)"),
      ("max(remarks) < minutes.x", nil), ("at > 5", "at > 5"), ("sum(minutes) + remarks > 1", "sum(minutes) + remarks"),
      ("remarks == '$0' AND NOT '$0' == price", "price == \"$0\""), ("price CONTAINS 'x'", "price"),
      ("count(SELF) == remarks", "count(SELF) == remarks"), ("TERNARY(remarks == 5, 1, 2) == 1", "remarks == 5"),
      ("ANY remarks == 'x'", "remarks"), ("remarks IN {1}", "remarks"),
    ] as [(String, String?)])
  func whatCannotBeAskedIsRefused(_ having: String, _ construct: String?) throws {
    for rows in [0, 3] {
      let store = try store(rows: rows)
      let request = try request(store, having: having)
      let error = #expect(throws: EngineError.self, "\(having)") { try request.check(against: store.schema) }
      guard let construct else { continue }
      guard case .predicate(let reason)? = error else {
        Issue.record("\(having): \(String(describing: error))")
        continue
      }
      #expect(reason.construct.contains(construct), "\(reason)")
    }
  }

  @Test(arguments: ["sum(minutes) + remarks", "-remarks", "max(at) + max(at)", "uppercase(count(SELF))"])
  func columnsOfGroupsAreChecked(_ column: String) throws {
    let store = try store(rows: 0)
    let request = try request(store, having: nil, column: column)
    #expect(throws: EngineError.self, "\(column)") { try request.check(against: store.schema) }
  }
}
