import CambiumEngine

/// Turns rows into values and back, through what the engine offers for it.
struct CambiumRows: Sendable {
  let tailNumber: AttributeSchema
  let category: AttributeSchema
  let kind: AttributeSchema
  let type: AttributeSchema
  let colours: AttributeSchema
  let year: AttributeSchema
  let hours: AttributeSchema
  let photo: AttributeSchema
  let date: AttributeSchema
  let flight: AttributeSchema
  let distance: AttributeSchema
  let delay: AttributeSchema
  let remark: AttributeSchema
  let aircraft: RelationshipSchema
  let logEntries: RelationshipSchema

  init(_ model: CambiumModel) throws {
    func attribute(_ entity: EntitySchema, _ name: String) throws -> AttributeSchema {
      guard let found = entity.attribute(named: name) else { throw NotSupported() }
      return found
    }
    tailNumber = try attribute(model.aircraft, "tailNumber")
    category = try attribute(model.aircraft, "category")
    kind = try attribute(model.aircraft, "kind")
    type = try attribute(model.aircraft, "type")
    colours = try attribute(model.aircraft, "colorScheme")
    year = try attribute(model.aircraft, "year")
    hours = try attribute(model.aircraft, "hours")
    photo = try attribute(model.aircraft, "photo")
    date = try attribute(model.entry, "date")
    flight = try attribute(model.entry, "flight")
    distance = try attribute(model.entry, "distance")
    delay = try attribute(model.entry, "delay")
    remark = try attribute(model.entry, "remark")
    guard let aircraft = model.entry.relationship(named: "aircraft"),
      let logEntries = model.aircraft.relationship(named: "logEntries")
    else { throw NotSupported() }
    self.aircraft = aircraft
    self.logEntries = logEntries
  }

  func values(_ a: Aircraft) -> RowValues {
    var v = RowValues()
    v.set("tailNumber", .string(a.tailNumber))
    v.set("category", .string(a.category))
    v.set("kind", .string(a.kind))
    v.set("type", .string(a.type))
    v.set("colorScheme", scheme(a))
    v.set("year", a.year.map { .integer(Int64($0)) } ?? .null)
    v.set("hours", .double(a.hours))
    v.set("photo", .binary(a.photo))
    return v
  }

  func scheme(_ a: Aircraft) -> Value {
    .composite(
      CompositeValue(
        names: ["primary", "secondary", "tertiary"],
        values: [.string(a.primary), .string(a.secondary), a.tertiary.map(Value.string) ?? .null]))
  }

  func values(_ e: LogEntry, aircraft: ObjectReference) -> RowValues {
    var v = RowValues()
    v.set("date", .date(e.date))
    v.set("flight", .integer(Int64(e.flight)))
    v.set("distance", e.distance.map { .integer(Int64($0)) } ?? .null)
    v.set("delay", e.delay.map(Value.double) ?? .null)
    v.set("remark", e.remark.map(Value.string) ?? .null)
    v.set(toOne: "aircraft", aircraft)
    return v
  }

  func aircraft(_ row: Row) throws(EngineError) -> Aircraft {
    guard case .composite(let scheme) = try row.value(colours) else { throw .corrupt("no colours") }
    let third = scheme.values[2].text
    return Aircraft(
      id: Int(row.reference.row), tailNumber: try row.value(tailNumber).text ?? "",
      category: try row.value(category).text ?? "", kind: try row.value(kind).text ?? "",
      type: try row.value(type).text ?? "", primary: scheme.values[0].text ?? "",
      secondary: scheme.values[1].text ?? "", tertiary: third, year: try row.value(year).number,
      hours: try row.value(hours).real ?? 0, photo: try row.value(photo).bytes)
  }

  func entry(_ row: Row) throws(EngineError) -> LogEntry {
    LogEntry(
      id: Int(row.reference.row), aircraft: Int(try row.reference(aircraft)?.row ?? 0),
      date: try row.value(date).real ?? 0, flight: try row.value(flight).number ?? 0,
      distance: try row.value(distance).number, delay: try row.value(delay).real, remark: try row.value(remark).text)
  }
}

extension Value {
  var text: String? {
    if case .string(let s) = self { return s }
    return nil
  }

  var number: Int32? {
    if case .integer(let n) = self { return Int32(truncatingIfNeeded: n) }
    return nil
  }

  var real: Double? {
    switch self {
    case .double(let d), .date(let d): return d
    default: return nil
    }
  }

  var bytes: [UInt8] {
    if case .binary(let b) = self { return b }
    return []
  }
}
