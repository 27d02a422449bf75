import CambiumKernel
import CambiumSystem
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Stores that are migrated by a mapping model of the application's when they are opened.
@Suite struct StoreReplacementTests {
  private func open(
    _ directory: TemporaryDirectory, _ mapping: MappingModel?,
    configure: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> PersistentContainer {
    try directory.container(model: PaintModels.v2()) {
      $0.mappingModels = mapping.map { [$0] } ?? []
      configure($0)
    }
  }

  private func names(_ directory: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
  }

  /// What is in the file besides objects, read without keeping it open.
  private func oldURIs(_ directory: TemporaryDirectory) throws -> (identifier: String, aircraft: [URL]) {
    let context = try directory.container(model: PaintModels.v1()).viewContext
    let store = try #require(context.persistentStoreCoordinator.persistentStores.first)
    return (store.identifier, try context.all("Aircraft").map { $0.objectID.uriRepresentation() })
  }

  @Test func aStoreIsMigratedByTheMappingModel() throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let file = directory.url.appendingPathComponent("flights.cambium")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let old = try oldURIs(directory)
    let container = try open(directory, try PaintModels.mapping()) { $0.shouldInferMappingModelAutomatically = false }
    try PaintModels.check(container.viewContext)
    #expect(try names(directory.url) == ["flights.cambium"])
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o777 } == 0o600)
    // The store is the same, its objects are others: an identifier that somebody noted names nothing.
    let coordinator = container.persistentStoreCoordinator
    #expect(coordinator.persistentStores.first?.identifier == old.identifier)
    for uri in old.aircraft {
      let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
      #expect(cambiumError { _ = try container.viewContext.existingObject(with: id) }?.code.rawValue == 133000)
    }
    try container.viewContext.make("Aircraft", ["tailNumber": "new"])
    try container.viewContext.save()
    // The next opening migrates nothing.
    let again = try open(directory, try PaintModels.mapping())
    #expect(try again.viewContext.all("Aircraft").count == PaintModels.count + 1)
  }

  @Test func mappingModelsCanBeOptions() throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let file = directory.url.appendingPathComponent("flights.cambium")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try PaintModels.v2())
    var options: [String: any Sendable] = [
      PersistentStoreCoordinator.mappingModelsOption: "none",
      PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption: true,
    ]
    let wrong = cambiumError { try coordinator.addPersistentStore(type: .file, at: file, options: options) }
    #expect(wrong?.code == .invalidArgument)
    options[PersistentStoreCoordinator.mappingModelsOption] = [MappingModel]()
    let none = cambiumError { try coordinator.addPersistentStore(type: .file, at: file, options: options) }
    #expect(none?.code.rawValue == 134140)
    options[PersistentStoreCoordinator.mappingModelsOption] = [try PaintModels.mapping()]
    try coordinator.addPersistentStore(type: .file, at: file, options: options)
    let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
    try PaintModels.check(context)
  }

  @Test func theFileKeepsItsPageSize() throws {
    let directory = try TemporaryDirectory()
    do {
      let old = try directory.container(model: PaintModels.v1()) { $0.pageSize = 16384 }
      #expect(old.persistentStoreCoordinator.persistentStores.first?.engine.kernel.pageSize == 16384)
    }
    let new = try open(directory, try PaintModels.mapping())
    #expect(new.persistentStoreCoordinator.persistentStores.first?.engine.kernel.pageSize == 16384)
    #expect(try new.viewContext.all("Aircraft").isEmpty)
  }

  @Test func inferenceIsTriedWhereNoMappingModelFits() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let mapping = try PaintModels.mapping()
    let context = try directory.container(model: MigrationTests.v2()) { $0.mappingModels = [mapping] }
    try MigrationTests.check(context.viewContext, color: "paintColor", seats: true)
  }

  @Test func whoeverHasTheStoreOpenIsNotCutOff() throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let old = try directory.container(model: PaintModels.v1())
    let error = cambiumError { _ = try self.open(directory, try PaintModels.mapping()) }
    #expect(error?.code.rawValue == 134150)
    #expect(error?.storeURL?.lastPathComponent == "flights.cambium")
    #expect(try old.viewContext.all("Aircraft").count == PaintModels.count)
    try old.viewContext.make("Draft", ["text": "more"])
    try old.viewContext.save()
    #expect(try names(directory.url) == ["flights.cambium"])
  }

  /// Another device has locks of its own, as another process has.
  @Test func anotherProcessIsNotCutOff() throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let path = directory.url.appendingPathComponent("flights.cambium").path
    do {
      let device = try FileDevice(path: path, access: .readWrite, sharing: .shared)
      let other = try Store.open(on: device, environment: SystemEnvironment())
      let error = cambiumError { _ = try self.open(directory, try PaintModels.mapping()) }
      #expect(error?.code.rawValue == 134150)
      #expect(error?.underlyingErrors.first as? StoreError == .busy)
      try other.close()
    }
    // The other way round: while the store is migrated, others are told that it is busy.
    let codes = Notes()
    let mapping = try ActingPolicy.mapping { method, _, _ in
      guard method == "endInstanceCreation" else { return }
      do throws(StoreError) {
        let device = try FileDevice(path: path, access: .readWrite, sharing: .shared)
        defer { device.close() }
        _ = try Store.open(on: device, environment: SystemEnvironment())
      } catch { codes.add("\(error == .busy)") }
    }
    try PaintModels.check(try open(directory, mapping).viewContext)
    #expect(codes.lines == ["true"])
  }

  /// What a killed process left in its log is taken over as well.
  @Test func aStoreThatWasNotClosedIsMigrated() throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let container = try directory.container(model: PaintModels.v1())
    let flight = try #require(try container.viewContext.all("Flight", "number == '4-0'").first)
    flight.setValue("4-9", forKey: "number")
    try container.viewContext.save()
    flight.setValue("4-0", forKey: "number")
    try container.viewContext.save()
    let copies = try TemporaryDirectory()
    for name in ["by-hand", "flights"] {
      try FileManager.default.copyItem(
        at: directory.url.appendingPathComponent("flights.cambium"),
        to: copies.url.appendingPathComponent(name + ".cambium"))
    }
    try PaintModels.check(try open(copies, try PaintModels.mapping()).viewContext)
    let manager = MigrationManager(sourceModel: try PaintModels.v1(), destinationModel: try PaintModels.v2())
    try manager.migrateStore(
      from: copies.url.appendingPathComponent("by-hand.cambium"), mapping: try PaintModels.mapping(),
      to: copies.url.appendingPathComponent("new.cambium"))
    try PaintModels.check(try copies.container("new", model: PaintModels.v2()).viewContext)
  }

  @Test func aFailureLeavesTheStore() throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let file = directory.url.appendingPathComponent("flights.cambium")
    let before = try Data(contentsOf: file)
    struct Refusal: Error {}
    let failing = try ActingPolicy.mapping { method, _, _ in if method == "relate" { throw Refusal() } }
    #expect(cambiumError { _ = try self.open(directory, failing) }?.code.rawValue == 134170)
    let cancelling = try ActingPolicy.mapping { _, manager, _ in manager.cancelMigration(with: Refusal()) }
    #expect(cambiumError { _ = try self.open(directory, cancelling) }?.code.rawValue == 134120)
    #expect(try Data(contentsOf: file) == before)
    #expect(try names(directory.url) == ["flights.cambium"])
    #expect(
      cambiumError { _ = try self.open(directory, try PaintModels.mapping()) { $0.isReadOnly = true } }?.code.rawValue
        == 134100)
    #expect(
      cambiumError {
        _ = try self.open(directory, try PaintModels.mapping()) { $0.shouldMigrateStoreAutomatically = false }
      }?
      .code.rawValue == 134100)
    try PaintModels.check(try open(directory, try PaintModels.mapping()).viewContext)
  }

  /// What the directory holds whenever a policy is called is what a kill at that moment leaves.
  @Test func aKillLeavesTheOldStoreOrTheNewOne() throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let copies = try TemporaryDirectory()
    let from = directory.url
    let to = copies.url
    let made = Locked<[String: Int]>([:])
    let mapping = try ActingPolicy.mapping { method, _, _ in
      let number = made.withLock { made in
        made[method, default: 0] += 1
        return made[method] ?? 0
      }
      if [1, 2, PaintModels.count].contains(number) {
        try FileManager.default.copyItem(at: from, to: to.appendingPathComponent("\(method)-\(number)"))
      }
    }
    try PaintModels.check(try open(directory, mapping).viewContext)
    let all = try names(to)
    #expect(all.count == 11)
    for name in all {
      // The unfinished file is beside the old one, and goes with the next opening, whether that migrates or not.
      let copy = to.appendingPathComponent(name)
      #expect(try names(copy).count == 2)
      let migrates = name != "relate-1"
      let container = PersistentContainer(
        name: "copy", managedObjectModel: try migrates ? PaintModels.v2() : PaintModels.v1())
      let description = PersistentStoreDescription(url: copy.appendingPathComponent("flights.cambium"))
      if migrates { description.mappingModels = [try PaintModels.mapping()] }
      container.persistentStoreDescriptions = [description]
      try container.loadPersistentStores()
      #expect(try names(copy) == ["flights.cambium"])
      if migrates {
        try PaintModels.check(container.viewContext)
      } else {
        #expect(try container.viewContext.all("Aircraft").count == PaintModels.count)
      }
    }
  }

  @Test func aSymbolicLinkStaysOne() throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let elsewhere = try TemporaryDirectory()
    let link = elsewhere.url.appendingPathComponent("flights.cambium")
    let file = directory.url.appendingPathComponent("flights.cambium")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    try PaintModels.check(try open(elsewhere, try PaintModels.mapping()).viewContext)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.path)
    try PaintModels.check(try open(directory, nil).viewContext)
  }

  /// One of several coordinators that open the store at once migrates it, and the others find it migrated.
  @Test func coordinatorsThatOpenTheStoreAtOnce() async throws {
    let directory = try TemporaryDirectory()
    try PaintModels.fill(directory)
    let file = directory.url.appendingPathComponent("flights.cambium")
    let codes = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let error = cambiumError {
            let coordinator = PersistentStoreCoordinator(managedObjectModel: try PaintModels.v2())
            let description = PersistentStoreDescription(url: file)
            description.mappingModels = [try PaintModels.mapping()]
            try coordinator.addPersistentStore(description)
            try PaintModels.check(
              ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator))
          }
          return error?.code.rawValue ?? 0
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == [0, 0, 0, 0])
    #expect(try names(directory.url) == ["flights.cambium"])
  }
}
