import CambiumSwiftData
import CambiumTesting
import Foundation

/// A row of a model, in words.
typealias PartRow = [String: String]

/// A part of a schema in one version: a few entities, and what becomes of their rows.
///
/// The tests make chains of versions by combining parts of each kind. What a migration makes of the rows is told by
/// ``became(_:)`` and ``touched(_:_:)``, so that a test can compare it with what the store has.
protocol SchemaPart {
  static var models: [any PersistentModel.Type] { get }
  /// Inserts some models.
  static func insert(_ context: ModelContext, _ random: inout SplitMix64)
  /// The rows of the models, in no order.
  static func read(_ context: ModelContext) throws -> [PartRow]
  /// Adds a mark to a text of each row.
  static func touch(_ context: ModelContext, _ mark: String) throws
  /// What a row becomes by ``touch(_:_:)``.
  static func touched(_ row: PartRow, _ mark: String) -> PartRow
  /// What a row of the version before becomes in this one; nil if it is dropped.
  static func became(_ row: PartRow) -> PartRow?
}

extension SchemaPart {
  static func touched(_ row: PartRow, _ mark: String) -> PartRow {
    row.merging(["text": (row["text"] ?? "") + mark]) { $1 }
  }
  static func became(_ row: PartRow) -> PartRow? { row }

  /// Fetches all models of a class, and describes each.
  fileprivate static func rows<M: PersistentModel>(
    _ context: ModelContext, _ describe: (M) -> PartRow
  ) throws -> [PartRow] { try context.fetch(FetchDescriptor<M>()).map(describe) }
}

// MARK: Persons: names that change twice, an optional number that becomes required, a constraint

enum Persons1: SchemaPart {
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    var name: String
    var age: Int?
    init(_ name: String, _ age: Int?) { (self.name, self.age) = (name, age) }
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) {
    for number in 0..<1 + random.below(4) {
      context.insert(Person("person \(number) ", random.oneIn(2) ? nil : random.below(100)))
    }
  }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: Person) in ["text": one.name, "age": one.age.map { "\($0)" } ?? "none"] }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<Person>()) { one.name += mark }
  }
}

enum Persons2: SchemaPart {
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    @Attribute(originalName: "name") var fullName: String
    var age: Int?
    var visits = 3
    init(_ fullName: String, _ age: Int?) { (self.fullName, self.age) = (fullName, age) }
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) {
    for number in 0..<1 + random.below(4) {
      context.insert(Person("person \(number) ", random.oneIn(2) ? nil : number))
    }
  }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: Person) in
      ["text": one.fullName, "age": one.age.map { "\($0)" } ?? "none", "visits": "\(one.visits)"]
    }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<Person>()) { one.fullName += mark }
  }
  static func became(_ row: PartRow) -> PartRow? { row.merging(["visits": "3"]) { $1 } }
}

enum Persons3: SchemaPart {
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    @Attribute(.unique, originalName: "fullName") var title: String
    var age = 7
    var visits = 3
    init(_ title: String) { self.title = title }
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) {
    for number in 0..<1 + random.below(4) { context.insert(Person("person \(number) ")) }
  }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: Person) in ["text": one.title, "age": "\(one.age)", "visits": "\(one.visits)"] }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<Person>()) { one.title += mark }
  }
  static func became(_ row: PartRow) -> PartRow? { row["age"] == "none" ? row.merging(["age": "7"]) { $1 } : row }
}

enum Persons4: SchemaPart {
  static var models: [any PersistentModel.Type] { [Human.self] }

  @Model(originalName: "Person") final class Human {
    var title: String
    var age = 7
    init(_ title: String) { self.title = title }
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) { context.insert(Human("human ")) }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: Human) in ["text": one.title, "age": "\(one.age)"] }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<Human>()) { one.title += mark }
  }
  static func became(_ row: PartRow) -> PartRow? { row.filter { $0.key != "visits" } }
}

// MARK: Homes: two entities with a relationship, of which one goes

enum Homes1: SchemaPart {
  static var models: [any PersistentModel.Type] { [Home.self, Room.self] }

  @Model final class Home {
    var address: String
    @Relationship(deleteRule: .cascade, inverse: \Room.home) var rooms: [Room] = []
    init(_ address: String) { self.address = address }
  }

  @Model final class Room {
    var name: String
    var home: Home?
    init(_ name: String) { self.name = name }
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) {
    for number in 0..<1 + random.below(3) {
      let home = Home("street \(number) ")
      home.rooms = (0..<random.below(3)).map { Room("room \($0)") }
      context.insert(home)
    }
  }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: Home) in ["text": one.address, "rooms": "\(one.rooms.map { $0.name }.sorted())"] }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    // By the relationship from the other side, where there is one.
    for one in try context.fetch(FetchDescriptor<Home>()) { (one.rooms.first?.home ?? one).address += mark }
  }
}

enum Homes2: SchemaPart {
  static var models: [any PersistentModel.Type] { [House.self, Room.self] }

  @Model(originalName: "Home") final class House {
    var address: String
    @Relationship(deleteRule: .cascade, inverse: \Room.house) var rooms: [Room] = []
    init(_ address: String) { self.address = address }
  }

  @Model final class Room {
    var name: String
    var size = 1.5
    @Relationship(originalName: "home") var house: House?
    init(_ name: String) { self.name = name }
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) {
    let house = House("street ")
    house.rooms = (0..<random.below(3)).map { Room("room \($0)") }
    context.insert(house)
  }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: House) in
      [
        "text": one.address, "rooms": "\(one.rooms.map { $0.name }.sorted())",
        "sizes": "\(one.rooms.reduce(0) { $0 + $1.size } / Double(max(1, one.rooms.count)))",
      ]
    }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<House>()) { (one.rooms.first?.house ?? one).address += mark }
  }
  static func became(_ row: PartRow) -> PartRow? {
    row.merging(["sizes": row["rooms"] == "[]" ? "0.0" : "1.5"]) { $1 }
  }
}

enum Homes3: SchemaPart {
  static var models: [any PersistentModel.Type] { [House.self] }

  @Model final class House {
    var address: String
    init(_ address: String) { self.address = address }
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) { context.insert(House("street ")) }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: House) in ["text": one.address] }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<House>()) { one.address += mark }
  }
  static func became(_ row: PartRow) -> PartRow? { row.filter { $0.key == "text" } }
}

// MARK: Vehicles: inheritance

enum Vehicles1: SchemaPart {
  static var models: [any PersistentModel.Type] { [Vehicle.self, Car.self] }

  @Model class Vehicle {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model final class Car: Vehicle {
    var doors: Int = 4
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) {
    context.insert(Vehicle("bike "))
    context.insert(Car("car "))
  }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: Vehicle) in ["text": one.name, "doors": (one as? Car).map { "\($0.doors)" } ?? "none"] }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<Vehicle>()) { one.name += mark }
  }
}

enum Vehicles2: SchemaPart {
  static var models: [any PersistentModel.Type] { [Vehicle.self, Car.self] }

  @Model class Vehicle {
    var name: String
    var colour: String?
    init(_ name: String) { self.name = name }
  }

  @Model final class Car: Vehicle {
    @Attribute(originalName: "doors") var doorCount: Int = 4
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) { context.insert(Car("car ")) }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: Vehicle) in
      [
        "text": one.name, "doors": (one as? Car).map { "\($0.doorCount)" } ?? "none", "colour": one.colour ?? "none",
      ]
    }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<Vehicle>()) { one.name += mark }
  }
  static func became(_ row: PartRow) -> PartRow? { row.merging(["colour": "none"]) { $1 } }
}

// MARK: Notes: an entity that comes and goes

enum NoNotes: SchemaPart {
  static var models: [any PersistentModel.Type] { [] }
  static func insert(_ context: ModelContext, _ random: inout SplitMix64) {}
  static func read(_ context: ModelContext) throws -> [PartRow] { [] }
  static func touch(_ context: ModelContext, _ mark: String) throws {}
}

enum Notes1: SchemaPart {
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    init(_ text: String) { self.text = text }
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) { context.insert(Note("note ")) }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: Note) in ["text": one.text] }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<Note>()) { one.text += mark }
  }
}

enum Notes2: SchemaPart {
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    var tags: [String] = ["new"]
    init(_ text: String) { self.text = text }
  }

  static func insert(_ context: ModelContext, _ random: inout SplitMix64) { context.insert(Note("note ")) }
  static func read(_ context: ModelContext) throws -> [PartRow] {
    try rows(context) { (one: Note) in ["text": one.text, "tags": "\(one.tags)"] }
  }
  static func touch(_ context: ModelContext, _ mark: String) throws {
    for one in try context.fetch(FetchDescriptor<Note>()) { one.text += mark }
  }
  static func became(_ row: PartRow) -> PartRow? { row.merging(["tags": #"["new"]"#]) { $1 } }
}

enum NotesGone: SchemaPart {
  static var models: [any PersistentModel.Type] { [] }
  static func insert(_ context: ModelContext, _ random: inout SplitMix64) {}
  static func read(_ context: ModelContext) throws -> [PartRow] { [] }
  static func touch(_ context: ModelContext, _ mark: String) throws {}
  static func became(_ row: PartRow) -> PartRow? { nil }
}
