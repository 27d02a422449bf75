@_spi(Stores) import CambiumSwiftData
import Foundation
import Testing

// Versions of a schema, for the tests of migration plans.

/// A person has a name, an age and pets.
enum People1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

  @Model final class Person {
    var name: String
    var age: Int?
    @Relationship(deleteRule: .cascade, inverse: \Pet.owner) var pets: [Pet] = []
    init(_ name: String, age: Int? = nil) {
      self.name = name
      self.age = age
    }
  }

  @Model final class Pet {
    var name: String
    var owner: Person?
    init(_ name: String) { self.name = name }
  }
}

/// The name has another name, and there is a number of visits.
enum People2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

  @Model final class Person {
    @Attribute(originalName: "name") var fullName: String
    var age: Int?
    var visits: Int = 0
    @Relationship(deleteRule: .cascade, inverse: \Pet.owner) var pets: [Pet] = []
    init(_ fullName: String) { self.fullName = fullName }
  }

  @Model final class Pet {
    var name: String
    var owner: Person?
    init(_ name: String) { self.name = name }
  }
}

/// The name has yet another name, and is unique. Pets are animals.
enum People3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Animal.self] }

  @Model final class Person {
    @Attribute(.unique, originalName: "fullName") var title: String
    var age: Int?
    var visits: Int = 0
    @Relationship(deleteRule: .cascade, inverse: \Animal.owner) var pets: [Animal] = []
    init(_ title: String) { self.title = title }
  }

  @Model(originalName: "Pet") final class Animal {
    var name: String
    var owner: Person?
    init(_ name: String) { self.name = name }
  }
}

/// The age is required, and has no initial value.
enum People4: VersionedSchema {
  static let versionIdentifier = Schema.Version(4, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Animal.self] }

  @Model final class Person {
    @Attribute(.unique) var title: String
    var age: Int
    var visits: Int = 0
    @Relationship(deleteRule: .cascade, inverse: \Animal.owner) var pets: [Animal] = []
    init(_ title: String, age: Int) {
      self.title = title
      self.age = age
    }
  }

  @Model final class Animal {
    var name: String
    var owner: Person?
    init(_ name: String) { self.name = name }
  }
}

/// A plan that a test makes, for one open at a time in a chain of calls.
enum AnyPlan: SchemaMigrationPlan {
  struct Content: @unchecked Sendable {
    // `@unchecked`: one test has it.
    var schemas: [any VersionedSchema.Type]
    var stages: [MigrationStage]
  }

  @TaskLocal static var content = Content(schemas: [], stages: [])

  static var schemas: [any VersionedSchema.Type] { content.schemas }
  static var stages: [MigrationStage] { content.stages }

  /// Runs a block with a plan.
  static func with<R>(
    _ schemas: [any VersionedSchema.Type], _ stages: [MigrationStage], _ body: () throws -> R
  ) rethrows -> R {
    try $content.withValue(Content(schemas: schemas, stages: stages), operation: body)
  }
}

/// A file for a store, and what tests do with it.
struct StoreFile: ~Copyable {
  let folder: URL
  let url: URL
  private let isSynced: Bool

  /// - Parameter isSynced: Whether each save waits for the disk.
  init(isSynced: Bool = true) throws {
    self.isSynced = isSynced
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("plans-\(UUID())")
    url = folder.appendingPathComponent("people.store")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var configuration: ModelConfiguration { ModelConfiguration(url: url) }
  var bytes: Data { (try? Data(contentsOf: url)) ?? Data() }
  /// The files beside the store's, whatever they are called.
  var others: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != url.lastPathComponent }
    }
  }

  /// Opens the store with a version, without a plan.
  func open<R>(_ version: any VersionedSchema.Type, _ body: (ModelContext) throws -> R) throws -> R {
    try body(ModelContext(try container(version, nil)))
  }

  /// Opens the store with the last version of a plan.
  @discardableResult
  func migrate<R>(
    _ schemas: [any VersionedSchema.Type], _ stages: [MigrationStage], _ body: (ModelContext) throws -> R = { _ in }
  ) throws -> R {
    try AnyPlan.with(schemas, stages) {
      guard let last = schemas.last else { throw SwiftDataError.unknownSchema }
      return try body(ModelContext(try container(last, AnyPlan.self)))
    }
  }

  private func container(
    _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version), migrationPlan: plan, configurations: [configuration],
      describing: { if !isSynced { $0.durability = .normal } })
  }

  /// Fills the store with persons of the first version: each has a pet.
  func fill(_ names: [String], ages: [Int?] = []) throws {
    try open(People1.self) { context in
      for (place, name) in names.enumerated() {
        let person = People1.Person(name, age: place < ages.count ? ages[place] : place)
        person.pets = [People1.Pet("pet of \(name)")]
        context.insert(person)
      }
      try context.save()
    }
  }

  /// The names of the first version.
  func firstNames() throws -> [String] {
    try open(People1.self) { context in
      try context.fetch(FetchDescriptor<People1.Person>(sortBy: [SortDescriptor(\.name)])).map { $0.name }
    }
  }
}

/// The error of a block, which has to be one of this API; nil if there is none.
func swiftDataError(_ body: () throws -> Void) -> SwiftDataError? {
  do {
    try body()
    return nil
  } catch let error as SwiftDataError { return error } catch {
    Issue.record(error)
    return nil
  }
}
