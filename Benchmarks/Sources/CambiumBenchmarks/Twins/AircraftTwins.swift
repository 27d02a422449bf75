import CambiumEngine

/// The aircraft and log entries of the main suite twice, with more indexes.
enum AircraftTwins {
  static func load(_ data: Dataset, directory: String, name: String) throws -> TwinTables {
    let twins = try TwinTables(model(), directory: directory, name: name)
    let (aircraft, entries) = (try twins.table("Aircraft"), try twins.table("LogEntry"))
    let batch = 20_000
    for start in stride(from: 0, to: data.rows, by: batch) {
      try twins.insert(
        data.aircraft[start..<min(data.rows, start + batch)].map { row in
          (
            aircraft,
            [
              .string(row.tailNumber), .string(row.category), .string(row.kind), .string(row.type),
              .string(row.primary), .string(row.secondary), row.tertiary.map { .string($0) } ?? .null,
              row.year.map { .integer(Int64($0)) } ?? .null, .double(row.hours),
            ], []
          )
        })
    }
    for start in stride(from: 0, to: data.rows, by: batch) {
      try twins.insert(
        data.entries[start..<min(data.rows, start + batch)].map { row in
          (
            entries,
            [
              .date(row.date), .integer(Int64(row.flight)), row.distance.map { .integer(Int64($0)) } ?? .null,
              row.delay.map { .double($0) } ?? .null, row.remark.map { .string($0) } ?? .null,
            ], [row.aircraft]
          )
        })
    }
    try twins.finish()
    return twins
  }

  private static func model() -> TwinModel {
    let scheme = CompositeSchema(
      "ColorScheme", elements: ["primary", "secondary", "tertiary"].map { AttributeSchema($0, .string) })
    return TwinModel(
      tables: [
        TwinTable(
          "Aircraft",
          [
            .init("tailNumber", .text), .init("category", .text), .init("kind", .text), .init("type", .text),
            .init("colorScheme.primary", .text), .init("colorScheme.secondary", .text),
            .init("colorScheme.tertiary", .text), .init("year", .integer), .init("hours", .double),
          ], toMany: [(name: "logEntries", table: "LogEntry", column: "aircraft")]),
        TwinTable(
          "LogEntry",
          [
            .init("date", .date), .init("flight", .integer), .init("distance", .integer), .init("delay", .double),
            .init("remark", .text),
          ], toOne: [(name: "aircraft", table: "Aircraft")]),
      ], composites: [scheme], compositeOf: ["colorScheme": "ColorScheme"],
      indexes: [
        "Aircraft": [
          IndexSchema("byPrimary", [IndexElement("colorScheme.primary")]),
          IndexSchema("byHours", [IndexElement("hours")]),
          IndexSchema("byCategory", [IndexElement("category"), IndexElement("year")]),
        ],
        "LogEntry": [IndexSchema("byDate", [IndexElement("date")])],
      ], unique: ["Aircraft": "tailNumber"])
  }
}
