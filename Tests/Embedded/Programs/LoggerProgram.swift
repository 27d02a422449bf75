import CambiumEngine
import CambiumKernel

// A logger: measurements with a time, which an index finds by range. The schema is described in code, predicates are
// values, and there is neither a text of a predicate nor a model file.

private let measurements = 2_000
private let start = 800_000_000.0

private func say(_ error: EngineError) {
  switch error {
  case .store(let error): say(error)
  case .corrupt(let text), .misuse(let text), .unsupported(let text): say(text + "\n")
  default: say("an error of the engine\n")
  }
}

private func measurementSchema() throws(SchemaError) -> Schema {
  let measurement = EntitySchema(
    "Measurement",
    attributes: [
      AttributeSchema("time", .date, optional: false), AttributeSchema("sensor", .integer32, optional: false),
      AttributeSchema("value", .double),
    ],
    indexes: [
      IndexSchema("byTime", [IndexElement("time")]),
      IndexSchema("bySensor", [IndexElement("sensor"), IndexElement("time")]),
    ])
  return try Schema(SchemaDefinition([measurement]))
}

private func between(_ path: String, _ low: Value, _ high: Value) -> Predicate {
  .and([
    .compare(.keyPath(path), .greaterOrEqual, .constant(low)), .compare(.keyPath(path), .less, .constant(high)),
  ])
}

private func verify(_ store: EntityStore, _ phase: String) throws(EngineError) {
  guard let measurement = store.schema.entity(named: "Measurement") else { return expect(false, "entity") }
  let view = try store.view()
  // One measurement a minute: an hour has 60.
  var fetch = EngineFetch(measurement, predicate: between("time", .date(start + 3_600), .date(start + 7_200)))
  fetch.sort = [EngineSort("time")]
  let rows = try view.fetchRows(fetch)
  expect(rows.count == 60, "\(phase): an hour")
  for (place, row) in rows.enumerated() {
    expect(try row.value(keyPath: "value") == .double(Double(60 + place) / 8), "\(phase): value")
  }
  let ofSensor = EngineFetch(measurement, predicate: between("sensor", .integer(2), .integer(4)))
  expect(try view.count(ofSensor) == measurements / 4, "\(phase): two of eight sensors")
}

private func open(_ disk: RamDisk, _ board: Board) throws(EngineError) -> EntityStore {
  let kernel: Store
  do throws(StoreError) {
    kernel = try Store.open(on: disk, environment: board, options: smallOptions())
  } catch { throw .store(error) }
  return try EntityStore.open(kernel)
}

private func run() throws(EngineError) {
  let disk = RamDisk()
  let board = Board()
  let schema: Schema
  do throws(SchemaError) { schema = try measurementSchema() } catch { return expect(false, "schema") }
  let kernel: Store
  do throws(StoreError) {
    kernel = try Store.create(on: disk, environment: board, options: smallOptions())
  } catch { throw .store(error) }
  var store: EntityStore! = try EntityStore.create(in: kernel, schema: schema)
  part("store made")
  func log(_ range: Range<Int>) throws(EngineError) {
    guard let measurement = store.schema.entity(named: "Measurement") else { return expect(false, "entity") }
    try store.write { (transaction) throws(EngineError) in
      for i in range {
        var values = RowValues()
        values.set("time", .date(start + Double(i) * 60))
        values.set("sensor", .integer(Int64(i % 8)))
        values.set("value", .double(Double(i) / 8))
        try transaction.insert(try transaction.reserveReference(measurement), values)
      }
    }
  }
  for first in stride(from: 0, to: measurements - 100, by: 20) { try log(first..<first + 20) }
  part("measurements written")
  do throws(StoreError) { try store.kernel.checkpoint() } catch { throw .store(error) }
  part("checkpoint")
  try store.close()
  store = nil
  store = try open(disk, board)
  part("closed and opened")
  let (writes, bytes, syncs) = (disk.writeCount, disk.writtenBytes, disk.syncCount)
  for i in measurements - 100..<measurements { try log(i..<i + 1) }
  say("100 commits of one row: \(disk.writeCount - writes) writes, \(disk.writtenBytes - bytes) bytes, ")
  say("\(disk.syncCount - syncs) syncs\n")
  try verify(store, "before the power cut")
  part("small commits")
  // Nobody closes the store: the power is gone.
  store = nil
  store = try open(disk, board)
  try verify(store, "after the recovery")
  part("recovered")
  try store.close()
  disk.tell()
}

func loggerProgram() {
  do throws(EngineError) { try run() } catch {
    say(error)
    failures += 1
  }
}
