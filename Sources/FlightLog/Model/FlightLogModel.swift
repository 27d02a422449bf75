import Cambium

/// The model of the flight log.
///
///     Airline 1 ──── * LogEntry * ──── 0..1 Aircraft
///                      *    *
///                      │    │ destination, arrivals
///                      │    └──────── 1 Airport
///                      └───────────── 1
///                   origin, departures
///
/// How values are stored:
/// - `LogEntry.date` is the day of the scheduled departure where the airport is, as midnight UTC of that day. A day is
///   a range of one value, whatever the time zone of who asks.
/// - `departure` and `arrival` hold `scheduled` and `actual` in minutes after the airport's local midnight (317 is
///   5:17, 1440 the end of the day) and `delay` in minutes, negative when early. Actual times are of the day on which
///   they happened, which the data do not name: `delay` is what to compute with.
/// - `airTime` is in minutes, `distance` in statute miles, `altitude` in feet, `latitude` and `longitude` in degrees.
/// - What the data do not have (`NA`) is nil. A flight that was cancelled has no `departure.actual`; one that never
///   came to its destination has no `arrival.delay`.
/// - An aircraft or airport that a flight mentions, and the reference files do not describe, has its identifier alone.
enum FlightLogModel {
  /// Makes the model; each container takes its own.
  static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel(version: 4) {
      location
      place
      Composite("Times") {
        Attribute("scheduled", .integer16)
        Attribute("actual", .integer16)
        Attribute("delay", .integer16)
      }
      airline
      airport
      aircraft
      Entity("LogEntry", class: LogEntry.self) {
        Attribute("date", .date, optional: false)
        Attribute("flightNumber", .integer32)
        Attribute("departure", composite: "Times")
        Attribute("arrival", composite: "Times")
        Attribute("airTime", .integer16)
        Attribute("distance", .integer32)
        logEntryLinks
        Index("byDepartureDelay", "departure.delay")
        // The few flights without a tail number: a relationship itself finds only those that lead somewhere.
        Index("withoutAircraft", "date", where: "aircraft == nil")
      }
    }
  }
}

// MARK: Parts that other versions of the model have, too

extension FlightLogModel {
  /// What an entry of the log leads to, and how it is found.
  @EntityBuilder static var logEntryLinks: [EntityBuilderPart] {
    ToOne("aircraft", "Aircraft", inverse: "logEntries")
    ToOne("airline", "Airline", inverse: "logEntries", optional: false)
    ToOne("origin", "Airport", inverse: "departures", optional: false)
    ToOne("destination", "Airport", inverse: "arrivals", optional: false)
    Index("byDate", "date")
  }

  /// A place on earth.
  static var location: Composite {
    Composite("Location") {
      Attribute("latitude", .double)
      Attribute("longitude", .double)
      Attribute("altitude", .integer32)
    }
  }

  /// Where an airport is, and what time it has.
  static var place: Composite {
    Composite("Place") {
      Attribute("timeZone", .string)
      Attribute("location", composite: "Location")
    }
  }

  /// Who flies.
  static var airline: Entity {
    Entity("Airline", class: Airline.self) {
      Attribute("code", .string, optional: false)
      Attribute("name", .string)
      ToMany("logEntries", "LogEntry", inverse: "airline", deleteRule: .deny)
      Unique("code")
    }
  }

  /// Where flights begin and end.
  static var airport: Entity {
    Entity("Airport", class: Airport.self) {
      Attribute("faaIdentifier", .string, optional: false)
      Attribute("icaoIdentifier", .string)
      Attribute("name", .string)
      Attribute("place", composite: "Place")
      ToMany("departures", "LogEntry", inverse: "origin", deleteRule: .deny)
      ToMany("arrivals", "LogEntry", inverse: "destination", deleteRule: .deny)
      Index("byLatitude", "place.location.latitude")
      Index("byPlace", "place.location.latitude", "place.location.longitude", kind: .rTree)
      Unique("faaIdentifier")
    }
  }

  /// What flies.
  static var aircraft: Entity {
    Entity("Aircraft", class: Aircraft.self) {
      Attribute("tailNumber", .string, optional: false)
      Attribute("year", .integer16)
      Attribute("aircraftType", .string)
      Attribute("manufacturer", .string)
      Attribute("aircraftModel", .string)
      Attribute("engines", .integer16)
      Attribute("seats", .integer16)
      Attribute("engineType", .string)
      ToMany("logEntries", "LogEntry", inverse: "aircraft")
      Unique("tailNumber")
    }
  }
}
