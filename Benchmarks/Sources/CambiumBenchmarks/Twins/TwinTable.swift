import CambiumEngine

/// A kind of column.
enum TwinKind: Equatable {
  case integer, double, text, date, boolean

  var isNumber: Bool { self == .integer || self == .double }

  var type: AttributeType {
    switch self {
    case .integer: return .integer32
    case .double: return .double
    case .text: return .string
    case .date: return .date
    case .boolean: return .boolean
    }
  }

  var sqlType: String {
    switch self {
    case .integer, .boolean: return "INTEGER"
    case .double, .date: return "REAL"
    case .text: return "TEXT"
    }
  }
}

/// An entity and the table of the same name: elements of composites are columns that are called after their key paths,
/// to-one relationships columns with the id of the other table's row.
final class TwinTable {
  struct Column {
    let path: String
    let kind: TwinKind

    init(_ path: String, _ kind: TwinKind) {
      self.path = path
      self.kind = kind
    }
  }

  let name: String
  let columns: [Column]
  /// Relationships to one row of another table.
  let toOne: [(name: String, table: String)]
  /// Relationships to many: the rows of a table whose column leads here.
  let toMany: [(name: String, table: String, column: String)]
  /// What indexes of the store begin with.
  let indexedColumns: Set<String>
  /// The row of the store for each id from 1.
  private(set) var rows: [UInt64] = []
  /// Values of columns, some of each, as they were met: from them constants are taken.
  private(set) var samples: [String: [Value]] = [:]
  private(set) var idOfRow: [UInt64: Int] = [:]

  init(
    _ name: String, _ columns: [Column], toOne: [(name: String, table: String)] = [],
    toMany: [(name: String, table: String, column: String)] = [], indexed: Set<String> = []
  ) {
    indexedColumns = indexed
    self.name = name
    self.columns = columns
    self.toOne = toOne
    self.toMany = toMany
  }

  func column(_ path: String) -> Column? { columns.first { $0.path == path } }

  /// Notes a row that was added; answers its id.
  @discardableResult
  func add(_ row: UInt64, _ values: [Value]) -> Int {
    rows.append(row)
    idOfRow[row] = rows.count
    // The first thousand, then fewer and fewer.
    if rows.count <= 1000 || rows.count % 97 == 0 {
      for (column, value) in zip(columns, values) { samples[column.path, default: []].append(value) }
    }
    return rows.count
  }

  /// The statement that makes the table.
  var creation: String {
    let parts =
      ["id INTEGER PRIMARY KEY"] + columns.map { "\"\($0.path)\" \($0.kind.sqlType)" }
      + toOne.map { "\"\($0.name)\" INTEGER" }
    return "CREATE TABLE \(name) (\(parts.joined(separator: ", ")))"
  }
}
