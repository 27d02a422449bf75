import CambiumSwiftData
import Foundation
import Testing

// Versions in which a property or class has a name that another one had before.

private enum Name1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    var name: String
    var x: Int = 1
    init(_ name: String) { self.name = name }
  }
}

private enum Name2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    @Attribute(originalName: "name") var fullName: String
    var x: Int = 1
    init(_ name: String) { fullName = name }
  }
}

/// The renaming and the new property in one step.
private enum NameAtOnce: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 1, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    @Attribute(originalName: "name") var fullName: String
    var name: String = "fresh"
    init(_ name: String) { fullName = name }
  }
}

private enum Name3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    var fullName: String
    var name: String = "fresh"
    var x: Int = 1
    init(_ name: String) { fullName = name }
  }
}

/// The original name was copied along.
private enum NameCopied: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 1, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    @Attribute(originalName: "name") var fullName: String
    var name: String = "fresh"
    var y: Int = 1
    init(_ name: String) { fullName = name }
  }
}

/// The full name goes, and the new name has nothing to do with it.
private enum NameDropped: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 2, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    var name: String = "fresh"
    var y: Int = 1
    init() {}
  }
}

/// Both names change places with new ones.
private enum Name4: VersionedSchema {
  static let versionIdentifier = Schema.Version(4, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    @Attribute(originalName: "fullName") var title: String
    @Attribute(originalName: "name") var nickname: String = "none"
    var fullName: String = "newest"
    init(_ name: String) { title = name }
  }
}

/// Names the property as the first version did, as generated code does.
private enum NameOfFirst: VersionedSchema {
  static let versionIdentifier = Schema.Version(4, 1, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    @Attribute(originalName: "name") var title: String
    init(_ name: String) { title = name }
  }
}

/// As the second version, without the original name.
private enum NamePlain: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 2, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    var fullName: String
    var x: Int = 1
    init(_ name: String) { fullName = name }
  }
}

private enum Class2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Human.self] }

  @Model(originalName: "Person") final class Human {
    var name: String
    var x: Int = 1
    init(_ name: String) { self.name = name }
  }
}

private enum Class3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Human.self, Person.self] }

  @Model final class Human {
    var name: String
    var x: Int = 1
    init(_ name: String) { self.name = name }
  }

  @Model final class Person {
    var name: String
    var x: Int = 1
    init(_ name: String) { self.name = name }
  }
}

/// An original name is what a property or class was called in the version just before.
@Suite struct OriginalNameTests {
  private func make(_ version: any VersionedSchema.Type, _ model: any PersistentModel) throws -> StoreFile {
    let file = try StoreFile()
    try file.open(version) { context in
      context.insert(model)
      try context.save()
    }
    return file
  }

  private func stages(_ schemas: [any VersionedSchema.Type]) -> [MigrationStage] {
    zip(schemas, schemas.dropFirst()).map { .lightweight(fromVersion: $0, toVersion: $1) }
  }

  private func migrate<Model: PersistentModel>(
    _ file: borrowing StoreFile, _ schemas: [any VersionedSchema.Type], as type: Model.Type, _ text: (Model) -> String
  ) throws -> [String] {
    try file.migrate(schemas, stages(schemas)) { try $0.fetch(FetchDescriptor<Model>()).map(text) }
  }

  /// A store of the first version, and one of the second, each through the plan.
  private func expect<Model: PersistentModel>(
    _ schemas: [any VersionedSchema.Type], as type: Model.Type, _ text: (Model) -> String, _ expected: String
  ) throws {
    #expect(try migrate(make(Name1.self, Name1.Person("Ada")), schemas, as: type, text) == [expected])
    #expect(try migrate(make(Name2.self, Name2.Person("Ada")), schemas, as: type, text) == [expected])
  }

  @Test func aNewPropertyMayHaveAFormerName() throws {
    let all: [any VersionedSchema.Type] = [Name1.self, Name2.self]
    try expect(all + [Name3.self], as: Name3.Person.self, { "\($0.fullName) \($0.name)" }, "Ada fresh")
    try expect(all + [NameCopied.self], as: NameCopied.Person.self, { "\($0.fullName) \($0.name)" }, "Ada fresh")
    try expect(all + [NameDropped.self], as: NameDropped.Person.self, { $0.name }, "fresh")
    try expect(
      all + [Name3.self, Name4.self], as: Name4.Person.self, { "\($0.title) \($0.nickname) \($0.fullName)" },
      "Ada fresh newest")
    try expect(
      all + [NameCopied.self, Name4.self], as: Name4.Person.self, { "\($0.title) \($0.nickname) \($0.fullName)" },
      "Ada fresh newest")
  }

  @Test func aRenamingAndANewPropertyMayBeOneStep() throws {
    let file = try make(Name1.self, Name1.Person("Ada"))
    let found = try migrate(file, [Name1.self, NameAtOnce.self], as: NameAtOnce.Person.self) {
      "\($0.fullName) \($0.name)"
    }
    #expect(found == ["Ada fresh"])
  }

  @Test func anOriginalNameMayStayThatOfTheFirstVersion() throws {
    try expect([Name1.self, Name2.self, NameOfFirst.self], as: NameOfFirst.Person.self, { $0.title }, "Ada")
  }

  /// What counts are the versions of the plan, and not the original names that a store has noted down.
  @Test func theOriginalNamesOfTheStoreDoNotCount() throws {
    let schemas: [any VersionedSchema.Type] = [NamePlain.self, Name3.self, Name4.self]
    let file = try make(Name2.self, Name2.Person("Ada"))
    let found = try migrate(file, schemas, as: Name4.Person.self) { "\($0.title) \($0.nickname) \($0.fullName)" }
    #expect(found == ["Ada fresh newest"])
    let other = try make(Name2.self, Name2.Person("Ada"))
    let preflight = try AnyPlan.with(schemas, stages(schemas)) {
      try ModelContainer.preflight(AnyPlan.self, storeAt: other.url)
    }
    #expect(preflight.stages.map { $0.isChecked } == [true, true] && preflight.problems.isEmpty)
    #expect(preflight.stages.allSatisfy { !$0.description.contains("fullName") && !$0.description.contains("'") })
  }

  @Test func aNewClassMayHaveAFormerName() throws {
    let schemas: [any VersionedSchema.Type] = [Name1.self, Class2.self, Class3.self]
    for file in [0, 1] {
      let file =
        file == 0 ? try make(Name1.self, Name1.Person("Ada")) : try make(Class2.self, Class2.Human("Ada"))
      let counts = try file.migrate(schemas, stages(schemas)) { context in
        [
          try context.fetchCount(FetchDescriptor<Class3.Human>()),
          try context.fetchCount(FetchDescriptor<Class3.Person>()),
        ]
      }
      #expect(counts == [1, 0])
    }
  }

  /// Without a plan, the original name stays on the property, and the new property has no part in it.
  @Test func withoutAPlanTheOriginalNameStays() throws {
    for file in [0, 1] {
      let file = file == 0 ? try make(Name1.self, Name1.Person("Ada")) : try make(Name2.self, Name2.Person("Ada"))
      try file.open(NameCopied.self) { context in
        let person = try #require(try context.fetch(FetchDescriptor<NameCopied.Person>()).first)
        #expect(person.fullName == "Ada" && person.name == "fresh")
      }
    }
    // If it does not stay, the store of the second version has the name.
    try make(Name2.self, Name2.Person("Ada")).open(Name3.self) { context in
      let person = try #require(try context.fetch(FetchDescriptor<Name3.Person>()).first)
      #expect(person.fullName == "Ada" && person.name == "fresh")
    }
  }
}
