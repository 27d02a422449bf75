import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The objects of the flight log. Reading a property that cannot be read gives nil and is noted by the context, as in Core
// Data; `assign` throws at once, which is what an import wants.

/// An airline.
@ManagedPaths final class Airline: ManagedObject {
  @Managed var code: String
  @Managed("name") var givenName: String?
  var name: String { givenName ?? code }
}

/// An airport.
@ManagedPaths final class Airport: ManagedObject {
  @Managed var faaIdentifier: String
  @Managed var icaoIdentifier: String?
  @Managed(default: "(not in the reference data)") var name: String
  @Managed var place: Place?
}

/// An aircraft.
@ManagedPaths final class Aircraft: ManagedObject {
  @Managed var tailNumber: String
  @Managed var year: Int?
  @Managed var manufacturer: String?
  @Managed var aircraftModel: String?
  @Managed var seats: Int?
}

/// A flight from one airport to another.
@ManagedPaths final class LogEntry: ManagedObject {
  @Managed var date: Date?
  @Managed var flightNumber: Int
  @Managed var departure: Times?
  @Managed var arrival: Times?
  @Managed var airTime: Int?
  @Managed var distance: Int
  @Managed var aircraft: Aircraft?
  @Managed var airline: Airline?
  @Managed var origin: Airport?
  @Managed var destination: Airport?
}

extension ManagedObject {
  /// Sets several properties.
  ///
  /// - Throws: what ``ManagedObject/set(_:forKey:)`` throws for the first that does not fit.
  func assign(_ values: KeyValuePairs<String, Any?>) throws {
    for (key, value) in values { try set(value, forKey: key) }
  }
}
