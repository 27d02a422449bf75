import CSQLite
import CambiumEngine
import Foundation

/// Asks Cambium and SQLite the same questions about the flight data, and tells how long each side takes.
///
/// SQLite has the same indexes as the store, one on each foreign key, the statistics of `ANALYZE`, and a page cache in
/// which the whole database fits. Both sides answer a question in the same form: identifiers, identifiers and some
/// columns, a count, distinct values, or groups. Each answer is compared before it is timed.
struct TimedRun {
  let options: Options

  /// Runs; answers the exit status.
  func run() throws -> Int32 {
    let data = options.data ?? FlightTwins.repositoryData
    let tables = try FlightTwins.load(data: data, directory: options.directory, name: "oracle")
    defer { try? tables.close() }
    let counts = tables.tables.map { "\($0.rows.count) \($0.name)" }.joined(separator: ", ")
    print("\(counts), from \(data); SQLite \(String(cString: sqlite3_libversion()))")
    let timer = QuestionTimer(tables.connection)
    let nulls = try KnownNulls(tables)
    var status: Int32 = 0
    if options.isFixed {
      status = max(status, try FixedRun(tables: tables, timer: timer, nulls: nulls).run())
    }
    if options.isTimed { status = max(status, try random(tables, timer, nulls)) }
    return status
  }

  private func random(_ tables: TwinTables, _ timer: QuestionTimer, _ nulls: KnownNulls) throws -> Int32 {
    let seed = options.seed ?? QuestionGenerator.publishedSeed
    print("\(options.questions) questions of seed \(seed)")
    var generator = QuestionGenerator(tables, seed: seed)
    let check = AnswerCheck(tables: tables, timer: timer)
    var (timed, different, unknown): ([TimedAnswer], Int, Int) = ([], 0, 0)
    for number in 0..<options.questions {
      let question = try generator.question()
      let names = [question.kind.name, "\(number)"]
      let isWanted = options.only.isEmpty || names.contains { options.only.contains($0) }
      if isWanted {
        do {
          let ways = try Self.ways(question, tables, nulls)
          if options.isCompared {
            switch try check.check(question, ways: ways.map { $0.sql }) {
            case .same: break
            case .unknown: unknown += 1
            case .different(let difference): throw OracleError(difference)
            }
          }
          let asker = try CambiumAsker(question, tables)
          let (ours, answer) = try timer.time([asker])
          let theirs = try timer.time(ways.map { [$0.sql] })
          timed.append(
            TimedAnswer(
              number: number, question: question, rows: answer.count, cambium: ours, sqlite: theirs.seconds,
              wasStopped: theirs.wasStopped, style: ways[theirs.way].style, sql: ways[theirs.way].sql,
              plan: try asker.explanation()))
        } catch {
          different += 1
          print("DIFFERENT: question \(number), \(question.text)\n  \(error)")
        }
      }
      if number % 50 == 49 {
        log("\(number + 1) questions, \(different) different")
        // A run of hours that is ended early leaves its figures.
        try save(RatioReport(answers: timed))
      }
    }
    let compared =
      options.isCompared
      ? "\(different) different, \(unknown) whose careful SQL took too long to compare"
      : "not compared, \(different) that could not be asked"
    print("\(timed.count) questions timed, \(compared)")
    let report = RatioReport(answers: timed)
    print(report.distribution)
    try save(report)
    for answer in report.worst(options.worst) + report.worst(options.worst / 2, isLong: false) {
      print(try describe(answer, tables))
    }
    return different == 0 ? 0 : 1
  }

  private func save(_ report: RatioReport) throws {
    fflush(nil)
    if let path = options.save { try report.figures.write(toFile: path, atomically: true, encoding: .utf8) }
  }

  /// The different ways to write a question for SQLite.
  static func ways(
    _ question: TimedQuestion, _ tables: TwinTables, _ nulls: KnownNulls
  ) throws -> [(style: PlainSQL.Style, sql: String)] {
    var ways: [(style: PlainSQL.Style, sql: String)] = []
    for style in PlainSQL.Style.allCases {
      let sql = try PlainSQL(tables, style, nulls).statement(question)
      if !ways.contains(where: { $0.sql == sql }) { ways.append((style, sql)) }
    }
    return ways
  }

  /// A question with both sides' plans.
  private func describe(_ answer: TimedAnswer, _ tables: TwinTables) throws -> String {
    var text = "\nratio \(fixed(answer.ratio, 3)), Cambium \(milliseconds(answer.cambium)) ms, SQLite "
    text += "\(milliseconds(answer.sqlite)) ms\(answer.wasStopped ? " (stopped)" : ""), \(answer.rows) rows\n"
    text += "  \(answer.number) \(answer.question.text)\n  \(answer.sql)\n"
    text += try tables.connection.plan(of: answer.sql).map { "    SQLite: \($0)\n" }.joined()
    text += answer.plan.description.split(separator: "\n").map { "    Cambium: \($0)\n" }.joined()
    return text
  }
}

extension SQLiteConnection {
  /// The lines of SQLite's plan, those that another one needs indented.
  func plan(of sql: String) throws -> [String] {
    let statement = try prepare("EXPLAIN QUERY PLAN " + sql)
    var lines: [String] = []
    var depths: [Int: Int] = [:]
    while try statement.step() {
      let depth = (depths[statement.int(1)] ?? -1) + 1
      depths[statement.int(0)] = depth
      lines.append(String(repeating: "  ", count: depth) + statement.text(3))
    }
    return lines
  }
}

extension SQLiteStatement {
  var columnCount: Int32 { sqlite3_column_count(handle) }
}

/// A number with so many digits behind the point.
func fixed(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }

/// Seconds as milliseconds.
func milliseconds(_ seconds: Double) -> String { fixed(seconds * 1_000, seconds < 0.01 ? 3 : 1) }
