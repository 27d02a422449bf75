import Cambium

/// Fills a flat log (``FlightLogModel/version1()``) from the CSV files: everything is an attribute of its entry.
struct FlatImporter {
  let data: DataFolder
  let context: ManagedObjectContext
  /// No more flights than these are imported.
  var flightLimit = Int.max

  /// Imports all flights; answers how many. The store is empty.
  func run() throws -> Int {
    let types = try aircraftTypes()
    var csv = try data.open("flights.csv")
    let columns = try FlightColumns(csv)
    var progress = ProgressBar("flat flights", total: csv.length)
    var count = 0
    while count < flightLimit, try csv.next() {
      let values = try columns.values(of: csv)
      let tailNumber = try csv.optionalText(columns.tailNumber)
      let entry = LogEntry(context: context)
      try entry.assign(values.date, to: "date")
      try entry.assign(values.flightNumber, to: "flightNumber")
      try entry.assign(values.departure.scheduled, to: "departureScheduled")
      try entry.assign(values.departure.actual, to: "departureActual")
      try entry.assign(values.departure.delay, to: "departureDelay")
      try entry.assign(values.arrival.scheduled, to: "arrivalScheduled")
      try entry.assign(values.arrival.actual, to: "arrivalActual")
      try entry.assign(values.arrival.delay, to: "arrivalDelay")
      try entry.assign(try csv.optionalInteger(columns.airTime), to: "airTime")
      try entry.assign(try csv.optionalInteger(columns.distance), to: "distance")
      try entry.assign(try csv.text(columns.carrier), to: "carrier")
      try entry.assign(tailNumber, to: "tailNumber")
      try entry.assign(tailNumber.flatMap { types[$0] }, to: "aircraftType")
      try entry.assign(try csv.text(columns.origin), to: "origin")
      try entry.assign(try csv.text(columns.destination), to: "destination")
      count += 1
      if count % Importer.batchSize == 0 {
        try context.save()
        context.reset()
        progress.show(csv.offset, rows: count)
      }
    }
    try context.save()
    context.reset()
    progress.show(csv.offset, rows: count)
    progress.finish()
    return count
  }

  /// The types of the aircraft that are described, by tail number.
  private func aircraftTypes() throws -> [String: String] {
    var csv = try data.open("planes.csv")
    let tailNumber = try csv.column("tailnum")
    let type = try csv.column("type")
    var types: [String: String] = [:]
    while try csv.next() { types[try csv.text(tailNumber)] = try csv.optionalText(type) }
    return types
  }
}
