import Cambium
import Foundation

// The same things as plain objects, which Foundation evaluates predicates on, and as objects of a store.

enum PlaneKind: String, Codable, Sendable {
  case glider, airliner
}

struct Paint: Codable, Equatable, Sendable {
  var primary: String
  var secondary: String?
}

final class Owner: Sendable, Equatable {
  let name: String
  let city: String?
  init(_ name: String, _ city: String?) { (self.name, self.city) = (name, city) }
  static func == (a: Owner, b: Owner) -> Bool { a === b }
}

final class Leg: Sendable {
  let minutes: Int
  let remarks: String?
  init(_ minutes: Int, _ remarks: String? = nil) { (self.minutes, self.remarks) = (minutes, remarks) }
}

class Plane {
  let tail: String
  let seats: Int?
  let engines: Int
  let hours: Double
  let isActive: Bool
  let kind: PlaneKind
  let built: Date
  let note: String?
  let paint: Paint?
  let colors: [String: String]
  let owner: Owner?
  let legs: [Leg]
  var legMinutes: [Int] { legs.map { $0.minutes } }
  var untyped: [String: Any] { colors }
  var untypedPaint: [String: Any]? { paint == nil ? nil : colors }

  init(
    _ tail: String, seats: Int?, engines: Int, hours: Double, isActive: Bool, kind: PlaneKind, built: Double,
    note: String?, paint: Paint?, owner: Owner?, legs: [Leg]
  ) {
    self.tail = tail
    self.seats = seats
    self.engines = engines
    self.hours = hours
    self.isActive = isActive
    self.kind = kind
    self.built = Date(timeIntervalSinceReferenceDate: built)
    self.note = note
    self.paint = paint
    var colors: [String: String] = [:]
    if let paint { colors["primary"] = paint.primary }
    if let second = paint?.secondary { colors["secondary"] = second }
    self.colors = colors
    self.owner = owner
    self.legs = legs
  }
}

final class Seaplane: Plane {}

extension Plane: PredicateKeyPaths {
  static var predicateKeyPaths: [AnyKeyPath: String] {
    [
      \Plane.tail: "tail", \Plane.seats: "seats", \Plane.engines: "engines", \Plane.hours: "hours",
      \Plane.isActive: "isActive", \Plane.kind: "kind", \Plane.built: "built", \Plane.note: "note",
      \Plane.paint: "paint", \Plane.colors: "paint", \Plane.owner: "owner", \Plane.legs: "legs",
      \Plane.legMinutes: "legs.minutes", \Plane.untyped: "paint", \Plane.untypedPaint: "paint",
    ]
  }
}

extension Paint: PredicateKeyPaths {
  static var predicateKeyPaths: [AnyKeyPath: String] {
    [\Paint.primary: "primary", \Paint.secondary: "secondary"]
  }
}

extension Owner: PredicateKeyPaths {
  static var predicateKeyPaths: [AnyKeyPath: String] { [\Owner.name: "name", \Owner.city: "city"] }
}

extension Leg: PredicateKeyPaths {
  static var predicateKeyPaths: [AnyKeyPath: String] { [\Leg.minutes: "minutes", \Leg.remarks: "remarks"] }
}

/// Some planes, and a store that holds the same.
struct Planes {
  let plain: [Plane]
  let context: ManagedObjectContext
  private let directory: TemporaryDirectory

  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Plane", class: PlaneObject.self) {
        Attribute("tail", .string, optional: false)
        Attribute("seats", .integer32)
        Attribute("engines", .integer16)
        Attribute("hours", .double)
        Attribute("isActive", .boolean)
        Attribute("kind", .string)
        Attribute("built", .date)
        Attribute("note", .string)
        Attribute("paint") {
          Attribute("primary", .string)
          Attribute("secondary", .string)
        }
        ToOne("owner", "Owner", inverse: "planes")
        ToMany("legs", "Leg", inverse: "plane", ordered: true)
        Index("bySeats", "seats")
      }
      Entity("Owner") {
        Attribute("name", .string)
        Attribute("city", .string)
        ToMany("planes", "Plane", inverse: "owner")
      }
      Entity("Leg") {
        Attribute("minutes", .integer32)
        Attribute("remarks", .string)
        ToOne("plane", "Plane", inverse: "legs")
      }
    }
  }

  init() throws {
    let ann = Owner("Ann", "Bern")
    let bob = Owner("Bob", nil)
    plain = [
      Plane(
        "N1", seats: 4, engines: 1, hours: 1200.5, isActive: true, kind: .airliner, built: 1000, note: "blue stripe",
        paint: Paint(primary: "white", secondary: "blue"), owner: ann, legs: [Leg(30), Leg(95, "rain")]),
      Plane(
        "N2", seats: nil, engines: 2, hours: 0, isActive: false, kind: .airliner, built: 2000, note: nil,
        paint: Paint(primary: "gold", secondary: nil), owner: bob, legs: [Leg(61, "fog")]),
      Plane(
        "D3", seats: 1, engines: 0, hours: 333, isActive: true, kind: .glider, built: 3000, note: "", paint: nil,
        owner: nil, legs: []),
      Plane(
        "D4", seats: 180, engines: 2, hours: 1e5, isActive: true, kind: .airliner, built: 4000, note: "Blue",
        paint: Paint(primary: "blue", secondary: "white"), owner: bob, legs: [Leg(600), Leg(610), Leg(20, "Rain")]),
      Plane(
        "D5", seats: 2, engines: 2, hours: 12, isActive: false, kind: .glider, built: 5000, note: "N2",
        paint: Paint(primary: "white", secondary: nil), owner: ann, legs: [Leg(45), Leg(0)]),
    ]
    directory = try TemporaryDirectory()
    context = try directory.container("planes", model: Self.model()).viewContext
    var owners: [ObjectIdentifier: ManagedObject] = [:]
    for owner in [ann, bob] {
      owners[ObjectIdentifier(owner)] = try context.make("Owner", ["name": owner.name, "city": owner.city])
    }
    for plane in plain {
      let legs = try plane.legs.map { try context.make("Leg", ["minutes": $0.minutes, "remarks": $0.remarks]) }
      try context.make(
        "Plane",
        [
          "tail": plane.tail, "seats": plane.seats, "engines": plane.engines, "hours": plane.hours,
          "isActive": plane.isActive, "kind": plane.kind.rawValue, "built": plane.built, "note": plane.note,
          "paint": plane.paint == nil ? nil : plane.colors,
          "owner": plane.owner.flatMap { owners[ObjectIdentifier($0)] },
          "legs": legs,
        ])
    }
    try context.save()
  }

  /// The tail numbers of the planes that the store finds.
  func stored(_ predicate: FetchPredicate) throws -> [String] {
    let request = FetchRequest<ManagedObject>(entityName: "Plane")
    request.predicate = predicate
    request.sortDescriptors = [FetchSortDescriptor(key: "built")]
    return try context.fetch(request).compactMap { $0.value(forKey: "tail") as? String }
  }
}
