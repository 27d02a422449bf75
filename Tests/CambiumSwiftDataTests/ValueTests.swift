import CambiumSwiftData
import Foundation
import Testing

/// Values of all kinds, as they are read before they are inserted, after that, after a save, and in another context.
@Suite struct ValueTests {
  private static var largeDecimal: Decimal { 123_456_789 + Decimal(1) / 1_000_000_000 }

  private static func fill(_ v: Values) {
    v.int8 = -8
    v.int16 = -16
    v.int32 = -32
    v.int64 = .max
    v.uint8 = 200
    v.uint16 = 60_000
    v.uint32 = 4_000_000_000
    v.uint64 = 1 << 40
    v.float = -0.25
    v.double = 1e300
    v.cgFloat = 7.5
    v.bool = false
    v.date = Date(timeIntervalSinceReferenceDate: -5)
    v.data = Data(repeating: 7, count: 3)
    v.url = URL(string: "file:///a%20b")
    v.decimal = largeDecimal
    v.mood = .wild
    v.maybeMood = .calm
    v.shape = .circle(radius: 2)
    v.maybeShape = .box(width: 1, height: 2)
    v.texts = ["a", "", "ß"]
    v.numbers = [3, 1]
    v.table = ["x": 1.5]
    v.address = Address(street: "Karl Johans gate", city: "Bergen", zip: 5003, place: Place(latitude: 60, longitude: 5))
    v.maybeAddress = Address(street: "", city: "Vik", zip: nil, place: nil)
    v.places = [Place(latitude: 1, longitude: 2)]
    v.renamed = Renamed(first: "1", second: 2)
    v.coded = Place(latitude: 3, longitude: 4)
    v.image = Data(repeating: 1, count: 100_000)
    v.draft = "draft"
  }

  private static func check(_ v: Values, draft: String?) {
    #expect(v.int8 == -8 && v.int16 == -16 && v.int32 == -32 && v.int64 == .max)
    #expect(v.uint8 == 200 && v.uint16 == 60_000 && v.uint32 == 4_000_000_000 && v.uint64 == 1 << 40)
    #expect(v.float == -0.25 && v.double == 1e300 && v.cgFloat == 7.5 && !v.bool)
    #expect(v.date == Date(timeIntervalSinceReferenceDate: -5) && v.data == Data(repeating: 7, count: 3))
    #expect(v.url == URL(string: "file:///a%20b") && v.decimal == largeDecimal)
    #expect(v.mood == .wild && v.maybeMood == .calm)
    #expect(v.shape == .circle(radius: 2) && v.maybeShape == .box(width: 1, height: 2))
    #expect(v.texts == ["a", "", "ß"] && v.numbers == [3, 1] && v.table == ["x": 1.5])
    #expect(v.address.city == "Bergen" && v.address.place == Place(latitude: 60, longitude: 5) && v.address.zip == 5003)
    #expect(v.maybeAddress == Address(street: "", city: "Vik", zip: nil, place: nil))
    #expect(v.places == [Place(latitude: 1, longitude: 2)] && v.renamed == Renamed(first: "1", second: 2))
    #expect(v.coded == Place(latitude: 3, longitude: 4) && v.image?.count == 100_000 && v.draft == draft)
  }

  @Test func valuesOfAllKindsAreWhatTheyWere() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let v = Values()
    Self.fill(v)
    Self.check(v, draft: "draft")
    context.insert(v)
    Self.check(v, draft: "draft")
    try context.save()
    #expect(context.recordedErrors.isEmpty)
    Self.check(v, draft: "draft")
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Values>()).first)
    Self.check(read, draft: nil)
  }

  @Test func propertiesMayHaveAnyName() throws {
    let context = ModelContext(try makeContainer())
    let names = Names()
    names.copy = 5
    names.entity = "other"
    names.zone = Names()
    names.zone?.place.longitude = 1
    context.insert(names)
    try context.save()
    let found = try context.fetch(
      FetchDescriptor<Names>(
        predicate: #Predicate { $0.copy == 5 && $0.entity == "other" && $0.isUpdated && $0.zone?.description != "" },
        sortBy: [SortDescriptor(\.class), SortDescriptor(\.hash)]))
    #expect(found == [names] && names.description == "description" && names.zone?.hash == 2)
    #expect(!names.isDeleted && !names.hasChanges)
  }

  @Test func fieldsOfStructuresAreUniqueAndIndexed() throws {
    let container = try makeContainer()
    let entity = try #require(container.schema.entity(for: Names.self))
    #expect(entity.indices == [["place.latitude", "copy"]])
    #expect(entity.uniquenessConstraints == [["copy", "place.longitude"]])
    let context = ModelContext(container)
    for number in 0..<2 {
      let names = Names()
      names.hash = number
      names.place.latitude = 60
      context.insert(names)
      try context.save()
    }
    let found = try ModelContext(container).fetch(
      FetchDescriptor<Names>(predicate: #Predicate { $0.place.latitude > 50 }))
    #expect(found.map(\.hash) == [1])
  }

  @Test func initialValuesAreThoseOfTheClass() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let v = Values()
    let uuid = v.uuid
    func check(_ v: Values) {
      #expect(v.int8 == 1 && v.int64 == 4 && v.uint64 == 8 && v.float == 1.5 && v.bool && v.decimal == 4.25)
      #expect(v.mood == .calm && v.maybeMood == nil && v.shape == .dot && v.texts == [] && v.numbers == [])
      #expect(v.address.city == "Oslo" && v.maybeAddress == nil && v.renamed == nil && v.coded == nil && v.uuid == uuid)
    }
    check(v)
    context.insert(v)
    check(v)
    try context.save()
    check(try #require(try ModelContext(container).fetch(FetchDescriptor<Values>()).first))
  }

  @Test func optionalValuesCanBeTakenBack() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let v = Values()
    Self.fill(v)
    context.insert(v)
    try context.save()
    let other = ModelContext(container)
    let read = try #require(try other.fetch(FetchDescriptor<Values>()).first)
    read.url = nil
    read.maybeMood = nil
    read.maybeShape = nil
    read.maybeAddress = nil
    read.renamed = nil
    read.coded = nil
    read.image = nil
    try other.save()
    let again = try #require(try ModelContext(container).fetch(FetchDescriptor<Values>()).first)
    #expect(again.url == nil && again.maybeMood == nil && again.maybeShape == nil && again.maybeAddress == nil)
    #expect(again.renamed == nil && again.coded == nil && again.image == nil)
  }

  @Test func transientPropertiesBeginAnewInEachContext() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    ada.isSelected = true
    context.insert(ada)
    try context.save()
    #expect(ada.isSelected)
    #expect(try ModelContext(container).fetch(FetchDescriptor<Person>()).map(\.isSelected) == [false])
  }

  @Test func structuresAreStoredFieldByFieldUnlessTheyCodeThemselvesOtherwise() throws {
    let entity = try #require(Schema(Values.self).entity(for: Values.self))
    let address = try #require(entity.attributesByName["address"] as? Schema.CompositeAttribute)
    #expect(address.properties.map(\.name) == ["street", "city", "zip", "place"])
    #expect(address.properties[3] is Schema.CompositeAttribute)
    for name in ["renamed", "coded", "shape", "texts", "places"] {
      let attribute = try #require(entity.attributesByName[name])
      #expect(!(attribute is Schema.CompositeAttribute) && attribute.isCodable, "\(name)")
    }
    #expect(entity.attributesByName["mood"]?.isCodable == false)
  }
}
