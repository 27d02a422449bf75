import CambiumEngine

/// Turns rows into values and back, by fields that are looked up once.
final class CambiumRows: Sendable {
  let tailNumber, category, kind, type, primary, secondary, tertiary, year, hours, photo: RowField
  let date, flight, distance, delay, remark, aircraft: RowField
  let logEntries: RelationshipSchema
  let numbers: CambiumNumbers

  /// - Parameter numbers: those of an earlier opening, if there was one.
  init(_ store: EntityStore, _ model: CambiumModel, _ numbers: CambiumNumbers?) throws {
    tailNumber = try store.field("tailNumber", of: model.aircraft)
    category = try store.field("category", of: model.aircraft)
    kind = try store.field("kind", of: model.aircraft)
    type = try store.field("type", of: model.aircraft)
    primary = try store.field("colorScheme.primary", of: model.aircraft)
    secondary = try store.field("colorScheme.secondary", of: model.aircraft)
    tertiary = try store.field("colorScheme.tertiary", of: model.aircraft)
    year = try store.field("year", of: model.aircraft)
    hours = try store.field("hours", of: model.aircraft)
    photo = try store.field("photo", of: model.aircraft)
    date = try store.field("date", of: model.entry)
    flight = try store.field("flight", of: model.entry)
    distance = try store.field("distance", of: model.entry)
    delay = try store.field("delay", of: model.entry)
    remark = try store.field("remark", of: model.entry)
    aircraft = try store.field("aircraft", of: model.entry)
    guard let logEntries = model.aircraft.relationship(named: "logEntries") else { throw NotSupported() }
    self.logEntries = logEntries
    if let numbers {
      self.numbers = numbers
    } else {
      let made = CambiumNumbers()
      try made.look(store, model)
      self.numbers = made
    }
  }

  func add(_ a: Aircraft, to rows: RowWriter) throws(EngineError) {
    rows.begin()
    try rows.set(tailNumber, a.tailNumber)
    try rows.set(category, a.category)
    try rows.set(kind, a.kind)
    try rows.set(type, a.type)
    try rows.set(primary, a.primary)
    try rows.set(secondary, a.secondary)
    try rows.set(tertiary, a.tertiary)
    try rows.set(year, a.year.map(Int64.init))
    try rows.set(hours, a.hours)
    try rows.set(photo, bytes: a.photo)
    try rows.save()
  }

  func add(_ e: LogEntry, of aircraft: ObjectReference, to rows: RowWriter) throws(EngineError) {
    rows.begin()
    try rows.set(self.aircraft, aircraft)
    try rows.set(date, date: e.date)
    try rows.set(flight, Int64(e.flight))
    try rows.set(distance, e.distance.map(Int64.init))
    try rows.set(delay, e.delay)
    try rows.set(remark, e.remark)
    try rows.save()
  }

  func aircraft(_ row: borrowing RowReader) throws(EngineError) -> Aircraft {
    Aircraft(
      id: numbers.aircraft(row: row.reference.row), tailNumber: try row.string(tailNumber) ?? "",
      category: try row.string(category) ?? "",
      kind: try row.string(kind) ?? "", type: try row.string(type) ?? "", primary: try row.string(primary) ?? "",
      secondary: try row.string(secondary) ?? "", tertiary: try row.string(tertiary),
      year: try row.int64(year).map(Int32.init(truncatingIfNeeded:)), hours: try row.double(hours) ?? 0,
      photo: try row.bytes(photo) ?? [])
  }

  func entry(_ row: borrowing RowReader) throws(EngineError) -> LogEntry {
    LogEntry(
      id: numbers.entry(row: row.reference.row), aircraft: Int(try row.reference(aircraft)?.row ?? 0),
      date: try row.date(date) ?? 0,
      flight: Int32(truncatingIfNeeded: try row.int64(flight) ?? 0),
      distance: try row.int64(distance).map(Int32.init(truncatingIfNeeded:)), delay: try row.double(delay),
      remark: try row.string(remark))
  }
}
