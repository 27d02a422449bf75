import CambiumEngine
import CambiumKernel

// A logger: measurements with a time, which an index finds by range. The schema is described in code, and there is
// neither a predicate nor a model file.

private let measurements = 2_000
private let start = 800_000_000.0

@StoredRow private struct Measurement {
  var time: DateValue
  var sensor: Int32
  var value: Double?

  /// Measurement `number`, one a minute.
  init(_ number: Int) {
    time = DateValue(seconds: start + Double(number) * 60)
    sensor = Int32(number % 8)
    value = Double(number) / 8
  }
}

private func measurementSchema() throws(SchemaError) -> Schema {
  let indexes = [
    IndexSchema("byTime", [IndexElement("time")]),
    IndexSchema("bySensor", [IndexElement("sensor"), IndexElement("time")]),
  ]
  return try Schema(SchemaDefinition([Measurement.entity(indexes: indexes)]))
}

private func verify(_ store: EntityStore, _ phase: String) throws(EngineError) {
  let rows = try store.rows(of: Measurement.self)
  let view = try store.view()
  // An hour has 60 measurements.
  var place = 60
  let byTime = try view.lookup(rows.entity, by: ["time"])
  try byTime.forEach(from: .date(start + 3_600), to: .date(start + 7_200)) { (row) throws(EngineError) in
    let measurement = try rows.read(row)
    expect(measurement.value == Double(place) / 8, "\(phase): value")
    expect(measurement.sensor == Int32(place % 8), "\(phase): sensor")
    expect(measurement.time.seconds == start + Double(place) * 60, "\(phase): time")
    place += 1
    return true
  }
  expect(place == 120, "\(phase): an hour")
  var count = 0
  let bySensor = try view.lookup(rows.entity, by: ["sensor", "time"])
  try bySensor.forEach(from: .integer(2), to: .integer(4)) { (_) throws(EngineError) in
    count += 1
    return true
  }
  expect(count == measurements / 4, "\(phase): two of eight sensors")
  // The newest of one sensor, from a time on.
  count = 0
  let late = start + Double(measurements - 80) * 60
  try bySensor.forEach(equalTo: [.integer(7)], from: .date(late), to: nil) { (_) throws(EngineError) in
    count += 1
    return true
  }
  expect(count == 10, "\(phase): the newest of a sensor")
}

/// A logger's store on a disk.
private struct Logger {
  let disk = RamDisk()
  let board = Board()
  let options: StoreOptions
  var store: EntityStore!

  init(_ options: StoreOptions) throws(EngineError) {
    self.options = options
    let schema: Schema
    do throws(SchemaError) { schema = try measurementSchema() } catch { throw .schema(error) }
    store = try makeStore(disk, board, schema, options)
  }

  /// Writes measurements in one transaction.
  func log(_ range: Range<Int>) throws(EngineError) {
    let rows = try store.rows(of: Measurement.self)
    try store.write { (transaction) throws(EngineError) in
      for number in range { try rows.insert(Measurement(number), in: transaction) }
    }
  }

  /// Opens the store again. Nobody closes it if the power is cut.
  mutating func reopen(isPowerCut: Bool) throws(EngineError) {
    if !isPowerCut { try store.close() }
    store = nil
    store = try openStore(disk, board, options)
  }

  /// Writes all measurements: most of them several in a transaction, the last hundred one by one. Verifies them, and
  /// once more after a power cut.
  mutating func fill(rowsAtATime: Int) throws(EngineError) {
    for first in stride(from: 0, to: measurements - 100, by: rowsAtATime) { try log(first..<first + rowsAtATime) }
    part("measurements written")
    try checkpoint(store)
    part("checkpoint")
    try reopen(isPowerCut: false)
    part("closed and opened")
    let (writes, bytes) = (disk.writeCount, disk.writtenBytes)
    for i in measurements - 100..<measurements { try log(i..<i + 1) }
    commitCost = (disk.writeCount - writes, disk.writtenBytes - bytes)
    try verify(store, "before the power cut")
    part("small commits")
    try reopen(isPowerCut: true)
    try verify(store, "after the recovery")
    part("recovered")
  }

  /// What the last hundred commits wrote.
  var commitCost: (writes: Int, bytes: UInt64) = (0, 0)
}

/// Cuts the power after 1 to 31 more commits, so that logs of all lengths are recovered.
private func recoverOften(_ logger: inout Logger) throws(EngineError) {
  var written = measurements
  for round in 0..<40 {
    for _ in 0...round * 11 % 31 {
      try logger.log(written..<written + 1)
      written += 1
    }
    try logger.reopen(isPowerCut: true)
    guard let measurement = logger.store.schema.entity(named: "Measurement") else { return expect(false, "entity") }
    var found = 0
    let first = start + Double(measurements) * 60
    try logger.store.view().lookup(measurement, by: ["time"]).forEach(from: .date(first), to: nil) {
      (_) throws(EngineError) in
      found += 1
      return true
    }
    expect(measurements + found == written, "recovery \(round)")
  }
  part("recoveries")
}

#if CAMBIUM_NO_PREDICATES
  /// A program that was compiled without predicates refuses them.
  private func refusePredicates(_ store: EntityStore) throws(EngineError) {
    do throws(PredicateError) {
      _ = try Predicate(format: "sensor == 1")
      expect(false, "a text was read")
    } catch { expect(error.kind == .unsupported, "text") }
    guard let measurement = store.schema.entity(named: "Measurement") else { return expect(false, "entity") }
    let condition = Predicate.compare(.keyPath("sensor"), .equal, .constant(.integer(1)))
    do throws(PredicateError) {
      _ = try condition.check(against: store.schema, entity: measurement.id)
      expect(false, "a condition was checked")
    } catch { expect(error.kind == .unsupported, "condition") }
  }
#endif

/// The memory that changes take decides when a checkpoint begins. It differs with the length of a pointer, and so does
/// the file.
private func runSmall() throws(EngineError) {
  var logger = try Logger(.small)
  try logger.fill(rowsAtATime: 20)
  try recoverOften(&logger)
  #if CAMBIUM_NO_PREDICATES
    try refusePredicates(logger.store)
  #endif
  try logger.store.close()
  sayOwn("100 commits of one row: \(logger.commitCost.writes) writes, \(logger.commitCost.bytes) bytes\n")
}

/// The length of the log decides when a checkpoint begins, so that the file is the same on every machine.
private func runAlike() throws(EngineError) {
  var options = StoreOptions.small
  options.deltaBytes = 8_192
  options.logBytes = 1_024
  var logger = try Logger(options)
  try logger.fill(rowsAtATime: 5)
  try logger.store.close()
  logger.disk.tell()
}

func loggerProgram() throws(EngineError) {
  try runSmall()
  try runAlike()
}
