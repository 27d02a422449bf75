import Foundation
import GRDB

/// A record that is decoded to a row of the workloads.
protocol BenchmarkRecord: FetchableRecord {
  associatedtype Target
  var target: Target { get }
}

/// As GRDB's documentation begins: a Codable struct.
struct CodableAircraft: Codable, FetchableRecord, PersistableRecord, BenchmarkRecord {
  static let databaseTableName = "aircraft"

  var id: Int
  var tailNumber: String
  var category: String
  var kind: String
  var type: String
  var csPrimary: String
  var csSecondary: String
  var csTertiary: String?
  var year: Int32?
  var hours: Double
  var photo: Data

  init(_ a: Aircraft) {
    id = a.id
    tailNumber = a.tailNumber
    category = a.category
    kind = a.kind
    type = a.type
    csPrimary = a.primary
    csSecondary = a.secondary
    csTertiary = a.tertiary
    year = a.year
    hours = a.hours
    photo = Data(a.photo)
  }

  var target: Aircraft {
    Aircraft(
      id: id, tailNumber: tailNumber, category: category, kind: kind, type: type, primary: csPrimary,
      secondary: csSecondary, tertiary: csTertiary, year: year, hours: hours,
      photo: photo.withUnsafeBytes { [UInt8]($0) })
  }
}

/// As GRDB's documentation begins: a Codable struct.
struct CodableEntry: Codable, FetchableRecord, PersistableRecord, BenchmarkRecord {
  static let databaseTableName = "logEntry"

  var id: Int
  var aircraft: Int
  var date: Double
  var flight: Int32
  var distance: Int32?
  var delay: Double?
  var remark: String?

  init(_ e: LogEntry) {
    id = e.id
    aircraft = e.aircraft
    date = e.date
    flight = e.flight
    distance = e.distance
    delay = e.delay
    remark = e.remark
  }

  var target: LogEntry {
    LogEntry(id: id, aircraft: aircraft, date: date, flight: flight, distance: distance, delay: delay, remark: remark)
  }
}

/// Decoded by hand, by the places of the columns: the fastest that GRDB's documentation knows.
struct ManualAircraft: FetchableRecord, BenchmarkRecord {
  var target: Aircraft

  init(row: Row) {
    target = Aircraft(
      id: row[0], tailNumber: row[1], category: row[2], kind: row[3], type: row[4], primary: row[5], secondary: row[6],
      tertiary: row[7], year: row[8], hours: row[9],
      photo: (try? row.withUnsafeData(atIndex: 10) { $0.map { [UInt8]($0) } }) ?? [])
  }
}

/// Decoded by hand, by the places of the columns.
struct ManualEntry: FetchableRecord, BenchmarkRecord {
  var target: LogEntry

  init(row: Row) {
    target = LogEntry(
      id: row[0], aircraft: row[1], date: row[2], flight: row[3], distance: row[4], delay: row[5], remark: row[6])
  }
}
