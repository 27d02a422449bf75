import Cambium

/// Readings of a device: constraints come and go, what was required becomes optional, a counter gets another name,
/// entities are replaced, and many attributes are added at once.
enum ReadingVersions {
  @ModelBuilder @Sendable static func version1() -> [ModelBuilderPart] {
    Entity("Reading") {
      Attribute("name", .string)
      Attribute("uuid", .string, optional: false)
      Attribute("unit", .string, optional: false)
      Attribute("value", .double, optional: false, default: 0)
      Attribute("trend", .integer16, default: 0)
      Attribute("modificationCounter", .integer64, optional: false, default: 0)
      Attribute("externalID", .string)
      Unique("uuid")
    }
    Entity("Meal") {
      Attribute("name", .string)
      Attribute("grams", .double)
    }
  }

  /// Without the constraint; another default; an entity in another's place.
  @ModelBuilder @Sendable static func version2() -> [ModelBuilderPart] {
    Entity("Reading") {
      Attribute("name", .string)
      Attribute("uuid", .string, optional: false)
      Attribute("unit", .string)
      Attribute("value", .double, optional: false, default: 1)
      Attribute("trend", .integer16)
      Attribute("anchorKey", .integer64, optional: false, default: 0, renamed: "modificationCounter")
      Attribute("startDate", .date)
      Attribute("syncVersion", .integer32, default: 1)
      Attribute("isDisplayOnly", .boolean, optional: false, default: false)
      Index("byStartDate", "startDate")
      Index("byStartDateDescending", "-startDate")
    }
    Entity("Dose") {
      Attribute("name", .string)
      Attribute("units", .decimal, optional: false, default: 0)
    }
  }

  /// A constraint of two attributes, and a parent for readings.
  @ModelBuilder @Sendable static func version3() -> [ModelBuilderPart] {
    Entity("Sample", abstract: true) {
      Attribute("name", .string)
      Attribute("uuid", .string, optional: false)
      Attribute("startDate", .date)
    }
    Entity("Reading", parent: "Sample") {
      Attribute("unit", .string)
      Attribute("value", .float, optional: false, default: 1)
      Attribute("trend", .integer16)
      Attribute("anchorKey", .integer64, optional: false, default: 0, renamed: "modificationCounter")
      Attribute("syncVersion", .integer32, default: 1)
      Attribute("isDisplayOnly", .boolean, optional: false, default: false)
      Unique("anchorKey", "trend")
    }
    Entity("Dose") {
      Attribute("name", .string)
      Attribute("units", .decimal, optional: false, default: 0)
    }
  }

  /// `trend` required, with a default for those that have none, and unit and value in a composite.
  @ModelBuilder @Sendable static func version4() -> [ModelBuilderPart] {
    Entity("Sample", abstract: true) {
      Attribute("name", .string)
      Attribute("uuid", .string, optional: false)
      Attribute("startDate", .date)
    }
    Entity("Reading", parent: "Sample") {
      Attribute("quantity") {
        Attribute("unit", .string, renamed: "unit")
        Attribute("value", .float, renamed: "value")
      }
      Attribute("trend", .integer32, optional: false, default: -1)
      Attribute("anchorKey", .integer64, optional: false, default: 0, renamed: "modificationCounter")
      Attribute("syncVersion", .integer32, default: 1)
      Unique("anchorKey", "trend")
    }
    Entity("Dose") {
      Attribute("name", .string)
      Attribute("units", .decimal, optional: false, default: 0)
    }
  }

  @Sendable static func make(_ context: ManagedObjectContext, _ n: Int) throws {
    try context.make(
      "Reading",
      [
        "name": "R\(n)", "uuid": "uuid \(n)", "unit": n % 2 == 0 ? "mg/dL" : "mmol/L", "value": Double(n) / 4,
        "trend": n % 3 == 0 ? nil : n, "modificationCounter": 1_000_000_000_000 + n, "externalID": "x\(n)",
      ])
    try context.make("Meal", ["name": "M\(n)", "grams": Double(n)])
  }

  @Sendable static func expected(_ path: [Int], _ n: Int) -> [String] {
    let version = path.last ?? 1
    let unit = n % 2 == 0 ? "mg/dL" : "mmol/L"
    var values = ["uuid": "uuid \(n)", "trend": n % 3 == 0 ? (version == 4 ? "-1" : "nil") : "\(n)"]
    if version < 4 {
      values["unit"] = unit
      values["value"] = "\(Double(n) / 4)"
    } else {
      values["quantity"] = "(unit=\(unit),value=\(Double(n) / 4))"
    }
    values[version == 1 ? "modificationCounter" : "anchorKey"] = "\(1_000_000_000_000 + n)"
    if version == 1 {
      values["externalID"] = "x\(n)"
    } else {
      values["startDate"] = "nil"
      values["syncVersion"] = "1"
      if version < 4 { values["isDisplayOnly"] = "false" }
    }
    let text = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    return ["Reading R\(n) \(text)"] + (version == 1 ? ["Meal M\(n) grams=\(Double(n))"] : [])
  }
}

extension VersionChain {
  static let readings = VersionChain(
    testDescription: "readings",
    versions: [ReadingVersions.version1, ReadingVersions.version2, ReadingVersions.version3, ReadingVersions.version4],
    make: ReadingVersions.make, expected: ReadingVersions.expected)
}
