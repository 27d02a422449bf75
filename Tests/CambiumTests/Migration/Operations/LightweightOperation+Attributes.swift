import Cambium

extension LightweightOperation {
  /// Some without a value.
  private static func color(_ n: Int) -> String? { n % 3 == 0 ? nil : "blue \(n)" }
  private static func color(_ n: Int, else other: String) -> String { color(n) ?? other }

  /// Attributes of one entity.
  static let attributes: [LightweightOperation] = [
    LightweightOperation(
      "attribute added",
      from: { Entity("Aircraft") { Attribute("name", .string) } },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
      },
      make: { context, n in try context.make("Aircraft", ["name": "A\(n)"]) },
      expects: { ["Aircraft A\($0) seats=nil"] }),
    LightweightOperation(
      "attributes with a default added",
      from: { Entity("Aircraft") { Attribute("name", .string) } },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16, optional: false, default: 4)
          Attribute("color", .string, default: "white")
        }
      },
      make: { context, n in try context.make("Aircraft", ["name": "A\(n)"]) },
      expects: { ["Aircraft A\($0) color=white seats=4"] }),
    LightweightOperation(
      "attribute removed",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("color", .string)
          Attribute("seats", .integer16)
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
      },
      make: { context, n in try context.make("Aircraft", ["name": "A\(n)", "color": color(n), "seats": n]) },
      expects: { ["Aircraft A\($0) seats=\($0)"] }),
    LightweightOperation(
      "attribute made optional",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("color", .string, optional: false)
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("color", .string)
        }
      },
      make: { context, n in try context.make("Aircraft", ["name": "A\(n)", "color": color(n, else: "none")]) },
      expects: { ["Aircraft A\($0) color=\(color($0, else: "none"))"] }),
    LightweightOperation(
      "attribute made required, with a default",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("color", .string)
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("color", .string, optional: false, default: "white")
        }
      },
      make: { context, n in try context.make("Aircraft", ["name": "A\(n)", "color": color(n)]) },
      expects: { ["Aircraft A\($0) color=\(color($0, else: "white"))"] }),
    LightweightOperation(
      "attribute renamed",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("color", .string)
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("paintColor", .string, renamed: "color")
        }
      },
      make: { context, n in try context.make("Aircraft", ["name": "A\(n)", "color": color(n)]) },
      expects: { ["Aircraft A\($0) paintColor=\(color($0, else: "nil"))"] }),
    LightweightOperation(
      "numbers widened",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("engines", .integer16)
          Attribute("hours", .integer32)
          Attribute("weight", .float)
          Attribute("isActive", .boolean)
          Attribute("seats", .integer16)
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("engines", .integer32)
          Attribute("hours", .integer64)
          Attribute("weight", .double)
          Attribute("isActive", .integer16)
          Attribute("seats", .double)
        }
      },
      make: { context, n in
        try context.make(
          "Aircraft",
          [
            "name": "A\(n)", "engines": n - 5, "hours": n % 4 == 0 ? nil : 100_000 * n, "weight": Float(n) / 4,
            "isActive": n % 2 == 0, "seats": n,
          ])
      },
      expects: { n in
        [
          "Aircraft A\(n) engines=\(n - 5) hours=\(n % 4 == 0 ? "nil" : "\(100_000 * n)") isActive=\(1 - n % 2) "
            + "seats=\(n).0 weight=\(Double(n) / 4)"
        ]
      }),
    LightweightOperation(
      "numbers that fit narrowed",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("engines", .integer64)
          Attribute("hours", .double)
          Attribute("weight", .double)
          Attribute("isActive", .integer32)
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("engines", .integer16)
          Attribute("hours", .integer32)
          Attribute("weight", .float)
          Attribute("isActive", .boolean)
        }
      },
      make: { context, n in
        try context.make(
          "Aircraft",
          [
            "name": "A\(n)", "engines": n % 4 == 0 ? nil : 32_756 + n, "hours": Double(n - 5) * 1000.75,
            "weight": Double(n) / 4, "isActive": n % 3,
          ])
      },
      expects: { n in
        [
          "Aircraft A\(n) engines=\(n % 4 == 0 ? "nil" : "\(32_756 + n)") hours=\(Int(Double(n - 5) * 1000.75)) "
            + "isActive=\(n % 3 != 0) weight=\(Double(n) / 4)"
        ]
      }),
    LightweightOperation(
      "attribute becomes a relationship of the same name",
      from: {
        Entity("Flight") {
          Attribute("name", .string)
          Attribute("origin", .string)
          Attribute("minutes", .integer16)
        }
      },
      to: {
        Entity("Flight") {
          Attribute("name", .string)
          Attribute("minutes", .integer16)
          ToOne("origin", "Airport", inverse: "departures")
        }
        Entity("Airport") {
          Attribute("name", .string)
          ToMany("departures", "Flight", inverse: "origin")
        }
      },
      make: { context, n in try context.make("Flight", ["name": "F\(n)", "origin": "KSFO", "minutes": n]) },
      expects: { ["Flight F\($0) minutes=\($0) origin=nil"] }),
    LightweightOperation(
      "relationship becomes an attribute of the same name",
      from: {
        Entity("Flight") {
          Attribute("name", .string)
          ToOne("origin", "Airport", inverse: "departures")
        }
        Entity("Airport") {
          Attribute("name", .string)
          ToMany("departures", "Flight", inverse: "origin")
        }
      },
      to: {
        Entity("Flight") {
          Attribute("name", .string)
          Attribute("origin", .string)
        }
        Entity("Airport") { Attribute("name", .string) }
      },
      make: { context, n in
        try context.make("Flight", ["name": "F\(n)", "origin": try context.make("Airport", ["name": "K\(n)"])])
      },
      expects: { ["Flight F\($0) origin=nil", "Airport K\($0)"] }),
  ]
}
