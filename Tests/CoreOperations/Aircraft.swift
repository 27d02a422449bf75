import Cambium

/// An aircraft of the counted operations.
final class Aircraft: ManagedObject {
  @Managed var tailNumber: String
  @Managed var maker: String?
  @Managed var year: Int32
  @Managed var hours: Double
  @Managed var flights: Set<Flight>
}

/// A flight of an aircraft.
final class Flight: ManagedObject {
  @Managed var number: Int32
  @Managed var distance: Int32
  @Managed var aircraft: Aircraft?
}

/// A route, whose legs are a list.
final class Route: ManagedObject {
  @Managed var legs: [Leg]
}

/// A leg of a route.
final class Leg: ManagedObject {
  @Managed var number: Int32
  @Managed var route: Route?
}

/// The model of the counted operations.
func flightModel() throws -> ManagedObjectModel {
  try ManagedObjectModel {
    Entity("Aircraft", class: Aircraft.self) {
      Attribute("tailNumber", .string, optional: false)
      Attribute("maker", .string)
      Attribute("year", .integer32)
      Attribute("hours", .double)
      ToMany("flights", "Flight", inverse: "aircraft", deleteRule: .cascade)
      Unique("tailNumber")
      Index("byYear", "year")
    }
    Entity("Flight", class: Flight.self) {
      Attribute("number", .integer32)
      Attribute("distance", .integer32)
      ToOne("aircraft", "Aircraft", inverse: "flights")
      Index("byNumber", "number")
    }
    Entity("Route", class: Route.self) { ToMany("legs", "Leg", inverse: "route", ordered: true) }
    Entity("Leg", class: Leg.self) {
      Attribute("number", .integer32)
      ToOne("route", "Route", inverse: "legs")
    }
  }
}
