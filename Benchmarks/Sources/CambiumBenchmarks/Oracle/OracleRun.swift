import CSQLite
import CambiumEngine
import Foundation

/// Asks Cambium and SQLite the same random questions about the flight data.
struct OracleRun {
  let options: Options

  /// What came of the predicates.
  private struct Outcome {
    var none = 0
    var all = 0
    var some = 0
    var rows = 0
    var features: [String: Int] = [:]
    /// What the plans were made of.
    var plans: [String: Int] = [:]
    var cambiumTime = 0.0
    var sqliteTime = 0.0
    var failures = 0
    var asked: Int { none + all + some }
  }

  /// Runs; answers the exit status.
  func run() throws -> Int32 {
    let data = options.data ?? FlightTwins.repositoryData
    let seed = options.seed ?? UInt64.random(in: 1...999_999_999)
    let start = now()
    let tables = try FlightTwins.load(data: data, directory: options.directory, name: "oracle")
    defer { try? tables.close() }
    let counts = tables.tables.map { "\($0.rows.count) \($0.name)" }.joined(separator: ", ")
    print("\(counts), loaded into both in \(short(now() - start)) s from \(data)")
    print("seed \(seed)")
    var generator = PredicateGenerator(tables, seed: seed)
    let predicates = try comparePredicates(tables, &generator)
    let groups = try compareGroups(tables, &generator)
    let share = Double(predicates.some) / Double(max(1, predicates.asked))
    print(
      "\(predicates.asked) predicates: \(predicates.none) matched none, \(predicates.all) all, \(predicates.some) "
        + "neither (\(Int(share * 100)) %); \(predicates.rows) rows found; Cambium \(short(predicates.cambiumTime)) s, SQLite "
        + "\(short(predicates.sqliteTime)) s; \(predicates.failures) different")
    print("  asked: " + list(predicates.features))
    print("  plans: " + list(predicates.plans))
    print(
      "\(groups.asked) questions about groups: \(groups.none) without a group, \(groups.some) with several; "
        + "\(groups.rows) groups; Cambium \(short(groups.cambiumTime)) s, SQLite \(short(groups.sqliteTime)) s; "
        + "\(groups.failures) different")
    print("  asked: " + list(groups.features))
    if share < 0.3 { print("FAILED: fewer than 30 % of the predicates matched neither none nor all rows") }
    return predicates.failures == 0 && groups.failures == 0 && share >= 0.3 ? 0 : 1
  }

  private func list(_ counts: [String: Int]) -> String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }

  // MARK: Predicates

  private func comparePredicates(_ tables: TwinTables, _ generator: inout PredicateGenerator) throws -> Outcome {
    var outcome = Outcome()
    let names = [
      "LogEntry", "LogEntry", "LogEntry", "LogEntry", "Aircraft", "Aircraft", "Aircraft", "Airport", "Airport",
    ]
    for number in 0..<options.predicates {
      if number > 0, number % 200 == 0 { log("\(number) predicates, \(outcome.failures) different") }
      let table = try tables.table(generator.chance(10) ? "Airline" : generator.pick(names))
      var predicate = try generator.predicate(table)
      let features = generator.features
      let translator = SQLTranslator(tables)
      let scope = translator.scope(of: table)
      let sql =
        "SELECT \(scope.alias).id FROM \(table.name) \(scope.alias) WHERE "
        + "\(try translator.condition(predicate, scope)) ORDER BY 1"
      // Written and read again, it is the same.
      if generator.chance(50) { predicate = try Predicate(format: predicate.description) }
      let asksCount = generator.chance(20)
      do {
        var expected: [UInt64] = []
        outcome.sqliteTime += try seconds {
          let statement = try tables.connection.prepare(sql)
          for (place, value) in translator.parameters.enumerated() { statement.bindValue(Int32(place + 1), value) }
          while try statement.step() { expected.append(table.rows[statement.int(0) - 1]) }
        }
        let fetch = EngineFetch(try tables.entity(table), predicate: predicate)
        var found: [UInt64] = []
        outcome.cambiumTime += try seconds { found = try tables.store.view().fetch(fetch).map { $0.row } }
        for kind in try tables.store.view().explain(fetch).kinds { outcome.plans[kind.rawValue, default: 0] += 1 }
        var difference: String?
        // A fetch without order is in the order of rows.
        if found != expected { difference = describe(found, expected, table) }
        if difference == nil, asksCount {
          let count = try tables.store.view().count(fetch)
          if count != found.count { difference = "counted \(count), found \(found.count)" }
        }
        outcome.rows += expected.count
        if expected.isEmpty {
          outcome.none += 1
        } else if expected.count == table.rows.count {
          outcome.all += 1
        } else {
          outcome.some += 1
        }
        for feature in features { outcome.features[feature, default: 0] += 1 }
        if let difference {
          throw OracleError(difference)
        }
      } catch {
        outcome.failures += 1
        report("predicate \(number) on \(table.name): \(predicate)", sql, translator.parameters, "\(error)")
      }
    }
    return outcome
  }

  private func describe(_ found: [UInt64], _ expected: [UInt64], _ table: TwinTable) -> String {
    let (ours, theirs) = (Set(found), Set(expected))
    if ours == theirs { return "the same rows in another order" }
    func ids(_ rows: Set<UInt64>) -> String {
      let ids = rows.compactMap { table.idOfRow[$0] }.sorted()
      return ids.prefix(10).map(String.init).joined(separator: ", ") + (ids.count > 10 ? ", ..." : "")
    }
    return
      "\(found.count) rows instead of \(expected.count); Cambium alone has ids [\(ids(ours.subtracting(theirs)))], SQLite "
      + "alone [\(ids(theirs.subtracting(ours)))]"
  }

  private func report(_ title: String, _ sql: String, _ parameters: [Value], _ difference: String) {
    let list = parameters.enumerated().map { "?\($0.offset + 1) = \($0.element.formatText)" }.joined(separator: ", ")
    print("DIFFERENT: \(title)\n  SQL: \(sql)\n  with \(list)\n  \(difference)")
  }

  // MARK: Groups

  private func compareGroups(_ tables: TwinTables, _ generator: inout PredicateGenerator) throws -> Outcome {
    var outcome = Outcome()
    for number in 0..<options.groups {
      if number > 0, number % 50 == 0 { log("\(number) questions about groups, \(outcome.failures) different") }
      var query = try generator.groupQuery(tables)
      var sql = try query.sql(tables)
      do {
        var expected = try ask(tables, sql, columns: query.keys.count + query.aggregates.count)
        if generator.chance(60), let having = generator.having(query, expected) {
          query.having = having
          sql = try query.sql(tables)
          outcome.features["having", default: 0] += 1
        }
        outcome.sqliteTime += try seconds {
          expected = try ask(tables, sql, columns: query.keys.count + query.aggregates.count)
        }
        let request = try query.request(tables, namesColumns: generator.chance(50))
        var found: [[Value]] = []
        outcome.cambiumTime += try seconds { found = try tables.store.view().fetchValues(request) }
        outcome.rows += expected.count
        if expected.isEmpty {
          outcome.none += 1
        } else if expected.count == 1 {
          outcome.all += 1
        } else {
          outcome.some += 1
        }
        for aggregate in query.aggregates {
          if case .function(let name, _) = aggregate.expression { outcome.features[name, default: 0] += 1 }
        }
        let results = try found.map { try $0.map { try tables.plain($0) } }
        if let difference = GroupDifference.text(results, expected, keys: query.keys.count) {
          throw OracleError(difference)
        }
      } catch {
        outcome.failures += 1
        report("groups \(number): \(query.description)", sql.text, sql.parameters, "\(error)")
      }
    }
    return outcome
  }

  private func ask(
    _ tables: TwinTables, _ sql: (text: String, parameters: [Value]), columns: Int
  ) throws -> [[Value]] {
    let statement = try tables.connection.prepare(sql.text)
    for (place, value) in sql.parameters.enumerated() { statement.bindValue(Int32(place + 1), value) }
    var rows: [[Value]] = []
    while try statement.step() { rows.append((0..<Int32(columns)).map { statement.value($0) }) }
    return rows
  }
}
