import CSQLite
import CambiumEngine

/// What answers questions.
protocol QueryPeer: AnyObject {
  var name: String { get }
  func answer(_ query: TwinQuery, _ variant: Int) throws -> Answer
}

/// A column that is read. The field is kept by whoever reads, as an application keeps it in a constant: it does not
/// count references to it for each row, and neither does this.
struct ReadColumn {
  private let field: Unmanaged<RowField>
  private let kind: TwinKind

  init(_ field: RowField, _ kind: TwinKind) {
    self.field = .passUnretained(field)
    self.kind = kind
  }

  @inline(__always)
  func read(_ row: borrowing RowReader, into digest: inout RowDigest) throws(EngineError) {
    switch kind {
    case .integer: digest.add(try borrowed { (field) throws(EngineError) in try row.int64(field) })
    case .double: digest.add(try borrowed { (field) throws(EngineError) in try row.double(field) })
    case .date: digest.add(try borrowed { (field) throws(EngineError) in try row.date(field) })
    case .boolean:
      digest.add(try borrowed { (field) throws(EngineError) in try row.boolean(field) }.map { $0 ? 1 as Int64 : 0 })
    case .text: digest.add(try borrowed { (field) throws(EngineError) in try row.string(field) })
    }
  }

  @inline(__always)
  private func borrowed<R>(_ body: (RowField) throws(EngineError) -> R) throws(EngineError) -> R {
    let result = field._withUnsafeGuaranteedRef { (field) -> Result<R, EngineError> in
      do throws(EngineError) { return .success(try body(field)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

/// Cambium: fetches, and rows read where they lie.
final class CambiumQueries: QueryPeer {
  let name = "cambium"
  private let data: QueryData
  /// The columns of a question, and the fields that they read.
  private var columns: [String: (read: [ReadColumn], fields: [RowField])] = [:]

  init(_ data: QueryData) { self.data = data }

  private func columns(_ query: TwinQuery, _ paths: [String]) throws -> [ReadColumn] {
    if let known = columns[query.name] { return known.read }
    let tables = data[keyPath: query.data]
    let entity = try tables.entity(try tables.table(query.table))
    let fields = try paths.map { try tables.store.field($0, of: entity) }
    let made = zip(fields, query.kinds).map { ReadColumn($0, $1) }
    columns[query.name] = (made, fields)
    return made
  }

  func answer(_ query: TwinQuery, _ variant: Int) throws -> Answer {
    let tables = data[keyPath: query.data]
    let fetch = try query.fetch(tables, variant)
    let view = try tables.store.view()
    var answer = Answer()
    switch query.form {
    case .count: return Answer(count: try view.count(fetch))
    case .groups(_, let columns), .distinct(let columns):
      var request = EngineValuesFetch(fetch, columns: columns)
      if case .groups(let paths, _) = query.form { request.groupBy = paths } else { request.isDistinct = true }
      for row in try view.fetchValues(request) {
        var digest = RowDigest()
        for value in row { digest.add(value) }
        answer.add(digest.value)
      }
    case .rows(let columns):
      let columns = try self.columns(query, columns)
      try view.forEach(fetch) { (row) throws(EngineError) in
        var digest = RowDigest()
        for column in columns { try column.read(row, into: &digest) }
        answer.add(digest.value)
        return true
      }
    }
    return answer
  }
}

/// SQLite by its C interface, statements prepared once.
final class SQLiteQueries: QueryPeer {
  let name = "sqlite"
  private let data: QueryData
  private var statements: [String: SQLiteStatement] = [:]

  init(_ data: QueryData) {
    self.data = data
    SQLiteNearest.register(data.flights.connection.handle)
  }

  func answer(_ query: TwinQuery, _ variant: Int) throws -> Answer {
    let s: SQLiteStatement
    if let known = statements[query.name] {
      s = known
    } else {
      s = try data[keyPath: query.data].connection.prepare(query.sql)
      statements[query.name] = s
    }
    for (place, value) in query.variants[variant % query.variants.count].parameters.enumerated() {
      s.bindValue(Int32(place + 1), value)
    }
    defer { s.reset() }
    if case .count = query.form { return Answer(count: try s.step() ? s.int(0) : 0) }
    var answer = Answer()
    while try s.step() {
      var digest = RowDigest()
      for (place, kind) in query.kinds.enumerated() {
        let column = Int32(place)
        let isNull = s.isNull(column)
        switch kind {
        case .integer, .boolean: digest.add(isNull ? nil : Int64(s.int(column)))
        case .double, .date: digest.add(isNull ? nil : s.double(column))
        case .text: digest.add(isNull ? nil : s.text(column))
        }
      }
      answer.add(digest.value)
    }
    return answer
  }
}
