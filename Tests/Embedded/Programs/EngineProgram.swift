import CambiumEngine
import CambiumKernel

// Entities: a schema described in code, rows, predicates, an order, an index, a unique constraint; then a checkpoint,
// an opening, small commits, and a recovery.

private let rows = 1_000

private func airportSchema() throws(SchemaError) -> Schema {
  let location = CompositeSchema(
    "Location", elements: [AttributeSchema("latitude", .double), AttributeSchema("longitude", .double)])
  let airport = EntitySchema(
    "Airport",
    attributes: [
      AttributeSchema("code", .string, optional: false), AttributeSchema("name", .string),
      AttributeSchema("elevation", .integer32), AttributeSchema("opened", .date),
      AttributeSchema("location", composite: "Location"),
    ],
    relationships: [RelationshipSchema("runways", toMany: "Runway", inverse: "airport")],
    indexes: [IndexSchema("byLatitude", [IndexElement("location.latitude")])], unique: [["code"]])
  let runway = EntitySchema(
    "Runway", attributes: [AttributeSchema("length", .integer32)],
    relationships: [RelationshipSchema("airport", to: "Airport", inverse: "runways")])
  return try Schema(SchemaDefinition([airport, runway], composites: [location]))
}

private func count(_ store: EntityStore, _ format: String) throws(EngineError) -> Int {
  guard let airport = store.schema.entity(named: "Airport") else { return -1 }
  let predicate: Predicate
  do throws(PredicateError) { predicate = try Predicate(format: format, arguments: []) } catch { return -2 }
  return try store.view().count(EngineFetch(airport, predicate: predicate))
}

private func ask(_ store: EntityStore, _ phase: String) throws(EngineError) {
  // Row i: latitude i / 4, elevation i % 50, opened i days after 2069-12-01.
  expect(try count(store, "location.latitude >= 25 AND location.latitude < 50") == 100, "\(phase): range by index")
  expect(try count(store, "elevation > 24 AND name ENDSWITH '7'") == 60, "\(phase): scan")
  expect(try count(store, "name CONTAINS 'port 99'") == 11, "\(phase): text")
  expect(try count(store, "code == 'A321'") == 1, "\(phase): unique key")
  // The literals and casts that the C library used to read, and a date beyond 2^31 seconds.
  expect(try count(store, "location.latitude == 1.2525e2") == 1, "\(phase): decimal")
  expect(try count(store, "location.latitude == CAST('125.25', 'NSNumber')") == 1, "\(phase): cast")
  // Numbers that `Int` does not hold on a machine of 32 bits.
  expect(try count(store, "opened > '2069-12-31'") == rows - 31, "\(phase): date after 2068")
  expect(try count(store, "opened > '1899-12-31'") == rows, "\(phase): date before 1932")
  let long = "SUBQUERY(runways, $r, $r.length > 1000).@count"
  expect(try count(store, long + " > 0") == 10, "\(phase): runways")
  for number in ["2147483647", "4294967296", "9223372036854775807"] {
    expect(try count(store, "\(long) > \(number)") == 0, "\(phase): more runways than \(number)")
    expect(try count(store, "\(long) <= \(number)") == rows, "\(phase): at most \(number) runways")
    expect(try count(store, "elevation < \(number)") == rows, "\(phase): elevation below \(number)")
  }
  guard let airport = store.schema.entity(named: "Airport") else { return }
  var fetch = EngineFetch(airport)
  fetch.sort = [EngineSort("elevation", ascending: false), EngineSort("location.latitude")]
  fetch.limit = 10
  let found = try store.view().fetchRows(fetch)
  expect(found.count == 10, "\(phase): sorted")
  for (place, row) in found.enumerated() {
    expect(
      try row.value(keyPath: "location.latitude") == .double(Double(49 + 50 * place) * 0.25), "\(phase): sorted row")
  }
}

private func run() throws(EngineError) {
  let disk = RamDisk()
  let board = Board()
  let schema: Schema
  do throws(SchemaError) { schema = try airportSchema() } catch { return expect(false, "schema") }
  part("schema made")
  var store: EntityStore! = try makeStore(disk, board, schema, smallOptions())
  part("store made")
  guard let airport = store.schema.entity(named: "Airport") else { return expect(false, "entity") }
  guard let start = try? ISODate.seconds(of: "2069-12-01") else { return expect(false, "date") }
  expect(start == 2_174_774_400, "date")
  var references: [ObjectReference] = []
  for first in stride(from: 0, to: rows, by: 100) {
    try store.write { (transaction) throws(EngineError) in
      for i in first..<first + 100 {
        let reference = try transaction.reserveReference(airport)
        references.append(reference)
        var values = RowValues()
        values.set("code", .string("A\(i)"))
        values.set("name", .string("Airport \(i)"))
        values.set("elevation", .integer(Int64(i % 50)))
        values.set("opened", .date(start + Double(i) * 86_400))
        values.set(
          "location",
          .composite(["latitude": .double(Double(i) * 0.25), "longitude": .double(-Double(i))]))
        try transaction.insert(reference, values)
      }
    }
  }
  try store.write { (transaction) throws(EngineError) in
    guard let runway = store.schema.entity(named: "Runway") else { return expect(false, "entity") }
    for i in 0..<10 {
      var values = RowValues()
      values.set("length", .integer(Int64(1_500 + i)))
      values.set(toOne: "airport", references[i])
      try transaction.insert(try transaction.reserveReference(runway), values)
    }
  }
  part("rows written")
  try ask(store, "before the checkpoint")
  part("questions")
  try checkpoint(store)
  part("checkpoint")
  try store.close()
  store = nil
  store = try openStore(disk, board, smallOptions())
  try ask(store, "after opening")
  part("closed and opened")
  let (writes, bytes, syncs) = (disk.writeCount, disk.writtenBytes, disk.syncCount)
  for i in 0..<100 {
    try store.write { (transaction) throws(EngineError) in
      var values = RowValues()
      values.set("elevation", .integer(Int64(1_000 + i)))
      try transaction.update(references[i], values)
    }
  }
  say("100 commits of one row: \(disk.writeCount - writes) writes, \(disk.writtenBytes - bytes) bytes, ")
  say("\(disk.syncCount - syncs) syncs\n")
  part("small commits")
  // Nobody closes the store: the power is gone.
  store = nil
  store = try openStore(disk, board, smallOptions())
  expect(try count(store, "elevation >= 1000") == 100, "recovered rows")
  expect(try count(store, "TRUEPREDICATE") == rows, "all rows")
  part("recovered")
  var isRefused = false
  do throws(EngineError) {
    try store.write { (transaction) throws(EngineError) in
      var values = RowValues()
      values.set("code", .string("A5"))
      try transaction.insert(try transaction.reserveReference(airport), values)
    }
  } catch { if case .uniqueViolation = error { isRefused = true } }
  expect(isRefused, "unique constraint")
  try store.close()
  disk.tell()
  #if CAMBIUM_NO_SPATIAL
    refuseSpatialIndex(board)
  #endif
}

#if CAMBIUM_NO_SPATIAL
  /// A program that was compiled without spatial indexes refuses a schema that has one.
  private func refuseSpatialIndex(_ board: Board) {
    let place = EntitySchema(
      "Place", attributes: [AttributeSchema("x", .double), AttributeSchema("y", .double)],
      indexes: [IndexSchema("byPlace", [IndexElement("x", kind: .rTree), IndexElement("y", kind: .rTree)])])
    do throws(SchemaError) {
      let schema = try Schema(SchemaDefinition([place]))
      do throws(EngineError) {
        _ = try makeStore(RamDisk(), board, schema, smallOptions())
        expect(false, "a spatial index was made")
      } catch {
        if case .unsupported = error { return }
        expect(false, "the error of a spatial index")
      }
    } catch { expect(false, "schema") }
  }
#endif

func engineProgram() throws(EngineError) { try run() }
