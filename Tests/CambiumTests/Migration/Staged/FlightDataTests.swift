import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

@testable import Cambium

/// The staged migration of the talk, from its first version to its last; cut short in its handlers and at every write.
@Suite struct FlightDataTests {
  typealias Versions = FlightDataVersions

  struct Killed: Error {}

  private func open(
    _ directory: TemporaryDirectory, _ manager: StagedMigrationManager, defers: Bool = false
  ) throws -> PersistentContainer {
    let persistentContainer = PersistentContainer(name: "Flights", managedObjectModel: try Versions.model(3))
    let storeDescription = PersistentStoreDescription(url: directory.url.appendingPathComponent("flights.cambium"))
    storeDescription.setOption(manager, forKey: PersistentStoreCoordinator.stagedMigrationManagerOption)
    storeDescription.setOption(defers, forKey: PersistentStoreCoordinator.deferredLightweightMigrationOption)
    persistentContainer.persistentStoreDescriptions = [storeDescription]
    try persistentContainer.loadPersistentStores()
    return persistentContainer
  }

  @Test func flightDataBecomeAnEntity() throws {
    for version in 1...2 {
      let directory = try TemporaryDirectory()
      try Versions.fill(try directory.container(model: try Versions.model(version)).viewContext)
      var places: [String] = []
      let container = try open(directory, try Versions.manager { places.append($0) })
      try Versions.check(container.viewContext)
      #expect(places.first == "will: begun" && places.last == "did: all saved")
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      #expect(store.metadata[PersistentStore.modelVersionIdentifiersKey] as? [String] == ["modelV3"])
      #expect(store.metadata[PersistentStore.deferredLightweightMigrationKey] == nil)
      places = []
      try Versions.check(try open(directory, try Versions.manager { places.append($0) }).viewContext)
      #expect(places.isEmpty)
    }
  }

  /// The removal of the attribute is put off, and done later, in parts.
  @Test func theRemovalIsPutOff() throws {
    let directory = try TemporaryDirectory()
    try Versions.fill(try directory.container(model: try Versions.model(1)).viewContext)
    let container = try open(directory, try Versions.manager(), defers: true)
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    #expect(coordinator.metadata(for: store)[PersistentStore.deferredLightweightMigrationKey] as? Bool == true)
    #expect(try coordinator.deferredLightweightMigrationTasks().map { $0.entity } == ["Aircraft"])
    // The latest model is in use at once.
    try Versions.check(container.viewContext, "put off")
    #expect(try coordinator.finishDeferredLightweightMigration(rowsAtATime: 3) { $0[0].nextRow == 0 } == false)
    #expect(coordinator.metadata(for: store)[PersistentStore.deferredLightweightMigrationKey] as? Bool == true)
    // An opening that does not put anything off leaves it as it is.
    let again = try open(directory, try Versions.manager())
    #expect(
      again.persistentStoreCoordinator.persistentStores.first?.metadata[
        PersistentStore.deferredLightweightMigrationKey] as? Bool == true)
    try coordinator.finishDeferredLightweightMigration()
    #expect(coordinator.metadata(for: store)[PersistentStore.deferredLightweightMigrationKey] == nil)
    try Versions.check(again.viewContext, "done")
    try Versions.check(try open(directory, try Versions.manager()).viewContext, "opened again")
  }

  @Test func handlersMayBeCutShortAnywhere() throws {
    var count = 0
    for kill in 0... {
      if kill > 0, kill > count { break }
      let directory = try TemporaryDirectory()
      try Versions.fill(try directory.container(model: try Versions.model(1)).viewContext)
      var place = 0
      var text = ""
      let manager = try Versions.manager {
        place += 1
        count = max(count, place)
        text = "cut short at \($0)"
        if place == kill { throw Killed() }
      }
      let error = cambiumError { _ = try open(directory, manager, defers: kill % 2 == 1) }
      #expect((error?.underlyingErrors.first is Killed) == (kill > 0), "\(text)")
      // The next start, with a manager made anew.
      let container = try open(directory, try Versions.manager(), defers: kill % 2 == 1)
      try Versions.check(container.viewContext, text)
      try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
      try Versions.check(container.viewContext, text)
    }
    #expect(count >= 8)
  }

  /// How many images of each point; `CAMBIUM_STAGE_IMAGES` sets another number.
  private static var images: Int { testCount("CAMBIUM_STAGE_IMAGES", short: 2, full: 12) }

  @Test func everyWriteMayBeTheLast() throws {
    let seed = testSeed(20_261_130)
    print("a staged migration cut short, from seed \(seed)")
    let contents = try Self.filled(seed)
    var images = 0
    for defers in [false, true] {
      let disk = SimulatedDisk(contents)
      let shared = try Self.open(disk)
      let start = disk.operationCount
      // How far things were, in commits that were acknowledged, at each point.
      var milestones: [(point: Int, text: String)] = []
      let end = try Versions.model(3)
      let store = try migrateByStages(
        shared, to: end, try Versions.manager { milestones.append((disk.operationCount, $0)) }, defers: defers)
      milestones.append((disk.operationCount, "done"))
      try Versions.check(try borrowedContext(store, end))
      try store.kernel.checkpoint()
      try store.close()
      for point in start...disk.operationCount {
        for image in disk.crashImages(at: point, limit: Self.images, seed: seed &+ UInt64(point)) {
          images += 1
          let text = "seed \(seed), defers \(defers), point \(point) of \(start)...\(disk.operationCount)"
          let device = SimulatedDisk(image: image)
          let opened = try Self.open(device)
          let record = try opened.current().view().stageRecord()
          let version = try opened.current().schema.versionIdentifiers
          let passed = milestones.last { $0.point <= point }?.text ?? ""
          // Nothing that was acknowledged is gone.
          if passed.hasPrefix("will") { #expect(version != ["modelV1"] && record != nil, "\(text)") }
          if passed.hasPrefix("did") { #expect(version == ["modelV3"], "\(text)") }
          if passed == "done" { #expect(version == ["modelV3"] && record == nil, "\(text)") }
          var places: [String] = []
          let finished = try migrateByStages(
            opened, to: end, try Versions.manager { places.append($0) }, defers: defers)
          if passed.hasPrefix("did") { #expect(!places.contains { $0.hasPrefix("will") }, "\(text)") }
          if passed == "done" { #expect(places.isEmpty, "\(text)") }
          #expect(try finished.view().stageRecord() == nil, "\(text)")
          try Versions.check(try borrowedContext(finished, end), text)
          if images % 8 == 0 {
            let report = try finished.check()
            #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
          }
          while try finished.runDeferredTask(maximumRows: 4) {}
          try Versions.check(try borrowedContext(finished, end), "\(text), tasks done")
        }
      }
    }
    print("\(images) images")
    #expect(images >= 50)
  }

  /// A store of the first version, as bytes.
  private static func filled(_ seed: UInt64) throws -> [UInt8] {
    let memory = MemoryDevice()
    let store = try EntityStore.create(
      in: try Store.create(on: memory, environment: TestEnvironment(seed: seed)), schema: try Versions.model(1).schema()
    )
    try Versions.fill(try borrowedContext(store, try Versions.model(1)))
    try store.close()
    return memory.contents()
  }

  private static func open(_ device: any StorageDevice) throws -> SharedStore {
    SharedStore(try EntityStore.open(try Store.open(on: device, environment: TestEnvironment(seed: 2))))
  }

  @Test func everyOperationMayFail() throws {
    let seed = testSeed(20_261_130)
    let contents = try Self.filled(seed)
    let end = try Versions.model(3)
    let whole = FaultDevice(MemoryDevice(copying: contents))
    _ = try migrateByStages(try Self.open(whole), to: end, try Versions.manager(), defers: true)
    var failures = 0
    for operation in 0..<whole.operationCount {
      let base = MemoryDevice(copying: contents)
      let device = FaultDevice(base, FaultDevice.Fault(at: operation, forGood: operation % 2 == 0))
      let text = "operation \(operation) of \(whole.operationCount)"
      do {
        let store = try migrateByStages(try Self.open(device), to: end, try Versions.manager(), defers: true)
        // What failed may have been tried again, or not be needed.
        #expect(store.schema.versionIdentifiers == ["modelV3"], "\(text)")
      } catch {
        failures += 1
        #expect(error is CambiumError || error is EngineError || error is StoreError, "\(text)")
      }
      let store = try migrateByStages(
        try Self.open(MemoryDevice(copying: base.contents())), to: end, try Versions.manager(),
        defers: operation % 3 == 0)
      try Versions.check(try borrowedContext(store, end), text)
      if operation % 8 == 0 { #expect(try store.check().isSound, "\(text)") }
    }
    #expect(failures * 2 >= whole.operationCount)
  }
}
