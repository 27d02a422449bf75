import Cambium

/// A browser's versions: attributes and entities come and go, numbers get wider, and an attribute that was dropped
/// comes back.
enum BrowserVersions {
  /// Classes are no part of what is stored.
  final class WebBookmark: ManagedObject {}

  @ModelBuilder @Sendable static func version1() -> [ModelBuilderPart] {
    Entity("Bookmark") {
      Attribute("name", .string)
      Attribute("title", .string)
      Attribute("order", .integer16, optional: false, default: 0)
      Attribute("isFavorite", .boolean, default: false)
      ToOne("domain", "Domain", inverse: "bookmarks")
    }
    domain(.integer32)
  }

  private static func domain(_ visits: AttributeType) -> Entity {
    Entity("Domain") {
      Attribute("name", .string)
      Attribute("visits", visits, optional: false, default: 0)
      ToMany("bookmarks", "Bookmark", inverse: "domain", deleteRule: .nullify)
    }
  }

  /// A class, an index and a delete rule.
  @ModelBuilder @Sendable static func version2() -> [ModelBuilderPart] {
    Entity("Bookmark", class: WebBookmark.self) {
      Attribute("name", .string)
      Attribute("title", .string)
      Attribute("order", .integer16, optional: false, default: 0)
      Attribute("isFavorite", .boolean, default: false)
      ToOne("domain", "Domain", inverse: "bookmarks")
      Index("byOrder", "order")
      Index("byTitle", "title", "-order")
    }
    Entity("Domain") {
      Attribute("name", .string)
      Attribute("visits", .integer32, optional: false, default: 0)
      ToMany("bookmarks", "Bookmark", inverse: "domain", deleteRule: .cascade)
    }
  }

  /// An entity, a relationship and two attributes more, and one attribute less.
  @ModelBuilder @Sendable static func version3() -> [ModelBuilderPart] {
    Entity("Bookmark", class: WebBookmark.self) {
      Attribute("name", .string)
      Attribute("title", .string)
      Attribute("order", .integer16, optional: false, default: 0)
      Attribute("syncOrder", .string)
      Attribute("isFolder", .boolean, optional: false, default: false)
      ToOne("domain", "Domain", inverse: "bookmarks")
      ToOne("device", "Device", inverse: "bookmarks")
      Index("byOrder", "order")
    }
    domain(.integer32)
    device
  }

  private static var device: Entity {
    Entity("Device") {
      Attribute("name", .string)
      ToMany("bookmarks", "Bookmark", inverse: "device", deleteRule: .cascade)
    }
  }

  /// Wider numbers.
  @ModelBuilder @Sendable static func version4() -> [ModelBuilderPart] {
    Entity("Bookmark", class: WebBookmark.self) {
      Attribute("name", .string)
      Attribute("title", .string)
      Attribute("order", .integer32, optional: false, default: 0)
      Attribute("syncOrder", .string)
      Attribute("isFolder", .boolean, optional: false, default: false)
      ToOne("domain", "Domain", inverse: "bookmarks")
      ToOne("device", "Device", inverse: "bookmarks")
      Index("byOrder", "order")
    }
    domain(.integer64)
    device
  }

  /// An entity and its relationship less; what was required is optional.
  @ModelBuilder @Sendable static func version5() -> [ModelBuilderPart] {
    Entity("Bookmark", class: WebBookmark.self) {
      Attribute("name", .string)
      Attribute("title", .string)
      Attribute("order", .integer32)
      Attribute("syncOrder", .string)
      Attribute("isFolder", .boolean, optional: false, default: false)
      ToOne("device", "Device", inverse: "bookmarks")
      Index("byOrder", "order")
    }
    device
  }

  /// One more entity goes; what was optional is required; the favourites come back.
  @ModelBuilder @Sendable static func version6() -> [ModelBuilderPart] {
    Entity("Bookmark", class: WebBookmark.self) {
      Attribute("name", .string)
      Attribute("title", .string, optional: false, default: "untitled")
      Attribute("order", .integer32)
      Attribute("syncOrder", .string)
      Attribute("isFolder", .boolean, optional: false, default: false)
      Attribute("isFavorite", .boolean, default: false)
    }
  }

  @Sendable static func make(_ context: ManagedObjectContext, _ n: Int) throws {
    let domain = try context.make("Domain", ["name": "D\(n)", "visits": 100_000 * n])
    for (place, letter) in ["a", "b"].enumerated() {
      try context.make(
        "Bookmark",
        [
          "name": "B\(n)\(letter)", "title": n % 3 == 0 ? nil : "title \(n)", "order": 2 * n + place,
          "isFavorite": n % 2 == 0, "domain": place == 0 ? domain : nil,
        ])
    }
  }

  @Sendable static func expected(_ path: [Int], _ n: Int) -> [String] {
    let version = path.last ?? 1
    var result: [String] = []
    for (place, letter) in ["a", "b"].enumerated() {
      var values: [String: String] = [
        "title": n % 3 == 0 ? (version == 6 ? "untitled" : "nil") : "title \(n)", "order": "\(2 * n + place)",
      ]
      // Who skips the versions without it keeps it.
      if version < 3 { values["isFavorite"] = "\(n % 2 == 0)" }
      if version == 6 { values["isFavorite"] = "\(n % 2 == 0 && !path.contains { (3...5).contains($0) })" }
      if version < 5 { values["domain"] = place == 0 ? "D\(n)" : "nil" }
      if version > 2 {
        values["syncOrder"] = "nil"
        values["isFolder"] = "false"
        if version < 6 { values["device"] = "nil" }
      }
      let text = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      result.append("Bookmark B\(n)\(letter) \(text)")
    }
    if version < 5 { result.append("Domain D\(n) bookmarks={B\(n)a} visits=\(100_000 * n)") }
    return result
  }
}

extension VersionChain {
  static let browser = VersionChain(
    testDescription: "browser",
    versions: [
      BrowserVersions.version1, BrowserVersions.version2, BrowserVersions.version3, BrowserVersions.version4,
      BrowserVersions.version5, BrowserVersions.version6,
    ],
    verdicts: [1...2: .sameHash], make: BrowserVersions.make, expected: BrowserVersions.expected)
}
