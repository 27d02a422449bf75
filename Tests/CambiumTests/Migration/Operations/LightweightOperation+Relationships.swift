import Cambium

extension LightweightOperation {
  /// A pilot with three flights, not linked in the order of their names; every fourth has none.
  @Sendable private static func makePilot(_ context: ManagedObjectContext, _ n: Int, ordered: Bool = false) throws {
    let flights = try ["a", "b", "c"].map { try context.make("Flight", ["name": "F\(n)\($0)"]) }
    let pilot = try context.make("Pilot", ["name": "P\(n)"])
    if n % 4 == 3 { return }
    let chosen = [flights[2], flights[0], flights[1]]
    if ordered { try pilot.set(chosen, forKey: "flights") } else { try pilot.set(Set(chosen), forKey: "flights") }
  }

  /// The names of a pilot's flights.
  private static func flights(_ n: Int, _ letters: [String] = ["a", "b", "c"]) -> String {
    n % 4 == 3 ? "" : letters.map { "F\(n)\($0)" }.joined(separator: ",")
  }

  private static func pilot(_ n: Int) -> String { n % 4 == 3 ? "nil" : "P\(n)" }

  /// Relationships between two entities.
  static let relationships: [LightweightOperation] = [
    LightweightOperation(
      "relationship added",
      from: {
        Entity("Pilot") { Attribute("name", .string) }
        Entity("Flight") { Attribute("name", .string) }
      },
      to: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilot")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "flights")
        }
      },
      make: { context, n in
        try context.make("Pilot", ["name": "P\(n)"])
        try context.make("Flight", ["name": "F\(n)"])
      },
      expects: { ["Pilot P\($0) flights={}", "Flight F\($0) pilot=nil"] }),
    LightweightOperation(
      "relationship removed",
      from: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilot")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "flights")
        }
      },
      to: {
        Entity("Pilot") { Attribute("name", .string) }
        Entity("Flight") { Attribute("name", .string) }
      },
      make: { try makePilot($0, $1) },
      expects: { n in ["Pilot P\(n)", "Flight F\(n)a", "Flight F\(n)b", "Flight F\(n)c"] }),
    LightweightOperation(
      "relationship and its inverse renamed",
      from: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilot")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "flights")
        }
      },
      to: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("commands", "Flight", inverse: "captain", renamed: "flights")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("captain", "Pilot", inverse: "commands", renamed: "pilot")
        }
      },
      make: { try makePilot($0, $1) },
      expects: { n in
        ["Pilot P\(n) commands={\(flights(n))}"] + ["a", "b", "c"].map { "Flight F\(n)\($0) captain=\(pilot(n))" }
      }),
    LightweightOperation(
      "to-one becomes to-many",
      from: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilot")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "flights")
        }
      },
      to: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilots")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToMany("pilots", "Pilot", inverse: "flights", renamed: "pilot")
        }
      },
      make: { try makePilot($0, $1) },
      expects: { n in
        ["Pilot P\(n) flights={\(flights(n))}"]
          + ["a", "b", "c"].map { "Flight F\(n)\($0) pilots={\(n % 4 == 3 ? "" : pilot(n))}" }
      }),
    LightweightOperation(
      "to-one without inverse becomes ordered to-many",
      from: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToOne("licence", "Licence")
        }
        Entity("Licence") { Attribute("name", .string) }
      },
      to: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("licence", "Licence", ordered: true)
        }
        Entity("Licence") { Attribute("name", .string) }
      },
      make: { context, n in
        let licence = try context.make("Licence", ["name": "L\(n)"])
        try context.make("Pilot", ["name": "P\(n)", "licence": n % 4 == 3 ? nil : licence])
      },
      expects: { ["Pilot P\($0) licence=[\($0 % 4 == 3 ? "" : "L\($0)")]", "Licence L\($0)"] }),
    LightweightOperation(
      "unordered becomes ordered",
      from: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilot")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "flights")
        }
      },
      to: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilot", ordered: true)
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "flights")
        }
      },
      make: { try makePilot($0, $1) },
      // In the order of the rows, which is that in which the flights were made.
      expects: { n in
        ["Pilot P\(n) flights=[\(flights(n))]"] + ["a", "b", "c"].map { "Flight F\(n)\($0) pilot=\(pilot(n))" }
      }),
    LightweightOperation(
      "ordered becomes unordered",
      from: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilot", ordered: true)
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "flights")
        }
      },
      to: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilot")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "flights")
        }
      },
      make: { try makePilot($0, $1, ordered: true) },
      expects: { n in
        ["Pilot P\(n) flights={\(flights(n))}"] + ["a", "b", "c"].map { "Flight F\(n)\($0) pilot=\(pilot(n))" }
      }),
    LightweightOperation(
      "ordered stays in its order beside an attribute that is added",
      from: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", ordered: true)
        }
        Entity("Flight") { Attribute("name", .string) }
      },
      to: {
        Entity("Pilot") {
          Attribute("name", .string)
          Attribute("rating", .integer16, optional: false, default: 1)
          ToMany("flights", "Flight", ordered: true)
        }
        Entity("Flight") { Attribute("name", .string) }
      },
      make: { try makePilot($0, $1, ordered: true) },
      expects: { n in
        ["Pilot P\(n) flights=[\(flights(n, ["c", "a", "b"]))] rating=1"] + ["a", "b", "c"].map { "Flight F\(n)\($0)" }
      }),
    LightweightOperation(
      "relationship gets an inverse",
      from: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight")
        }
        Entity("Flight") { Attribute("name", .string) }
      },
      to: {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("flights", "Flight", inverse: "pilot")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "flights")
        }
      },
      make: { try makePilot($0, $1) },
      expects: { n in
        ["Pilot P\(n) flights={\(flights(n))}"] + ["a", "b", "c"].map { "Flight F\(n)\($0) pilot=\(pilot(n))" }
      }),
  ]
}
