import Cambium
import Foundation
import Testing

/// Properties with `@Managed`, of every kind, on stores of their own.
@Suite struct ManagedPropertyTests {
  private func model() throws -> ManagedObjectModel {
    AttributeTransformers.register(CodableTransformer<[String]>(), forName: "ManagedPropertyTests.words")
    AttributeTransformers.register(CodableTransformer<String>(), forName: "ManagedPropertyTests.text")
    return try ManagedObjectModel {
      Composite("ColorScheme") {
        Attribute("primary", .string)
        Attribute("secondary", .string)
        Attribute("tertiary", .string)
      }
      Entity("Plane", class: Craft.self) {
        Attribute("short", .integer16)
        Attribute("middle", .integer32)
        Attribute("long", .integer64)
        Attribute("price", .decimal)
        Attribute("double", .double)
        Attribute("float", .float)
        Attribute("text", .string)
        Attribute("flag", .boolean)
        Attribute("date", .date)
        Attribute("data", .binary)
        Attribute("uuid", .uuid)
        Attribute("link", .uri)
        Attribute("object", .objectID)
        Attribute("words", .transformable).with { $0.valueTransformerName = "ManagedPropertyTests.words" }
        Attribute("secret", .transformable).with { $0.valueTransformerName = "ManagedPropertyTests.text" }
        Attribute("cache", .integer64, transient: true)
        Attribute("paint", .string)
        Attribute("extension", .string)
        Attribute("scheme", composite: "ColorScheme")
        Attribute("upper", .string, derived: "uppercase:(text)")
        ToOne("home", "Field", inverse: "planes")
        ToMany("legs", "Leg", inverse: "plane", deleteRule: .cascade)
        ToMany("ranked", "Leg", inverse: "ranking", ordered: true)
        Fetched("longLegs", "Leg", where: "plane == $FETCH_SOURCE AND miles > 100")
      }
      Entity("Field", class: Strip.self) {
        Attribute("name", .string, optional: false)
        ToMany("planes", "Plane", inverse: "home")
      }
      Entity("Leg", class: Hop.self) {
        Attribute("miles", .integer32, optional: false, default: 10)
        ToOne("plane", "Plane", inverse: "legs")
        ToOne("ranking", "Plane", inverse: "ranked")
      }
    }
  }

  private let words = ["a", "b"]
  private let moment = Date(timeIntervalSinceReferenceDate: 1234.5)
  private let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  private let price = Decimal(string: "12.50") ?? 0

  @Test func everyAttributeSavedReopenedAndCleared() throws {
    let directory = try TemporaryDirectory()
    let link = try #require(URL(string: "https://example.org/a"))
    do {
      let context = try directory.container(model: model()).viewContext
      let field = Strip(context: context)
      field.name = "JFK"
      try context.save()
      let plane = Craft(context: context)
      (plane.short, plane.middle, plane.long) = (-3, 70_000, 1 << 40)
      (plane.price, plane.double, plane.float) = (price, 0.1, 1.5)
      (plane.text, plane.flag, plane.date, plane.data) = ("text", true, moment, Data([1, 2]))
      (plane.uuid, plane.link, plane.object) = (uuid, link, field.objectID)
      (plane.words, plane.secret, plane.cache) = (words, "hidden", 7)
      (plane.paint, plane.`extension`, plane.scheme) = (.gold, "jet", ColorScheme(.white, nil, .blue))
      #expect(plane.cache == 7)
      try context.save()
    }
    let context = try directory.container(model: model()).viewContext
    let plane = try #require(try context.fetch(FetchRequest<Craft>(entityName: "Plane")).first)
    #expect(plane.isFault)
    #expect((plane.short, plane.middle, plane.long) == (-3, 70_000, 1 << 40))
    #expect((plane.price, plane.double, plane.float) == (price, 0.1, 1.5))
    #expect((plane.text, plane.flag, plane.date, plane.data) == ("text", true, moment, Data([1, 2])))
    #expect((plane.uuid, plane.link) == (uuid, link))
    #expect((plane.words, plane.secret, plane.cache) == (words, "hidden", 0))
    #expect((plane.paint, plane.`extension`, plane.scheme) == (.gold, "jet", ColorScheme(.white, nil, .blue)))
    #expect(plane.elements as? [String: String] == ["primary": "white", "tertiary": "blue"])
    #expect(plane.upper == "TEXT")
    let object = try #require(plane.object)
    #expect(context.object(with: object).value(forKey: "name") as? String == "JFK")
    // The other names and types of the same properties.
    #expect((plane.paintText, plane.shortOrNone, plane.textOrEmpty) == ("gold", -3, "text"))
    #expect((plane.flagOrNone, plane.dateOrNone, plane.uuidOrNone) == (true, moment, uuid))
    #expect((plane.paintOrWhite, plane.schemeOrPlain) == (.gold, ColorScheme(.white, nil, .blue)))
    #expect((plane.linkOrHome, plane.wordsOrNone) == (link, words))

    plane.shortOrNone = nil
    (plane.text, plane.flagOrNone, plane.dateOrNone, plane.uuidOrNone) = (nil, nil, nil, nil)
    (plane.link, plane.words, plane.paint, plane.scheme, plane.object) = (nil, nil, nil, nil, nil)
    #expect(plane.changedValues().count == 10)
    try context.save()
    context.refresh(plane, mergeChanges: false)
    #expect((plane.short, plane.shortOrNone, plane.textOrEmpty, plane.text) == (0, nil, "", nil))
    #expect((plane.flag, plane.flagOrNone, plane.dateOrNone, plane.uuidOrNone) == (false, nil, nil, nil))
    #expect(plane.date.timeIntervalSinceReferenceDate == 0)
    #expect(plane.uuid.uuidString == "00000000-0000-0000-0000-000000000000")
    #expect((plane.link, plane.words, plane.paint, plane.paintOrWhite) == (nil, nil, nil, .white))
    #expect((plane.scheme, plane.schemeOrPlain) == (nil, ColorScheme(.blue)))
    #expect(plane.elements.isEmpty && plane.object == nil && plane.wordsOrNone.isEmpty)
    #expect(plane.linkOrHome.path == "/")
    #expect(context.recordedErrors.isEmpty)
  }

  /// What is set over one name and type is what the model's attribute takes, not one thing per variable.
  @Test func settersOfDefaults() throws {
    let context = try memoryContainer(model()).viewContext
    let plane = Craft(context: context)
    plane.textOrEmpty += "ab"
    plane.paintOrWhite = .blue
    plane.short += 2
    plane.elements["secondary"] = "gold"
    plane.schemeOrPlain.primary = .white
    plane.wordsOrNone.append("c")
    plane.linkOrHome = URL(fileURLWithPath: "/b")
    #expect((plane.text, plane.paint, plane.shortOrNone) == ("ab", .blue, 2))
    #expect(plane.scheme == ColorScheme(.white, .gold))
    #expect(plane.words == ["c"])
    #expect(plane.link?.path == "/b")
    try context.save()
    #expect(try context.all("Plane", "scheme.secondary == 'gold' AND paint == %@", [PaintColor.blue]).count == 1)
  }

  @Test func relationships() throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container(model: model()).viewContext
      let plane = Craft(context: context)
      let field = Strip(context: context)
      field.name = "LGA"
      plane.home = field
      #expect(field.planes == [plane])
      let legs = (0..<4).map { number in
        let leg = Hop(context: context)
        leg.miles = number * 60
        return leg
      }
      plane.legs = Set(legs[0..<3])
      legs[3].plane = plane
      #expect(plane.legs == Set(legs))
      plane.legs.remove(legs[3])
      #expect(legs[3].plane == nil)
      plane.ranked = [legs[2], legs[0], legs[1]]
      plane.ranked.swapAt(0, 2)
      try context.save()
    }
    let context = try directory.container(model: model()).viewContext
    let plane = try #require(try context.fetch(FetchRequest<Craft>(entityName: "Plane")).first)
    #expect(plane.home?.name == "LGA")
    #expect(plane.home?.planes == [plane])
    #expect(plane.home?.planeList == [plane])
    #expect(Set(plane.legs.map(\.miles)) == [0, 60, 120])
    #expect(plane.legsOrNone == plane.legs)
    #expect(plane.ranked.map(\.miles) == [60, 0, 120])
    #expect(plane.longLegs.map(\.miles) == [120])
    plane.home = nil
    plane.legsOrNone = nil
    plane.ranked = []
    try context.save()
    #expect(plane.home == nil && plane.legs.isEmpty && plane.ranked.isEmpty)
    #expect(try context.count(for: FetchRequest<Hop>(entityName: "Leg")) == 4)
    #expect(context.recordedErrors.isEmpty)
  }

  /// Nothing traps: a misread value is no value and noted; a value that cannot be set is refused by the next save.
  @Test func misuse() throws {
    let context = try memoryContainer(model()).viewContext
    let plane = Craft(context: context)
    let field = Strip(context: context)
    field.name = "EWR"
    try plane.set("purple", forKey: "paint")
    #expect(plane.paint == nil)
    #expect(plane.paintOrWhite == .white)
    plane.long = 1 << 40
    #expect(plane.longAsByte == 0)
    #expect(plane.longAsText == nil)
    #expect(plane.missing == nil)
    plane.home = field
    #expect(plane.homeAsLeg == nil && plane.homeAsLegs.isEmpty && plane.homeAsText == nil && plane.legsAsLeg == nil)
    #expect(plane.legsAsFields.isEmpty)
    plane.legs = [Hop(context: context)]
    #expect(plane.legsAsFields.isEmpty)
    let codes = context.recordedErrors.map(\.code)
    #expect(codes.count == 10)
    #expect(codes.filter { $0 == .unknownKey }.count == 1)
    #expect(context.recordedErrors.map(\.key).prefix(3) == ["paint", "paint", "long"])
    plane.paint = .white
    try context.save()

    for (change, key) in [
      ({ plane.missing = "x" }, "missing"), ({ plane.shortAsLong = 1 << 20 }, "short"),
      ({ plane.upper = "X" }, "upper"),
      ({ plane.elements = ["fourth": "x"] }, "scheme.fourth"), ({ plane.homeAsText = "x" }, "home"),
      ({ plane.longAsText = "x" }, "long"), ({ plane.homeAsLegs = [Hop(context: context)] }, "home"),
    ] as [(() -> Void, String)] {
      change()
      #expect(cambiumError { try context.save() }?.key == key)
    }
    #expect(plane.short == 0 && plane.long == 1 << 40 && plane.home === field)

    // An object that belongs to no context yet has the values that it is given.
    let free = Craft(entity: plane.entity, insertInto: nil)
    free.text = "x"
    free.home = field
    #expect(free.text == "x" && free.textOrEmpty == "x" && free.legs.isEmpty && free.home === field)
  }

  @Test func inheritedAndOverridden() throws {
    let model = try ManagedObjectModel {
      Entity("Vehicle", abstract: true, class: Vehicle.self) { Attribute("wheels", .integer16, default: 4) }
      Entity("Bike", parent: "Vehicle", class: Bike.self) { Attribute("bell", .boolean) }
    }
    let context = try memoryContainer(model).viewContext
    let bike = Bike(context: context)
    #expect(bike.wheels == 40)
    bike.wheels = 2
    bike.bell = true
    try context.save()
    let found = try #require(try context.fetch(FetchRequest<Vehicle>(entityName: "Vehicle")).first as? Bike)
    #expect(found.value(forKey: "wheels") as? Int == 2)
    #expect((found as Vehicle).wheels == 20 && found.bell)
  }
}

private final class Craft: ManagedObject {
  @Managed var short: Int
  @Managed var middle: Int32
  @Managed var long: Int64
  @Managed var price: Decimal?
  @Managed("text") var textOrEmpty: String
}

extension Craft {
  @Managed var double: Double
  @Managed var float: Float
  @Managed var text: String?
  @Managed var flag: Bool
  @Managed var date: Date
  @Managed var data: Data
  @Managed var uuid: UUID
  @Managed var link: URL?
  @Managed var object: ManagedObjectID?
  @Managed var words: [String]?
  @Managed var secret: String
  @Managed var cache: Int
  @Managed var paint: PaintColor!
  @Managed var `extension`: String?
  @Managed var scheme: ColorScheme?
  @Managed var upper: String?

  @Managed var home: Strip?
  @Managed var legs: Set<Hop>
  @Managed var ranked: [Hop]
  @Managed private(set) var longLegs: [Hop]

  // Other names and types.
  @Managed("scheme") var elements: [String: Any]
  @Managed("short") var shortOrNone: Int16?
  @Managed("flag") var flagOrNone: Bool?
  @Managed("date") var dateOrNone: Date?
  @Managed("uuid") var uuidOrNone: UUID?
  @Managed("legs") var legsOrNone: Set<Hop>?
  @Managed("paint") var paintText: Substring
  @Managed("paint", default: PaintColor.white) var paintOrWhite: PaintColor
  @Managed("scheme", default: ColorScheme(.blue)) var schemeOrPlain: ColorScheme
  @Managed("link", default: URL(fileURLWithPath: "/")) var linkOrHome: URL
  @Managed("words", default: [String]()) var wordsOrNone: [String]

  // What the model does not have.
  @Managed var missing: String?
  @Managed("long") var longAsByte: UInt8
  @Managed("long") var longAsText: String?
  @Managed("short") var shortAsLong: Int
  @Managed("home") var homeAsLeg: Hop?
  @Managed("home") var homeAsLegs: [Hop]
  @Managed("home") var homeAsText: String?
  @Managed("legs") var legsAsLeg: Hop?
  @Managed("legs") var legsAsFields: Set<Strip>
}

private final class Strip: ManagedObject {
  @Managed var name: String
  @Managed var planes: Set<Craft>
  @Managed("planes") var planeList: [Craft]
}

private final class Hop: ManagedObject {
  @Managed var miles: Int
  @Managed var plane: Craft?
  @Managed var ranking: Craft?
}

private class Vehicle: ManagedObject {
  @Managed var wheels: Int
}

private final class Bike: Vehicle {
  override var wheels: Int {
    get { super.wheels * 10 }
    set { super.wheels = newValue }
  }
  @Managed var bell: Bool
}
