import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Fills a flight log from CSV files.
///
/// Flights are saved in batches, each in one transaction together with the aircraft and airports that it mentions
/// first, and the context is reset after each: memory stays bounded however long the file is. The number of log entries
/// therefore says how many records of the file are in the store, and an import that was killed goes on from there.
struct Importer {
  /// Flights per save.
  static let batchSize = 10_000

  /// No more flights than these are imported.
  var flightLimit = Int.max
  private let data: DataFolder
  private let context: ManagedObjectContext
  private var airlines: ReferenceTable<ManagedObject>
  private var airports: ReferenceTable<ManagedObject>
  private var aircraft: ReferenceTable<ManagedObject>

  /// What an import did.
  struct Outcome {
    /// Flights that the store had before.
    var present = 0
    /// Flights that were added.
    var added = 0
    /// What is in the store now.
    var airlines = 0
    var airports = 0
    var aircraft = 0
  }

  /// An import from `data` by way of `context`, which it has for itself.
  init(from data: DataFolder, into context: ManagedObjectContext) throws {
    self.data = data
    self.context = context
    airlines = try ReferenceTable(entity: "Airline", key: "code", in: context)
    airports = try ReferenceTable(entity: "Airport", key: "faaIdentifier", in: context)
    aircraft = try ReferenceTable(entity: "Aircraft", key: "tailNumber", in: context)
    context.reset()
  }

  /// Imports what is not in the store yet.
  mutating func run() throws -> Outcome {
    var outcome = Outcome()
    outcome.present = try context.count(for: FetchRequest<LogEntry>(entityName: "LogEntry"))
    if outcome.present == 0 { try importReferences() }
    outcome.added = try importFlights(after: outcome.present)
    outcome.airlines = airlines.count
    outcome.airports = airports.count
    outcome.aircraft = aircraft.count
    return outcome
  }

  /// Imports the airlines, airports and aircraft that the files describe; those that are there are brought up to date.
  mutating func importReferences() throws {
    try importAirlines()
    try importAirports()
    try importAircraft()
    try saveBatch()
  }

  /// The airline of a code, made if there is none.
  mutating func airline(_ code: String) throws -> ManagedObject { try airlines.object(code, in: context) }

  /// The airport of an FAA identifier, made if there is none.
  mutating func airport(_ identifier: String) throws -> ManagedObject { try airports.object(identifier, in: context) }

  /// The aircraft of a tail number, made if there is none.
  mutating func aircraft(_ tailNumber: String) throws -> ManagedObject {
    try aircraft.object(tailNumber, in: context)
  }

  /// Saves, and forgets the objects of the batch.
  mutating func saveBatch() throws {
    try context.save()
    airlines.settle()
    airports.settle()
    aircraft.settle()
    context.reset()
  }

  /// Runs `body` and gives what it throws the place of the CSV record at which that happened.
  private func placed<R>(_ csv: CSVReader, _ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as CambiumError { throw csv.failure("\(error)") }
  }

  // MARK: Reference tables

  private mutating func importAirlines() throws {
    var csv = try data.open("airlines.csv")
    let code = try csv.column("carrier")
    let name = try csv.column("name")
    while try csv.next() {
      let airline = try airlines.object(try csv.text(code), in: context)
      try placed(csv) { try airline.assign(try csv.optionalText(name), to: "name") }
    }
  }

  private mutating func importAirports() throws {
    let codes = try icaoCodes()
    var csv = try data.open("airports.csv")
    let faa = try csv.column("faa")
    let name = try csv.column("name")
    let latitude = try csv.column("lat")
    let longitude = try csv.column("lon")
    let altitude = try csv.column("alt")
    let timeZone = try csv.column("tzone")
    while try csv.next() {
      let identifier = try csv.text(faa)
      let location = Location(
        latitude: try csv.optionalDouble(latitude), longitude: try csv.optionalDouble(longitude),
        altitude: try csv.optionalInteger(altitude))
      let airport = try airports.object(identifier, in: context)
      let named = codes[identifier] ?? []
      try placed(csv) {
        try airport.assign(named.count == 1 ? named.first : nil, to: "icaoIdentifier")
        try airport.assign(try csv.optionalText(name), to: "name")
        try airport.assign(Place(timeZone: try csv.optionalText(timeZone), location: location), to: "place")
      }
    }
  }

  /// The ICAO codes of the airports whose IATA or local code is the key. Where there are several, it is not known which
  /// is meant.
  private func icaoCodes() throws -> [String: Set<String>] {
    var csv = try data.open("world-airports.csv")
    let icao = try csv.column("icao")
    let keys = [try csv.column("iata"), try csv.column("lid")]
    var result: [String: Set<String>] = [:]
    while try csv.next() {
      for key in keys {
        // Not `optionalText`: NA would be a code here.
        let code = try csv.text(key)
        if !code.isEmpty { result[code, default: []].insert(try csv.text(icao)) }
      }
    }
    return result
  }

  private mutating func importAircraft() throws {
    var csv = try data.open("planes.csv")
    let tailNumber = try csv.column("tailnum")
    let year = try csv.column("year")
    let type = try csv.column("type")
    let manufacturer = try csv.column("manufacturer")
    let model = try csv.column("model")
    let engines = try csv.column("engines")
    let seats = try csv.column("seats")
    let engineType = try csv.column("engine")
    while try csv.next() {
      let object = try aircraft.object(try csv.text(tailNumber), in: context)
      try placed(csv) {
        try object.assign(try csv.optionalInteger(year), to: "year")
        try object.assign(try csv.optionalText(type), to: "aircraftType")
        try object.assign(try csv.optionalText(manufacturer), to: "manufacturer")
        try object.assign(try csv.optionalText(model), to: "aircraftModel")
        try object.assign(try csv.optionalInteger(engines), to: "engines")
        try object.assign(try csv.optionalInteger(seats), to: "seats")
        try object.assign(try csv.optionalText(engineType), to: "engineType")
      }
    }
  }

  // MARK: Flights

  private mutating func importFlights(after present: Int) throws -> Int {
    var csv = try data.open("flights.csv")
    let columns = try FlightColumns(csv)
    for row in 0..<present {
      guard try csv.next() else {
        throw ImportError(description: "the store has \(present) flights, but the file only \(row): import to another")
      }
    }
    if present > 0 { try verifySameData(csv, columns) }
    var progress = ProgressBar("flights", total: csv.length)
    var added = 0
    while present + added < flightLimit, try csv.next() {
      try insertFlight(csv, columns)
      added += 1
      if added % Self.batchSize == 0 {
        try saveBatch()
        progress.show(csv.offset, rows: added)
      }
    }
    if added % Self.batchSize != 0 {
      try saveBatch()
      progress.show(csv.offset, rows: added)
    }
    progress.finish()
    return added
  }

  private mutating func insertFlight(_ csv: CSVReader, _ columns: FlightColumns) throws {
    let airline = try airlines.object(try csv.text(columns.carrier), in: context)
    let origin = try airports.object(try csv.text(columns.origin), in: context)
    let destination = try airports.object(try csv.text(columns.destination), in: context)
    var flown: ManagedObject?
    if let tailNumber = try csv.optionalText(columns.tailNumber) {
      flown = try aircraft.object(tailNumber, in: context)
    }
    let values = try columns.values(of: csv)
    try placed(csv) {
      let entry = LogEntry(context: context)
      try entry.assign(values.date, to: "date")
      try entry.assign(values.flightNumber, to: "flightNumber")
      try entry.assign(values.departure, to: "departure")
      try entry.assign(values.arrival, to: "arrival")
      try entry.assign(try csv.optionalInteger(columns.airTime), to: "airTime")
      try entry.assign(try csv.optionalInteger(columns.distance), to: "distance")
      try entry.assign(airline, to: "airline")
      try entry.assign(origin, to: "origin")
      try entry.assign(destination, to: "destination")
      try entry.assign(flown, to: "aircraft")
    }
  }

  /// Makes sure that the last flight that the store should have from the file is there: else it was filled from
  /// another.
  private func verifySameData(_ csv: CSVReader, _ columns: FlightColumns) throws {
    let values = try columns.values(of: csv)
    let request = FetchRequest<LogEntry>(entityName: "LogEntry")
    request.predicate = try FetchPredicate(
      format: "date == %@ AND flightNumber == %@ AND origin.faaIdentifier == %@ AND departure.scheduled == %@",
      values.date, values.flightNumber, try csv.text(columns.origin), values.departure.scheduled)
    if try context.count(for: request) == 0 {
      throw csv.failure("this flight is not in the store, which was filled from other data: import to another store")
    }
  }
}
