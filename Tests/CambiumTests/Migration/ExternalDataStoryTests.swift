import CambiumEngine
import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// The loop over models without a migration manager: cut short at each of its places, and at every write.
@Suite struct ExternalDataStoryTests {
  struct Killed: Error {}

  // MARK: A store and files

  /// Fills a store and writes the files beside it.
  private func fill(_ directory: TemporaryDirectory) throws {
    try ExternalDataLoop.fill(try directory.container(model: ExternalDataLoop.model(1)).viewContext)
    let folder = directory.url.appendingPathComponent("FLIGHT_DATA")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    for (path, data) in ExternalDataLoop.files { try data.write(to: folder.appendingPathComponent(path)) }
  }

  /// One start of the application.
  private func run(_ directory: TemporaryDirectory, _ pass: @escaping (String) throws -> Void = { _ in }) throws {
    let folder = directory.url.appendingPathComponent("FLIGHT_DATA")
    try ExternalDataLoop(
      metadata: {
        try PersistentStoreCoordinator.metadataForPersistentStore(
          at: directory.url.appendingPathComponent("flights.cambium"))
      },
      open: { try directory.container(model: $0).viewContext },
      read: { try Data(contentsOf: folder.appendingPathComponent($0)) },
      remove: { try FileManager.default.removeItem(at: folder.appendingPathComponent($0)) },
      removeAll: {
        if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
      },
      pass: pass
    ).run()
  }

  /// Every value, opened with the model that was meant from the start, and no file but the store.
  private func check(_ directory: TemporaryDirectory, _ text: String) throws {
    let container = try directory.container(model: try ExternalDataLoop.meant()) {
      $0.shouldMigrateStoreAutomatically = false
    }
    try ExternalDataLoop.check(container.viewContext, text)
    #expect(
      !FileManager.default.fileExists(atPath: directory.url.appendingPathComponent("FLIGHT_DATA").path), "\(text)")
  }

  /// What the decomposition is for: there is no mapping from the first model to the last, and there is one for each
  /// step.
  @Test func theChangeCannotBeInferredAndItsStepsCan() throws {
    let models = try (1...3).map { try ExternalDataLoop.model($0) }
    let error = cambiumError { _ = try MappingModel.inferred(from: models[0], to: ExternalDataLoop.meant()) }
    #expect(error?.code == .migrationMissingMappingModel)
    #expect(error?.underlyingErrors.compactMap { ($0 as? CambiumError)?.key } == ["flightData"])
    for (from, to) in [(0, 1), (1, 2)] {
      let mapping = try MappingModel.inferred(from: models[from], to: models[to])
      #expect(mapping.entityMappingsByName["IEM_Transform_Aircraft"] != nil)
    }
  }

  @Test func theLoopMayBeCutShortAnywhere() throws {
    var places: [String] = []
    // First without a kill, to learn the places; then killed at each.
    for kill in 0... {
      if kill > 0, kill > places.count { break }
      let directory = try TemporaryDirectory()
      try fill(directory)
      var passed: [String] = []
      do {
        try run(directory) {
          passed.append($0)
          if passed.count == kill { throw Killed() }
        }
        #expect(kill == 0)
        places = passed
      } catch is Killed {
        #expect(passed == Array(places.prefix(kill)))
        try run(directory)
      }
      let text = kill == 0 ? "not cut short" : "cut short at place \(kill), \(places[kill - 1])"
      try check(directory, text)
      if kill > 0 { continue }
      // One more start finds nothing to do.
      try run(directory) { if $0 == "saved" { Issue.record("imported again") } }
      try check(directory, "one more start")
    }
    #expect(places.filter { $0 == "not saved" }.count == 3)
    #expect(places.count == 19)
  }

  /// One start after another, each cut short one place later than the one before.
  @Test func manyStartsInARowMayBeCutShort() throws {
    let directory = try TemporaryDirectory()
    try fill(directory)
    var starts = 0
    var isDone = false
    while !isDone {
      starts += 1
      var place = 0
      do {
        try run(directory) { _ in
          place += 1
          if place == starts { throw Killed() }
        }
        isDone = true
      } catch is Killed {}
    }
    #expect(starts >= 5)
    try check(directory, "after \(starts) starts")
  }

  // MARK: Every write

  /// Files that are not on the simulated disk: once removed they are gone, whatever becomes of the disk.
  private final class Files {
    private(set) var contents: [String: Data]
    private(set) var removals: [(point: Int, path: String)] = []

    init(_ contents: [String: Data]) { self.contents = contents }

    func read(_ path: String) throws -> Data { try #require(contents[path], "\(path) is gone") }

    func remove(_ path: String, at point: Int) {
      contents[path] = nil
      removals.append((point, path))
    }
  }

  /// One start of the application on a store on any device.
  private func run(
    _ shared: SharedStore, _ files: Files, defers: Bool, point: @escaping () -> Int = { 0 },
    pass: @escaping (String) throws -> Void = { _ in }
  ) throws {
    try ExternalDataLoop(
      metadata: {
        [
          PersistentStore.modelVersionHashesKey: try shared.current().schema.entityVersionHashesByName.mapValues {
            Data($0.bytes)
          }
        ]
      },
      open: { try borrowedContext(try Self.migrated(shared, $0, defers), $0) },
      read: { try files.read($0) },
      remove: { files.remove($0, at: point()) },
      removeAll: { for path in files.contents.keys.sorted() { files.remove(path, at: point()) } },
      pass: pass
    ).run()
  }

  private static func migrated(
    _ shared: SharedStore, _ model: ManagedObjectModel, _ defers: Bool
  ) throws -> EntityStore {
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "simulated"))
    description.shouldDeferLightweightMigration = defers
    return try StoreMigration(description, model, try model.definition()).prepare(shared)
  }

  private static func open(_ device: any StorageDevice) throws -> SharedStore {
    SharedStore(try EntityStore.open(try Store.open(on: device, environment: TestEnvironment(seed: 2))))
  }

  /// A store of the first model, as bytes.
  private static func filled(_ seed: UInt64) throws -> [UInt8] {
    let memory = MemoryDevice()
    let model = try ExternalDataLoop.model(1)
    let store = try EntityStore.create(
      in: try Store.create(on: memory, environment: TestEnvironment(seed: seed)), schema: try model.schema())
    try ExternalDataLoop.fill(try borrowedContext(store, model))
    try store.close()
    return memory.contents()
  }

  /// How many images of each point; `CAMBIUM_STAGE_IMAGES` sets another number.
  private static var images: Int { testCount("CAMBIUM_STAGE_IMAGES", short: 2, full: 12) }

  /// The removal of the path is done at once, or put off.
  @Test(arguments: [false, true]) func everyWriteMayBeTheLast(defers: Bool) throws {
    let seed = testSeed(20_261_123)
    print("a loop over models cut short, from seed \(seed)")
    let disk = SimulatedDisk(try Self.filled(seed))
    let shared = try Self.open(disk)
    let start = disk.operationCount
    let files = Files(ExternalDataLoop.files)
    // How far things were, in commits that were acknowledged, at each point.
    var milestones: [(point: Int, text: String)] = []
    try run(
      shared, files, defers: defers, point: { disk.operationCount },
      pass: { milestones.append((disk.operationCount, $0)) })
    #expect(files.contents.isEmpty && files.removals.count == ExternalDataLoop.files.count)
    let last = try ExternalDataLoop.model(3)
    try ExternalDataLoop.check(try borrowedContext(try shared.current(), last))
    try shared.current().kernel.checkpoint()
    try shared.current().close()
    var images = 0
    for point in start...disk.operationCount {
      for image in disk.crashImages(at: point, limit: Self.images, seed: seed &+ UInt64(point)) {
        images += 1
        let text =
          "seed \(seed), defers \(defers), point \(point) of \(start)...\(disk.operationCount), image \(images)"
        let opened = try Self.open(SimulatedDisk(image: image))
        // Nothing that was acknowledged is gone. What is there beyond it may be one migration or one save.
        let passed = milestones.filter { $0.point <= point }.map { $0.text }
        let version = try #require(try opened.current().schema.versionIdentifiers.first.flatMap { Int($0) }, "\(text)")
        for acknowledged in 1...3 where passed.contains("opened \(acknowledged)") {
          #expect(version >= acknowledged, "\(text)")
        }
        // The files as well are those of that moment, and those removed at it are gone.
        var left = ExternalDataLoop.files
        for removal in files.removals where removal.point <= point { left[removal.path] = nil }
        let rest = Files(left)
        var places: [String] = []
        try run(opened, rest, defers: defers, pass: { places.append($0) })
        let saves = passed.filter { $0 == "saved" }.count
        #expect(places.filter { $0 == "saved" }.count <= 3 - saves, "\(text)")
        #expect(rest.contents.isEmpty, "\(text)")
        let finished = try opened.current()
        try ExternalDataLoop.check(try borrowedContext(finished, last), text)
        while try finished.runDeferredTask(maximumRows: 4) {}
        try ExternalDataLoop.check(try borrowedContext(finished, last), "\(text), tasks done")
        if images % 8 == 0 {
          let report = try finished.check()
          #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
        }
      }
    }
    print("\(images) images")
    #expect(images >= 20)
  }
}
