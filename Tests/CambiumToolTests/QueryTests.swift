import CambiumEngine
import CambiumKernel
import CambiumSystem
import Foundation
import Testing

@testable import CambiumTool

/// `cambium query` on a small store in a file.
@Suite final class QueryTests {
  private let path: String

  /// Keeps what is written.
  private final class Written: RowOutput {
    var text = ""
    var notes: [String] = []
    func write(_ text: String, force: Bool) { self.text += text }
    func note(_ text: String) { notes.append(text) }
  }

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString).store").path
    let environment = SystemEnvironment()
    try FileDevice.create(at: path) { (device) throws(StoreError) in
      try Store.format(device, environment: environment, options: StoreOptions())
    }.close()
    let time = CompositeSchema(
      "Time", elements: [AttributeSchema("hour", .integer16), AttributeSchema("zone", .string)])
    let schema = try Schema(
      SchemaDefinition(
        [
          EntitySchema(
            "Plane", attributes: [AttributeSchema("tail", .string), AttributeSchema("seats", .integer32)],
            relationships: [RelationshipSchema("legs", toMany: "Leg", inverse: "plane")], unique: [["tail"]]),
          EntitySchema(
            "Leg",
            attributes: [
              AttributeSchema("day", .date), AttributeSchema("start", composite: "Time"),
              AttributeSchema("remark", .string),
            ],
            relationships: [RelationshipSchema("plane", to: "Plane", inverse: "legs")]),
        ], composites: [time]))
    let store = try EntityStore.create(
      in: try Store.open(on: FileDevice(path: path), environment: environment, options: StoreOptions()), schema: schema)
    let plane = try #require(schema.entity(named: "Plane"))
    let leg = try #require(schema.entity(named: "Leg"))
    try store.write { (t) throws(EngineError) in
      var planes: [ObjectReference] = []
      for (tail, seats) in [("n10", 4), ("N9", 2)] {
        var values = RowValues()
        values.set("tail", .string(tail))
        values.set("seats", .integer(Int64(seats)))
        planes.append(try t.reserveReference(plane))
        try t.insert(planes[planes.count - 1], values)
      }
      let remarks: [Value] = [.null, "", "a,b", "say \"hi\"", "two\nlines", "\u{1B}[2J"]
      for (number, remark) in remarks.enumerated() {
        var values = RowValues()
        values.set("day", .date(Double(number / 3) * 86_400))
        values.set(
          "start", .composite(["hour": .integer(Int64(number)), "zone": number == 5 ? .null : "UTC"]))
        values.set("remark", remark)
        if number < 5 { values.set(toOne: "plane", planes[number % 2]) }
        try t.insert(try t.reserveReference(leg), values)
      }
    }
    try store.close()
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  private func query(_ arguments: String...) throws -> String {
    let written = Written()
    let parsed = try Arguments(["query", path] + arguments)
    try runQuery(try Command.query.checked(Array(parsed.operands.dropFirst()), parsed), parsed, written)
    return written.text
  }

  private func mistake(_ arguments: String...) -> String {
    do {
      let parsed = try Arguments(["query", path] + arguments)
      try runQuery(try Command.query.checked(Array(parsed.operands.dropFirst()), parsed), parsed, Written())
      return ""
    } catch {
      #expect(error.status == .usage)
      return error.text
    }
  }

  // MARK: Forms

  @Test func tablesAreAligned() throws {
    #expect(
      try query("Leg", "start.hour > 1", "--columns", "start.hour AS at, remark, plane.tail", "--sort", "-start.hour")
        == """
        at  remark      plane.tail
        --  ----------  ----------
         5  \\u{1b}[2J   nil
         4  two\\nlines  n10
         3  say "hi"    N9
         2  a,b         n10

        """)
    #expect(try query("Leg", "start.hour > 9", "--columns", "remark") == "remark\n------\n")
  }

  @Test func csvIsThatOfTheStandard() throws {
    #expect(
      try query("Leg", "--columns", "start.hour,remark", "--csv")
        == "start.hour,remark\r\n0,\r\n1,\"\"\r\n2,\"a,b\"\r\n3,\"say \"\"hi\"\"\"\r\n4,\"two\nlines\"\r\n5,\u{1B}[2J\r\n"
    )
    #expect(try query("Leg", "start.hour == 0", "--columns", "remark", "--csv") == "remark\r\n\"\"\r\n")
  }

  @Test func jsonIsAnObjectALine() throws {
    #expect(
      try query("Leg", "start.hour IN {0, 5}", "--json") == """
        {"day":"2001-01-01T00:00:00Z","start.hour":0,"start.zone":"UTC","remark":null,"plane":"Plane/1"}
        {"day":"2001-01-02T00:00:00Z","start.hour":5,"start.zone":null,"remark":"\\u001b[2J","plane":null}

        """)
    let columns = try query("Leg", "start.hour == 3", "--columns", "start, SELF, start.hour * 2 AS twice", "--json")
    #expect(
      columns == "{\"start\":{\"hour\":3,\"zone\":\"UTC\"},\"SELF\":\"Leg/6\",\"twice\":6}\n")
  }

  /// A wide value among later rows moves its own line only, and no row waits for more than the first hundred.
  @Test func aTableIsAlignedByItsFirstRows() throws {
    let written = Written()
    let schema = try Schema(SchemaDefinition([EntitySchema("Thing", attributes: [AttributeSchema("a", .string)])]))
    let printer = RowPrinter(.table, names: ["a", "b"], schema: schema, output: written)
    for number in 0..<RowPrinter.sampleSize { try printer.add([.string("x"), .integer(Int64(number % 10))]) }
    #expect(written.text.hasPrefix("a  b\n-  -\nx  0\nx  1\n"))
    #expect(written.text.split(separator: "\n").count == RowPrinter.sampleSize + 2)
    try printer.add(["much longer", 1])
    try printer.finish()
    #expect(written.text.hasSuffix("x  9\nmuch longer  1\n"))
  }

  // MARK: Requests

  @Test func ordersAndLimits() throws {
    func tails(_ sort: String) throws -> [Substring] {
      try query("Plane", "--columns", "tail", "--sort", sort, "--csv").split(separator: "\r\n").dropFirst().map { $0 }
    }
    #expect(try tails("tail") == ["N9", "n10"])
    #expect(try tails("tail:ci") == ["n10", "N9"])
    #expect(try tails("tail:natural") == ["N9", "n10"])
    #expect(try tails("-tail:natural") == ["n10", "N9"])
    #expect(
      try query(
        "Leg", "--columns=start.hour", "--sort=plane.tail,-start.hour", "--limit=2", "--offset=1", "--csv")
        == "start.hour\r\n3\r\n1\r\n")
    #expect(
      try query("Leg", "--columns", "start.hour", "--limit", "2", "--offset", "3", "--csv")
        == "start.hour\r\n3\r\n4\r\n")
    #expect(try query("Leg", "--limit", "0", "--columns", "day", "--csv") == "day\r\n")
  }

  @Test func groups() throws {
    #expect(
      try query("Leg", "--group-by", "plane.tail", "--csv")
        == "plane.tail,count\r\nn10,3\r\nN9,2\r\n,1\r\n")
    #expect(
      try query(
        "Leg", "plane != nil", "--group-by", "plane.tail, day", "--having", "hours > 2",
        "--columns", "plane.tail, day AS d, sum(start.hour) AS hours, count(remark)", "--sort", "-hours", "--csv")
        == "plane.tail,d,hours,count(remark)\r\nn10,2001-01-02T00:00:00Z,4,1\r\nN9,2001-01-02T00:00:00Z,3,1\r\n")
    #expect(
      try query("Leg", "--columns", "count(SELF) AS n, max(start.hour), average(start.hour) as \"the mean\"", "--json")
        == "{\"n\":6,\"max(start.hour)\":5,\"the mean\":2.5}\n")
    #expect(
      try query("Plane", "SUBQUERY(legs, $l, $l.start.hour > 2).@count > 0", "--columns", "tail,legs.@count", "--csv")
        == "tail,legs.@count\r\nn10,3\r\nN9,2\r\n")
  }

  @Test func columnsAreSplitOutsideOfBracketsAndQuotes() throws {
    #expect(
      try QueryText.parts("a, f(b, {c, d}) , \"x, \\\"y\", 'p,q'", of: "") == [
        "a", "f(b, {c, d})", "\"x, \\\"y\"", "'p,q'",
      ])
    let column = try QueryText.column("TERNARY(a == \" AS \", 1, 2)  as  b c")
    #expect(column.name == "b c")
    #expect(column.expression.description == "TERNARY(a == \" AS \", 1, 2)")
    #expect(try QueryText.column("basis").name == "basis")
    #expect(try QueryText.sortKey("modulus:by:(a, 2)").keyPath == "modulus:by:(a, 2)")
    let near = try QueryText.sortKey("-place.location:near(40.5, -73)")
    #expect(near.keyPath == "place.location" && !near.isAscending)
    #expect(near.origin == EnginePlace(latitude: 40.5, longitude: -73))
  }

  @Test func mistakesSayWhatThereIs() {
    #expect(mistake("Boat") == "\(path) has no entity 'Boat', but Plane, Leg")
    #expect(mistake("plan") == "\(path) has no entity 'plan'; did you mean 'Plane'? There are Plane, Leg")
    #expect(mistake("Leg", "--columms", "day") == "unknown option '--columms'; did you mean '--columns'?")
    #expect(
      mistake("Leg", "--columns", "remrk")
        == "Leg has no property 'remrk'; did you mean 'remark'? Leg has day, start, remark, plane")
    #expect(
      mistake("Leg", "--columns", "plane.tial").hasSuffix("; did you mean 'tail'? Plane has tail, seats, legs"))
    #expect(mistake("Leg", "--columns", "cabin").hasSuffix("'cabin'; Leg has day, start, remark, plane"))
    #expect(mistake("Leg", "--group-by", "start.our").hasSuffix("; did you mean 'hour'? start has hour, zone"))
    #expect(mistake("Leg", "start.our > 1").hasSuffix("'our'; did you mean 'hour'? start has hour, zone"))
    #expect(
      mistake("Leg", "ANY plane.legs.x == 1").hasSuffix("'Leg' has no property 'x'; Leg has day, start, remark, plane"))
    #expect(
      mistake("Plane", "SUBQUERY(legs, $l, $l.x > 1).@count > 0")
        .hasSuffix("has no property 'x'; Leg has day, start, remark, plane"))
    #expect(mistake("Leg", "remark >").hasPrefix("predicate at byte 8"))
    #expect(mistake("Leg", "--columns", "day, f(1").hasPrefix("--columns 'f(1': predicate at byte"))
    #expect(mistake("Leg", "--having", "count >").hasPrefix("--having: predicate at byte 7"))
    #expect(mistake("Leg", "--having", "count > 1").contains("needs groups"))
    #expect(mistake("Leg", "--group-by", "day", "--columns", "remark").contains("has several values in a group"))
    #expect(
      mistake("Leg", "--sort", "remark:up")
        == "--sort 'remark:up': there is no order 'up'; there are ci, natural and near(latitude, longitude)")
    #expect(mistake("Leg", "--sort", "start:near(1)").contains("write 'PATH:near(latitude, longitude)'"))
    #expect(mistake("Leg", "--sort", "start:near(1, 2)").contains("has no distance"))
    #expect(mistake("Leg", "--sort", "remrk").hasSuffix("'remark'? Leg has day, start, remark, plane"))
    #expect(mistake("Leg", "--columns", "day,,remark").contains("between two commas"))
    #expect(mistake("Leg", "--columns", "day AS ").contains("write 'expression AS name'"))
    #expect(mistake("Leg", "--limit", "-1") == "--limit takes a number from 0, not '-1'")
    #expect(mistake("Leg", "--limit") == "--limit needs a value")
    #expect(mistake("Leg", "--limit", "1", "--limit=2") == "--limit is given twice")
    #expect(mistake("Leg", "--json", "--csv") == "--json and --csv exclude one another")
    #expect(mistake("Leg", "day != nil", "more").hasPrefix("too many"))
    #expect(mistake("Plane", "--columns", "legs").contains("leads to several objects"))
  }

  @Test func explains() throws {
    #expect(
      try query("Plane", "tail == \"N9\"", "--explain", "--run").hasSuffix("\nfound 1\n"))
    #expect(
      try query("Leg", "--group-by", "day", "--explain") == """
        scan of Leg, about 6 rows
        grouped by day

        """)
    #expect(
      try query("Plane", "--limit", "1", "--explain", "--json").hasPrefix(
        "{\"steps\":[{\"depth\":0,\"text\":\"scan of Plane\""))
    #expect(mistake("Plane", "--explain", "--csv") == "--explain answers with text or --json")
    #expect(mistake("Plane", "--run") == "--run is for --explain")
    #expect(mistake("Plane", "x == 1", "--explain").hasSuffix("; Plane has tail, seats, legs"))
  }

  @Test func optionsOfQueriesAreForQueries() {
    do {
      let parsed = try Arguments(["count", path, "Leg", "--sort", "day"])
      _ = try Command.count.run(Array(parsed.operands.dropFirst()), parsed)
      Issue.record("count takes --sort")
    } catch { #expect(error.text == "--sort is for 'cambium query' only") }
  }

  // MARK: Dates, objects and habits of SQL

  private func count(_ entity: String, _ predicate: String) throws -> String {
    try countObjects(path: path, entity: entity, predicate: predicate).text
  }

  @Test func datesAreText() throws {
    #expect(try count("Leg", "day >= '2001-01-02'") == "3")
    #expect(try count("Leg", "day == \"2001-01-02T00:00:00Z\"") == "3")
    #expect(try count("Leg", "day < '2001-01-02T00:30+01:00' AND day > '2001-01-01 00:00:00.5'") == "0")
    #expect(try count("Leg", "day <= '2001-01-02T01:00+01:00'") == "6")
    #expect(try count("Leg", "day IN {'2001-01-01', '2001-01-05'}") == "3")
    #expect(try count("Leg", "day BETWEEN {'2001-01-01', '2001-01-01T23:59:59Z'}") == "3")
    #expect(try count("Leg", "'2001-01-02' <= day") == "3")
    #expect(try count("Plane", "ANY legs.day > '2001-01-01T12:00'") == "2")
    #expect(try count("Plane", "SUBQUERY(legs, $l, $l.day == '2001-01-01').@count == 2") == "1")
    #expect(
      try query(
        "Leg", "--group-by", "plane.tail", "--having", "last < '2001-01-02' OR first >= '2001-01-02'", "--columns",
        "plane.tail, min(day) AS first, max(day) AS last", "--csv")
        == "plane.tail,first,last\r\n,2001-01-02T00:00:00Z,2001-01-02T00:00:00Z\r\n")
    #expect(
      mistake("Leg", "remark != nil AND day > '2001-13-01'")
        == "predicate, 'day > \"2001-13-01\"': '2001-13-01' is no date: there is no month 13")
    #expect(mistake("Leg", "day == 'yesterday'").hasSuffix("or with a time in UTC \"2001-03-01T14:30:00Z\""))
    #expect(mistake("Leg", "day == 5").contains("text such as \"2001-03-01\""))
  }

  @Test func printedObjectsCanBeTyped() throws {
    let printed = try query("Leg", "plane.tail == 'N9'", "--columns", "SELF, plane", "--csv")
      .split(separator: "\r\n").map { $0.split(separator: ",").map(String.init) }
    let (leg, plane) = (printed[1][0], printed[1][1])
    #expect(leg.hasPrefix("Leg/") && plane.hasPrefix("Plane/"))
    #expect(try query("Leg", "SELF == \(leg)", "--columns", "SELF", "--csv") == "SELF\r\n\(leg)\r\n")
    #expect(try count("Leg", "plane == \(plane)") == "2")
    #expect(try count("Leg", "SELF IN {\(leg), \(printed[2][0]), Leg/999}") == "2")
    #expect(try count("Plane", "ANY legs == \(leg)") == "1")
    #expect(try count("Plane", "SUBQUERY(legs, $l, $l == \(leg)).@count == 1 AND SELF == \(plane)") == "1")
    // A division by a number is one as before.
    #expect(try count("Plane", "seats/2 == 2") == "1")
    #expect(mistake("Leg", "plane == Plain/1").contains("'Leg' has no property 'Plain'"))
  }

  @Test func habitsOfSQL() throws {
    let written = Written()
    let parsed = try Arguments(["query", path, "Plane", "tail LIKE 'N1%' OR tail LIKE '*%'", "--csv"])
    try runQuery(Array(parsed.operands.dropFirst()), parsed, written)
    #expect(written.notes == ["in LIKE \"N1%\" the % stands for itself; * is the wildcard: LIKE \"N1*\""])
    #expect(
      try countObjects(path: path, entity: "Plane", predicate: "SUBQUERY(legs, $l, $l.remark LIKE '%a').@count > 0")
        .notes.count == 1)
    #expect(try countObjects(path: path, entity: "Plane", predicate: "tail CONTAINS '%'").notes == [])
    #expect(
      mistake("Leg", "remark IS NULL")
        == "predicate at byte 7, 'IS': there is no IS; write == nil for IS NULL, and != nil for IS NOT NULL")
  }
}
