import Cambium

/// The versions that a log went through that began as one flat table, as many do.
///
/// | version | what is new | how the store gets there |
/// |---|---|---|
/// | 1 | everything is an attribute of `LogEntry`, airports and airlines by their codes | |
/// | 2 | airlines, airports and aircraft are objects; the codes have names of their own | inferred; a handler makes the objects and links the entries |
/// | 3 | times of departure and arrival are composites | inferred: the attributes are gathered |
/// | 4 | no codes any more: ``make()`` | inferred, because 4 is the higher number; their room is freed later |
extension FlightLogModel {
  /// The times of departure and arrival before they were gathered.
  private static let flatTimes = [
    "departureScheduled", "departureActual", "departureDelay", "arrivalScheduled", "arrivalActual", "arrivalDelay",
  ]

  /// Everything in one entity.
  static func version1() throws -> ManagedObjectModel {
    try ManagedObjectModel(version: 1) {
      Entity("LogEntry", class: LogEntry.self) {
        Attribute("date", .date, optional: false)
        Attribute("flightNumber", .integer32)
        for name in flatTimes { Attribute(name, .integer16) }
        Attribute("airTime", .integer16)
        Attribute("distance", .integer32)
        Attribute("carrier", .string)
        Attribute("tailNumber", .string)
        Attribute("aircraftType", .string)
        Attribute("origin", .string)
        Attribute("destination", .string)
        Index("byDate", "date")
      }
    }
  }

  /// With entities and relationships, which take over the names that codes had.
  static func version2() throws -> ManagedObjectModel {
    try ManagedObjectModel(version: 2) {
      location
      place
      airline
      airport
      aircraft
      Entity("LogEntry", class: LogEntry.self) {
        Attribute("date", .date, optional: false)
        Attribute("flightNumber", .integer32)
        for name in flatTimes { Attribute(name, .integer16) }
        Attribute("airTime", .integer16)
        Attribute("distance", .integer32)
        Attribute("carrierCode", .string, renamed: "carrier")
        Attribute("aircraftTailNumber", .string, renamed: "tailNumber")
        Attribute("aircraftType", .string)
        Attribute("originCode", .string, renamed: "origin")
        Attribute("destinationCode", .string, renamed: "destination")
        ToOne("aircraft", "Aircraft", inverse: "logEntries")
        ToOne("airline", "Airline", inverse: "logEntries")
        ToOne("origin", "Airport", inverse: "departures")
        ToOne("destination", "Airport", inverse: "arrivals")
        Index("byDate", "date")
      }
    }
  }

  /// With composites. An element's renaming identifier names the attribute whose values it takes over.
  static func version3() throws -> ManagedObjectModel {
    try ManagedObjectModel(version: 3) {
      location
      place
      airline
      airport
      aircraft
      Entity("LogEntry", class: LogEntry.self) {
        Attribute("date", .date, optional: false)
        Attribute("flightNumber", .integer32)
        Attribute("departure") {
          Attribute("scheduled", .integer16, renamed: "departureScheduled")
          Attribute("actual", .integer16, renamed: "departureActual")
          Attribute("delay", .integer16, renamed: "departureDelay")
        }
        Attribute("arrival") {
          Attribute("scheduled", .integer16, renamed: "arrivalScheduled")
          Attribute("actual", .integer16, renamed: "arrivalActual")
          Attribute("delay", .integer16, renamed: "arrivalDelay")
        }
        Attribute("airTime", .integer16)
        Attribute("distance", .integer32)
        Attribute("carrierCode", .string)
        Attribute("aircraftTailNumber", .string)
        Attribute("aircraftType", .string)
        Attribute("originCode", .string)
        Attribute("destinationCode", .string)
        logEntryLinks
      }
    }
  }
}
