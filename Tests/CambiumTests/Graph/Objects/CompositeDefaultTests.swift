import Cambium
import Testing

/// An element that the application leaves out takes its default. An explicit `nil` is null.
@Suite struct CompositeDefaultTests {
  private struct Location: CompositeRepresentable {
    var latitude: Double?
    var zone: String?
    /// Whether ``zone`` is among the values.
    var givesZone = false

    init(latitude: Double?) { self.latitude = latitude }
    init(latitude: Double?, zone: String?) { (self.latitude, self.zone, givesZone) = (latitude, zone, true) }
    init?(compositeValues values: [String: Any]) {
      self.init(latitude: values["latitude"] as? Double, zone: values["zone"] as? String)
    }
    var compositeValues: [String: Any] {
      givesZone ? ["latitude": latitude as Any, "zone": zone as Any] : ["latitude": latitude as Any]
    }
  }

  /// The same by ``CompositeElements``.
  private struct TypedLocation: CompositeRepresentable {
    let location: Location

    init(_ location: Location) { self.location = location }
    init?(compositeValues values: [String: Any]) {
      guard let location = Location(compositeValues: values) else { return nil }
      self.init(location)
    }
    var compositeValues: [String: Any] { location.compositeValues }
    init?(compositeElements elements: CompositeElements) {
      self.init(Location(latitude: elements["latitude"], zone: elements["zone"]))
    }
    var compositeElements: CompositeElements? {
      var elements = CompositeElements()
      elements["latitude"] = location.latitude
      if location.givesZone { elements["zone"] = location.zone }
      return elements
    }
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Location") {
        Attribute("latitude", .double)
        Attribute("zone", .string, optional: false, default: "UTC")
      }
      Composite("Place") {
        Attribute("name", .string, default: "home")
        Attribute("location", composite: "Location", optional: false)
        Attribute("other", composite: "Location")
      }
      Entity("Spot") {
        Attribute("location", composite: "Location")
        Attribute("place", composite: "Place")
        Attribute("held") {
          Attribute("number", .integer16)
          Attribute("level", .integer16, default: 7)
        }.with { $0.isTransient = true }
      }
      Entity("Airport") {
        Attribute("name", .string, default: "SFO")
        Attribute("place", composite: "Place", optional: false)
      }
      Entity("Car") {
        Attribute("paint", optional: false) { Attribute("color", .string) }
      }
    }
  }

  private static func text(_ value: Any?) -> String {
    guard let values = value as? [String: Any] else { return value.map { "\($0)" } ?? "nil" }
    return "[" + values.sorted { $0.key < $1.key }.map { "\($0.key) \(text($0.value))" }.joined(separator: ", ") + "]"
  }

  @Test func elementsThatADictionaryLeavesOut() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    let spot = try context.make("Spot", [:])
    func value(_ key: String) -> String { Self.text(spot.value(forKey: key)) }
    #expect(value("location") == "nil" && value("place") == "nil")
    try spot.set(["latitude": 3.0], forKey: "location")
    #expect(value("location") == "[latitude 3.0, zone UTC]")
    try context.save()
    try spot.set([String: Any](), forKey: "place")
    #expect(value("place") == "[location [zone UTC], name home]")
    try spot.set(["name": String?.none as Any, "other": ["latitude": 1.0]], forKey: "place")
    #expect(value("place") == "[location [zone UTC], other [latitude 1.0, zone UTC]]")
    try context.save()
    spot.setPrimitiveValue(["latitude": 4.0], forKey: "location")
    #expect(value("location") == "[latitude 4.0, zone UTC]")

    try spot.set(["zone": String?.none as Any], forKey: "location")
    #expect(value("location") == "[]")
    #expect(cambiumError { try context.save() }?.code == .validationMissingMandatoryProperty)
    #expect(cambiumError { try context.save() }?.key == "location.zone")
    try spot.set(nil, forKey: "location")
    try context.save()
  }

  @Test func elementsThatAStructureLeavesOut() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    let spot = try context.make("Spot", [:])
    func value() -> String { Self.text(spot.value(forKey: "location")) }
    try Location(latitude: 3).setManagedValue(of: spot, forKey: "location")
    #expect(value() == "[latitude 3.0, zone UTC]")
    try TypedLocation(Location(latitude: 4)).setManagedValue(of: spot, forKey: "location")
    #expect(value() == "[latitude 4.0, zone UTC]")
    try Location(latitude: 5, zone: nil).setManagedValue(of: spot, forKey: "location")
    #expect(value() == "[latitude 5.0]")
    try TypedLocation(Location(latitude: 6, zone: nil)).setManagedValue(of: spot, forKey: "location")
    #expect(value() == "[latitude 6.0]")
  }

  /// A composite that comes into being by one element gets the defaults of the others.
  @Test func compositesThatOneElementMakes() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    let spot = try context.make("Spot", [:])
    try spot.set(1.0, forKeyPath: "place.other.latitude")
    #expect(
      Self.text(spot.value(forKey: "place")) == "[location [zone UTC], name home, other [latitude 1.0, zone UTC]]")
    try spot.set(nil, forKeyPath: "place.name")
    try spot.set(2.0, forKeyPath: "place.location.latitude")
    #expect(
      Self.text(spot.value(forKey: "place"))
        == "[location [latitude 2.0, zone UTC], other [latitude 1.0, zone UTC]]")
    try context.save()
  }

  @Test func transientComposites() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    let spot = try context.make("Spot", [:])
    try spot.set(["number": 1], forKey: "held")
    #expect(Self.text(spot.value(forKey: "held")) == "[level 7, number 1]")
    try spot.set(nil, forKeyPath: "held.level")
    try spot.set(2, forKeyPath: "held.number")
    #expect(Self.text(spot.value(forKey: "held")) == "[number 2]")
  }

  /// A new object has the defaults of the elements of a required composite.
  @Test func newObjects() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    let airport = try context.make("Airport", [:])
    #expect(Self.text(airport.value(forKey: "place")) == "[location [zone UTC], name home]")
    try context.save()
    // No element has a default: the composite is missing.
    try context.make("Car", [:])
    #expect(cambiumError { try context.save() }?.key == "paint")
  }

  @Test func batchInserts() throws {
    let container = try memoryContainer(Self.model())
    let context = container.newBackgroundContext()
    try context.execute(BatchInsertRequest(entityName: "Airport", objects: [["name": "LAX"]]))
    try context.execute(BatchInsertRequest(entityName: "Spot", objects: [["location": ["latitude": 1.0]], [:]]))
    let airport = try #require(try context.all("Airport").first)
    #expect(Self.text(airport.value(forKey: "place")) == "[location [zone UTC], name home]")
    let spots = try context.all("Spot").map { Self.text($0.value(forKey: "location")) }
    #expect(spots.sorted() == ["[latitude 1.0, zone UTC]", "nil"])
  }
}
