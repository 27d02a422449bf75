import CambiumSwiftData
import Foundation
import Testing

@Suite struct ContainerTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("containers-\(UUID())")

  private func inFolder(_ body: (URL) throws -> Void) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  /// Makes a store of the first version.
  private func saveFirstNote(_ configuration: ModelConfiguration) throws {
    let context = ModelContext(try ModelContainer(for: First.Note.self, configurations: configuration))
    context.insert(First.Note(text: "hello"))
    try context.save()
  }

  @Test func aStoreInAFileStays() throws {
    try inFolder { folder in
      let url = folder.appendingPathComponent("a.store")
      do {
        let container = try ModelContainer(for: Person.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        context.insert(Person("Ada"))
        try context.save()
      }
      let container = try ModelContainer(
        for: Person.self, configurations: ModelConfiguration(url: url, allowsSave: false))
      let context = ModelContext(container)
      let ada = try #require(try context.fetch(FetchDescriptor<Person>()).first)
      ada.name = "Augusta"
      #expect(throws: (any Error).self) { try context.save() }
    }
  }

  @Test func eachConfigurationHasAStoreOfItsModels() throws {
    try inFolder { folder in
      let schema = Schema(Values.self, Vehicle.self)
      let values = ModelConfiguration(
        "values", schema: Schema(Values.self), url: folder.appendingPathComponent("v.store"))
      let others = ModelConfiguration("others", url: folder.appendingPathComponent("o.store"))
      func open() throws -> ModelContainer { try ModelContainer(for: schema, configurations: values, others) }
      do {
        let context = ModelContext(try open())
        context.insert(Values())
        context.insert(Vehicle(name: "car"))
        try context.save()
      }
      let context = ModelContext(try open())
      let value = try #require(try context.fetch(FetchDescriptor<Values>()).first)
      let car = try #require(try context.fetch(FetchDescriptor<Vehicle>()).first)
      #expect(value.persistentModelID.storeIdentifier != car.persistentModelID.storeIdentifier)
      // The store has the whole schema. A container that knows less of it is refused, and the store stays as it is.
      #expect(throws: SwiftDataError.loadIssueModelContainer) {
        _ = try ModelContainer(for: Values.self, configurations: values)
      }
    }
  }

  @Test func configurationsThatDontFitAreRefused() throws {
    try inFolder { folder in
      let url = folder.appendingPathComponent("a.store")
      #expect(throws: SwiftDataError.duplicateConfiguration) {
        _ = try ModelContainer(
          for: Schema(Values.self), configurations: ModelConfiguration("a", url: url), ModelConfiguration("b", url: url)
        )
      }
      #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
        _ = try ModelContainer(
          for: Schema(Values.self), configurations: ModelConfiguration(schema: Schema(Vehicle.self), url: url))
      }
      #expect(throws: SwiftDataError.configurationFileNameTooLong) {
        try ModelConfiguration(String(repeating: "x", count: 300)).validate()
      }
      #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
        try ModelConfiguration("a/b").validate()
      }
    }
  }

  @Test func fieldsOfStructuresHaveIndexes() throws {
    let container = try ModelContainer(for: Depot.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let entity = try #require(container.managedObjectModel.entitiesByName["Depot"])
    #expect(entity.indexes.map { $0.name } == ["by_address.city"])
    let context = ModelContext(container)
    context.insert(Depot(Address(street: "Storgata", city: "Oslo")))
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Depot>()).first?.address?.city == "Oslo")
  }

  @Test func erasingLeavesNothing() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let ada = Person("Ada")
    ada.papers = [Paper("x")]
    context.insert(ada)
    context.insert(Truck(name: "t", load: 1))
    try context.save()
    try container.erase()
    let other = ModelContext(container)
    #expect(try other.fetchCount(FetchDescriptor<Person>()) == 0 && other.fetchCount(FetchDescriptor<Vehicle>()) == 0)
  }

  @Test func aSearchBesideContextsTellsHowFarItIsAndCanBeCancelled() async throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    for number in 0..<2_000 { context.insert(Person("\(number)", age: number)) }
    try context.save()
    let old = FetchDescriptor<Person>(predicate: #Predicate { $0.age >= 1_000 }, sortBy: [SortDescriptor(\.age)])
    let found = try await container.identifiers(of: old) { _, _ in }
    #expect(found.count == 1_000 && (context.model(for: found[0]) as? Person)?.age == 1_000)
    let search = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await container.identifiers(of: old)
    }
    await #expect(throws: CancellationError.self) { _ = try await search.value }
    await #expect(throws: SwiftDataError.unsupportedPredicate) {
      _ = try await container.identifiers(of: FetchDescriptor<Person>(predicate: #Predicate { $0.isSelected }))
    }
  }

  @Test func twoContainersShareAFile() throws {
    try inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appendingPathComponent("a.store"))
      let first = try ModelContainer(for: Person.self, configurations: configuration)
      let second = try ModelContainer(for: Person.self, configurations: configuration)
      let context = ModelContext(first)
      context.insert(Person("Ada"))
      try context.save()
      #expect(try ModelContext(second).fetch(FetchDescriptor<Person>()).map(\.name) == ["Ada"])
    }
  }

  @Test func aNewPropertyWithAnInitialValueMigrates() throws {
    try inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appendingPathComponent("a.store"))
      try saveFirstNote(configuration)
      let context = ModelContext(try ModelContainer(for: Second.Note.self, configurations: configuration))
      let note = try #require(try context.fetch(FetchDescriptor<Second.Note>()).first)
      #expect(note.body == "hello" && note.stars == 3 && note.mood == .wild && note.tag == nil)
    }
  }

  @Test func aHigherVersionOfTheSchemaMayDropAProperty() throws {
    try inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appendingPathComponent("a.store"))
      try saveFirstNote(configuration)
      #expect {
        _ = try ModelContainer(for: Third.Note.self, configurations: configuration)
      } throws: { error in
        SwiftDataError.loadIssueModelContainer ~= error && "\(error)".contains("Note.text")
      }
      let schema = Schema([Third.Note.self], version: Schema.Version(2, 0, 0))
      let context = ModelContext(try ModelContainer(for: schema, configurations: configuration))
      #expect(try context.fetch(FetchDescriptor<Third.Note>()).map(\.stars) == [1])
    }
  }

  @Test func aRenamedClassMigrates() throws {
    try inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appendingPathComponent("a.store"))
      try saveFirstNote(configuration)
      let context = ModelContext(try ModelContainer(for: Memo.self, configurations: configuration))
      #expect(try context.fetch(FetchDescriptor<Memo>()).map(\.text) == ["hello"])
    }
  }
}

enum Third {
  @Model final class Note {
    var stars: Int = 1
    init() {}
  }
}

enum First {
  @Model final class Note {
    var text: String
    init(text: String) { self.text = text }
  }
}

enum Second {
  @Model final class Note {
    @Attribute(originalName: "text") var body: String
    var stars: Int = 3
    var mood: Mood = Mood.wild
    var tag: String?
    init(body: String) { self.body = body }
  }
}

@Model(originalName: "Note") final class Memo {
  var text: String
  init(text: String) { self.text = text }
}
