import CambiumEngine
import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// One handler that reads the state before the migration and writes the one after.
@Suite struct MigrateHandlerTests {
  typealias Notes = NoteVersions

  struct Killed: Error {}

  /// From text to a number in one stage, with no version that has both.
  private static func stage(
    alsoAfter: Bool = false, _ pass: @escaping (String) throws -> Void = { _ in }
  ) throws -> CustomMigrationStage {
    let stage = try Notes.custom(1, 3)
    stage.migrateHandler = { manager, _ in
      let before = try #require(manager.containerBefore).newBackgroundContext()
      let after = try #require(manager.container).newBackgroundContext()
      try pass("begun")
      try before.performAndWait {
        try after.performAndWait {
          for (n, old) in try before.all("Note", sort: [FetchSortDescriptor(key: "text")]).enumerated() {
            let new = try #require(try manager.migrated(old, in: after))
            #expect(new.value(forKey: "text") as? String == old.value(forKey: "text") as? String)
            try new.set((old.value(forKey: "number") as? String).flatMap { Int($0) }, forKey: "amount")
            if n % 4 == 3 {
              try after.save()
              try pass("saved")
            }
          }
          try after.save()
        }
      }
      try pass("done")
    }
    if alsoAfter {
      stage.didMigrateHandler = { manager, _ in
        #expect(manager.containerBefore == nil)
        try pass("did")
      }
    }
    return stage
  }

  private func amounts(_ context: ManagedObjectContext) throws -> [Int?] {
    let notes = try context.all("Note", sort: [FetchSortDescriptor(key: "text")])
    #expect(notes.map { $0.value(forKey: "text") as? String } == (0..<Notes.count).map { "note \($0)" })
    return notes.map { $0.value(forKey: "amount") as? Int }
  }

  private let expected = (0..<Notes.count).map { Optional($0) }

  @Test func theStateBeforeIsThere() throws {
    let directory = try TemporaryDirectory()
    try Notes.fill(directory, 1)
    let stage = try Self.stage()
    stage.migrateHandler = { manager, stage in
      let before = try #require(manager.containerBefore)
      #expect(try before.managedObjectModel.versionChecksum == Notes.checksum(1))
      #expect(try #require(manager.container).managedObjectModel.versionChecksum == Notes.checksum(3))
      // For reading only.
      let note = try #require(try before.viewContext.all("Note").first)
      try note.set("changed", forKey: "text")
      #expect(throws: (any Error).self) { try before.viewContext.save() }
      before.viewContext.reset()
      // What is gone or new has no counterpart.
      let after = try #require(manager.container).viewContext
      let added = try after.make("Note", ["text": "new"])
      try after.save()
      #expect(try manager.migrated(added, in: before.viewContext) == nil)
      let first = try #require(try before.viewContext.all("Note", "text == 'note 1'").first)
      let last = try #require(try manager.migrated(first, in: after))
      after.delete(last)
      #expect(throws: Never.self) { try after.save() }
      #expect(try manager.migrated(first, in: after) == nil)
      after.delete(added)
      _ = try after.make("Note", ["text": "note 1", "amount": 1])
      try after.save()
    }
    let container = try Notes.open(directory, 3, [stage])
    #expect(try amounts(container.viewContext) == (0..<Notes.count).map { $0 == 1 ? 1 : nil })
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(try store.engine.kernel.retainedCommits().isEmpty)
  }

  @Test func theHandlerMayBeCutShortAnywhere() throws {
    var count = 0
    for kill in 0... {
      if kill > 0, kill > count { break }
      let directory = try TemporaryDirectory()
      try Notes.fill(directory, 1)
      var place = 0
      var places: [String] = []
      let stage = try Self.stage(alsoAfter: true) {
        places.append($0)
        place += 1
        count = max(count, place)
        if place == kill { throw Killed() }
      }
      let error = cambiumError { _ = try Notes.open(directory, 3, [stage]) }
      if kill > 0 {
        #expect(error?.code.rawValue == 134110 && error?.underlyingErrors.first is Killed)
        let name = places.last == "did" ? "didMigrateHandler" : "migrateHandler"
        #expect(error?.message.hasPrefix("the \(name) of the migration stage '1 to 3' failed") == true)
        #expect(cambiumError { _ = try directory.container(model: try Notes.model(3)) }?.code.rawValue == 134110)
      }
      let isDone = places.last == "did"
      var again: [String] = []
      let container = try Notes.open(directory, 3, [try Self.stage(alsoAfter: true) { again.append($0) }])
      #expect(try amounts(container.viewContext) == expected, "cut short at \(kill)")
      #expect(again.contains("begun") == !isDone && again.contains("did") == (kill > 0))
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      #expect(try store.engine.kernel.retainedCommits().isEmpty)
      #expect(try store.view().stageRecord() == nil)
    }
    #expect(count == 5)
  }

  @Test func everyWriteMayBeTheLast() throws {
    let seed = testSeed(20_261_231)
    print("a stage with one handler cut short, from seed \(seed)")
    let memory = MemoryDevice()
    do {
      let schema = try Notes.model(1).schema()
      let store = try EntityStore.create(
        in: try Store.create(on: memory, environment: TestEnvironment(seed: seed)), schema: schema)
      let context = try borrowedContext(store, try Notes.model(1))
      for n in 0..<Notes.count { try context.make("Note", ["text": "note \(n)", "number": "\(n)"]) }
      try context.save()
      try store.close()
    }
    func open(_ device: any StorageDevice) throws -> SharedStore {
      SharedStore(try EntityStore.open(try Store.open(on: device, environment: TestEnvironment(seed: 2))))
    }
    let end = try Notes.model(3)
    let disk = SimulatedDisk(memory.contents())
    let shared = try open(disk)
    let start = disk.operationCount
    var milestones: [(point: Int, text: String)] = []
    let migrated = try migrateByStages(
      shared, to: end,
      try StagedMigrationManager([try Self.stage { milestones.append((disk.operationCount, $0)) }]))
    let acknowledged = disk.operationCount
    #expect(try amounts(try borrowedContext(migrated, end)) == expected)
    try migrated.close()
    var images = 0
    for point in start...disk.operationCount {
      for image in disk.crashImages(at: point, limit: 3, seed: seed &+ UInt64(point)) {
        images += 1
        let text = "seed \(seed), point \(point) of \(start)...\(disk.operationCount)"
        let opened = try open(SimulatedDisk(image: image))
        let record = try opened.current().view().stageRecord()
        let version = try opened.current().schema.versionIdentifiers
        if let passed = milestones.last(where: { $0.point <= point }), point < acknowledged {
          #expect(version == ["3"], "\(text)")
          #expect(record != nil || passed.text == "done", "\(text)")
        }
        if point >= acknowledged { #expect(version == ["3"] && record == nil, "\(text)") }
        let finished = try migrateByStages(opened, to: end, try StagedMigrationManager([try Self.stage()]))
        #expect(try amounts(try borrowedContext(finished, end)) == expected, "\(text)")
        #expect(try finished.kernel.retainedCommits().isEmpty, "\(text)")
        if images % 8 == 0 {
          let report = try finished.check()
          #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
        }
      }
    }
    print("\(images) images")
    #expect(images >= 30)
  }
}
