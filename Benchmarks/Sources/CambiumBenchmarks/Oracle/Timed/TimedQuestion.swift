import CambiumEngine

/// A question that the timed oracle asks both Cambium and SQLite.
struct TimedQuestion {
  /// A kind of question. The report gives the distribution of the ratio for each kind.
  enum Kind: String, CaseIterable {
    /// One or two comparisons of the table's own columns with constants, `BETWEEN`, `IN` and nil among them.
    case comparison
    /// Text conditions, without `[d]`.
    case text
    /// Comparisons of computed numbers, and of two columns.
    case arithmetic
    /// Conditions through one to-one relationship.
    case oneJoin = "one join"
    /// Conditions through two to-one relationships, or through a to-many and then a to-one relationship.
    case twoJoins = "two joins"
    /// Random trees of `AND`, `OR` and `NOT`, with columns of the table and of related rows.
    case mixture
    /// `ANY`, `ALL` and `NONE` of a to-many relationship.
    case quantified
    /// `@count`, `@sum` and so on of a to-many relationship, and `SUBQUERY`.
    case collection
    /// An order with a limit.
    case orderLimit = "order, limit"
    /// A later page: an offset and a limit, mostly with an order.
    case page
    /// An order of all rows found.
    case orderWhole = "order, whole"
    /// Distinct values of one or two columns.
    case distinct
    /// Groups with aggregates.
    case group

    /// The name that the command line knows the kind by, which has neither a comma nor a space.
    var name: String { "\(self)" }
  }

  /// The values that an answer consists of.
  enum Form {
    /// The identifiers of the rows found, as a list in memory.
    case identifiers
    /// The identifier of each row found, and the table's columns of ``readColumns(of:)``.
    case columns
    /// As `columns`, and for each row found the number of objects that a relationship leads to. Random questions do
    /// not have this form.
    case links(String)
    /// The number of rows found.
    case count
    /// Each combination of the values of some key paths once.
    case distinct([String])
    /// Keys and aggregates of each group. The group's own predicate is not used.
    case groups(GroupQuery)

    var name: String {
      switch self {
      case .identifiers: return "identifiers"
      case .columns, .links: return "columns"
      case .count: return "count"
      case .distinct: return "distinct"
      case .groups: return "groups"
      }
    }
  }

  var kind: Kind
  var table: TwinTable
  var form: Form
  var predicate: Predicate?
  var sort: [EngineSort] = []
  var limit: Int?
  var offset = 0

  /// The columns that an answer of the form ``Form/columns`` reads of each row.
  static func readColumns(of table: TwinTable) -> [String] {
    switch table.name {
    case "LogEntry": return ["flightNumber", "distance", "departure.delay"]
    case "Aircraft": return ["tailNumber", "seats"]
    case "Airport": return ["faaIdentifier", "name"]
    default: return ["code", "name"]
    }
  }

  /// The fetch of the rows, for the forms that find rows.
  func fetch(_ tables: TwinTables) throws -> EngineFetch {
    var fetch = EngineFetch(try tables.entity(table), predicate: predicate)
    fetch.sort = sort
    fetch.limit = limit
    fetch.offset = offset
    return fetch
  }

  /// The fetch of values, for the forms `distinct` and `groups`; nil for the others.
  func valuesFetch(_ tables: TwinTables) throws -> EngineValuesFetch? {
    switch form {
    case .identifiers, .columns, .links, .count: return nil
    case .distinct(let paths):
      var request = EngineValuesFetch(try fetch(tables), columns: paths.map { EngineColumn($0, .keyPath($0)) })
      request.isDistinct = true
      return request
    case .groups(let query):
      var request = try query.request(tables, namesColumns: false)
      request.fetch = try fetch(tables)
      return request
    }
  }

  /// The question in one line.
  var text: String {
    var text = "\(kind.rawValue): \(form.name) of \(table.name)"
    switch form {
    case .distinct(let paths): text += " \(paths)"
    case .groups(let query):
      text += " by \(query.keys) \(query.aggregates.map { "\($0.expression)" })"
      if let having = query.having { text += " having \(having)" }
    default: break
    }
    if let predicate { text += " where \(predicate)" }
    if !sort.isEmpty { text += " order by \(sort.map { ($0.isAscending ? "" : "-") + $0.keyPath })" }
    if let limit { text += " limit \(limit)" }
    if offset > 0 { text += " offset \(offset)" }
    return text
  }
}
