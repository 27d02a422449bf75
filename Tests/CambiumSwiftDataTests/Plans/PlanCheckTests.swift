import CambiumSwiftData
import Foundation
import Testing

// Versions that do not fit together.

/// As the first version, under another number.
private enum SameAs1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 5, 0)
  static var models: [any PersistentModel.Type] { People1.models }
}

/// An initial value is no part of a version.
private enum OnlyDefaults: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 6, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

  @Model final class Person {
    var name: String = "nobody"
    var age: Int?
    @Relationship(deleteRule: .cascade, inverse: \Pet.owner) var pets: [Pet] = []
    init() {}
  }

  @Model final class Pet {
    var name: String
    var owner: Person?
    init(_ name: String) { self.name = name }
  }
}

/// Has a class of a later version.
private enum Early: VersionedSchema {
  static let versionIdentifier = Schema.Version(0, 1, 0)
  static var models: [any PersistentModel.Type] { [People2.Person.self, People2.Pet.self] }
}

@Model final class SharedCollar {
  var colour: String
  var wearer: SharedWearers.Dog?
  init(_ colour: String) { self.colour = colour }
}

enum SharedWearers: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Dog.self, SharedCollar.self] }

  @Model final class Dog {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

/// Has a dog of its own, and the collar, which leads to the other version's dog.
private enum SharedWearers2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Dog.self, SharedCollar.self] }

  @Model final class Dog {
    var name: String
    var age: Int = 0
    init(_ name: String) { self.name = name }
  }
}

/// The name becomes a number, which nothing can be inferred for.
private enum Numbered: VersionedSchema {
  static let versionIdentifier = Schema.Version(5, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

  @Model final class Person {
    var name: Data
    var age: Int?
    @Relationship(deleteRule: .cascade, inverse: \Pet.owner) var pets: [Pet] = []
    init(_ name: Data) { self.name = name }
  }

  @Model final class Pet {
    var name: String
    var owner: Person?
    init(_ name: String) { self.name = name }
  }
}

/// Says that the name had another name, which it never had.
private enum Mistaken: VersionedSchema {
  static let versionIdentifier = Schema.Version(6, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

  @Model final class Person {
    @Attribute(originalName: "nmae") var fullName: String = ""
    var age: Int?
    @Relationship(deleteRule: .cascade, inverse: \Pet.owner) var pets: [Pet] = []
    init() {}
  }

  @Model final class Pet {
    var name: String
    var owner: Person?
    init(_ name: String) { self.name = name }
  }
}

@Suite struct PlanCheckTests {
  private let memory = ModelConfiguration(isStoredInMemoryOnly: true)

  private func stage(
    _ from: any VersionedSchema.Type, _ to: any VersionedSchema.Type
  ) -> MigrationStage { .lightweight(fromVersion: from, toVersion: to) }

  /// The message of the error with which a container is refused.
  private func refusal(
    _ schemas: [any VersionedSchema.Type], _ stages: [MigrationStage], container: any VersionedSchema.Type
  ) -> String {
    let error = swiftDataError {
      try AnyPlan.with(schemas, stages) {
        _ = try ModelContainer(
          for: Schema(versionedSchema: container), migrationPlan: AnyPlan.self, configurations: memory)
      }
    }
    #expect(error == .loadIssueModelContainer)
    let message = error?.message ?? ""
    #expect(message.contains("migration plan AnyPlan"), "\(message)")
    return message
  }

  private func expect(_ message: String, _ parts: String..., line: Int = #line) {
    for part in parts {
      #expect(
        message.contains(part), "\(message)",
        sourceLocation: .init(fileID: #fileID, filePath: #filePath, line: line, column: 1))
    }
  }

  @Test func schemasAreInAscendingOrder() {
    expect(refusal([], [], container: People1.self), "lists no schemas")
    expect(
      refusal([People2.self, People1.self], [stage(People2.self, People1.self)], container: People1.self),
      "lists 2.0.0 (People2) before 1.0.0 (People1)", "the lowest first")
    expect(
      refusal([People1.self, People1.self], [], container: People1.self),
      "two schemas of the version 1.0.0: People1 and People1")
  }

  @Test func everyStepHasOneStage() {
    let all: [any VersionedSchema.Type] = [People1.self, People2.self, People3.self]
    let (to2, to3) = (stage(People1.self, People2.self), stage(People2.self, People3.self))
    expect(
      refusal(all, [to2], container: People3.self), "no stage from 2.0.0 (People2) to 3.0.0 (People3)",
      ".lightweight(fromVersion: People2.self, toVersion: People3.self)")
    expect(refusal(all, [], container: People3.self), "no stage from 1.0.0 (People1) to 2.0.0 (People2)")
    expect(
      refusal(all, [stage(People1.self, People3.self)], container: People3.self),
      "the lightweight stage from 1.0.0 (People1) to 3.0.0 (People3), which leaves out 2.0.0 (People2)")
    expect(
      refusal(all, [to3, to2], container: People3.self),
      "the lightweight stage from 1.0.0 (People1) to 2.0.0 (People2) behind the lightweight stage from 2.0.0")
    expect(
      refusal(all, [to2, to2, to3], container: People3.self),
      "two stages from 1.0.0 (People1) to 2.0.0 (People2), number 1 and number 2")
    expect(
      refusal(all, [to2, to3, stage(People3.self, People1.self)], container: People3.self),
      "from 3.0.0 (People3) to 1.0.0 (People1), which leads back")
    let custom = MigrationStage.custom(from: People3.self, to: People4.self) { _, _ in }
    expect(
      refusal(all, [to2, to3, custom], container: People3.self),
      "the custom stage from 3.0.0 (People3) to 4.0.0 (People4)",
      "schemas lacks 4.0.0 (People4)")
  }

  @Test func versionsOfOneChecksumAreNamedWithTheirEntities() {
    expect(
      refusal([People1.self, SameAs1.self], [stage(People1.self, SameAs1.self)], container: SameAs1.self),
      "two versions with one checksum", "1.0.0 (People1) and 1.5.0 (SameAs1)", "'Person', 'Pet'",
      "Both list People1.Person, People1.Pet", "nest a copy")
    expect(
      refusal(
        [People1.self, OnlyDefaults.self], [stage(People1.self, OnlyDefaults.self)], container: OnlyDefaults.self),
      "1.0.0 (People1) and 1.6.0 (OnlyDefaults)", "What differs is no part of a version: 'Person' (name: ",
      "hashModifier")
  }

  @Test func aClassIsNotOfALaterVersion() {
    expect(
      refusal([Early.self, People2.self], [stage(Early.self, People2.self)], container: People2.self),
      "has People2.Person in the version 0.1.0 (Early)", "of the later version 2.0.0 (People2)", "Nest a copy")
  }

  @Test func aVersionHasOneClassForEachEntity() {
    expect(
      refusal(
        [SharedWearers.self, SharedWearers2.self], [stage(SharedWearers.self, SharedWearers2.self)],
        container: SharedWearers2.self),
      "the version 2.0.0 (SharedWearers2)", "two classes for the entity 'Dog'",
      "SharedWearers.Dog (by SharedCollar.wearer)",
      "nest a copy")
  }

  @Test func stagesCanBeInferred() {
    expect(
      refusal([People1.self, Numbered.self], [stage(People1.self, Numbered.self)], container: Numbered.self),
      "a stage from 1.0.0 (People1) to 5.0.0 (Numbered) that cannot be made", "Person.name",
      "by originalName. Put a version between")
    expect(
      refusal([People1.self, Mistaken.self], [stage(People1.self, Mistaken.self)], container: Mistaken.self),
      "an originalName that names nothing", "'nmae'", "Person.fullName")
  }

  @Test func theContainerHasTheLastVersion() throws {
    let to2 = stage(People1.self, People2.self)
    expect(
      refusal([People1.self, People2.self], [to2], container: People1.self),
      "ends with 2.0.0 (People2), and the container has its version 1.0.0 (People1)")
    expect(
      refusal([People1.self, People2.self], [to2], container: People3.self),
      "ends with 2.0.0 (People2), and the container has another schema", "'Person' (", "title: ", "'Animal'")
  }
}
