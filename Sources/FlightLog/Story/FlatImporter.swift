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
      try LogEntry(context: context).assign([
        "date": values.date, "flightNumber": values.flightNumber,
        "departureScheduled": values.departure.scheduled, "departureActual": values.departure.actual,
        "departureDelay": values.departure.delay, "arrivalScheduled": values.arrival.scheduled,
        "arrivalActual": values.arrival.actual, "arrivalDelay": values.arrival.delay,
        "airTime": try csv.optionalInteger(columns.airTime), "distance": try csv.optionalInteger(columns.distance),
        "carrier": try csv.text(columns.carrier), "tailNumber": tailNumber,
        "aircraftType": tailNumber.flatMap { types[$0] }, "origin": try csv.text(columns.origin),
        "destination": try csv.text(columns.destination),
      ])
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
