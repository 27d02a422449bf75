import CSQLite
import CambiumEngine
import CambiumKernel
import CambiumSystem
import Foundation

/// What is made twice: tables, and how the store finds their rows.
struct TwinModel {
  let tables: [TwinTable]
  let composites: [CompositeSchema]
  /// The composites' names, by the attributes that are of them.
  let compositeOf: [String: String]
  let indexes: [String: [IndexSchema]]
  /// The column of each table that no two rows have the same value of.
  let unique: [String: String]

  func schema() throws -> Schema {
    var entities: [EntitySchema] = []
    for table in tables {
      var attributes: [AttributeSchema] = []
      for column in table.columns {
        let parts = column.path.split(separator: ".")
        let name = String(parts[0])
        if parts.count == 1 {
          attributes.append(AttributeSchema(name, column.kind.type))
        } else if !attributes.contains(where: { $0.name == name }) {
          attributes.append(AttributeSchema(name, composite: compositeOf[name] ?? ""))
        }
      }
      var relationships: [RelationshipSchema] = []
      for (name, other) in table.toOne {
        let inverse = tables.first { $0.name == other }?.toMany.first { $0.column == name }
        relationships.append(RelationshipSchema(name, to: other, inverse: inverse?.name))
      }
      for (name, other, column) in table.toMany {
        relationships.append(RelationshipSchema(name, toMany: other, inverse: column))
      }
      entities.append(
        EntitySchema(
          table.name, attributes: attributes, relationships: relationships, indexes: indexes[table.name] ?? [],
          unique: unique[table.name].map { [[$0]] } ?? []))
    }
    return try Schema(SchemaDefinition(entities, composites: composites))
  }

  /// The statements that make the indexes in SQLite: the same ones, and one for each relationship, as the store has.
  var indexStatements: [String] {
    var statements: [String] = []
    func add(_ table: TwinTable, _ what: String, _ name: String, _ columns: [String], _ condition: String?) {
      let list = columns.joined(separator: ", ")
      statements.append(
        "CREATE \(what) \"\(table.name) \(name)\" ON \(table.name) (\(list))" + (condition.map { " WHERE \($0)" } ?? "")
      )
    }
    for table in tables {
      if let column = unique[table.name] { add(table, "UNIQUE INDEX", column, ["\"\(column)\""], nil) }
      for (name, _) in table.toOne { add(table, "INDEX", name, ["\"\(name)\""], nil) }
      for index in indexes[table.name] ?? [] {
        if index.elements.count == 2, index.elements[0].kind == .rTree {
          let (name, x, y) = (
            "\"\(table.name) \(index.name)\"", "\"\(index.elements[0].path)\"", "\"\(index.elements[1].path)\""
          )
          statements.append("CREATE VIRTUAL TABLE \(name) USING rtree(id, minX, maxX, minY, maxY)")
          statements.append(
            "INSERT INTO \(name) SELECT id, \(x), \(x), \(y), \(y) FROM \(table.name) WHERE \(x) NOT NULL AND \(y) NOT NULL"
          )
          continue
        }
        // A condition of these is written in SQL as in a predicate, but for the quotes and for null.
        let condition = index.partialPredicate.map { text in
          table.columns.reduce(text) { $0.replacingOccurrences(of: $1.path, with: "\"\($1.path)\"") }
            .replacingOccurrences(of: "== nil", with: "IS NULL")
        }
        add(
          table, "INDEX", index.name, index.elements.map { "\"\($0.path)\"" + ($0.isAscending ? "" : " DESC") },
          condition)
      }
    }
    return statements
  }
}

/// The same rows twice: as entities of a store and as tables of SQLite.
final class TwinTables {
  let tables: [TwinTable]
  let store: EntityStore
  let connection: SQLiteConnection
  /// Where SQLite has its tables.
  let databasePath: String
  private let model: TwinModel
  private let byName: [String: TwinTable]
  private var inserts: [String: SQLiteStatement] = [:]

  /// A row to be added: values of the columns, ids of what it leads to.
  typealias NewRow = (table: TwinTable, values: [Value], links: [Int?])

  func table(_ name: String) throws -> TwinTable {
    guard let table = byName[name] else { throw OracleError("there is no table \(name)") }
    return table
  }

  func entity(_ table: TwinTable) throws -> EntitySchema {
    guard let entity = store.schema.entity(named: table.name) else { throw OracleError("no entity \(table.name)") }
    return entity
  }

  /// Makes both in a folder, without rows.
  init(_ model: TwinModel, directory: String, name: String) throws {
    self.model = model
    tables = model.tables
    byName = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = "\(directory)/\(name).store"
    databasePath = "\(directory)/\(name).db"
    for file in [path, databasePath, databasePath + "-wal", databasePath + "-shm"] {
      try? FileManager.default.removeItem(atPath: file)
    }
    let environment = SystemEnvironment()
    var options = StoreOptions()
    options.cacheBytes = Tuning.cacheBytes
    options.durability = .normal
    let formatOptions = options
    let device = try FileDevice.create(at: path) { (device) throws(StoreError) in
      try Store.format(device, environment: environment, options: formatOptions)
    }
    device.close()
    store = try EntityStore.create(
      in: Store.open(on: FileDevice(path: path), environment: environment, options: options), schema: model.schema())
    connection = try SQLiteConnection(path: databasePath, .unsynced)
    for table in tables {
      try connection.run(table.creation)
      let marks = Array(repeating: "?", count: 1 + table.columns.count + table.toOne.count)
      inserts[table.name] = try connection.prepare(
        "INSERT INTO \(table.name) VALUES (\(marks.joined(separator: ",")))")
    }
  }

  /// Makes SQLite's indexes, and lets it look at them.
  func finish() throws {
    for statement in model.indexStatements { try connection.run(statement) }
    try connection.run("ANALYZE")
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func close() throws { try store.close() }

  /// Adds rows to both.
  func insert(_ rows: [NewRow]) throws {
    if rows.isEmpty { return }
    var entities: [String: EntitySchema] = [:]
    for table in tables { entities[table.name] = try entity(table) }
    let (known, byName) = (entities, byName)
    var added: [UInt64] = []
    added.reserveCapacity(rows.count)
    try store.write { (t) throws(EngineError) in
      for (table, values, links) in rows {
        guard let entity = known[table.name] else { continue }
        var row = RowValues()
        for (name, value) in Self.attributes(table, values) { row.set(name, value) }
        for (link, id) in zip(table.toOne, links) {
          guard let id, let other = byName[link.table], let destination = known[link.table] else { continue }
          row.set(toOne: link.name, ObjectReference(entity: destination.id, row: other.rows[id - 1]))
        }
        let reference = try t.reserveReference(entity)
        try t.insert(reference, row)
        added.append(reference.row)
      }
    }
    try connection.run("BEGIN")
    for (row, (table, values, links)) in zip(added, rows) {
      let id = table.add(row, values)
      guard let statement = inserts[table.name] else { continue }
      statement.bind(1, id)
      var place: Int32 = 2
      for value in values {
        statement.bindValue(place, value)
        place += 1
      }
      for link in links {
        statement.bindValue(place, link.map { .integer(Int64($0)) } ?? .null)
        place += 1
      }
      try statement.run()
    }
    try connection.run("COMMIT")
  }

  /// Columns as attributes: those of composites are gathered.
  private static func attributes(_ table: TwinTable, _ values: [Value]) -> [String: Value] {
    var result: [String: Value] = [:]
    func insert(_ path: ArraySlice<Substring>, _ value: Value, into composite: CompositeValue) -> CompositeValue {
      var composite = composite
      let name = String(path.first ?? "")
      if path.count == 1 {
        composite[name] = value
      } else {
        var inner = CompositeValue(names: [])
        if case .composite(let known)? = composite[name] { inner = known }
        composite[name] = .composite(insert(path.dropFirst(), value, into: inner))
      }
      return composite
    }
    for (column, value) in zip(table.columns, values) {
      let path = column.path.split(separator: ".")
      let name = String(path[0])
      if path.count == 1 {
        result[name] = value
      } else {
        var composite = CompositeValue(names: [])
        if case .composite(let known)? = result[name] { composite = known }
        result[name] = .composite(insert(path.dropFirst(), value, into: composite))
      }
    }
    return result
  }
}

/// Why the comparison cannot be made.
struct OracleError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension SQLiteStatement {
  /// Binds a value of the engine's; of texts SQLite makes a copy.
  func bindValue(_ place: Int32, _ value: Value) {
    switch value {
    case .boolean(let flag): sqlite3_bind_int64(handle, place, flag ? 1 : 0)
    case .integer(let number): sqlite3_bind_int64(handle, place, number)
    case .double(let number), .date(let number): sqlite3_bind_double(handle, place, number)
    case .string(let text):
      sqlite3_bind_text(
        handle, place, text, Int32(text.utf8.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    default: sqlite3_bind_null(handle, place)
    }
  }

  /// A column's value as one of the engine's.
  func value(_ column: Int32) -> Value {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
    case SQLITE_FLOAT: return .double(double(column))
    case SQLITE_TEXT: return .string(text(column))
    default: return .null
    }
  }
}
