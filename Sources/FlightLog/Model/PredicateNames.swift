import Cambium

// What the properties are called in the store, for conditions that are written in Swift (`#Predicate`).

extension LogEntry: PredicateKeyPaths {
  static var predicateKeyPaths: [AnyKeyPath: String] {
    [
      \LogEntry.date: "date", \LogEntry.flightNumber: "flightNumber", \LogEntry.departure: "departure",
      \LogEntry.arrival: "arrival", \LogEntry.airTime: "airTime", \LogEntry.distance: "distance",
      \LogEntry.aircraft: "aircraft", \LogEntry.airline: "airline", \LogEntry.origin: "origin",
      \LogEntry.destination: "destination",
    ]
  }
}

extension Aircraft: PredicateKeyPaths {
  static var predicateKeyPaths: [AnyKeyPath: String] {
    [
      \Aircraft.tailNumber: "tailNumber", \Aircraft.year: "year", \Aircraft.manufacturer: "manufacturer",
      \Aircraft.aircraftModel: "aircraftModel", \Aircraft.seats: "seats",
    ]
  }
}

extension Airport: PredicateKeyPaths {
  static var predicateKeyPaths: [AnyKeyPath: String] {
    [
      \Airport.faaIdentifier: "faaIdentifier", \Airport.icaoIdentifier: "icaoIdentifier", \Airport.place: "place",
    ]
  }
}

extension Times: PredicateKeyPaths {
  static var predicateKeyPaths: [AnyKeyPath: String] {
    [\Times.scheduled: "scheduled", \Times.actual: "actual", \Times.delay: "delay"]
  }
}
