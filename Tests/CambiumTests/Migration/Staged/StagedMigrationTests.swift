import Foundation
import Testing

@testable import Cambium

/// The way that stores take through stages.
@Suite struct StagedMigrationTests {
  typealias Notes = NoteVersions

  struct Killed: Error {}

  /// The numbers of the notes, which must all be there.
  private func numbers(_ container: PersistentContainer, _ key: String = "number") throws -> [Int?] {
    let notes = try container.viewContext.all("Note", sort: [FetchSortDescriptor(key: "text")])
    #expect(notes.map { $0.value(forKey: "text") as? String } == (0..<Notes.count).map { "note \($0)" })
    return notes.map { $0.value(forKey: key) as? Int }
  }

  private let all = (0..<Notes.count).map { Optional($0) }

  @Test func storesOfEveryVersionAreBroughtUp() throws {
    for version in 1...4 {
      let directory = try TemporaryDirectory()
      try Notes.fill(directory, version)
      var calls: [String] = []
      let stages: [MigrationStage] = [
        Notes.lightweight(1), try Notes.reading { calls.append($0) }, Notes.lightweight(4),
      ]
      let container = try Notes.open(directory, 5, stages)
      #expect(try numbers(container) == all)
      #expect(calls == (version <= 2 ? ["will"] : []))
      #expect(try Notes.stored(directory) == "5")
      // Again: nothing is left to do.
      #expect(try numbers(try Notes.open(directory, 5, stages)) == all)
      #expect(calls.count <= 1)
    }
  }

  @Test func aNewStoreNeedsNoStages() throws {
    let directory = try TemporaryDirectory()
    _ = try Notes.open(directory, 4, [])
    #expect(try Notes.stored(directory) == "4")
  }

  /// Handlers get the container of the version that they are for, with plain objects.
  @Test func handlersSeeTheirVersions() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 1)
    let first = try Notes.custom(1, 2)
    let second = try Notes.reading()
    var seen: [String] = []
    for stage in [first, second] {
      let before = stage.willMigrateHandler
      stage.willMigrateHandler = { manager, given in
        #expect(given === stage)
        let model = try #require(manager.container).managedObjectModel
        #expect(try model.versionChecksum == given.currentModel.versionChecksum)
        seen.append("before \(stage.label ?? "")")
        try before?(manager, given)
      }
      stage.didMigrateHandler = { manager, given in
        let container = try #require(manager.container)
        #expect(try container.managedObjectModel.versionChecksum == given.nextModel.versionChecksum)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(store.metadata[PersistentStore.modelVersionChecksumKey] as? String == given.nextModel.versionChecksum)
        #expect(try container.viewContext.all("Note").count == Notes.count)
        seen.append("after \(stage.label ?? "")")
      }
    }
    let manager = try StagedMigrationManager([first, second, Notes.lightweight(4)])
    #expect(manager.container == nil && manager.stages.count == 3)
    let container = try directory.container(model: try Notes.model(4)) { $0.stagedMigrationManager = manager }
    #expect(seen == ["before 1 to 2", "after 1 to 2", "before 2 to 3", "after 2 to 3"])
    #expect(try numbers(container) == all)
    #expect(manager.container == nil)
    // What did migrate saw is the coordinator's own model at the end of the way.
    #expect(try Notes.stored(directory) == "4")
  }

  // MARK: Lightweight versions

  @Test func oneJumpWhereItCanBeInferred() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 3)
    // No model in between is known, and none is needed.
    let container = try Notes.open(directory, 5, [Notes.lightweight(3), Notes.lightweight(4)])
    #expect(try numbers(container) == all)
  }

  @Test func versionByVersionWhereItCannot() throws {
    for stages in [
      [Notes.lightweight(1, 2, 3)], [Notes.lightweight(1), Notes.lightweight(2), Notes.lightweight(3)],
      [LightweightMigrationStage(models: try [1, 2, 3].map { try Notes.reference($0) })],
    ] {
      for version in 1...3 {
        let directory = try TemporaryDirectory()
        try Notes.fill(directory, version)
        let container = try Notes.open(directory, 4, stages, models: stages[0].references.isEmpty ? [2, 3] : [])
        // Nobody read the text.
        #expect(try numbers(container) == (version < 3 ? all.map { _ in nil } : all))
      }
    }
  }

  @Test func modelsAreFoundInFolders() throws {
    let directory = try TemporaryDirectory()
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Models")
    let file = url.appendingPathComponent("Flights.xcdatamodeld")
    let checksums = try ManagedObjectModel.checksumsForVersionedModel(at: file)
    let first = try #require(checksums["Flights"])
    let second = try #require(checksums["Flights 2"])
    let manager = try StagedMigrationManager([LightweightMigrationStage([first])], modelFolders: [url])
    #expect(try manager.model(withChecksum: second).versionChecksum == second)
    let error = cambiumError { _ = try manager.model(withChecksum: Notes.checksum(1)) }
    #expect(error?.code.rawValue == 134504 && error?.message.contains("(modelFolders)") == true)
    _ = try directory.container(model: try ManagedObjectModel(contentsOf: file, version: "Flights"))
    _ = try directory.container(model: try ManagedObjectModel(contentsOf: file, version: "Flights 2")) {
      $0.stagedMigrationManager = manager
    }
  }

  /// The one step is blocked by objects, the two are not: what comes in between has a default.
  @Test func versionByVersionWhereObjectsStandInTheWay() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 4)
    let blocked = cambiumError { _ = try Notes.open(directory, 6, [Notes.lightweight(4, 5)]) }
    #expect(blocked?.code.rawValue == 134110 && blocked?.message.contains("Note.stars") == true)
    #expect(try Notes.stored(directory) == "4")
    let container = try Notes.open(directory, 6, [Notes.lightweight(4, 5)], models: [5])
    #expect(try numbers(container, "stars") == all.map { _ in 3 })
  }

  @Test func stagesNeedNotReachTheStoresVersionOnly() throws {
    // A version that a custom stage leads to, and lightweight ones after it that no stage departs to by name.
    for (version, target) in [(2, 5), (3, 4), (3, 5)] {
      let directory = try TemporaryDirectory()
      try Notes.fill(directory, version)
      let container = try Notes.open(directory, target, [try Notes.reading(), Notes.lightweight(4)])
      #expect(try numbers(container) == all)
    }
    // An application of an earlier version, with the stages of a later one.
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 2)
    #expect(
      try numbers(
        try Notes.open(directory, 3, [Notes.lightweight(1), try Notes.reading(), Notes.lightweight(4)]), "amount")
        == all)
  }

  // MARK: Cut short

  /// Each handler runs until it has returned, and what it saved stays.
  @Test func handlersThatWereCutShortRunAgain() throws {
    for kill in 1...4 {
      let directory = try TemporaryDirectory()
      try Notes.fill(directory, 1)
      var place = 0
      var calls: [String] = []
      func pass() throws {
        place += 1
        if place == kill { throw Killed() }
      }
      func stages() throws -> [MigrationStage] {
        let stage = try Notes.reading()
        let read = stage.willMigrateHandler
        stage.willMigrateHandler = { manager, stage in
          calls.append("will")
          try pass()
          try read?(manager, stage)
          try pass()
        }
        stage.didMigrateHandler = { manager, stage in
          calls.append("did")
          try pass()
          let context = try #require(manager.container).newBackgroundContext()
          try context.performAndWait {
            for note in try context.all("Note", "amount < 1000") {
              try note.set((note.value(forKey: "amount") as? Int ?? 0) + 1000, forKey: "amount")
            }
            try context.save()
          }
          try pass()
        }
        return [Notes.lightweight(1), stage]
      }
      let error = cambiumError { _ = try Notes.open(directory, 3, try stages()) }
      #expect(error?.underlyingErrors.first is Killed)
      let container = try Notes.open(directory, 3, try stages())
      #expect(try numbers(container, "amount") == (0..<Notes.count).map { $0 + 1000 })
      #expect(calls == (kill <= 2 ? ["will", "will", "did"] : ["will", "did", "did"]))
      #expect(try Notes.stored(directory) == "3")
    }
  }

  /// The phase is in the store, and not in what the application keeps with it.
  @Test func thePhaseIsRecorded() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 2)
    let stage = try Notes.custom(2, 3)
    var records: [String] = []
    func note(_ manager: StagedMigrationManager, _ stage: CustomMigrationStage) throws {
      let container = try #require(manager.container)
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      let record = try #require(try store.view().stageRecord())
      records.append("\(record.phase)")
      #expect(record.current.base64 == stage.currentModel.versionChecksum)
      #expect(record.next.base64 == stage.nextModel.versionChecksum)
      #expect(try store.applicationMetadata().isEmpty)
    }
    stage.willMigrateHandler = note
    stage.didMigrateHandler = note
    let container = try Notes.open(directory, 3, [stage])
    #expect(records == ["willMigrate", "didMigrate"])
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(try store.view().stageRecord() == nil)
  }

  // MARK: Others

  @Test func oneOfSeveralMigrates() async throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 1)
    let calls = StateLock()
    nonisolated(unsafe) var count = 0
    let url = directory.url
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let manager = try StagedMigrationManager([
            Notes.lightweight(1), try Notes.reading { _ in calls.locked { count += 1 } },
          ])
          let container = PersistentContainer(name: "notes", managedObjectModel: try Notes.model(3))
          let description = PersistentStoreDescription(url: url.appendingPathComponent("flights.cambium"))
          description.stagedMigrationManager = manager
          container.persistentStoreDescriptions = [description]
          try container.loadPersistentStores()
          let context = container.newBackgroundContext()
          return try context.performAndWait {
            try context.all("Note").reduce(0) { $0 + ($1.value(forKey: "amount") as? Int ?? -1000) }
          }
        }
      }
      for try await sum in group { #expect(sum == Notes.count * (Notes.count - 1) / 2) }
    }
    #expect(count == 1)
  }
}
