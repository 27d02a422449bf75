import CambiumSwiftData
import Foundation
import Testing

/// As the first version, and made by an application that is newer than the plans of these tests.
private enum People9: VersionedSchema {
  static let versionIdentifier = Schema.Version(9, 0, 0)
  static var models: [any PersistentModel.Type] { People1.models }
}

/// Two versions that share a class, which got a property since.
private enum Changed1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [ChangedThing.self] }
}

private enum Changed2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [ChangedThing.self, Extra.self] }

  @Model final class Extra {
    var text = ""
    init() {}
  }
}

@Model final class ChangedThing {
  var name = ""
  var colour = "red"
  init() {}
}

/// What the first version had before `ChangedThing` was changed.
private enum Former {
  @Model final class ChangedThing {
    var name = ""
    init() {}
  }
}

/// A version without the pets.
private enum PeopleAlone: VersionedSchema {
  static let versionIdentifier = Schema.Version(0, 9, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }

  @Model final class Person {
    var name: String
    init(_ name: String) { self.name = name }
  }
}

@Suite struct PlanStoreTests {
  private let to2 = MigrationStage.lightweight(fromVersion: People1.self, toVersion: People2.self)

  @Test func aStoreOfNoVersionIsNamedEntityByEntity() throws {
    let file = try StoreFile()
    try file.open(PeopleAlone.self) { context in
      context.insert(PeopleAlone.Person("Ada"))
      try context.save()
    }
    let before = file.bytes
    let error = swiftDataError { try file.migrate([People1.self, People2.self], [to2]) }
    let message = error?.message ?? ""
    #expect(error == .unknownDataStoreSchema && error?.cambiumError?.code == .managedObjectModelReferenceNotFound)
    for part in [
      "the store 'people.store'", "none of the migration plan AnyPlan", "version 0.9.0, with 'Person'",
      "1.0.0 (People1), 2.0.0 (People2)", "The nearest is 1.0.0 (People1)", "'Person' (", "age: attribute removed",
      "'Pet' is missing", "Add the store's version to the plan",
    ] { #expect(message.contains(part), "\(part) in \(message)") }
    #expect(file.bytes == before)
    #expect(throws: SwiftDataError.unknownDataStoreSchema) {
      try AnyPlan.with([People1.self, People2.self], [to2]) {
        _ = try ModelContainer(
          for: Schema(versionedSchema: People2.self), migrationPlan: AnyPlan.self,
          configurations: ModelConfiguration(url: file.url, allowsSave: false))
      }
    }
  }

  @Test func aStoreOfALaterVersionIsSaidToBeOne() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    try file.migrate(
      [People1.self, People2.self, People3.self],
      [to2, .lightweight(fromVersion: People2.self, toVersion: People3.self)])
    // The plan of the application before: it does not know the version.
    let unknown = swiftDataError { try file.migrate([People1.self, People2.self], [to2]) }
    #expect(unknown == .unknownDataStoreSchema)
    #expect(unknown?.message.contains("A later version of the application made the store; update this one") ?? false)
    // A container of a version that the plan leads beyond.
    let backward = swiftDataError {
      try AnyPlan.with(
        [People1.self, People2.self, People3.self],
        [to2, .lightweight(fromVersion: People2.self, toVersion: People3.self)]
      ) {
        _ = try ModelContainer(
          for: Schema(versionedSchema: People1.self), migrationPlan: AnyPlan.self, configurations: file.configuration)
      }
    }
    #expect(backward == .backwardMigration && backward?.cambiumError?.code == .stagedMigrationBackwardMigration)
    let message = backward?.message ?? ""
    #expect(message.contains("has the version 3.0.0 (People3)") && message.contains("the earlier 1.0.0 (People1)"))
  }

  /// A later application may have a schema that an earlier one had: the number tells.
  @Test func aHigherNumberIsALaterVersion() throws {
    let file = try StoreFile()
    try file.open(People9.self) { context in
      context.insert(People1.Person("Ada"))
      try context.save()
    }
    let error = swiftDataError { try file.migrate([People1.self, People2.self], [to2]) }
    #expect(error == .backwardMigration)
    #expect(error?.message.contains("version 9.0.0") ?? false && error?.message.contains("2.0.0 (People2)") ?? false)
    #expect(try file.open(People9.self) { try $0.fetchCount(FetchDescriptor<People1.Person>()) } == 1)
  }

  @Test func aSharedClassHasThePropertiesOfToday() throws {
    let file = try StoreFile()
    do {
      let context = ModelContext(
        try ModelContainer(for: Schema(Former.ChangedThing.self), configurations: file.configuration))
      context.insert(Former.ChangedThing())
      try context.save()
    }
    let error = swiftDataError {
      try file.migrate(
        [Changed1.self, Changed2.self], [.lightweight(fromVersion: Changed1.self, toVersion: Changed2.self)])
    }
    #expect(error == .unknownDataStoreSchema)
    let message = error?.message ?? ""
    #expect(
      message.contains("Several versions list ChangedThing") && message.contains("colour: attribute removed"),
      "\(message)")
  }

  // MARK: Drops

  /// Without a plan, a higher number may drop, and a lower may not.
  @Test func onlyAHigherNumberDrops() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    let error = swiftDataError { try file.open(PeopleAlone.self) { _ in } }
    #expect(error == .loadIssueModelContainer)
    #expect(
      error?.message
        == "the store 'people.store' has the version 1.0.0, and this application's schema the version 0.9.0, which lacks Pet, "
        + "Person.age, Person.pets. Update the application", "\(error?.message ?? "")")
    #expect(try file.firstNames() == ["Ada"])
    // Of the same number, the message says which number is high enough.
    let same = swiftDataError {
      _ = try ModelContainer(for: Schema([PeopleAlone.Person.self]), configurations: file.configuration)
    }
    #expect(
      same?.message.contains(
        "give the schema a version above the store's, 1.0.0: Schema([…], version: Schema.Version(2, 0, 0))") ?? false,
      "\(same?.message ?? "")")
    for text in ["Entity(", "Removed(", "sourceModels", "PersistentStoreDescription", "ManagedObjectModel"] {
      #expect(!(same?.message.contains(text) ?? true))
    }
    // The same classes under a higher number.
    let container = try ModelContainer(
      for: Schema([PeopleAlone.Person.self], version: Schema.Version(1, 1, 0)), configurations: file.configuration)
    #expect(try ModelContext(container).fetch(FetchDescriptor<PeopleAlone.Person>()).map { $0.name } == ["Ada"])
  }

  /// A later store is said to be one, whatever the difference is.
  @Test func withoutAPlanALaterStoreIsSaidToBeOne() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    try file.migrate(
      [People1.self, People2.self, People3.self],
      [to2, .lightweight(fromVersion: People2.self, toVersion: People3.self)])
    for version in [People1.self, People2.self] as [any VersionedSchema.Type] {
      let message = swiftDataError { try file.open(version) { _ in } }?.message ?? ""
      #expect(
        message.hasPrefix("the store 'people.store' has the version 3.0.0, and this application's schema the version")
          && message.hasSuffix("Update the application"), "\(message)")
    }
  }

  /// A plan knows its versions, so its stages may drop.
  @Test func stagesMayDrop() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    let names = try file.migrate(
      [People1.self, Reduced.self], [.lightweight(fromVersion: People1.self, toVersion: Reduced.self)]
    ) { try $0.fetch(FetchDescriptor<Reduced.Person>()).map { $0.name } }
    #expect(names == ["Ada"])
  }

  fileprivate enum Reduced: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 2, 0)
    static var models: [any PersistentModel.Type] { [Person.self] }

    @Model final class Person {
      var name: String
      init(_ name: String) { self.name = name }
    }
  }
}

// MARK: Several stores

private enum Shop1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Visit.self] }

  @Model final class Item {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model final class Visit {
    var place: String
    init(_ place: String) { self.place = place }
  }
}

private enum Shop2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Product.self, Visit.self] }

  @Model(originalName: "Item") final class Product {
    @Attribute(originalName: "name") var title: String
    var note: String = ""
    init(_ title: String) { self.title = title }
  }

  @Model final class Visit {
    var place: String
    var note: String = ""
    init(_ place: String) { self.place = place }
  }
}

@Suite struct PlanStoresTests {
  private func open(
    _ file: borrowing StoreFile, _ version: any VersionedSchema.Type, _ items: any PersistentModel.Type,
    plan: (any SchemaMigrationPlan.Type)? = nil
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version), migrationPlan: plan,
      configurations: ModelConfiguration("items", schema: Schema([items]), url: file.url),
      ModelConfiguration("others", url: file.folder.appendingPathComponent("others.store")))
  }

  private func fill(_ file: borrowing StoreFile) throws {
    let context = ModelContext(try open(file, Shop1.self, Shop1.Item.self))
    context.insert(Shop1.Item("pen"))
    context.insert(Shop1.Visit("Oslo"))
    try context.save()
  }

  /// Each store migrates by itself, and a handler is called for each.
  @Test func eachStoreMigratesByItself() throws {
    let file = try StoreFile()
    try fill(file)
    var calls: [String] = []
    let stage = MigrationStage.custom(fromVersion: Shop1.self, toVersion: Shop2.self) { context in
      let names = context.container.configurations.map { $0.name }
      calls.append("will \(names)")
      for item in try context.fetch(FetchDescriptor<Shop1.Item>()) { item.name += "!" }
      for visit in try context.fetch(FetchDescriptor<Shop1.Visit>()) { visit.place += "!" }
      try context.save()
    } didMigrate: { context in
      calls.append(
        try
          "did \(context.fetchCount(FetchDescriptor<Shop2.Product>())) \(context.fetchCount(FetchDescriptor<Shop2.Visit>()))"
      )
    }
    try AnyPlan.with([Shop1.self, Shop2.self], [stage]) {
      let context = ModelContext(try open(file, Shop2.self, Shop2.Product.self, plan: AnyPlan.self))
      #expect(try context.fetch(FetchDescriptor<Shop2.Product>()).map { $0.title } == ["pen!"])
      #expect(try context.fetch(FetchDescriptor<Shop2.Visit>()).map { $0.place } == ["Oslo!"])
    }
    #expect(calls == [#"will ["items"]"#, "did 1 0", #"will ["others"]"#, "did 0 1"])
  }

  /// A handler cannot put models into a store that has others.
  @Test func aHandlerInsertsOnlyModelsOfItsStore() throws {
    for place in 0...1 {
      let file = try StoreFile()
      try fill(file)
      let stage = MigrationStage.custom(fromVersion: Shop1.self, toVersion: Shop2.self) { context in
        guard place == 0 else { return }
        context.insert(Shop1.Visit("Bergen"))
        try context.save()
      } didMigrate: { context in
        guard place == 1 else { return }
        context.insert(Shop2.Visit("Bergen"))
        try context.save()
      }
      let error = swiftDataError {
        try AnyPlan.with([Shop1.self, Shop2.self], [stage]) {
          _ = try open(file, Shop2.self, Shop2.Product.self, plan: AnyPlan.self)
        }
      }
      #expect(error?.message.contains("Visit") ?? false, "\(String(describing: error))")
      // Both stores are as they were.
      let context = ModelContext(try open(file, Shop1.self, Shop1.Item.self))
      #expect(try context.fetchCount(FetchDescriptor<Shop1.Visit>()) == 1)
    }
  }

  /// If the second store fails, the first one is migrated, and the next container goes on with the second.
  @Test func aStoreThatFailsLeavesTheOthersMigrated() throws {
    struct Stop: Error {}
    let file = try StoreFile()
    try fill(file)
    for fails in [true, false] {
      let stage = MigrationStage.custom(fromVersion: Shop1.self, toVersion: Shop2.self, willMigrate: nil) { context in
        if fails, context.container.configurations.first?.name == "others" { throw Stop() }
      }
      let error = swiftDataError {
        try AnyPlan.with([Shop1.self, Shop2.self], [stage]) {
          let context = ModelContext(try open(file, Shop2.self, Shop2.Product.self, plan: AnyPlan.self))
          #expect(try context.fetchCount(FetchDescriptor<Shop2.Product>()) == 1)
          #expect(try context.fetchCount(FetchDescriptor<Shop2.Visit>()) == 1)
        }
      }
      #expect((error != nil) == fails)
    }
  }
}
