import CambiumTesting
import Foundation
import Testing

@testable import Cambium

@Suite struct StoreTests {
  @Test func mismatchingModelIsRefused() throws {
    let directory = try TemporaryDirectory()
    _ = try directory.container()
    let changed = try FlightModel.make()
    let pilot = try #require(changed.entitiesByName["Pilot"])
    pilot.properties += [AttributeDescription("age", .integer16)]
    let scheme = try #require(changed.compositeTypes.first { $0.name == "ColorScheme" })
    try scheme.setElements(scheme.elements + [AttributeDescription("fourth", .string)])
    let error = cambiumError {
      _ = try directory.container(model: changed) { $0.shouldMigrateStoreAutomatically = false }
    }
    #expect(error?.code.rawValue == 134100)
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(error?.mismatchedEntities == ["Aircraft", "Pilot"])
    #expect(error?.storeURL != nil)

    // Delete rules, defaults and user info are no part of what is compared.
    let same = try FlightModel.make()
    same.entitiesByName["Aircraft"]?.relationshipsByName["logEntries"]?.deleteRule = .nullify
    same.entitiesByName["Aircraft"]?.userInfo = ["a": "b"]
    let context = try directory.container(model: same).viewContext
    let aircraft = try context.make("Aircraft", [:])
    let entry = try context.make("LogEntry", ["aircraft": aircraft])
    try context.save()
    context.delete(aircraft)
    #expect(!entry.isDeleted)
    try context.save()
  }

  @Test func twoContainersOnOneFile() throws {
    let directory = try TemporaryDirectory()
    let a = try directory.container()
    let b = try directory.container()
    try a.viewContext.make("Pilot", ["name": "Ada"])
    try a.viewContext.save()
    let found = try #require(try b.viewContext.all("Pilot").first)
    #expect(found.value(forKey: "name") as? String == "Ada")
    try found.set("Bob", forKey: "name")
    try b.viewContext.save()
    #expect(try a.viewContext.all("Pilot", "name == 'Bob'").count == 1)
    #expect(
      a.persistentStoreCoordinator.persistentStores.first?.identifier
        == b.persistentStoreCoordinator.persistentStores.first?.identifier)
  }

  @Test func severalStoresInMemory() throws {
    let container = PersistentContainer(name: "several", managedObjectModel: try FlightModel.make())
    let descriptions = [PersistentStoreDescription(type: .inMemory), PersistentStoreDescription(type: .inMemory)]
    container.persistentStoreDescriptions = descriptions
    let loaded = Locked<[ObjectIdentifier]>([])
    container.loadPersistentStores { description, error in
      #expect(error == nil)
      loaded.withLock { $0.append(ObjectIdentifier(description)) }
    }
    #expect(loaded.withLock { $0 } == descriptions.map { ObjectIdentifier($0) })
    let stores = container.persistentStoreCoordinator.persistentStores
    try #require(stores.count == 2)
    try container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
    // An object of the second one is there.
    let context = container.newBackgroundContext()
    context.assign(try context.make("Pilot", ["name": "Ada"]), to: stores[1])
    try context.save()
    #expect(try context.all("Pilot").map { $0.objectID.storeIdentifier } == [stores[1].identifier])
  }

  @Test func containersAreReleased() throws {
    let directory = try TemporaryDirectory()
    weak var coordinator: PersistentStoreCoordinator?
    weak var context: ManagedObjectContext?
    weak var store: PersistentStore?
    do {
      let container = try directory.container()
      coordinator = container.persistentStoreCoordinator
      context = container.viewContext
      store = coordinator?.persistentStores.first
      let pilot = try container.viewContext.make("Pilot", ["name": "Ada"])
      try container.viewContext.make("LogEntry", ["pilots": [pilot]])
      try container.viewContext.save()
      try pilot.set("unsaved", forKey: "name")
    }
    #expect(coordinator == nil && context == nil && store == nil)
    // Another file at the path is another store: nothing of the first one is kept.
    let url = directory.url.appendingPathComponent("flights.cambium")
    try FileManager.default.moveItem(at: url, to: directory.url.appendingPathComponent("moved.cambium"))
    #expect(try directory.container().viewContext.all("Pilot").isEmpty)
    let moved = try directory.container("moved").viewContext
    #expect(try moved.all("Pilot").map { $0.value(forKey: "name") as? String } == ["Ada"])
  }

  /// A store that is open for reading only, by another coordinator, is not opened for writing: saves would be refused.
  @Test func aStoreThatIsOpenForReadingOnly() throws {
    let directory = try TemporaryDirectory()
    _ = try directory.container()
    let reading = try directory.container { $0.isReadOnly = true }.persistentStoreCoordinator
    let error = cambiumError { _ = try directory.container() }
    #expect(error?.code == .fileWriteNoPermission && error?.message.contains("for reading only, by another") == true)
    _ = try directory.container { $0.isReadOnly = true }
    for store in reading.persistentStores { try reading.remove(store) }
    let context = try directory.container().viewContext
    try context.make("Pilot", ["name": "Ada"])
    try context.save()
  }

  @Test func readOnly() throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container().viewContext
      try context.make("Pilot", ["name": "Ada"])
      try context.save()
    }
    let context = try directory.container { $0.isReadOnly = true }.viewContext
    let pilot = try #require(try context.all("Pilot").first)
    try pilot.set("Bob", forKey: "name")
    #expect(cambiumError { try context.save() }?.code == .fileWriteNoPermission)
    #expect(context.hasChanges)
    let missing = cambiumError { _ = try directory.container("missing") { $0.isReadOnly = true } }
    #expect(missing?.code == .persistentStoreOpen)
    #expect(missing?.message.contains("there is no store") == true)
  }

  @Test func badFiles() throws {
    let directory = try TemporaryDirectory()
    try Data(repeating: 7, count: 10_000).write(to: directory.url.appendingPathComponent("flights.cambium"))
    #expect(cambiumError { _ = try directory.container() }?.code == .fileReadCorruptFile)
    let nowhere = PersistentContainer(name: "x", managedObjectModel: try FlightModel.make())
    nowhere.persistentStoreDescriptions = [
      PersistentStoreDescription(url: directory.url.appendingPathComponent("no/such/directory/x.cambium"))
    ]
    let noFolder = cambiumError { try nowhere.loadPersistentStores() }
    #expect(noFolder?.code == .persistentStoreOpen)
    #expect(noFolder?.message.contains("no/such/directory' does not exist") == true)
    nowhere.persistentStoreDescriptions = [PersistentStoreDescription(url: directory.url)]
    #expect(cambiumError { try nowhere.loadPersistentStores() }?.message.contains("is a folder") == true)
    #expect(cambiumError { _ = try nowhere.viewContext.all("Pilot") }?.code == .invalidArgument)
  }

  @Test func aStoreIsAddedOnce() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    try container.viewContext.make("Pilot", ["name": "Ada"])
    try container.viewContext.save()
    // What failed can be loaded again; what was loaded stays.
    let memory = PersistentStoreDescription(type: .inMemory)
    container.persistentStoreDescriptions.append(memory)
    try container.loadPersistentStores()
    try container.loadPersistentStores()
    let coordinator = container.persistentStoreCoordinator
    #expect(coordinator.persistentStores.map(\.type) == [.file, .inMemory])
    #expect(try container.viewContext.all("Pilot").count == 1)
    let known = try #require(container.persistentStoreDescriptions.first)
    let twice = cambiumError { try coordinator.addPersistentStore(known) }
    #expect(twice?.code == .persistentStoreOpen && twice?.storeURL == known.url)
    // A copy has the same objects under the same identifiers.
    let url = try #require(known.url)
    let copy = directory.url.appendingPathComponent("copy.store")
    try FileManager.default.copyItem(at: url, to: copy)
    #expect(
      cambiumError { try coordinator.addPersistentStore(PersistentStoreDescription(url: copy)) }?.code
        == .persistentStoreOpen)
    #expect(coordinator.persistentStores.count == 2)
  }

  @Test func completionHandler() async throws {
    let directory = try TemporaryDirectory()
    let container = PersistentContainer(name: "x", managedObjectModel: try FlightModel.make())
    let description = PersistentStoreDescription(url: directory.url.appendingPathComponent("x.cambium"))
    description.shouldAddStoreAsynchronously = true
    container.persistentStoreDescriptions = [description]
    let error = await withCheckedContinuation { continuation in
      container.loadPersistentStores { _, error in continuation.resume(returning: error as? CambiumError) }
    }
    #expect(error == nil)
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test func metadata() throws {
    let directory = try TemporaryDirectory()
    let uuid = UUID()
    do {
      let coordinator = try directory.container().persistentStoreCoordinator
      let store = try #require(coordinator.persistentStores.first)
      #expect(try store.applicationMetadata().isEmpty)
      try coordinator.setMetadata(
        [
          "text": "é", "flag": true, "number": Int.min, "double": -0.5, "data": Data([0, 255]), "uuid": uuid,
          "date": Date(timeIntervalSinceReferenceDate: 7), PersistentStore.storeTypeKey: "mine",
        ], for: store)
      #expect(cambiumError { try store.setMetadata(["a": [1]]) }?.key == "a")
    }
    let store = try #require(try directory.container().persistentStoreCoordinator.persistentStores.first)
    let read = store.metadata
    #expect(read["text"] as? String == "é" && read["flag"] as? Bool == true && read["number"] as? Int == Int.min)
    #expect(
      read["double"] as? Double == -0.5 && read["data"] as? Data == Data([0, 255]) && read["uuid"] as? UUID == uuid)
    #expect(read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 7))
    #expect(read[PersistentStore.storeTypeKey] as? String == "file")
    #expect(try store.applicationMetadata().count == 7)
  }

  @Test func damagedMetadataIsReported() throws {
    let bytes = try MetadataCodec.encode(["text": "abc", "number": 5, "uuid": UUID()])
    for length in 0..<bytes.count {
      #expect(cambiumError { _ = try MetadataCodec.decode(Array(bytes.prefix(length))) }?.code == .fileReadCorruptFile)
    }
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] = 255
      _ = try? MetadataCodec.decode(damaged)
    }
  }

  @Test func removingAStore() throws {
    let container = try memoryContainer()
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    #expect(coordinator.metadata(for: store)[PersistentStore.storeTypeKey] as? String == "inMemory")
    try coordinator.remove(store)
    #expect(cambiumError { try coordinator.remove(store) }?.code == .invalidArgument)
    #expect(cambiumError { _ = try container.viewContext.all("Pilot") }?.code == .persistentStoreOperation)
  }

  /// An option that is taken back leaves the property as it is without.
  @Test func optionsAreTakenBack() {
    let description = PersistentStoreDescription(type: .inMemory)
    let flags: [(key: String, read: () -> Bool, usual: Bool)] = [
      (
        PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption,
        { description.shouldMigrateStoreAutomatically }, true
      ),
      (
        PersistentStoreCoordinator.inferMappingModelAutomaticallyOption,
        { description.shouldInferMappingModelAutomatically }, true
      ),
      (
        PersistentStoreCoordinator.allowReturningToFormerModelsOption, { description.allowsReturningToFormerModels },
        false
      ),
      (PersistentStoreCoordinator.allowDroppingUnknownDataOption, { description.allowsDroppingUnknownData }, false),
      (
        PersistentStoreCoordinator.deferredLightweightMigrationOption, { description.shouldDeferLightweightMigration },
        false
      ),
      (PersistentStoreCoordinator.readOnlyPersistentStoreOption, { description.isReadOnly }, false),
      (PersistentStoreCoordinator.persistentHistoryTrackingOption, { description.tracksHistory }, false),
      (PersistentStoreCoordinator.remoteChangeNotificationPostOption, { description.postsRemoteChanges }, false),
    ]
    for (key, read, usual) in flags {
      description.setOption(!usual, forKey: key)
      #expect(read() == !usual, "\(key)")
      description.setOption(nil, forKey: key)
      #expect(read() == usual && description.options.isEmpty, "\(key)")
    }
    let timeout = description.timeout
    description.setOption(timeout + 5, forKey: PersistentStoreCoordinator.persistentStoreTimeoutOption)
    description.setOption([MappingModel](), forKey: PersistentStoreCoordinator.mappingModelsOption)
    description.setOption([ManagedObjectModel()], forKey: PersistentStoreCoordinator.sourceModelsOption)
    #expect(description.timeout == timeout + 5 && description.sourceModels.count == 1)
    description.setOption(nil, forKey: PersistentStoreCoordinator.sourceModelsOption)
    description.setOption(nil, forKey: PersistentStoreCoordinator.persistentStoreTimeoutOption)
    description.setOption(nil, forKey: PersistentStoreCoordinator.mappingModelsOption)
    #expect(description.timeout == timeout && description.mappingModels.isEmpty && description.options.isEmpty)
    #expect(description.sourceModels.isEmpty)
  }
}
