import Cambium

extension LightweightOperation {
  /// Of some the whole composite is missing, of others an element.
  @Sendable private static func makePainted(_ context: ManagedObjectContext, _ n: Int) throws {
    let scheme: [String: Any]? =
      switch n % 3 {
      case 0: nil
      case 1: ["primary": "blue \(n)"]
      default: ["primary": "blue \(n)", "secondary": "white \(n)"]
      }
    try context.make("Aircraft", ["name": "A\(n)", "seats": n, "colorScheme": scheme])
  }

  private static func scheme(_ n: Int) -> String {
    switch n % 3 {
    case 0: "nil"
    case 1: "(primary=blue \(n))"
    default: "(primary=blue \(n),secondary=white \(n))"
    }
  }

  /// The same as flat attributes.
  @Sendable private static func makeFlat(_ context: ManagedObjectContext, _ n: Int) throws {
    try context.make(
      "Aircraft",
      [
        "name": "A\(n)", "seats": n, "primaryColor": n % 3 == 0 ? nil : "blue \(n)",
        "secondaryColor": n % 3 == 2 ? "white \(n)" : nil,
      ])
  }

  /// Composites and their elements.
  static let composites: [LightweightOperation] = [
    LightweightOperation(
      "composite added",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
      },
      to: {
        Composite("ColorScheme") {
          Attribute("primary", .string)
          Attribute("secondary", .string)
        }
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme", composite: "ColorScheme")
        }
      },
      make: { context, n in try context.make("Aircraft", ["name": "A\(n)", "seats": n]) },
      expects: { ["Aircraft A\($0) colorScheme=nil seats=\($0)"] }),
    LightweightOperation(
      "composite removed",
      from: {
        Composite("ColorScheme") {
          Attribute("primary", .string)
          Attribute("secondary", .string)
        }
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme", composite: "ColorScheme")
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
        }
      },
      make: { try makePainted($0, $1) },
      expects: { ["Aircraft A\($0) seats=\($0)"] }),
    LightweightOperation(
      "composite renamed",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme") {
            Attribute("primary", .string)
            Attribute("secondary", .string)
          }
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("livery", renamed: "colorScheme") {
            Attribute("primary", .string)
            Attribute("secondary", .string)
          }
        }
      },
      make: { try makePainted($0, $1) },
      expects: { ["Aircraft A\($0) livery=\(scheme($0)) seats=\($0)"] }),
    LightweightOperation(
      "composite extended",
      from: {
        Composite("ColorScheme") {
          Attribute("primary", .string)
          Attribute("secondary", .string)
        }
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme", composite: "ColorScheme")
        }
      },
      to: {
        Composite("ColorScheme") {
          Attribute("primary", .string)
          Attribute("coats", .integer16, optional: false, default: 2)
          Attribute("secondary", .string)
          Attribute("tertiary", .string)
        }
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme", composite: "ColorScheme")
        }
      },
      make: { try makePainted($0, $1) },
      // Where there is no composite, the default of a new element does not make one.
      expects: { n in
        [
          "Aircraft A\(n) colorScheme=\(scheme(n).replacing("(primary", with: "(coats=2,primary")) seats=\(n)"
        ]
      }),
    LightweightOperation(
      "element of a composite removed",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme") {
            Attribute("primary", .string)
            Attribute("secondary", .string)
          }
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme") { Attribute("primary", .string) }
        }
      },
      make: { try makePainted($0, $1) },
      expects: { ["Aircraft A\($0) colorScheme=\($0 % 3 == 0 ? "nil" : "(primary=blue \($0))") seats=\($0)"] }),
    LightweightOperation(
      "element of a composite renamed",
      from: {
        Composite("ColorScheme") {
          Attribute("primary", .string)
          Attribute("secondary", .string)
        }
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme", composite: "ColorScheme")
        }
      },
      to: {
        Composite("ColorScheme") {
          Attribute("base", .string, renamed: "primary")
          Attribute("secondary", .string)
        }
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme", composite: "ColorScheme")
        }
      },
      make: { try makePainted($0, $1) },
      expects: { ["Aircraft A\($0) colorScheme=\(scheme($0).replacing("primary", with: "base")) seats=\($0)"] }),
    LightweightOperation(
      "flat attributes gathered into a composite",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("primaryColor", .string)
          Attribute("secondaryColor", .string)
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme") {
            Attribute("primary", .string, renamed: "primaryColor")
            Attribute("secondary", .string, renamed: "secondaryColor")
          }
        }
      },
      make: { try makeFlat($0, $1) },
      expects: { ["Aircraft A\($0) colorScheme=\(scheme($0)) seats=\($0)"] }),
    LightweightOperation(
      "composite spread out into flat attributes",
      from: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("colorScheme") {
            Attribute("primary", .string)
            Attribute("secondary", .string)
          }
        }
      },
      to: {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("seats", .integer16)
          Attribute("primaryColor", .string, renamed: "colorScheme.primary")
          Attribute("secondaryColor", .string, renamed: "colorScheme.secondary")
        }
      },
      make: { try makePainted($0, $1) },
      expects: { n in
        [
          "Aircraft A\(n) primaryColor=\(n % 3 == 0 ? "nil" : "blue \(n)") seats=\(n) "
            + "secondaryColor=\(n % 3 == 2 ? "white \(n)" : "nil")"
        ]
      }),
  ]
}
