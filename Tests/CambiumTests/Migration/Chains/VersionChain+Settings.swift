import Cambium

/// Versions that differ in nothing that is stored, but for the last.
enum SettingVersions {
  final class Preference: ManagedObject {}

  @ModelBuilder @Sendable static func version1() -> [ModelBuilderPart] {
    Entity("Setting") {
      Attribute("name", .string)
      Attribute("value", .integer32)
      ToOne("group", "Group", inverse: "settings")
    }
    Entity("Group") {
      Attribute("name", .string)
      ToMany("settings", "Setting", inverse: "group")
    }
  }

  /// Other classes, indexes, defaults, limits and delete rules, in another order.
  @ModelBuilder @Sendable static func version2() -> [ModelBuilderPart] {
    Entity("Group") {
      ToMany("settings", "Setting", inverse: "group", deleteRule: .cascade)
      Attribute("name", .string, default: "none")
    }
    Entity("Setting", class: Preference.self) {
      ToOne("group", "Group", inverse: "settings")
      Attribute("value", .integer32, default: 3, minimum: 0, maximum: 1000)
      Attribute("name", .string)
      Index("byValue", "value")
    }
  }

  /// Renaming identifiers, information for the application, a configuration, a template, another index.
  @ModelBuilder @Sendable static func version3() -> [ModelBuilderPart] {
    Entity("Setting", renamed: "Option") {
      Attribute("name", .string)
      Attribute("value", .integer32, renamed: "number").with { $0.userInfo = ["since": "3"] }
      ToOne("group", "Group", inverse: "settings")
      Index("byName", "name", "-value")
    }
    Entity("Group") {
      Attribute("name", .string)
      ToMany("settings", "Setting", inverse: "group")
    }
    Configuration("Local", "Setting", "Group")
    RequestTemplate("Large", "Setting", where: "value > 5")
  }

  /// What was `value` is `number`, as the third version's identifier says, which the store has taken over although it
  /// is no part of what is stored; for a store that has not seen it, `value` would become text.
  @ModelBuilder @Sendable static func version4() -> [ModelBuilderPart] {
    Entity("Setting", renamed: "Option") {
      Attribute("name", .string)
      Attribute("number", .integer64, renamed: "number")
      Attribute("value", .string)
      ToOne("group", "Group", inverse: "settings")
    }
    Entity("Group") {
      Attribute("name", .string)
      ToMany("settings", "Setting", inverse: "group")
    }
  }

  @Sendable static func make(_ context: ManagedObjectContext, _ n: Int) throws {
    let group = try context.make("Group", ["name": "G\(n)"])
    for letter in ["a", "b"] { try context.make("Setting", ["name": "S\(n)\(letter)", "value": n, "group": group]) }
  }

  @Sendable static func expected(_ path: [Int], _ n: Int) -> [String] {
    let value = path.last == 4 ? "number=\(n) value=nil" : "value=\(n)"
    return ["Group G\(n) settings={S\(n)a,S\(n)b}"] + ["a", "b"].map { "Setting S\(n)\($0) group=G\(n) \(value)" }
  }
}

/// One object through three names of everything: the identifiers stay those of the first version.
enum NameVersions {
  @ModelBuilder @Sendable static func version1() -> [ModelBuilderPart] {
    Entity("Aircraft") {
      Attribute("name", .string)
      Attribute("color", .string)
      ToOne("owner", "Person", inverse: "fleet")
    }
    Entity("Person") {
      Attribute("name", .string)
      ToMany("fleet", "Aircraft", inverse: "owner", ordered: true)
    }
  }

  @ModelBuilder @Sendable static func version2() -> [ModelBuilderPart] {
    Entity("Airplane", renamed: "Aircraft") {
      Attribute("name", .string)
      Attribute("paintColor", .string, renamed: "color")
      ToOne("keeper", "Person", inverse: "airplanes", renamed: "owner")
    }
    Entity("Person") {
      Attribute("name", .string)
      ToMany("airplanes", "Airplane", inverse: "keeper", ordered: true, renamed: "fleet")
    }
  }

  /// Everything has a third name, the entity at the other end a second one; and the list is a set.
  @ModelBuilder @Sendable static func version3() -> [ModelBuilderPart] {
    Entity("Plane", renamed: "Aircraft") {
      Attribute("name", .string)
      Attribute("finish", .string, renamed: "color")
      ToOne("holder", "Company", inverse: "planes", renamed: "owner")
    }
    Entity("Company", renamed: "Person") {
      Attribute("name", .string)
      ToMany("planes", "Plane", inverse: "holder", renamed: "fleet")
    }
  }

  @Sendable static func make(_ context: ManagedObjectContext, _ n: Int) throws {
    let aircraft = try ["a", "b"].map {
      try context.make("Aircraft", ["name": "A\(n)\($0)", "color": n % 3 == 0 ? nil : "blue \(n)"])
    }
    try context.make("Person", ["name": "P\(n)", "fleet": [aircraft[1], aircraft[0]]])
  }

  @Sendable static func expected(_ path: [Int], _ n: Int) -> [String] {
    let color = n % 3 == 0 ? "nil" : "blue \(n)"
    switch path.last {
    case 2:
      return ["Person P\(n) airplanes=[A\(n)b,A\(n)a]"]
        + ["a", "b"].map { "Airplane A\(n)\($0) keeper=P\(n) paintColor=\(color)" }
    case 3:
      return ["Company P\(n) planes={A\(n)a,A\(n)b}"]
        + ["a", "b"].map { "Plane A\(n)\($0) finish=\(color) holder=P\(n)" }
    default:
      return ["Person P\(n) fleet=[A\(n)b,A\(n)a]"]
        + ["a", "b"].map { "Aircraft A\(n)\($0) color=\(color) owner=P\(n)" }
    }
  }
}

extension VersionChain {
  static let settings = VersionChain(
    testDescription: "settings",
    versions: [SettingVersions.version1, SettingVersions.version2, SettingVersions.version3, SettingVersions.version4],
    verdicts: [
      1...2: .sameHash, 1...3: .sameHash, 2...3: .sameHash, 1...4: .notInferable(["Setting.value"]),
      2...4: .notInferable(["Setting.value"]),
    ],
    make: SettingVersions.make, expected: SettingVersions.expected)

  static let names = VersionChain(
    testDescription: "names", versions: [NameVersions.version1, NameVersions.version2, NameVersions.version3],
    make: NameVersions.make, expected: NameVersions.expected)
}
