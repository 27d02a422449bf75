import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The objects of the flight log. Reading a property that cannot be read gives nil and is noted by the context, as in Core
// Data; `assign` throws at once, which is what an import wants.

/// An airline.
final class Airline: ManagedObject {
  var code: String { text("code") ?? "" }
  var name: String { text("name") ?? code }
}

/// An airport.
final class Airport: ManagedObject {
  var faaIdentifier: String { text("faaIdentifier") ?? "" }
  var icaoIdentifier: String? { text("icaoIdentifier") }
  var name: String { text("name") ?? "(not in the reference data)" }
  var place: Place? { composite(Place.self, forKey: "place") }
}

/// An aircraft.
final class Aircraft: ManagedObject {
  var tailNumber: String { text("tailNumber") ?? "" }
  var year: Int? { integer("year") }
  var manufacturer: String? { text("manufacturer") }
  var aircraftModel: String? { text("aircraftModel") }
  var seats: Int? { integer("seats") }
}

/// A flight from one airport to another.
final class LogEntry: ManagedObject {
  var date: Date? { value(forKey: "date") as? Date }
  var flightNumber: Int { integer("flightNumber") ?? 0 }
  var departure: Times? { composite(Times.self, forKey: "departure") }
  var arrival: Times? { composite(Times.self, forKey: "arrival") }
  var airTime: Int? { integer("airTime") }
  var distance: Int { integer("distance") ?? 0 }
  var aircraft: Aircraft? { value(forKey: "aircraft") as? Aircraft }
  var airline: Airline? { value(forKey: "airline") as? Airline }
  var origin: Airport? { value(forKey: "origin") as? Airport }
  var destination: Airport? { value(forKey: "destination") as? Airport }
}

extension ManagedObject {
  fileprivate func text(_ key: String) -> String? { value(forKey: key) as? String }
  fileprivate func integer(_ key: String) -> Int? { value(forKey: key) as? Int }

  /// Sets several properties.
  ///
  /// - Throws: what ``ManagedObject/set(_:forKey:)`` throws for the first that does not fit.
  func assign(_ values: KeyValuePairs<String, Any?>) throws {
    for (key, value) in values { try set(value, forKey: key) }
  }
}
