import CambiumSwiftData
import Foundation
import Testing

@Suite struct PreflightTests {
  private static let all: [any VersionedSchema.Type] = [People1.self, People2.self, People3.self, People4.self]
  private static func stage(_ place: Int) -> MigrationStage {
    .lightweight(fromVersion: all[place], toVersion: all[place + 1])
  }

  private func preflight(
    _ file: borrowing StoreFile, _ schemas: [any VersionedSchema.Type], _ stages: [MigrationStage]
  ) throws -> MigrationPreflight {
    let before = file.bytes
    let result = try AnyPlan.with(schemas, stages) { try ModelContainer.preflight(AnyPlan.self, storeAt: file.url) }
    // What the preflight opens and copies is no change.
    let names = try file.firstNames()
    #expect(try file.others.isEmpty && (file.bytes == before || !names.isEmpty))
    return result
  }

  @Test func withoutAStoreThereIsNothingToDo() throws {
    let file = try StoreFile()
    let result = try AnyPlan.with([People1.self, People2.self], [Self.stage(0)]) {
      try ModelContainer.preflight(AnyPlan.self, storeAt: file.url)
    }
    #expect(result.storeVersion == nil && result.stages.isEmpty && result.description == "nothing to do")
    #expect(try file.others.isEmpty && file.bytes.isEmpty)
  }

  /// The third stage makes titles unique, which are full names before it, and names in the store.
  @Test func duplicatesAreCountedWithTheirValues() throws {
    let file = try StoreFile()
    try file.fill(["Ada", "Bob", "Ada", "Ada", "Bob", "Eve"])
    let result = try preflight(file, Array(Self.all[0...2]), [Self.stage(0), Self.stage(1)])
    #expect(result.storeVersion == People1.versionIdentifier)
    #expect(result.stages.map { $0.isChecked } == [true, true] && result.stages[0].problems.isEmpty)
    let problem = try #require(result.problems.first)
    #expect(result.problems.count == 1 && problem.kind == .duplicates)
    #expect(problem.entityName == "Person" && problem.propertyNames == ["title"] && problem.count == 5)
    #expect(
      problem.examples.sorted() == [
        #""Ada" (3: Person/p1, Person/p5, Person/p7)"#, #""Bob" (2: Person/p3, Person/p9)"#,
      ])
    // Making the container says the same.
    let before = file.bytes
    let error = swiftDataError { try file.migrate(Array(Self.all[0...2]), [Self.stage(0), Self.stage(1)]) }
    let message = error?.message ?? ""
    #expect(error == .loadIssueModelContainer && error?.cambiumError?.code == .migrationConstraintViolation)
    #expect(message.contains("from 2.0.0 (People2) to 3.0.0 (People3)") && message.contains(problem.description))
    #expect(message.contains("Make the stage .custom"))
    #expect(file.bytes == before)
  }

  @Test func missingValuesAreCounted() throws {
    let file = try StoreFile()
    try file.fill(["Ada", "Bob", "Eve"], ages: [36, nil, nil])
    let stages = [Self.stage(0), Self.stage(1), Self.stage(2)]
    let problem = try #require(try preflight(file, Self.all, stages).problems.first)
    #expect(problem.kind == .missingValue && problem.propertyNames == ["age"] && problem.count == 2)
    #expect(problem.examples == ["Person/p3", "Person/p5"])
    let error = swiftDataError { try file.migrate(Self.all, stages) }
    #expect(
      error?.message.contains("'Person.age' is required and has no initial value, and 2 models have none") ?? false)
    #expect(try file.firstNames() == ["Ada", "Bob", "Eve"])
  }

  /// A custom stage may remove what is in its way. What comes behind it depends on its handlers.
  @Test func aCustomStageIsNotRefused() throws {
    let file = try StoreFile()
    try file.fill(["Ada", "Ada", "Eve"], ages: [1, 2, nil])
    var calls = 0
    let stages = [
      Self.stage(0),
      MigrationStage.custom(fromVersion: People2.self, toVersion: People3.self) { context in
        calls += 1
        var seen: Set<String> = []
        for person in try context.fetch(FetchDescriptor<People2.Person>()) where !seen.insert(person.fullName).inserted
        {
          context.delete(person)
        }
        try context.save()
      } didMigrate: { context in
        for person in try context.fetch(FetchDescriptor<People3.Person>()) where person.age == nil { person.age = 0 }
        try context.save()
      },
      Self.stage(2),
    ]
    let result = try preflight(file, Self.all, stages)
    #expect(calls == 0 && result.problems.isEmpty)
    #expect(
      result.stages.map { $0.isChecked } == [true, true, false]
        && result.stages.map { $0.isCustom } == [false, true, false]
        && result.stages.map { $0.hasWillMigrate } == [false, true, false])
    #expect(result.stages[1].problems.map { $0.count } == [2])
    #expect(result.description.contains("lightweight stage from 3.0.0 to 4.0.0: not looked at"))
    let ages = try file.migrate(Self.all, stages) { context in
      try context.fetch(FetchDescriptor<People4.Person>(sortBy: [SortDescriptor(\.title)])).map { $0.age }
    }
    #expect(calls == 1 && ages == [1, 0])
    // A custom stage that leaves the conflict says what is in the way, after its handlers.
    let other = try StoreFile()
    try other.fill(["Ada", "Ada"])
    let error = swiftDataError {
      try other.migrate(
        Array(Self.all[0...2]),
        [
          Self.stage(0), .custom(fromVersion: People2.self, toVersion: People3.self, willMigrate: nil, didMigrate: nil),
        ])
    }
    #expect(error?.message.contains("Give the stage a willMigrate that changes or deletes these models") ?? false)
    #expect(error?.message.contains(#""Ada" (2: Person/p1, Person/p3)"#) ?? false, "\(String(describing: error))")
  }

  /// Only a `willMigrate` can remove what is in the way, and not even that a missing value of a new property.
  @Test func aStageWithoutWillMigrateHasItsProblems() throws {
    let stages: [MigrationStage] = [
      .custom(from: People2.self, to: People3.self) { _, new in try new.save() },
      .custom(fromVersion: People2.self, toVersion: People3.self, willMigrate: nil, didMigrate: { try $0.save() }),
      .custom(fromVersion: People2.self, toVersion: People3.self, willMigrate: nil, didMigrate: nil),
    ]
    for (place, stage) in stages.enumerated() {
      let file = try StoreFile()
      try file.fill(["Ada", "Ada"])
      let all = Array(Self.all[0...2])
      let result = try preflight(file, all, [Self.stage(0), stage])
      #expect(result.problems.map { $0.kind } == [.duplicates])
      #expect(result.stages[1].isCustom == (place < 2) && !result.stages[1].hasWillMigrate)
      let message = swiftDataError { try file.migrate(all, [Self.stage(0), stage]) }?.message ?? ""
      #expect(message.contains("willMigrate") && !message.contains("Change or delete these models"), "\(message)")
    }
    let file = try StoreFile()
    try file.fill(["Ada"])
    let stage = MigrationStage.custom(
      fromVersion: People1.self, toVersion: Sized.self, willMigrate: { try $0.save() }, didMigrate: nil)
    let result = try preflight(file, [People1.self, Sized.self], [stage])
    #expect(result.problems.map { $0.propertyNames } == [["size"]])
    #expect(result.description.contains("and 1 model has none: Person/p1"), "\(result)")
    let message = swiftDataError { try file.migrate([People1.self, Sized.self], [stage]) }?.message ?? ""
    #expect(
      message.contains(
        "Give 'Person.size' an initial value in Sized, and set the value of each model in didMigrate; or make it optional"
      ),
      "\(message)")
    #expect(!message.contains("willMigrate"), "\(message)")
  }

  @Test func aFolderIsNoStore() throws {
    let file = try StoreFile()
    let folder = file.folder
    let error = swiftDataError {
      try AnyPlan.with([People1.self], []) { _ = try ModelContainer.preflight(AnyPlan.self, storeAt: folder) }
    }
    #expect(error?.message.contains("is a folder; name the file of the store") ?? false)
  }

  fileprivate enum Sized: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 1, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

    @Model final class Person {
      var name: String
      var age: Int?
      var size: Int
      @Relationship(deleteRule: .cascade, inverse: \Pet.owner) var pets: [Pet] = []
      init(_ name: String) {
        self.name = name
        size = 0
      }
    }

    @Model final class Pet {
      var name: String
      var owner: Person?
      init(_ name: String) { self.name = name }
    }
  }

  @Test func dropsAreCounted() throws {
    let file = try StoreFile()
    try file.fill(["Ada", "Bob"])
    let result = try preflight(
      file, [People1.self, Ageless.self], [.lightweight(fromVersion: People1.self, toVersion: Ageless.self)])
    #expect(result.stages[0].drops.contains("drop Person.age (2 values)"), "\(result.stages[0].drops)")
    #expect(result.stages[0].drops.contains("drop entity Pet (2 objects)"))
  }

  @Test func aStoreOfNoVersionIsRefused() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    #expect(throws: SwiftDataError.unknownDataStoreSchema) {
      try AnyPlan.with([People2.self, People3.self], [Self.stage(1)]) {
        try ModelContainer.preflight(AnyPlan.self, storeAt: file.url)
      }
    }
    #expect(throws: SwiftDataError.loadIssueModelContainer) {
      try AnyPlan.with([People2.self, People1.self], []) {
        try ModelContainer.preflight(AnyPlan.self, storeAt: file.url)
      }
    }
  }

  fileprivate enum Ageless: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 1, 0)
    static var models: [any PersistentModel.Type] { [Person.self] }

    @Model final class Person {
      var name: String
      init(_ name: String) { self.name = name }
    }
  }
}
