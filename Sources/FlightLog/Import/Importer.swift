import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Fills a flight log from CSV files.
///
/// Flights are inserted by batch requests, each in one transaction. The aircraft and airports that a batch mentions
/// first are saved before it, because a batch leads to saved objects only. Memory stays bounded however long the file
/// is, because the context is reset after each batch. The number of log entries says how many records of the file are
/// in the store, so an import that was killed goes on from there.
struct Importer {
  /// Flights per batch.
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
    while present + added < flightLimit {
      let batch = try readBatch(&csv, columns, atMost: flightLimit - present - added)
      if batch.isEmpty { break }
      // The batch leads to objects that it mentions first by their permanent identifiers.
      try context.save()
      try insert(batch, csv)
      added += batch.count
      try saveBatch()
      progress.show(csv.offset, rows: added)
    }
    progress.finish()
    return added
  }

  private mutating func readBatch(
    _ csv: inout CSVReader, _ columns: FlightColumns, atMost limit: Int
  ) throws -> [FlightRecord] {
    var batch: [FlightRecord] = []
    batch.reserveCapacity(min(limit, Self.batchSize))
    while batch.count < min(limit, Self.batchSize), try csv.next() { batch.append(try record(csv, columns)) }
    return batch
  }

  private mutating func record(_ csv: CSVReader, _ columns: FlightColumns) throws -> FlightRecord {
    var flown: ManagedObject?
    if let tailNumber = try csv.optionalText(columns.tailNumber) {
      flown = try aircraft.object(tailNumber, in: context)
    }
    return FlightRecord(
      values: try columns.values(of: csv), airTime: try csv.optionalInteger(columns.airTime),
      distance: try csv.optionalInteger(columns.distance),
      airline: try airlines.object(try csv.text(columns.carrier), in: context),
      origin: try airports.object(try csv.text(columns.origin), in: context),
      destination: try airports.object(try csv.text(columns.destination), in: context), aircraft: flown,
      line: csv.line)
  }

  private func insert(_ batch: [FlightRecord], _ csv: CSVReader) throws {
    var next = batch.makeIterator()
    let request = BatchInsertRequest(entityName: "LogEntry") { (entry: LogEntry) in
      guard let flight = next.next() else { return true }
      do { try flight.fill(entry) } catch let error as CambiumError { throw csv.failure("\(error)", at: flight.line) }
      return false
    }
    try context.execute(request)
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
