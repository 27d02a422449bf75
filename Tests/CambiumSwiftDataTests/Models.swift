import CambiumSwiftData
import Foundation

// The models of the tests: what tutorials have, and what they leave out.

enum Rank: Int, Codable { case civil = 0, admiral = 7 }
enum Mood: String, Codable, CaseIterable { case calm, wild }
enum Shape: Codable, Equatable { case dot, circle(radius: Double), box(width: Double, height: Double) }

struct Address: Codable, Equatable {
  var street: String
  var city: String
  var zip: Int?
  var place: Place?
}

struct Place: Codable, Equatable {
  var latitude: Double
  var longitude: Double
}

/// Codes itself by other keys than its fields.
struct Renamed: Codable, Equatable {
  var first: String
  var second: Int
  enum CodingKeys: String, CodingKey { case first = "f", second = "s" }
}

@Model final class Person {
  var name: String
  var nickname: String?
  var age: Int
  var rank: Rank = Rank.civil
  var address: Address?
  @Relationship(deleteRule: .cascade, inverse: \Paper.author) var papers: [Paper] = []
  @Relationship(deleteRule: .deny, inverse: \Loan.borrower) var loans: [Loan] = []
  @Transient var isSelected = false

  init(_ name: String, age: Int = 0, nickname: String? = nil) {
    self.name = name
    self.age = age
    self.nickname = nickname
  }
}

@Model final class Depot {
  #Index<Depot>([\.address?.city])
  var address: Address?
  init(_ address: Address?) { self.address = address }
}

@Model final class Paper {
  var title: String
  var pages: Int
  var author: Person?
  @Relationship var topics: [Topic] = []

  init(_ title: String, pages: Int = 1) {
    self.title = title
    self.pages = pages
  }
}

@Model final class Topic {
  @Attribute(.unique) var name: String
  var papers: [Paper] = []

  init(_ name: String) { self.name = name }
}

@Model final class Loan {
  var days: Int
  var borrower: Person
  init(days: Int, borrower: Person) {
    self.days = days
    self.borrower = borrower
  }
}

@Model final class Values {
  var int8: Int8 = 1
  var int16: Int16 = 2
  var int32: Int32 = 3
  var int64: Int64 = 4
  var uint8: UInt8 = 5
  var uint16: UInt16 = 6
  var uint32: UInt32 = 7
  var uint64: UInt64 = 8
  var float: Float = 1.5
  var double: Double = 2.5
  var cgFloat: CGFloat = 3.5
  var bool: Bool = true
  var date: Date = Date(timeIntervalSinceReferenceDate: 60)
  var data: Data = Data([1, 2])
  var uuid: UUID = UUID()
  var url: URL? = URL(string: "https://example.com")
  var decimal: Decimal = 4.25
  var mood: Mood = Mood.calm
  var maybeMood: Mood?
  var shape: Shape = Shape.dot
  var maybeShape: Shape?
  var texts: [String] = []
  var numbers: Set<Int> = []
  var table: [String: Double] = [:]
  var address: Address = Address(street: "", city: "Oslo", zip: nil, place: nil)
  var maybeAddress: Address?
  var places: [Place] = []
  var renamed: Renamed?
  @Attribute(.codable) var coded: Place?
  @Attribute(.externalStorage) var image: Data?
  @Attribute(.ephemeral) var draft: String?
  init() {}
}

@Model class Vehicle {
  var name: String
  var wheels: Int = 4
  @Relationship(inverse: \Trailer.vehicle) var trailers: [Trailer] = []
  init(name: String) { self.name = name }
}

@Model class Truck: Vehicle {
  var load: Double
  init(name: String, load: Double) {
    self.load = load
    super.init(name: name)
    wheels = 6
  }
}

@Model final class Tanker: Truck {
  var liquid: String = "milk"
  override init(name: String, load: Double) { super.init(name: name, load: load) }
}

@Model final class Trailer {
  var length: Int
  var vehicle: Vehicle?
  init(length: Int) { self.length = length }
}

/// Properties whose names other libraries keep for themselves.
@Model final class Names {
  var description: String = "description"
  var copy: Int = 1
  var hash: Int = 2
  var entity: String = "entity"
  var `class`: String = "class"
  var isUpdated = true
  var zone: Names?
  var place = Place(latitude: 0, longitude: 0)
  #Index<Names>([\.place.latitude, \.copy])
  #Unique<Names>([\.copy, \.place.longitude])
  init() {}
}

@Model final class Band {
  @Relationship(minimumModelCount: 1) var members: [Topic] = []
  @Relationship(minimumModelCount: 1) var guests: [Loan]?
  init() {}
}

@Model final class Solo {
  @Relationship(maximumModelCount: 1) var members: [Topic] = []
  init() {}
}

/// A container in memory of the models that the tests share.
func makeContainer() throws -> ModelContainer {
  try ModelContainer(
    for: Person.self, Values.self, Vehicle.self, Truck.self, Tanker.self, Names.self,
    configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

extension ModelContext {
  func all<T: PersistentModel>(_ type: T.Type, by keyPath: any KeyPath<T, String> & Sendable) throws -> [T] {
    try fetch(FetchDescriptor<T>(sortBy: [SortDescriptor(keyPath)]))
  }
}
