import Cambium

extension LightweightOperation {
  /// An aircraft and a flight of it.
  @Sendable private static func makeFlight(_ context: ManagedObjectContext, _ n: Int) throws {
    let aircraft = try context.make("Aircraft", ["name": "A\(n)", "seats": n])
    try context.make("Flight", ["name": "F\(n)", "aircraft": aircraft])
  }

  /// Whole entities.
  static let entities: [LightweightOperation] = [
    LightweightOperation(
      "entity added",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          ToMany("pilots", "Pilot", inverse: "aircraft")
        }
        Entity("Pilot") {
          Attribute("name", .string)
          ToOne("aircraft", "Aircraft", inverse: "pilots")
        }
      },
      make: { context, n in try context.make("Aircraft", ["name": "A\(n)", "seats": n]) },
      expects: { ["Aircraft A\($0) pilots={} seats=\($0)"] }),
    LightweightOperation(
      "entity removed",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          ToMany("flights", "Flight", inverse: "aircraft")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("aircraft", "Aircraft", inverse: "flights")
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
      },
      make: { try makeFlight($0, $1) },
      expects: { ["Aircraft A\($0) seats=\($0)"] }),
    LightweightOperation(
      "entity with references to it removed",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
        Entity("Flight") {
          Attribute("name", .string)
          Attribute("minutes", .integer32, default: 30)
          ToOne("aircraft", "Aircraft")
        }
      },
      to: {
        Entity("Flight") {
          Attribute("name", .string)
          Attribute("minutes", .integer32, default: 30)
        }
      },
      make: { try makeFlight($0, $1) },
      expects: { ["Flight F\($0) minutes=30"] }),
    LightweightOperation(
      "entity renamed",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          ToMany("flights", "Flight", inverse: "aircraft")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("aircraft", "Aircraft", inverse: "flights")
        }
      },
      to: {
        Entity("Airplane", renamed: "Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          ToMany("flights", "Flight", inverse: "aircraft")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("aircraft", "Airplane", inverse: "flights")
        }
      },
      make: { try makeFlight($0, $1) },
      expects: { ["Airplane A\($0) flights={F\($0)} seats=\($0)", "Flight F\($0) aircraft=A\($0)"] }),
  ]

  /// An aircraft, a glider and a flight of each, whether or not the two have a parent.
  @Sendable private static func makeFleet(_ context: ManagedObjectContext, _ n: Int) throws {
    let aircraft = try context.make("Aircraft", ["name": "A\(n)", "seats": n])
    let glider = try context.make("Glider", ["name": "G\(n)", "span": Double(n) / 2])
    try context.make("Flight", ["name": "F\(n)", "aircraft": aircraft, "glider": glider])
  }

  /// Flights of both, beside whatever becomes of their entities.
  private static var flight: Entity {
    Entity("Flight") {
      Attribute("name", .string)
      ToOne("aircraft", "Aircraft", inverse: "flights")
      ToOne("glider", "Glider", inverse: "flights")
    }
  }

  private static func fleet(_ n: Int) -> [String] {
    [
      "Aircraft A\(n) flights={F\(n)} seats=\(n)", "Flight F\(n) aircraft=A\(n) glider=G\(n)",
      "Glider G\(n) flights={F\(n)} span=\(Double(n) / 2)",
    ]
  }

  /// Parents and children.
  static let hierarchies: [LightweightOperation] = [
    LightweightOperation(
      "new parent, that the attributes move up to",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          ToMany("flights", "Flight", inverse: "aircraft")
        }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("aircraft", "Aircraft", inverse: "flights")
        }
      },
      to: {
        Entity("Vehicle", abstract: true) {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
        Entity("Aircraft", parent: "Vehicle") { ToMany("flights", "Flight", inverse: "aircraft") }
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("aircraft", "Aircraft", inverse: "flights")
        }
      },
      make: { try makeFlight($0, $1) },
      expects: { ["Aircraft A\($0) flights={F\($0)} seats=\($0)", "Flight F\($0) aircraft=A\($0)"] }),
    LightweightOperation(
      "new child",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
        Entity("Jet", parent: "Aircraft") { Attribute("thrust", .double) }
      },
      make: { context, n in try context.make("Aircraft", ["name": "A\(n)", "seats": n]) },
      expects: { ["Aircraft A\($0) seats=\($0)"] }),
    LightweightOperation(
      "properties moved up",
      from: {
        Entity("Vehicle") { Attribute("name", .string) }
        Entity("Aircraft", parent: "Vehicle") {
          Attribute("seats", .integer16)
          ToOne("owner", "Owner", inverse: "fleet")
        }
        Entity("Jet", parent: "Aircraft") { Attribute("thrust", .double) }
        Entity("Owner") {
          Attribute("name", .string)
          ToMany("fleet", "Aircraft", inverse: "owner")
        }
      },
      to: {
        Entity("Vehicle") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          ToOne("owner", "Owner", inverse: "fleet")
        }
        Entity("Aircraft", parent: "Vehicle") { Attribute("thrust", .double) }
        Entity("Jet", parent: "Aircraft") {}
        Entity("Owner") {
          Attribute("name", .string)
          ToMany("fleet", "Vehicle", inverse: "owner")
        }
      },
      make: { context, n in
        let owner = try context.make("Owner", ["name": "O\(n)"])
        try context.make("Vehicle", ["name": "V\(n)"])
        try context.make("Aircraft", ["name": "A\(n)", "seats": n, "owner": owner])
        try context.make("Jet", ["name": "J\(n)", "seats": -n, "thrust": Double(n), "owner": owner])
      },
      expects: { n in
        [
          "Vehicle V\(n) owner=nil seats=nil", "Aircraft A\(n) owner=O\(n) seats=\(n) thrust=nil",
          "Jet J\(n) owner=O\(n) seats=\(-n) thrust=\(Double(n))", "Owner O\(n) fleet={A\(n),J\(n)}",
        ]
      }),
    LightweightOperation(
      "properties moved down",
      from: {
        Entity("Vehicle") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
        Entity("Aircraft", parent: "Vehicle") { Attribute("thrust", .double) }
        Entity("Jet", parent: "Aircraft") {}
        Entity("Ship", parent: "Vehicle") {}
      },
      to: {
        Entity("Vehicle") { Attribute("name", .string) }
        Entity("Aircraft", parent: "Vehicle") { Attribute("seats", .integer16) }
        Entity("Jet", parent: "Aircraft") { Attribute("thrust", .double) }
        Entity("Ship", parent: "Vehicle") { Attribute("seats", .integer16) }
      },
      make: { context, n in
        try context.make("Vehicle", ["name": "V\(n)", "seats": n])
        try context.make("Aircraft", ["name": "A\(n)", "seats": 100 + n, "thrust": 1.5])
        try context.make("Jet", ["name": "J\(n)", "seats": n % 3 == 0 ? nil : 200 + n, "thrust": Double(n)])
        try context.make("Ship", ["name": "S\(n)", "seats": 300 + n])
      },
      expects: { n in
        [
          "Vehicle V\(n)", "Aircraft A\(n) seats=\(100 + n)",
          "Jet J\(n) seats=\(n % 3 == 0 ? "nil" : "\(200 + n)") thrust=\(Double(n))", "Ship S\(n) seats=\(300 + n)",
        ]
      }),
    LightweightOperation(
      "entity moved into a hierarchy",
      from: {
        Entity("Vehicle", abstract: true) { Attribute("name", .string) }
        Entity("Aircraft", parent: "Vehicle") {
          Attribute("seats", .integer16)
          ToMany("flights", "Flight", inverse: "aircraft")
        }
        Entity("Glider") {
          Attribute("name", .string)
          Attribute("span", .double)
          ToMany("flights", "Flight", inverse: "glider")
        }
        flight
      },
      to: {
        Entity("Vehicle", abstract: true) { Attribute("name", .string) }
        Entity("Aircraft", parent: "Vehicle") {
          Attribute("seats", .integer16)
          ToMany("flights", "Flight", inverse: "aircraft")
        }
        Entity("Glider", parent: "Vehicle") {
          Attribute("span", .double)
          ToMany("flights", "Flight", inverse: "glider")
        }
        flight
      },
      make: { try makeFleet($0, $1) }, expects: { fleet($0) }),
    LightweightOperation(
      "entity moved out of a hierarchy",
      from: {
        Entity("Vehicle", abstract: true) { Attribute("name", .string) }
        Entity("Aircraft", parent: "Vehicle") {
          Attribute("seats", .integer16)
          ToMany("flights", "Flight", inverse: "aircraft")
        }
        Entity("Glider", parent: "Vehicle") {
          Attribute("span", .double)
          ToMany("flights", "Flight", inverse: "glider")
        }
        flight
      },
      to: {
        Entity("Vehicle", abstract: true) { Attribute("name", .string) }
        Entity("Aircraft", parent: "Vehicle") {
          Attribute("seats", .integer16)
          ToMany("flights", "Flight", inverse: "aircraft")
        }
        Entity("Glider") {
          Attribute("name", .string)
          Attribute("span", .double)
          ToMany("flights", "Flight", inverse: "glider")
        }
        flight
      },
      make: { try makeFleet($0, $1) }, expects: { fleet($0) }),
    LightweightOperation(
      "entity moved under another of its hierarchy",
      from: {
        Entity("Vehicle") { Attribute("name", .string) }
        Entity("Aircraft", parent: "Vehicle") { Attribute("seats", .integer16) }
        Entity("Jet", parent: "Vehicle") { Attribute("thrust", .double) }
      },
      to: {
        Entity("Vehicle") { Attribute("name", .string) }
        Entity("Aircraft", parent: "Vehicle") { Attribute("seats", .integer16) }
        Entity("Jet", parent: "Aircraft") { Attribute("thrust", .double) }
      },
      make: { context, n in
        try context.make("Vehicle", ["name": "V\(n)"])
        try context.make("Aircraft", ["name": "A\(n)", "seats": n])
        try context.make("Jet", ["name": "J\(n)", "thrust": Double(n)])
      },
      expects: { ["Vehicle V\($0)", "Aircraft A\($0) seats=\($0)", "Jet J\($0) seats=nil thrust=\(Double($0))"] }),
  ]
}
