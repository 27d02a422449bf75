import Cambium

/// There and back again: attributes gathered into a composite and spread out, a set that becomes a list and a set
/// again, an entity that moves into a hierarchy and out of it; between two versions the application writes half of the
/// objects, so that rows of several versions lie side by side.
enum ReturnVersions {
  /// Versions 1 and 3.
  @ModelBuilder @Sendable static func flat() -> [ModelBuilderPart] {
    vehicle
    Entity("Aircraft", parent: "Vehicle") {
      Attribute("seats", .integer16)
      Attribute("primaryColor", .string, renamed: "colorScheme.primary")
      Attribute("secondaryColor", .string, renamed: "colorScheme.secondary")
      ToMany("flights", "Flight", inverse: "aircraft")
    }
    Entity("Glider") {
      Attribute("name", .string)
      Attribute("span", .double)
    }
    flight
  }

  private static var vehicle: Entity { Entity("Vehicle", abstract: true) { Attribute("name", .string) } }

  private static var flight: Entity {
    Entity("Flight") {
      Attribute("name", .string)
      ToOne("aircraft", "Aircraft", inverse: "flights")
    }
  }

  /// Versions 2 and 4.
  @ModelBuilder @Sendable static func gathered() -> [ModelBuilderPart] {
    vehicle
    Entity("Aircraft", parent: "Vehicle") {
      Attribute("seats", .integer32)
      Attribute("colorScheme") {
        Attribute("primary", .string, renamed: "primaryColor")
        Attribute("secondary", .string, renamed: "secondaryColor")
      }
      ToMany("flights", "Flight", inverse: "aircraft", ordered: true)
    }
    Entity("Glider", parent: "Vehicle") { Attribute("span", .double) }
    flight
  }

  /// The composite within another one, a flight of several aircraft, and the glider one of them.
  @ModelBuilder @Sendable static func nested() -> [ModelBuilderPart] {
    vehicle
    Entity("Aircraft", parent: "Vehicle") {
      Attribute("seats", .integer32)
      Attribute("livery") {
        Attribute("scheme", renamed: "colorScheme") {
          Attribute("primary", .string, renamed: "primaryColor")
          Attribute("secondary", .string, renamed: "secondaryColor")
        }
      }
      ToMany("flights", "Flight", inverse: "aircraft", ordered: true)
    }
    Entity("Glider", parent: "Aircraft") { Attribute("span", .double) }
    Entity("Flight") {
      Attribute("name", .string)
      ToMany("aircraft", "Aircraft", inverse: "flights")
    }
  }

  @Sendable static func make(_ context: ManagedObjectContext, _ n: Int) throws {
    let aircraft = try context.make(
      "Aircraft",
      [
        "name": "A\(n)", "seats": n, "primaryColor": n % 3 == 0 ? nil : "blue \(n)",
        "secondaryColor": n % 3 == 2 ? "white \(n)" : nil,
      ])
    for letter in ["a", "b", "c"] { try context.make("Flight", ["name": "F\(n)\(letter)", "aircraft": aircraft]) }
    try context.make("Glider", ["name": "G\(n)", "span": Double(n)])
  }

  /// Aircraft of even numbers get more seats, and their flights another order.
  @Sendable static func changeHalf(_ context: ManagedObjectContext) throws {
    for aircraft in try context.all("Aircraft") {
      guard let seats = aircraft.value(forKey: "seats") as? Int, seats < 100, seats % 2 == 0 else { continue }
      try aircraft.set(seats + 100, forKey: "seats")
      let flights = (aircraft.value(forKey: "flights") as? [ManagedObject] ?? []).sorted {
        ($0.value(forKey: "name") as? String ?? "") < ($1.value(forKey: "name") as? String ?? "")
      }
      try aircraft.set(Array(flights.reversed()), forKey: "flights")
    }
    try context.save()
  }

  @Sendable static func expected(_ path: [Int], _ n: Int) -> [String] {
    let version = path.last ?? 1
    let isChanged = n % 2 == 0 && !path.filter { $0 == 2 || $0 == 4 }.isEmpty
    // The order was given in version 2 or 4, the first that there was; as a set, in version 3, it is lost.
    let isReversed = isChanged && (version == 2 || version > 3 && !(path.contains(2) && path.contains(3)))
    let names = (isReversed ? ["c", "b", "a"] : ["a", "b", "c"]).map { "F\(n)\($0)" }.joined(separator: ",")
    let seats = "seats=\(isChanged ? n + 100 : n)"
    let scheme = ["(primary=blue \(n))", "(primary=blue \(n),secondary=white \(n))"]
    let color = n % 3 == 0 ? nil : scheme[n % 3 - 1]
    var result: [String] = []
    switch version {
    case 1, 3:
      result.append(
        "Aircraft A\(n) flights={\(names)} primaryColor=\(n % 3 == 0 ? "nil" : "blue \(n)") \(seats) "
          + "secondaryColor=\(n % 3 == 2 ? "white \(n)" : "nil")")
    case 2, 4:
      result.append("Aircraft A\(n) colorScheme=\(color ?? "nil") flights=[\(names)] \(seats)")
    default:
      result.append("Aircraft A\(n) flights=[\(names)] livery=\(color.map { "(scheme=\($0))" } ?? "nil") \(seats)")
    }
    for letter in ["a", "b", "c"] {
      result.append("Flight F\(n)\(letter) aircraft=\(version < 5 ? "A\(n)" : "{A\(n)}")")
    }
    result.append("Glider G\(n) \(version < 5 ? "" : "flights=[] livery=nil seats=nil ")span=\(Double(n))")
    return result
  }
}

extension VersionChain {
  static let returns = VersionChain(
    testDescription: "returns",
    versions: [
      ReturnVersions.flat, ReturnVersions.gathered, ReturnVersions.flat, ReturnVersions.gathered, ReturnVersions.nested,
    ],
    verdicts: [1...3: .sameHash, 2...4: .sameHash], make: ReturnVersions.make,
    work: [2: ReturnVersions.changeHalf, 4: ReturnVersions.changeHalf], expected: ReturnVersions.expected)
}
