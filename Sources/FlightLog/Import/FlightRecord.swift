import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A flight as a record of `flights.csv` describes it.
struct FlightRecord {
  let values: FlightColumns.Values
  let airTime: Int?
  let distance: Int?
  let airline: ManagedObject
  let origin: ManagedObject
  let destination: ManagedObject
  let aircraft: ManagedObject?
  /// The line of the file on which the record begins.
  let line: Int

  /// Sets the properties of an object to this flight's.
  func fill(_ entry: LogEntry) throws {
    try entry.assign(values.date, to: "date")
    try entry.assign(values.flightNumber, to: "flightNumber")
    try entry.assign(values.departure, to: "departure")
    try entry.assign(values.arrival, to: "arrival")
    try entry.assign(airTime, to: "airTime")
    try entry.assign(distance, to: "distance")
    try entry.assign(airline, to: "airline")
    try entry.assign(origin, to: "origin")
    try entry.assign(destination, to: "destination")
    try entry.assign(aircraft, to: "aircraft")
  }
}
