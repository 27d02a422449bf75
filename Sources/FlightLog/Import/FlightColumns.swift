#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where the columns of `flights.csv` are, and what they mean together.
struct FlightColumns {
  let carrier: Int
  let origin: Int
  let destination: Int
  let tailNumber: Int
  let airTime: Int
  let distance: Int
  private let year: Int
  private let month: Int
  private let day: Int
  private let flight: Int
  private let departure: (scheduled: Int, actual: Int, delay: Int)
  private let arrival: (scheduled: Int, actual: Int, delay: Int)

  /// Finds the columns.
  init(_ csv: CSVReader) throws(CSVError) {
    carrier = try csv.column("carrier")
    origin = try csv.column("origin")
    destination = try csv.column("dest")
    tailNumber = try csv.column("tailnum")
    airTime = try csv.column("air_time")
    distance = try csv.column("distance")
    year = try csv.column("year")
    month = try csv.column("month")
    day = try csv.column("day")
    flight = try csv.column("flight")
    departure = (try csv.column("sched_dep_time"), try csv.column("dep_time"), try csv.column("dep_delay"))
    arrival = (try csv.column("sched_arr_time"), try csv.column("arr_time"), try csv.column("arr_delay"))
  }

  /// Values that take more than one column to read.
  struct Values {
    var date: Date
    var flightNumber: Int?
    var departure: Times
    var arrival: Times
  }

  /// Those of the current record.
  func values(of csv: CSVReader) throws(CSVError) -> Values {
    let date = (year: try csv.integer(year), month: try csv.integer(month), day: try csv.integer(day))
    guard let days = daysSince2001(year: date.year, month: date.month, day: date.day) else {
      throw csv.failure("\(date.year)-\(date.month)-\(date.day) is no day")
    }
    return Values(
      date: Date(timeIntervalSinceReferenceDate: Double(days) * 86_400), flightNumber: try csv.optionalInteger(flight),
      departure: try times(csv, departure), arrival: try times(csv, arrival))
  }

  private func times(
    _ csv: CSVReader, _ columns: (scheduled: Int, actual: Int, delay: Int)
  ) throws(CSVError) -> Times {
    Times(
      scheduled: try csv.optionalMinutes(columns.scheduled), actual: try csv.optionalMinutes(columns.actual),
      delay: try csv.optionalInteger(columns.delay))
  }
}
