import Cambium
import Foundation
import Testing

@Suite struct CompositeTests {
  @Test func dictionarySavedReopenedAndQueried() throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container().viewContext
      let aircraft = Aircraft(context: context)
      aircraft.tailNumber = "N1"
      aircraft.colorScheme = ["primary": "white", "secondary": "blue", "tertiary": "gold"]
      let other = Aircraft(context: context)
      other.tailNumber = "N2"
      other.colorScheme = ["primary": "blue"]
      try context.save()
    }
    let context = try directory.container().viewContext
    let request = Aircraft.fetchRequest()
    request.predicate = try FetchPredicate(format: "colorScheme.primary == %@", "white")
    let found = try context.fetch(request)
    #expect(found.count == 1)
    let aircraft = try #require(found.first)
    #expect(aircraft.tailNumber == "N1")
    #expect(aircraft.colorScheme as? [String: String] == ["primary": "white", "secondary": "blue", "tertiary": "gold"])
    #expect(aircraft.value(forKeyPath: "colorScheme.secondary") as? String == "blue")
    request.predicate = try FetchPredicate(format: "colorScheme.tertiary == nil")
    #expect(try context.fetch(request).map(\.tailNumber) == ["N2"])
    #expect(try context.fetch(request).first?.colorScheme?.count == 1)
  }

  @Test func swiftType() throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container().viewContext
      let aircraft = Aircraft(context: context)
      aircraft.setComposite(ColorScheme(.white, nil, .gold), forKey: "colorScheme")
      #expect(aircraft.composite(ColorScheme.self, forKey: "colorScheme") == ColorScheme(.white, nil, .gold))
      try context.save()
    }
    let context = try directory.container().viewContext
    let aircraft = try #require(try context.all("Aircraft", "colorScheme.tertiary == %@", [PaintColor.gold]).first)
    #expect(aircraft.composite(ColorScheme.self, forKey: "colorScheme") == ColorScheme(.white, nil, .gold))
    aircraft.setComposite(ColorScheme?.none, forKey: "colorScheme")
    try context.save()
    #expect(try context.all("Aircraft", "colorScheme == nil").count == 1)
    #expect(aircraft.composite(ColorScheme.self, forKey: "colorScheme") == nil)
  }

  @Test func nestedComposites() throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container().viewContext
      try context.make(
        "Airport",
        [
          "faaIdentifier": "SFO",
          "place": ["timeZone": "PST", "location": ["latitude": 37.6, "longitude": -122.4, "altitude": 13]],
        ])
      try context.save()
    }
    let context = try directory.container().viewContext
    let airport = try #require(try context.all("Airport", "place.location.latitude > 37").first)
    #expect(airport.value(forKeyPath: "place.location.altitude") as? Int == 13)
    try airport.set(14, forKeyPath: "place.location.altitude")
    try context.save()
    #expect(try context.all("Airport", "place.location.altitude == 14 AND place.timeZone == 'PST'").count == 1)
    let place = airport.value(forKey: "place") as? [String: Any]
    #expect((place?["location"] as? [String: Any])?["longitude"] as? Double == -122.4)
  }

  @Test func missingUnknownAndWronglyTypedElements() throws {
    let context = try memoryContainer().viewContext
    let aircraft = Aircraft(context: context)
    try aircraft.set(["primary": "white", "secondary": String?.none as Any], forKey: "colorScheme")
    #expect(aircraft.colorScheme as? [String: String] == ["primary": "white"])

    let unknown = cambiumError { try aircraft.set(["primary": "blue", "fourth": "red"], forKey: "colorScheme") }
    #expect(unknown?.code == .invalidArgument)
    #expect(unknown?.key == "colorScheme.fourth")
    let wrong = cambiumError { try aircraft.set(["primary": 5], forKey: "colorScheme") }
    #expect(wrong?.code == .invalidArgument)
    #expect(wrong?.key == "colorScheme.primary")
    #expect(cambiumError { try aircraft.set("white", forKey: "colorScheme") }?.code == .invalidArgument)
    #expect(aircraft.colorScheme as? [String: String] == ["primary": "white"])

    // The form that cannot throw leaves the object alone, and the next save reports it, once.
    aircraft.colorScheme = ["fourth": "red"]
    #expect(aircraft.colorScheme as? [String: String] == ["primary": "white"])
    #expect(cambiumError { try context.save() }?.key == "colorScheme.fourth")
    try context.save()
  }

  /// The rules of Specs/04-model.md, section 3, in nested composites.
  @Test func dictionariesOfNestedComposites() throws {
    let model = try ManagedObjectModel {
      Composite("Location") {
        Attribute("latitude", .double, default: 1.0)
        Attribute("level", .integer16)
        Attribute("price", .decimal)
      }
      Entity("Spot") {
        Attribute("place") {
          Attribute("name", .string, default: "home")
          Attribute("location", composite: "Location")
        }
      }
    }
    let context = try memoryContainer(model).viewContext
    let spot = try context.make("Spot", [:])
    // The defaults of elements do not make a composite that is optional.
    #expect(spot.value(forKey: "place") == nil)
    func place() throws -> [String: Any] { try #require(spot.value(forKey: "place") as? [String: Any]) }
    try spot.set(["location": ["latitude": 3, "level": 7.0, "price": 2.5]], forKey: "place")
    let location = try #require(try place()["location"] as? [String: Any])
    #expect(location["latitude"] as? Double == 3)
    #expect(location["level"] as? Int == 7)
    #expect(location["price"] as? Decimal == Decimal(string: "2.5"))
    #expect(try place()["name"] as? String == "home")

    for (value, path) in [
      (["location": ["level": 70_000]], "place.location.level"), (["location": ["level": 1.5]], "place.location.level"),
      (["location": ["height": 1]], "place.location.height"), (["location": "here"], "place.location"),
      (["location": ["latitude": ["x": 1]]], "place.location.latitude"), (["name": Data()], "place.name"),
      (["Name": "x"], "place.Name"), (["": "x"], "place."),
    ] as [([String: Any], String)] {
      let error = cambiumError { try spot.set(value, forKey: "place") }
      #expect(error?.code == .invalidArgument)
      #expect(error?.key == path)
    }
    #expect(cambiumError { try spot.set(1, forKeyPath: "place.location.height") }?.code == .unknownKey)
    #expect((try place()["location"] as? [String: Any])?["level"] as? Int == 7)
    try context.save()

    // A dictionary of nulls is a composite without values; nil is none.
    try spot.set(["location": ["latitude": Double?.none as Any]], forKey: "place")
    try context.save()
    #expect((try place()["location"] as? [String: Any])?.isEmpty == true)
    #expect(try context.all("Spot", "place.location.latitude == nil").count == 1)
    try spot.set(nil, forKey: "place")
    try context.save()
    #expect(spot.value(forKey: "place") == nil)
    // An element brings the composites around it into being.
    try spot.set(2, forKeyPath: "place.location.level")
    try context.save()
    #expect((try place()["location"] as? [String: Any])?["level"] as? Int == 2)
    #expect(try place()["name"] as? String == "home")
  }

  private struct Level: CompositeRepresentable {
    var number: Int?
    var isOdd = false
    init(_ number: Int?, isOdd: Bool = false) { (self.number, self.isOdd) = (number, isOdd) }
    init?(compositeValues values: [String: Any]) { number = values["number"] as? Int }
    /// A type of values is no value.
    var compositeValues: [String: Any] { ["number": isOdd ? Int.self as Any : number as Any] }
  }

  private struct Place: CompositeRepresentable {
    var level: Level?
    init(_ level: Level?) { self.level = level }
    init?(compositeValues values: [String: Any]) {
      level = (values["level"] as? [String: Any]).flatMap { Level(compositeValues: $0) }
    }
    var compositeValues: [String: Any] { ["level": level as Any] }
    init?(compositeElements elements: CompositeElements) { level = elements["level"] }
    var compositeElements: CompositeElements? {
      var elements = CompositeElements()
      elements["level"] = level
      return elements
    }
  }

  private struct Area: CompositeRepresentable {
    var place: Place?
    init(_ place: Place?) { self.place = place }
    init?(compositeValues values: [String: Any]) {
      place = (values["place"] as? [String: Any]).flatMap { Place(compositeValues: $0) }
    }
    var compositeValues: [String: Any] { ["place": place as Any] }
    init?(compositeElements elements: CompositeElements) { place = elements["place"] }
    var compositeElements: CompositeElements? {
      var elements = CompositeElements()
      elements["place"] = place
      return elements
    }
  }

  @Test func whatCannotBeStoredWithinAComposite() throws {
    let directory = try TemporaryDirectory()
    let model = try ManagedObjectModel {
      Entity("Spot") {
        Attribute("area") { Attribute("place") { Attribute("level") { Attribute("number", .integer16) } } }
      }
    }
    let context = try directory.container(model: model).viewContext
    let spot = try context.make("Spot", [:])
    try Area(Place(Level(7))).setManagedValue(of: spot, forKey: "area")
    try context.save()
    let error = cambiumError { try Area(Place(Level(8, isOdd: true))).setManagedValue(of: spot, forKey: "area") }
    #expect(error?.code == .invalidArgument)
    #expect(!context.hasChanges)
    #expect(try Area.managedValue(of: spot, forKey: "area")?.place?.level?.number == 7)
    try Area(Place(nil)).setManagedValue(of: spot, forKey: "area")
    try context.save()
    let read = try #require(try Area.managedValue(of: spot, forKey: "area"))
    #expect(read.place != nil && read.place?.level == nil)
  }

  @Test func elementThatIsNotOptional() throws {
    let model = try ManagedObjectModel {
      Entity("Car") {
        Attribute("paint") {
          Attribute("color", .string, optional: false)
          Attribute("coats", .integer16, maximum: 3)
        }
      }
    }
    let context = try memoryContainer(model).viewContext
    let car = try context.make("Car", ["paint": ["coats": 2]])
    let error = cambiumError { try context.save() }
    #expect(error?.code == .validationMissingMandatoryProperty)
    #expect(error?.key == "paint.color")
    try car.set(["color": "red", "coats": 4], forKey: "paint")
    #expect(cambiumError { try context.save() }?.code == .validationNumberTooLarge)
    try car.set(nil, forKey: "paint")
    try context.save()
  }
}
