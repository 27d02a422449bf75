import CambiumSwiftData
import Foundation
import Testing

@Suite struct PlanMigrationTests {
  private static let to2 = MigrationStage.lightweight(fromVersion: People1.self, toVersion: People2.self)
  private static let to3 = MigrationStage.lightweight(fromVersion: People2.self, toVersion: People3.self)
  private static let all: [any VersionedSchema.Type] = [People1.self, People2.self, People3.self]

  private struct Stop: Error {}

  @Test func namesAreFollowedFromStageToStage() throws {
    let file = try StoreFile()
    try file.fill(["Ada", "Grace"])
    let found = try file.migrate(Self.all, [Self.to2, Self.to3]) { context in
      #expect(context.container.migrationPlan == AnyPlan.self)
      return try context.fetch(FetchDescriptor<People3.Person>(sortBy: [SortDescriptor(\.title)])).map {
        "\($0.title) \($0.age ?? -1) \($0.visits) \($0.pets.map { $0.name })"
      }
    }
    #expect(found == [#"Ada 0 0 ["pet of Ada"]"#, #"Grace 1 0 ["pet of Grace"]"#])
    #expect(try file.others.isEmpty)
  }

  @Test func aStoreThatIsMadeHasTheLastVersion() throws {
    let file = try StoreFile()
    var calls = 0
    let stage = MigrationStage.custom(
      fromVersion: People1.self, toVersion: People2.self, willMigrate: { _ in calls += 1 },
      didMigrate: { _ in calls += 1 })
    try file.migrate([People1.self, People2.self], [stage]) { context in
      context.insert(People2.Person("Ada"))
      try context.save()
    }
    #expect(calls == 0)
    // The classes alone, without a version, are the plan's last version.
    try AnyPlan.with([People1.self, People2.self], [stage]) {
      let container = try ModelContainer(
        for: People2.Person.self, migrationPlan: AnyPlan.self, configurations: file.configuration)
      #expect(container.managedObjectModel.versionIdentifiers == ["2.0.0"])
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<People2.Person>()) == 1)
      let inMemory = try ModelContainer(
        for: Schema(versionedSchema: People2.self), migrationPlan: AnyPlan.self,
        configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
      #expect(inMemory.migrationPlan == AnyPlan.self)
    }
    #expect(calls == 0)
  }

  /// Handlers see the classes of their version, with relationships, and what they save stays.
  @Test func handlersHaveTheClassesOfTheirVersion() throws {
    let file = try StoreFile()
    try file.fill(["Ada", "Grace"])
    let stage = MigrationStage.custom(fromVersion: People1.self, toVersion: People2.self) { context in
      #expect(context.container.schema.version == People1.versionIdentifier)
      for person in try context.fetch(FetchDescriptor<People1.Person>()) {
        person.pets.append(People1.Pet("second of \(person.name)"))
      }
      #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchDescriptor<People2.Person>()) }
      try context.save()
    } didMigrate: { context in
      #expect(context.container.schema.version == People2.versionIdentifier)
      for pet in try context.fetch(FetchDescriptor<People2.Pet>(predicate: #Predicate { $0.owner?.fullName == "Ada" }))
      {
        pet.owner?.visits += 1
      }
      try context.save()
    }
    let found = try file.migrate([People1.self, People2.self], [stage]) { context in
      // Neither version's classes are known in the other's contexts.
      #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchDescriptor<People1.Person>()) }
      context.insert(People1.Person("Old"))
      #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
      context.rollback()
      return try context.fetch(FetchDescriptor<People2.Person>(sortBy: [SortDescriptor(\.fullName)])).map {
        "\($0.fullName) \($0.visits) \($0.pets.map { $0.name })"
      }
    }
    #expect(
      found == [#"Ada 2 ["pet of Ada", "second of Ada"]"#, #"Grace 0 ["pet of Grace", "second of Grace"]"#])
  }

  @Test func aHandlerMaySeeBothVersions() throws {
    let file = try StoreFile()
    try file.fill(["Ada", "Grace"])
    let stage = MigrationStage.custom(from: People1.self, to: People2.self) { old, new in
      for person in try old.fetch(FetchDescriptor<People1.Person>(sortBy: [SortDescriptor(\.name)])) {
        let copy: People2.Person? = try new.existingModel(for: person.persistentModelID)
        #expect(copy?.fullName == person.name && copy?.pets.count == 1)
        #expect((new.model(for: person.persistentModelID) as? People2.Person) === copy)
        copy?.visits = person.name.count
      }
      // What the new context saves is not to be seen in the old one.
      try new.delete(model: People2.Pet.self)
      try new.save()
      #expect(try old.fetchCount(FetchDescriptor<People1.Pet>()) == 2)
    }
    let visits = try file.migrate([People1.self, People2.self], [stage]) { context in
      #expect(try context.fetchCount(FetchDescriptor<People2.Pet>()) == 0)
      return try context.fetch(FetchDescriptor<People2.Person>(sortBy: [SortDescriptor(\.fullName)])).map { $0.visits }
    }
    #expect(visits == [3, 5])
  }

  // MARK: All or nothing

  /// The handlers of a plan of three versions, in the order of their calls: 0 to 4.
  private func stages(_ reached: @escaping (Int, ModelContext) throws -> Void) -> [MigrationStage] {
    [
      .custom(
        fromVersion: People1.self, toVersion: People2.self,
        willMigrate: { context in
          for person in try context.fetch(FetchDescriptor<People1.Person>()) { person.name += "!" }
          try context.save()
          try reached(0, context)
        },
        didMigrate: { context in
          for person in try context.fetch(FetchDescriptor<People2.Person>()) { person.visits += 1 }
          try context.save()
          try reached(1, context)
        }),
      .custom(
        fromVersion: People2.self, toVersion: People3.self,
        willMigrate: { context in
          for person in try context.fetch(FetchDescriptor<People2.Person>()) { person.visits += 10 }
          try context.save()
          try reached(2, context)
        },
        didMigrate: { context in
          for person in try context.fetch(FetchDescriptor<People3.Person>()) { person.visits += 100 }
          try context.save()
          try reached(3, context)
        }),
    ]
  }

  @Test func whatFailsLeavesTheStoreAsItWas() throws {
    let file = try StoreFile()
    try file.fill(["Ada", "Grace"])
    let before = file.bytes
    for place in 0...3 {
      let error = swiftDataError {
        try file.migrate(Self.all, stages { number, _ in if number == place { throw Stop() } })
      }
      #expect(error == .loadIssueModelContainer && error?.cambiumError?.underlyingErrors.first is Stop)
      let stage = place < 2 ? "from 1.0.0 (People1) to 2.0.0 (People2)" : "from 2.0.0 (People2) to 3.0.0 (People3)"
      #expect(
        error?.message.contains(stage) ?? false && error?.message.contains(place % 2 == 0 ? "will" : "did") ?? false)
      #expect(file.bytes == before)
      #expect(try file.others.isEmpty)
    }
    #expect(try file.firstNames() == ["Ada", "Grace"])
    // Each handler is run once though it failed before.
    let found = try file.migrate(Self.all, stages { _, _ in }) { context in
      try context.fetch(FetchDescriptor<People3.Person>(sortBy: [SortDescriptor(\.title)])).map {
        "\($0.title) \($0.visits)"
      }
    }
    #expect(found == ["Ada! 111", "Grace! 111"])
  }

  @Test func unsavedChangesOfAHandlerAreAnError() throws {
    let file = try StoreFile()
    try file.fill(["Ada", "Grace"])
    let before = file.bytes
    func message(_ stage: MigrationStage) -> String {
      let error = swiftDataError { try file.migrate([People1.self, People2.self], [stage]) }
      #expect(error == .loadIssueModelContainer && file.bytes == before)
      return error?.message ?? ""
    }
    let will = message(
      .custom(
        fromVersion: People1.self, toVersion: People2.self,
        willMigrate: { context in
          try context.delete(model: People1.Person.self, where: #Predicate { $0.name == "Ada" })
        }, didMigrate: nil))
    #expect(will.contains("the willMigrate of the migration stage 'from 1.0.0 (People1) to 2.0.0 (People2)' failed"))
    // The stage is named once, and the kind of the error only at its beginning.
    #expect(will.ranges(of: "from 1.0.0").count == 1 && !will.contains("loadIssueModelContainer"), "\(will)")
    #expect(will.contains("unsaved changes: deleted Person/p1, Pet/p2"), "\(will)")
    let did = message(
      .custom(
        fromVersion: People1.self, toVersion: People2.self, willMigrate: nil,
        didMigrate: { $0.insert(People2.Pet("new")) }))
    #expect(did.contains("the didMigrate of the migration stage") && did.contains("inserted Pet/t"), "\(did)")
    let both = message(.custom(from: People1.self, to: People2.self) { _, new in new.insert(People2.Pet("new")) })
    #expect(both.contains("inserted Pet/t") && both.contains("the handler of the migration stage"), "\(both)")
    let old = message(
      .custom(from: People1.self, to: People2.self) { old, _ in
        for person in try old.fetch(FetchDescriptor<People1.Person>()) { person.age = 7 }
      })
    #expect(old.contains("the old context, which is read-only") && old.contains("changed Person/p1"), "\(old)")
    let saved = message(
      .custom(from: People1.self, to: People2.self) { old, _ in
        old.insert(People1.Pet("new"))
        try old.save()
      })
    #expect(saved.contains("opened for reading only"), "\(saved)")
    // A change that a context could not make is a change as well.
    let lost = message(
      .custom(
        fromVersion: People1.self, toVersion: People2.self, willMigrate: { $0.insert(People2.Person("other")) },
        didMigrate: nil))
    #expect(lost.contains("another class of that name"), "\(lost)")
    #expect(try file.firstNames() == ["Ada", "Grace"])
  }

  /// A model whose class the new version lacks is not there, and a class of the wrong version is called another one.
  @Test func whatTheNewVersionLacksIsNotThere() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    try file.migrate(
      [People1.self, Petless.self],
      [
        .custom(from: People1.self, to: Petless.self) { old, new in
          for pet in try old.fetch(FetchDescriptor<People1.Pet>()) {
            let copy: Petless.Person? = try new.existingModel(for: pet.persistentModelID)
            #expect(copy == nil)
          }
          let error = swiftDataError { _ = try new.fetch(FetchDescriptor<People1.Person>()) }
          #expect(error == .unknownSchema)
          #expect(
            error?.message.contains(
              "People1.Person is not 'Person' of this container: that is another class of that name")
              ?? false, "\(error?.message ?? "")")
        }
      ])
  }

  fileprivate enum Petless: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 1, 0)
    static var models: [any PersistentModel.Type] { [Person.self] }

    @Model final class Person {
      var name: String
      init(_ name: String) { self.name = name }
    }
  }

  @Test func aHandlerThatOpensTheStoreIsRefused() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    let url = file.url
    let error = swiftDataError {
      try file.migrate(
        [People1.self, People2.self],
        [
          .custom(
            fromVersion: People1.self, toVersion: People2.self,
            willMigrate: { _ in
              _ = try ModelContainer(
                for: Schema(versionedSchema: People1.self), configurations: ModelConfiguration(url: url))
            }, didMigrate: nil)
        ])
    }
    #expect(error?.message.contains("use the handler's own context") ?? false, "\(String(describing: error))")
    #expect(try file.firstNames() == ["Ada"])
  }

  @Test func aStoreThatIsOpenElsewhereIsNotReplaced() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    let other = try ModelContainer(for: Schema(versionedSchema: People1.self), configurations: file.configuration)
    let error = swiftDataError { try file.migrate(Self.all, stages { _, _ in }) }
    #expect(
      error?.message.contains("another container or process has it open") ?? false, "\(String(describing: error))")
    // The other container goes on.
    let context = ModelContext(other)
    context.insert(People1.Person("Grace"))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<People1.Person>()) == 2)
  }

  /// Another process runs the stages: the container waits for it. (Locks of open files are between descriptors.)
  @Test func aContainerWaitsForAnotherProcessThatMigrates() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    let holding = try holdAlone(file.url)
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 1.5)
      holding.close()
    }
    let began = ContinuousClock.now
    let names = try file.migrate(Self.all, stages { _, _ in }) { context in
      try context.fetch(FetchDescriptor<People3.Person>()).map { $0.title }
    }
    #expect(names == ["Ada!"] && began.duration(to: .now) > .milliseconds(1_000))
  }

  @Test func theStoreStaysTheSameStore() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    let before = try file.open(People1.self) {
      try $0.fetch(FetchDescriptor<People1.Person>()).map { $0.persistentModelID }
    }
    let permissions = try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? Int
    try file.migrate(Self.all, stages { _, _ in }) { context in
      let person: People3.Person? = try context.existingModel(for: try #require(before.first))
      #expect(person?.title == "Ada!")
      #expect(try context.fetch(FetchDescriptor<People3.Person>()).map { $0.persistentModelID } == before)
    }
    #expect(try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? Int == permissions)
  }

  /// The history goes on where it was, with what handlers saved.
  @Test func theHistoryGoesOn() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    let token = try file.open(People1.self) {
      try $0.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token
    }
    let known = try #require(token)
    try file.migrate(Self.all, stages { _, _ in }) { context in
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      #expect(try context.fetchHistory(descriptor).count == 5)
      descriptor.predicate = #Predicate { $0.token > known }
      let since = try context.fetchHistory(descriptor)
      #expect(since.count == 4 && since.allSatisfy { $0.changes.count == 1 })
    }
  }

  @Test func aStoreForReadingIsNotMigrated() throws {
    let file = try StoreFile()
    try file.fill(["Ada"])
    let before = file.bytes
    let error = swiftDataError {
      try AnyPlan.with([People1.self, People2.self], [Self.to2]) {
        _ = try ModelContainer(
          for: Schema(versionedSchema: People2.self), migrationPlan: AnyPlan.self,
          configurations: ModelConfiguration(url: file.url, allowsSave: false))
      }
    }
    #expect(error == .loadIssueModelContainer && error?.message.contains("for reading only") ?? false)
    #expect(file.bytes == before)
  }
}
