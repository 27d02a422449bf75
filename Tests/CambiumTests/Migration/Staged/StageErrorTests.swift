import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// Everything that a staged migration refuses: with its code, its message, and the store as it was.
@Suite struct StageErrorTests {
  typealias Notes = NoteVersions

  struct Failed: Error {}

  // MARK: Stages

  @Test func aVersionIsListedOnce() throws {
    let first = Notes.lightweight(1, 2, named: "first")
    let second = try Notes.custom(2, 3)
    let error = cambiumError { _ = try StagedMigrationManager([first, second]) }
    #expect(error?.code == .invalidArgument)
    let message = error?.message ?? ""
    #expect(message.hasPrefix("Duplicate version checksums across stages detected"))
    #expect(message.contains(Notes.checksum(2)) && message.contains(Notes.checksum(1)))
    #expect(message.contains("'first'") && message.contains("'2 to 3'"))
    // In one stage, in the same stage again, and from a version that only the custom stage before the last leads to.
    for stages in [
      [Notes.lightweight(1, 1)], [first, first], [try Notes.custom(1, 1)],
      [try Notes.custom(1, 2), Notes.lightweight(3), try Notes.custom(2, 4)],
      [try Notes.custom(1, 2), try Notes.custom(1, 2)], [try Notes.custom(1, 2), Notes.lightweight(2)],
    ] as [[MigrationStage]] {
      #expect(
        cambiumError { _ = try StagedMigrationManager(stages) }?.message.hasPrefix("Duplicate version checksums")
          == true)
    }
    // But custom stages may follow each other.
    _ = try StagedMigrationManager([try Notes.custom(1, 2), try Notes.custom(2, 3), Notes.lightweight(4)])
  }

  /// What a handler leaves unsaved would be lost: the stage fails, and is finished when the handler saves.
  @Test func handlersHaveToSave() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 2)
    let stage = try Notes.custom(2, 3)
    var saves = false
    stage.willMigrateHandler = { manager, _ in
      let context = try #require(manager.container?.viewContext)
      for note in try context.all("Note", "number != nil") { try note.set(nil, forKey: "number") }
      if saves { try context.save() }
    }
    let error = cambiumError { _ = try Notes.open(directory, 3, [stage]) }
    #expect(error?.code == .migration)
    #expect(error?.message.contains("unsaved changes of the container's viewContext (\(Notes.count) changed)") == true)
    #expect(try Notes.stored(directory) == "2")
    saves = true
    _ = try Notes.open(directory, 3, [stage])
    #expect(try Notes.stored(directory) == "3")
  }

  @Test func whatIsNoVersionIsRefused() throws {
    let none = cambiumError { _ = try StagedMigrationManager([LightweightMigrationStage([] as [String])]) }
    #expect(none?.code == .invalidArgument && none?.message.contains("lists no version") == true)
    let text = cambiumError { _ = try StagedMigrationManager([LightweightMigrationStage(["modelV1"])]) }
    #expect(text?.code == .invalidArgument && text?.message.contains("'modelV1', which is no version checksum") == true)
    // The checksums of the talk can be.
    _ = try StagedMigrationManager([
      LightweightMigrationStage(["kk8XL4OkE7gYLFHTrH6W+EhTw8w14uq1klkVRPiuiAk="])
    ])
  }

  @Test func bothOptionsAreNeeded() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 1)
    let url = directory.url.appendingPathComponent("flights.cambium")
    let manager = try StagedMigrationManager([Notes.lightweight(1)])
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try Notes.model(2))
    let both = [
      PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption,
      PersistentStoreCoordinator.inferMappingModelAutomaticallyOption,
    ]
    for (given, missing) in [(both[0], both[1]), (both[1], both[0])] {
      let error = cambiumError {
        try coordinator.addPersistentStore(
          type: .file, at: url,
          options: [PersistentStoreCoordinator.stagedMigrationManagerOption: manager, given: true])
      }
      #expect(error?.code == .invalidArgument)
      #expect(
        error?.message.hasPrefix("Staged Migration was requested with stagedMigrationManagerOption but without setting")
          == true)
      let name = missing == both[0] ? "migratePersistentStores" : "inferMappingModel"
      #expect(error?.message.contains("without setting \(name)AutomaticallyOption to true") == true)
    }
    let wrong = cambiumError {
      try coordinator.addPersistentStore(
        type: .file, at: url, options: [PersistentStoreCoordinator.stagedMigrationManagerOption: "stages"])
    }
    #expect(wrong?.code == .invalidArgument && wrong?.message.contains("takes a StagedMigrationManager") == true)
    let mixed = cambiumError {
      _ = try Notes.open(directory, 2, [Notes.lightweight(1)]) {
        $0.mappingModels = [MappingModel()]
      }
    }
    #expect(mixed?.code == .invalidArgument && mixed?.message.contains("not by both") == true)
    #expect(try Notes.stored(directory) == "1")
    _ = try coordinator.addPersistentStore(
      type: .file, at: url,
      options: [
        PersistentStoreCoordinator.stagedMigrationManagerOption: manager, both[0]: true, both[1]: true,
      ])
    #expect(try Notes.stored(directory) == "2")
  }

  // MARK: Versions

  @Test func anUnknownVersionIsRefused() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 1)
    let error = cambiumError { _ = try Notes.open(directory, 4, [Notes.lightweight(3)]) }
    #expect(error?.code.rawValue == 134504)
    let message = error?.message ?? ""
    #expect(message.hasPrefix("Cannot use staged migration with an unknown model version."))
    #expect(message.contains(Notes.checksum(1)) && message.contains("in order: \(Notes.checksum(3))."))
    let none = cambiumError { _ = try Notes.open(directory, 4, []) }
    #expect(none?.code.rawValue == 134504 && none?.message.contains("in order: none") == true)
    #expect(try Notes.stored(directory) == "1")
  }

  @Test func anUnknownVersionOfTheCoordinatorIsRefused() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 2)
    let error = cambiumError { _ = try Notes.open(directory, 4, [try Notes.reading()]) }
    #expect(error?.code.rawValue == 134504)
    let message = error?.message ?? ""
    #expect(message.hasPrefix("Cannot use staged migration with an unknown coordinator model version."))
    #expect(message.contains(Notes.checksum(4)))
    #expect(message.contains("\(Notes.checksum(2)), \(Notes.checksum(3))"))
    #expect(try Notes.stored(directory) == "2")
  }

  @Test func thereIsNoWayBack() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 4)
    for (target, stages) in [
      (2, [Notes.lightweight(1, 2, 3, 4)]), (3, [try Notes.custom(2, 3), Notes.lightweight(4)]),
    ] as [(Int, [MigrationStage])] {
      let error = cambiumError { _ = try Notes.open(directory, target, stages) }
      #expect(error?.code.rawValue == 134506)
      let message = error?.message ?? ""
      #expect(message.hasPrefix("A store file cannot be migrated backwards with staged migration."))
      #expect(message.contains(Notes.checksum(4)) && message.contains(Notes.checksum(target)))
    }
    // Stages in the wrong order: the store's version is listed behind the coordinator's.
    let other = try TemporaryDirectory()
    try Notes.fill(other, 1)
    let error = cambiumError {
      _ = try Notes.open(other, 4, [Notes.lightweight(3, 4), try Notes.custom(1, 2)])
    }
    #expect(error?.code.rawValue == 134506)
    #expect(try Notes.stored(directory) == "4")
    #expect(try Notes.stored(other) == "1")
  }

  @Test func aRecordOfALaterVersionIsRefused() throws {
    for bytes in [[9] as [UInt8], [1, 77, 0, 0] + [UInt8](repeating: 0, count: 80)] {
      let directory = try TemporaryDirectory()
      try Notes.fill(directory, 1)
      do {
        let container = try directory.container(model: try Notes.model(1))
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let kernel = store.engine.kernel
        let t = try kernel.beginWrite()
        // The catalogue.
        try t.put(try #require(t.trees().min { $0.rawValue < $1.rawValue }), Array("stage".utf8), bytes)
        try t.commit()
      }
      for stages in [nil, [Notes.lightweight(1)]] as [[MigrationStage]?] {
        let error = cambiumError {
          if let stages {
            _ = try Notes.open(directory, 2, stages)
          } else {
            _ = try directory.container(model: try Notes.model(1))
          }
        }
        #expect(error?.code.rawValue == 134505)
        #expect(error?.message.contains("open the store with the version that began the stage") == true)
      }
    }
  }

  // MARK: References

  private static let models = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Models")

  @Test func referencesFindModels() throws {
    let url = Self.models.appendingPathComponent("Flights.xcdatamodeld")
    let checksums = try ManagedObjectModel.checksumsForVersionedModel(at: url)
    #expect(checksums.count == 2)
    for (name, checksum) in checksums {
      let model = try ManagedObjectModel(contentsOf: url, version: name)
      let file = url.appendingPathComponent(name + ".xcdatamodel")
      for reference in [
        ManagedObjectModelReference(model: model, versionChecksum: checksum),
        ManagedObjectModelReference(fileURL: url, versionChecksum: checksum),
        ManagedObjectModelReference(fileURL: file, versionChecksum: checksum),
        ManagedObjectModelReference(path: file.path, versionChecksum: checksum),
        ManagedObjectModelReference(name: "Flights", in: Self.models, versionChecksum: checksum),
        ManagedObjectModelReference(name: name, in: Self.models, versionChecksum: checksum),
        ManagedObjectModelReference(
          entityVersionHashes: try model.entityVersionHashesByName, in: [Self.models], versionChecksum: checksum),
      ] {
        #expect(try reference.resolvedModel.versionChecksum == checksum)
        #expect(try reference.resolvedModel === reference.resolvedModel)
      }
    }
  }

  @Test func aReferenceThatFindsNothingIsRefused() throws {
    let checksum = Notes.checksum(2)
    let nowhere = URL(fileURLWithPath: "/nowhere/at all")
    for (reference, place) in [
      (ManagedObjectModelReference(fileURL: nowhere, versionChecksum: checksum), "looked for at /nowhere/at all"),
      (
        ManagedObjectModelReference(name: "Notes", in: Self.models, versionChecksum: checksum),
        "looked for as 'Notes' in"
      ),
      (ManagedObjectModelReference(name: "Notes", in: nowhere, versionChecksum: checksum), "in /nowhere/at all"),
      (
        ManagedObjectModelReference(
          entityVersionHashes: ["Note": Data()], in: [Self.models], versionChecksum: checksum),
        "by the version hashes of Note in"
      ),
    ] {
      let error = cambiumError { _ = try reference.resolvedModel }
      #expect(error?.code.rawValue == 134504)
      #expect(error?.message.contains("version checksum \(checksum) cannot be resolved") == true)
      #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
    }
  }

  @Test func aModelThatWasChangedIsFoundOut() throws {
    let checksum = Notes.checksum(2)
    let error = cambiumError {
      _ = try ManagedObjectModelReference(model: try Notes.model(3), versionChecksum: checksum).resolvedModel
    }
    #expect(error?.code.rawValue == 134504)
    #expect(error?.message.contains(checksum) == true)
    #expect(error?.message.contains("another checksum") == true)
    #expect(error?.message.contains("found \(Notes.checksum(3)).") == true)
    let found = cambiumError {
      _ = try ManagedObjectModelReference(name: "Flights", in: Self.models, versionChecksum: checksum).resolvedModel
    }
    #expect(found?.code.rawValue == 134504 && found?.message.contains("another checksum") == true)
  }

  /// The models of all the stages that are needed are looked for before anything is done.
  @Test func aMissingModelStopsEverything() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 1)
    let missing = ManagedObjectModelReference(
      fileURL: directory.url.appendingPathComponent("V3.xcdatamodel"), versionChecksum: Notes.checksum(3))
    let changed = ManagedObjectModelReference(model: try Notes.model(6), versionChecksum: Notes.checksum(3))
    for reference in [missing, changed] {
      let last = CustomMigrationStage(migratingFrom: try Notes.reference(2), to: reference)
      last.willMigrateHandler = { _, _ in Issue.record("nothing is to be called") }
      let stages = [Notes.lightweight(1), last, Notes.lightweight(4)]
      #expect(cambiumError { _ = try Notes.open(directory, 5, stages) }?.code.rawValue == 134504)
      #expect(try Notes.stored(directory) == "1")
    }
    // Stages that the store has behind it need no models.
    let later = try TemporaryDirectory()
    try Notes.fill(later, 4)
    let last = CustomMigrationStage(migratingFrom: try Notes.reference(2), to: missing)
    _ = try Notes.open(later, 5, [Notes.lightweight(1), last, Notes.lightweight(4)])
    #expect(try Notes.stored(later) == "5")
  }

  // MARK: Steps

  @Test func aStepThatCannotBeInferredStopsEverything() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 3)
    let stage = try Notes.custom(4, 7)
    stage.label = "all at once"
    stage.willMigrateHandler = { _, _ in Issue.record("nothing is to be called") }
    let error = cambiumError { _ = try Notes.open(directory, 7, [Notes.lightweight(3), stage]) }
    #expect(error?.code.rawValue == 134100)
    let message = error?.message ?? ""
    #expect(message.contains("the migration stage 'all at once' cannot go from version checksum \(Notes.checksum(4))"))
    #expect(message.contains("to \(Notes.checksum(7)): the store was made with another model"))
    #expect((error?.underlyingErrors.first as? CambiumError)?.code.rawValue == 134140)
    #expect(try Notes.stored(directory) == "3")
    // Version by version is possible, but the models in between are not known.
    let older = try TemporaryDirectory()
    try Notes.fill(older, 1)
    let unknown = cambiumError { _ = try Notes.open(older, 4, [Notes.lightweight(1, 2, 3)]) }
    #expect(unknown?.code.rawValue == 134100)
    #expect(unknown?.message.contains("would take the model with version checksum \(Notes.checksum(2))") == true)
    #expect(unknown?.message.contains("give the staged migration manager one (models)") == true)
    #expect((unknown?.underlyingErrors.last as? CambiumError)?.code.rawValue == 134504)
    #expect(try Notes.stored(older) == "1")
  }

  @Test func aStoreThatIsOnlyReadIsNotMigrated() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 1)
    let error = cambiumError { _ = try Notes.open(directory, 2, [Notes.lightweight(1)]) { $0.isReadOnly = true } }
    #expect(error?.code.rawValue == 134100 && error?.message.contains("opened for reading only") == true)
  }

  // MARK: Handlers

  @Test func whatAHandlerThrowsEndsTheOpening() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 1)
    func stages(_ will: CustomMigrationStage.Handler?, _ did: CustomMigrationStage.Handler?) throws -> [MigrationStage]
    {
      let stage = try Notes.custom(2, 3)
      (stage.willMigrateHandler, stage.didMigrateHandler) = (will, did)
      return [Notes.lightweight(1), stage]
    }
    let will = cambiumError { _ = try Notes.open(directory, 3, try stages({ _, _ in throw Failed() }, nil)) }
    #expect(will?.code.rawValue == 134110)
    #expect(will?.message.hasPrefix("the willMigrateHandler of the migration stage '2 to 3' failed") == true)
    #expect(will?.underlyingErrors.first is Failed)
    #expect(try Notes.stored(directory) == "2")
    let did = cambiumError { _ = try Notes.open(directory, 3, try stages(nil, { _, _ in throw Failed() })) }
    #expect(did?.code.rawValue == 134110)
    #expect(did?.message.hasPrefix("the didMigrateHandler of the migration stage '2 to 3' failed") == true)
    #expect(did?.underlyingErrors.first is Failed)
    // The store has the next model, but the stage is not done: nobody is to take it for a store of that version.
    #expect(try Notes.stored(directory) == nil)
    let plain = cambiumError { _ = try directory.container(model: try Notes.model(3)) }
    #expect(plain?.code.rawValue == 134110)
    #expect(plain?.message.contains("in the middle of the migration stage from version checksum") == true)
    #expect(plain?.message.contains(Notes.checksum(2)) == true && plain?.message.contains(Notes.checksum(3)) == true)
    let other = cambiumError { _ = try Notes.open(directory, 3, [Notes.lightweight(2)]) }
    #expect(other?.code.rawValue == 134110)
    let reading = cambiumError { _ = try directory.container(model: try Notes.model(3)) { $0.isReadOnly = true } }
    #expect(reading?.code.rawValue == 134110)
    // With the stage, and nothing to finish, it is done.
    _ = try Notes.open(directory, 3, try stages(nil, nil))
    #expect(try Notes.stored(directory) == "3")
  }

  @Test func aHandlerMustNotMigrateTheStoreItself() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 2)
    let stage = try Notes.custom(2, 3)
    var inner: CambiumError?
    stage.willMigrateHandler = { manager, stage in
      inner = cambiumError {
        _ = try directory.container(model: try Notes.model(3)) { $0.stagedMigrationManager = manager }
      }
      // Just opening it is allowed, if one must.
      _ = try directory.container(model: try Notes.model(2)) { $0.shouldMigrateStoreAutomatically = false }
      let other = cambiumError { _ = try Notes.open(directory, 3, [try Notes.custom(2, 3)]) }
      #expect(other?.message == inner?.message)
    }
    _ = try Notes.open(directory, 3, [stage])
    #expect(inner?.code == .invalidArgument && inner?.message.contains("use the manager's container") == true)
    #expect(try Notes.stored(directory) == "3")
  }

  /// Without the stages it would be skipped, handlers and all.
  @Test(arguments: [true, false]) func aHandlerMustNotMigrateTheStoreAsideOfTheStages(before: Bool) throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 2)
    var calls = 0
    let stage = try Notes.custom(2, 3)
    let handler: CustomMigrationStage.Handler = { _, _ in
      calls += 1
      if calls > 1 { return }
      _ = try directory.container(model: try Notes.model(before ? 3 : 2))
      if !before { _ = try directory.container(model: try Notes.model(3)) }
    }
    if before { stage.willMigrateHandler = handler } else { stage.didMigrateHandler = handler }
    let error = cambiumError { _ = try Notes.open(directory, 3, [stage]) }
    #expect(error?.code == .migration)
    // After the stage's own migration the store itself refuses another one.
    let text = before ? "must not migrate the store" : "in the middle of a migration stage"
    #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    #expect(calls == 1)
  }
}
