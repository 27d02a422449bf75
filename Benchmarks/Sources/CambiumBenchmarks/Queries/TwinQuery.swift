import CambiumEngine

/// A question that is asked of all peers: for Cambium as a fetch, for SQLite as a statement.
struct TwinQuery {
  /// What is wanted.
  enum Form {
    /// Some columns of each row.
    case rows([String])
    /// Columns of each group: what the fetch of values makes of a fetch.
    case groups(by: [String], [EngineColumn])
    /// Columns, each combination of values once.
    case distinct([EngineColumn])
    case count
  }

  let name: String
  let title: String
  /// Of which rows.
  let data: KeyPath<QueryData, TwinTables>
  let table: String
  let form: Form
  /// The types of what SQLite answers, column by column.
  let kinds: [TwinKind]
  let sql: String
  /// The same with other values, asked in turn.
  struct Variant {
    let predicate: Predicate?
    let parameters: [Value]
    /// The order, where it depends on the values.
    let sort: [EngineSort]?

    init(_ predicate: Predicate?, _ parameters: [Value] = [], sort: [EngineSort]? = nil) {
      self.predicate = predicate
      self.parameters = parameters
      self.sort = sort
    }

    /// A comparison of a key path with a value, which is the statement's only parameter.
    init(_ path: String, _ comparator: Comparator, _ value: Value, modifier: ComparisonModifier = .direct) {
      self.init(condition(path, comparator, value, modifier: modifier), [value])
    }
  }
  let variants: [Variant]
  var sort: [EngineSort] = []
  var limit: Int?
  /// How many are asked in a timed run.
  var repeats = 20

  func fetch(_ tables: TwinTables, _ variant: Int) throws -> EngineFetch {
    let variant = variants[variant % variants.count]
    var fetch = EngineFetch(try tables.entity(try tables.table(table)), predicate: variant.predicate)
    fetch.sort = variant.sort ?? sort
    fetch.limit = limit
    return fetch
  }
}

/// A comparison of a key path with a value.
func condition(
  _ path: String, _ comparator: Comparator, _ value: Value, modifier: ComparisonModifier = .direct
) -> Predicate {
  .compare(.keyPath(path), comparator, .constant(value), modifier: modifier)
}

/// The data of the suite.
struct QueryData {
  let flights: TwinTables
  let aircraft: TwinTables
}

/// The values of a row, as far as they can be compared at hardly any cost.
struct RowDigest {
  private(set) var value: UInt64 = 17

  @inline(__always)
  private mutating func add(_ word: UInt64) { value = value &* 31 &+ word }
  @inline(__always)
  mutating func add(_ number: Int64?) { add(number.map { UInt64(bitPattern: $0) } ?? 7) }
  @inline(__always)
  mutating func add(_ number: Double?) { add(number.map { $0.bitPattern } ?? 7) }
  @inline(__always)
  mutating func add(_ text: String?) {
    guard let text else { return add(7 as UInt64) }
    add(UInt64(text.utf8.count) << 8 | UInt64(text.utf8.last ?? 0))
  }

  mutating func add(_ value: Value) {
    switch value {
    case .integer(let number): add(Optional(number))
    case .double(let number), .date(let number): add(Optional(number))
    case .boolean(let flag): add(Optional(flag ? 1 as Int64 : 0))
    case .string(let text): add(Optional(text))
    default: add(7 as UInt64)
    }
  }
}
