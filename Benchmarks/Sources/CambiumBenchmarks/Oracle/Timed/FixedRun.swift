import CambiumEngine

/// A question that is the same in every run: the rows of the table, and what the example `FlightLog` asks.
struct FixedQuestion {
  let title: String
  /// The fetches that Cambium makes, as the application makes them.
  let parts: [TimedQuestion]
  /// The statements that a programmer asks SQLite instead, if they differ from one statement for each fetch.
  var statements: [String]?
  /// Whether careful SQL can say which answer is right. It has no order of distances.
  var isComparable = true

  init(_ title: String, _ parts: [TimedQuestion], _ statements: [String]? = nil) {
    self.title = title
    self.parts = parts
    self.statements = statements
  }
}

/// Times the fixed questions, and prints both sides' times.
struct FixedRun {
  let tables: TwinTables
  let timer: QuestionTimer
  let nulls: KnownNulls

  /// Runs; answers the exit status.
  func run() throws -> Int32 {
    SQLiteNearest.register(tables.connection.handle)
    let builder = FixedQuestions(tables: tables)
    let first = try time("Questions of the table", try builder.table())
    let second = try time("Questions of FlightLog", try builder.flightLog())
    return max(first, second)
  }

  private func time(_ title: String, _ questions: [FixedQuestion]) throws -> Int32 {
    var text = "| \(title) | rows | Cambium, ms | SQLite, ms | ratio |\n|---|---:|---:|---:|---:|\n"
    var details = ""
    var status: Int32 = 0
    let check = AnswerCheck(tables: tables, timer: timer)
    for question in questions {
      var ways: [[String]] = []
      if question.isComparable {
        ways = try PlainSQL.Style.allCases.map { style in
          try question.parts.map { try PlainSQL(tables, style, nulls).statement($0) }
        }
        for (number, part) in question.parts.enumerated() {
          if case .different(let difference) = try check.check(part, ways: ways.map { $0[number] }) {
            status = 1
            print("DIFFERENT: \(question.title): \(part.text)\n  \(difference)")
          }
        }
      }
      if let statements = question.statements { ways = [statements] }
      if ways.count > 1, ways[0] == ways[1] { ways.removeLast() }
      let askers = try question.parts.map { try CambiumAsker($0, tables) }
      let (ours, answer) = try timer.time(askers)
      let theirs = try timer.time(ways)
      let ratio = theirs.seconds / ours
      text += "| \(question.title) | \(answer.count) | \(milliseconds(ours)) | \(milliseconds(theirs.seconds)) | "
      text += "\(ratio < 1 ? fixed(ratio, 2) : "**\(fixed(ratio, 2))**") |\n"
      guard ratio < 1 else { continue }
      details += "\n\(question.title)\n"
      for sql in ways[theirs.way].prefix(2) {
        details += "  \(sql)\n" + (try tables.connection.plan(of: sql).map { "    SQLite: \($0)\n" }.joined())
      }
      for asker in askers.prefix(2) {
        let plan = try asker.explanation().description
        details += plan.split(separator: "\n").map { "    Cambium: \($0)\n" }.joined()
      }
    }
    print(text + details)
    return status
  }
}
