import CambiumEngine

/// A question with the time that each side took to answer it.
struct TimedAnswer {
  var number: Int
  var question: TimedQuestion
  var rows: Int
  /// Seconds of processor time.
  var cambium: Double
  /// Seconds of processor time; 2 if SQLite was stopped.
  var sqlite: Double
  var wasStopped: Bool
  var style: PlainSQL.Style
  var sql: String
  var plan: QueryExplanation

  /// SQLite's time divided by Cambium's: above 1 Cambium is faster.
  var ratio: Double { sqlite / max(cambium, 1e-7) }
  /// Whether SQLite took a millisecond or more.
  var isLong: Bool { sqlite >= 0.001 }
}

/// The distribution of the ratio by kind of question.
struct RatioReport {
  let answers: [TimedAnswer]

  /// Tables in Markdown: questions that SQLite answers in 1 ms or more, and apart those that take less.
  var distribution: String {
    let long = answers.filter { $0.isLong }
    let short = answers.filter { !$0.isLong }
    let stopped = answers.filter { $0.wasStopped }.count
    return table("1 ms or more in SQLite", long) + "\n" + table("less than 1 ms in SQLite", short)
      + "\nSQLite was stopped at 2 s in \(stopped) questions. Ratio: SQLite's time divided by Cambium's.\n"
  }

  private func table(_ title: String, _ answers: [TimedAnswer]) -> String {
    var text = """
      | \(title) | questions | median | 10th percentile | 1st percentile | below 1 | Cambium, s | SQLite, s |
      |---|---:|---:|---:|---:|---:|---:|---:|

      """
    for kind in TimedQuestion.Kind.allCases {
      text += line(kind.rawValue, answers.filter { $0.question.kind == kind })
    }
    return text + line("**all**", answers)
  }

  private func line(_ title: String, _ answers: [TimedAnswer]) -> String {
    if answers.isEmpty { return "| \(title) | 0 | – | – | – | – | – | – |\n" }
    let samples = Samples(values: answers.map { $0.ratio })
    let below = answers.filter { $0.ratio < 1 }.count
    let cells = [
      title, "\(answers.count)", fixed(samples.median, 2), fixed(samples.quantile(0.1), 2),
      fixed(samples.quantile(0.01), 2), "\(below * 100 / answers.count) %",
      fixed(answers.reduce(0) { $0 + $1.cambium }, 1), fixed(answers.reduce(0) { $0 + $1.sqlite }, 1),
    ]
    return "| " + cells.joined(separator: " | ") + " |\n"
  }

  /// The questions with the least ratios, of those that SQLite answers in 1 ms or more, or of the shorter ones.
  func worst(_ count: Int, isLong: Bool = true) -> [TimedAnswer] {
    Array(answers.filter { $0.isLong == isLong }.sorted { ($0.ratio, $0.number) < ($1.ratio, $1.number) }.prefix(count))
  }

  /// All figures as tab-separated values, one question a line, so that two runs of one seed can be compared.
  var figures: String {
    var text = "number\tkind\ttable\tform\trows\tcambium_ms\tsqlite_ms\tratio\tstyle\tplan\n"
    for answer in answers {
      let kinds = answer.plan.kinds.map { $0.rawValue }.sorted().joined(separator: "+")
      let cells = [
        "\(answer.number)", answer.question.kind.rawValue, answer.question.table.name, answer.question.form.name,
        "\(answer.rows)", fixed(answer.cambium * 1_000, 3), fixed(answer.sqlite * 1_000, 3), fixed(answer.ratio, 3),
        answer.wasStopped ? "stopped" : answer.style.rawValue, kinds,
      ]
      text += cells.joined(separator: "\t") + "\n"
    }
    return text
  }
}
