import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The objects of the flight log. Reading a property that cannot be read gives nil and is noted by the context, as in
// Core Data; `assign` throws at once, which is what an import wants: it can say which record of the file is to blame.

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
  /// Sets a property to a value of a type that is known, which takes less time than a value of `Any`.
  ///
  /// - Throws: what ``ManagedObject/set(_:forKey:)`` throws.
  func assign<Value: ManagedValue>(_ value: Value?, to key: String) throws {
    if let value { try value.setManagedValue(of: self, forKey: key) } else { try set(nil, forKey: key) }
  }
}
