import CambiumEngine

/// Compares Cambium's answers to timed questions with those of SQLite.
///
/// The careful SQL of ``SQLTranslator`` says which answer is right. The plain SQL, which is timed, has to give the same
/// rows. If there is a limit, it may choose others among equals, so only their number is compared.
struct AnswerCheck {
  /// Seconds after which a careful statement is given up.
  static let longest = 20.0

  enum Outcome {
    case same
    case different(String)
    /// SQLite did not answer the careful statement in time.
    case unknown
  }

  let tables: TwinTables
  let timer: QuestionTimer

  /// - Parameter ways: The statements of each way that the question is written for SQLite.
  func check(_ question: TimedQuestion, ways: [String]) throws -> Outcome {
    let translator = SQLTranslator(tables)
    let scope = translator.scope(of: question.table)
    let condition = try question.predicate.map { " WHERE " + (try translator.condition($0, scope)) } ?? ""
    let source = "FROM \(question.table.name) \(scope.alias)\(condition)"
    switch question.form {
    case .identifiers, .columns, .links:
      var sql = "SELECT \(scope.alias).id \(source) ORDER BY "
      for key in question.sort {
        sql += "\(try translator.scalar(.keyPath(key.keyPath), scope))\(key.isAscending ? "" : " DESC"), "
      }
      sql += "\(scope.alias).id LIMIT \(question.limit ?? -1) OFFSET \(question.offset)"
      guard let expected = try rows(sql, translator.parameters) else { return .unknown }
      let found = try tables.store.view().fetch(question.fetch(tables)).map { reference -> [Value] in
        [.integer(Int64(question.table.idOfRow[reference.row] ?? 0))]
      }
      if found != expected { return .different(Self.difference(found, expected)) }
      return try compare(ways, Set(expected), isPart: question.limit != nil || question.offset > 0, columns: 1)
    case .count:
      guard let expected = try rows("SELECT count(*) \(source)", translator.parameters) else { return .unknown }
      let found = [[Value.integer(Int64(try tables.store.view().count(question.fetch(tables))))]]
      if found != expected { return .different(Self.difference(found, expected)) }
      return try compare(ways, Set(expected), isPart: false, columns: 1)
    case .distinct(let paths):
      let columns = try paths.map { try translator.scalar(.keyPath($0), scope) }.joined(separator: ", ")
      guard let expected = try rows("SELECT DISTINCT \(columns) \(source)", translator.parameters) else {
        return .unknown
      }
      let found = try found(question)
      if !Set(found).isSubset(of: expected) { return .different("a combination that SQLite has not") }
      if found.count != min(question.limit ?? .max, expected.count) {
        return .different("\(found.count) combinations of \(expected.count)")
      }
      return try compare(ways, Set(found), isPart: false, columns: paths.count)
    case .groups(let query):
      let sql = try query.sql(tables)
      guard let expected = try rows(sql.text, sql.parameters) else { return .unknown }
      let found = try found(question)
      if found.count != min(question.limit ?? .max, expected.count) {
        return .different("\(found.count) groups of \(expected.count)")
      }
      let keys = query.keys.count
      if let difference = GroupDifference.text(found, expected, keys: keys, isPart: true) {
        return .different(difference)
      }
      for way in ways {
        guard let plain = try rows(way, []) else { continue }
        if plain.count != found.count { return .different("plain SQL has \(plain.count) groups: \(way)") }
        if let difference = GroupDifference.text(plain, expected, keys: keys, isPart: true) {
          return .different("plain SQL: \(difference): \(way)")
        }
      }
      return .same
    }
  }

  private func found(_ question: TimedQuestion) throws -> [[Value]] {
    guard let request = try question.valuesFetch(tables) else { return [] }
    return try tables.store.view().fetchValues(request).map { try $0.map { try tables.plain($0) } }
  }

  /// Compares the plain statements' rows, of which the first columns count.
  private func compare(_ ways: [String], _ expected: Set<[Value]>, isPart: Bool, columns: Int) throws -> Outcome {
    for way in ways {
      guard let plain = try rows(way, []) else { continue }
      let found = Set(plain.map { Array($0.prefix(columns)) })
      if isPart ? found.count != expected.count : found != expected {
        return .different("plain SQL has \(plain.count) rows instead of \(expected.count): \(way)")
      }
    }
    return .same
  }

  /// The rows of a statement; nil if it takes too long.
  private func rows(_ sql: String, _ parameters: [Value]) throws -> [[Value]]? {
    var rows: [[Value]] = []
    let isComplete = try timer.within(Self.longest) {
      let statement = try tables.connection.prepare(sql)
      for (place, value) in parameters.enumerated() { statement.bindValue(Int32(place + 1), value) }
      let columns = statement.columnCount
      while try statement.step() { rows.append((0..<columns).map { statement.value($0) }) }
    }
    return isComplete ? rows : nil
  }

  private static func difference(_ found: [[Value]], _ expected: [[Value]]) -> String {
    let (ours, theirs) = (Set(found), Set(expected))
    if ours == theirs { return "the same rows in another order" }
    func list(_ rows: Set<[Value]>) -> String {
      rows.prefix(10).map { $0.map { $0.formatText }.joined(separator: " ") }.joined(separator: ", ")
    }
    return "\(found.count) rows instead of \(expected.count); Cambium alone has [\(list(ours.subtracting(theirs)))], "
      + "SQLite alone [\(list(theirs.subtracting(ours)))]"
  }
}
