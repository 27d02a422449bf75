import CambiumEngine

/// Asks Cambium one question. Fields are looked up once, as an application keeps them; the plan is made each time.
final class CambiumAsker {
  private let tables: TwinTables
  private let isCount: Bool
  private let isIdentifiers: Bool
  /// The relationship whose objects are counted for each row.
  private let links: RelationshipSchema?
  private let fetch: EngineFetch
  private let values: EngineValuesFetch?
  private let columns: [ReadColumn]
  /// Keeps the fields that the columns read.
  private let fields: [RowField]

  init(_ question: TimedQuestion, _ tables: TwinTables) throws {
    self.tables = tables
    fetch = try question.fetch(tables)
    values = try question.valuesFetch(tables)
    var (isCount, isIdentifiers) = (false, false)
    switch question.form {
    case .count: isCount = true
    case .identifiers: isIdentifiers = true
    default: break
    }
    if case .links(let name) = question.form {
      links = try tables.entity(question.table).relationship(named: name)
    } else {
      links = nil
    }
    (self.isCount, self.isIdentifiers) = (isCount, isIdentifiers)
    let entity = try tables.entity(question.table)
    let names = TimedQuestion.readColumns(of: question.table)
    fields = try names.map { try tables.store.field($0, of: entity) }
    columns = zip(fields, names).map { ReadColumn($0, question.table.column($1)?.kind ?? .text) }
  }

  func ask(_ answer: inout Answer, isCancelled: (@Sendable () -> Bool)? = nil) throws {
    let view = try tables.store.view()
    if var values {
      values.fetch.isCancelled = isCancelled
      for row in try view.fetchValues(values) {
        var digest = RowDigest()
        for value in row { digest.add(value) }
        answer.add(digest.value)
      }
      return
    }
    var fetch = fetch
    fetch.isCancelled = isCancelled
    if isCount {
      answer.add(UInt64(try view.count(fetch)))
    } else if isIdentifiers {
      let found = try view.fetch(fetch)
      answer.count += found.count
      answer.sum &+= found.last?.row ?? 0
    } else {
      var found = answer
      let columns = columns
      var rows: [ObjectReference] = []
      let keepsRows = links != nil
      try view.forEach(fetch) { (row) throws(EngineError) in
        var digest = RowDigest()
        digest.add(Optional(Int64(bitPattern: row.reference.row)))
        for column in columns { try column.read(row, into: &digest) }
        found.add(digest.value)
        if keepsRows { rows.append(row.reference) }
        return true
      }
      if let links {
        let reader = try view.destinations(of: links)
        for row in rows { found.sum &+= UInt64(try reader.count(from: row)) }
      }
      answer = found
    }
  }

  /// The plan, for people.
  func explanation() throws -> QueryExplanation {
    let view = try tables.store.view()
    return try values.map { try view.explain($0) } ?? view.explain(fetch)
  }
}
