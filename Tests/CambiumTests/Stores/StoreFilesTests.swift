import CambiumSystem
import CambiumTesting
import Foundation
import Synchronization
import Testing

@testable import Cambium

@Suite struct StoreFilesTests {
  private final class Flag: Sendable { let isSet = Atomic(false) }

  private func store(_ container: PersistentContainer) throws -> PersistentStore {
    try #require(container.persistentStoreCoordinator.persistentStores.first)
  }

  private func names(_ container: PersistentContainer) throws -> [String] {
    let context = container.newBackgroundContext()
    return try context.all("Pilot").compactMap { $0.value(forKey: "name") as? String }.sorted()
  }

  private func fill(_ container: PersistentContainer, _ names: [String]) throws {
    let context = container.newBackgroundContext()
    for name in names { try context.make("Pilot", ["name": name]) }
    try context.save()
  }

  @Test func backupIsAStoreOfItsOwn() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container { $0.tracksHistory = true }
    try fill(container, ["Ada", "Bea"])
    let source = try store(container)
    try source.setMetadata(["note": "kept"])
    let kept = try source.retain(reason: "mine")
    let url = directory.url.appendingPathComponent("backup.cambium")
    let last = Locked<BackupProgress?>(nil)
    try source.backup(to: url) { progress in
      last.withLock { $0 = progress }
      return true
    }
    #expect(last.withLock { $0.map { $0.copiedBytes == $0.totalBytes && $0.totalBytes > 0 } } == true)
    // Nothing stays behind in the source.
    #expect(try source.retainedCommits() == [kept])
    try fill(container, ["Cid"])
    let copy = try directory.container("backup") { $0.tracksHistory = true }
    #expect(try names(copy) == ["Ada", "Bea"])
    #expect(try store(copy).identifier == source.identifier)
    #expect(try store(copy).metadata["note"] as? String == "kept")
    #expect(try store(copy).retainedCommits().isEmpty)
    let history = try copy.newBackgroundContext().execute(
      PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
    #expect(history.transactions.count == 1)
    try fill(copy, ["Dan"])
    #expect(try names(copy) == ["Ada", "Bea", "Dan"])
    #expect(try names(container) == ["Ada", "Bea", "Cid"])
    // A file that is there is left alone.
    #expect(cambiumError { try source.backup(to: url) }?.code == .persistentStoreSave)
    #expect(try names(copy) == ["Ada", "Bea", "Dan"])
    // One that is given up leaves nothing.
    let other = directory.url.appendingPathComponent("other.cambium")
    #expect(cambiumError { try source.backup(to: other) { _ in false } }?.code == .userCancelled)
    #expect(!FileManager.default.fileExists(atPath: other.path))
    #expect(try source.retainedCommits() == [kept])
    let files = try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
    #expect(files == ["backup.cambium", "flights.cambium"])
  }

  @Test func backupsBesideAWriterAreOfOneCommit() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    // Each save makes an entry and counts it in the same commit.
    try fill(container, ["0"])
    let stop = Flag()
    let failure = Locked<(any Error)?>(nil)
    let ended = DispatchGroup()
    ended.enter()
    // A thread of its own: a task that does not pause would keep those of other tests waiting.
    Thread.detachNewThread {
      let context = container.newBackgroundContext()
      do {
        try context.performAndWait {
          let counter = try #require(try context.all("Pilot").first)
          var count = 0
          while !stop.isSet.load(ordering: .relaxed) {
            count += 1
            try counter.set("\(count)", forKey: "name")
            try context.make(
              "LogEntry", ["number": count, "remarks": String(repeating: "x", count: count % 7 == 0 ? 9000 : 300)])
            try context.save()
          }
        }
      } catch { failure.withLock { $0 = error } }
      ended.leave()
    }
    defer {
      stop.isSet.store(true, ordering: .relaxed)
      ended.wait()
      #expect(failure.withLock { $0 } == nil)
    }
    var counts: [Int] = []
    for round in 0..<8 {
      try store(container).backup(to: directory.url.appendingPathComponent("copy\(round).cambium"))
      let copy = try directory.container("copy\(round)")
      let context = copy.newBackgroundContext()
      let count = try #require(try context.all("Pilot").first?.value(forKey: "name") as? String)
      let entries = try context.all("LogEntry").compactMap { $0.value(forKey: "number") as? Int }.sorted()
      #expect(entries == Array(1..<(entries.count + 1)) && "\(entries.count)" == count)
      counts.append(entries.count)
      Thread.sleep(forTimeInterval: 0.02)
    }
    #expect(counts == counts.sorted() && counts[0] < counts[7])
  }

  @Test func memoryAndReadOnlyStores() throws {
    let directory = try TemporaryDirectory()
    let memory = try memoryContainer()
    try fill(memory, ["Ada"])
    try store(memory).backup(to: directory.url.appendingPathComponent("flights.cambium"))
    do {
      let container = try directory.container()
      #expect(try names(container) == ["Ada"])
      try fill(container, ["Bea"])
    }
    let reader = try directory.container { $0.isReadOnly = true }
    try store(reader).backup(to: directory.url.appendingPathComponent("copy.cambium"))
    #expect(try names(try directory.container("copy")) == ["Ada", "Bea"])
  }

  /// The file is copied as it lies, without waiting for the lock that the store itself holds.
  @Test func readOnlyStoresOpenedExclusively() throws {
    let directory = try TemporaryDirectory()
    let url = directory.url.appendingPathComponent("flights.cambium")
    do {
      let container = try directory.container()
      try fill(container, ["Ada"])
      _ = try store(container).retain(reason: "kept")
    }
    let reader = try directory.container {
      $0.isReadOnly = true
      $0.isSharedBetweenProcesses = false
    }
    let source = try StoreFiles.source(url.path)
    #expect(source.locks == nil)
    source.close()
    try store(reader).backup(to: directory.url.appendingPathComponent("copy.cambium"))
    let copy = try directory.container("copy")
    #expect(try names(copy) == ["Ada"])
    #expect(try store(copy).retainedCommits().map { $0.reason } == ["kept"])
    // Somebody writes all the time.
    let writer = try FileHandle(forUpdating: url)
    let place: UInt64 = 1000
    try writer.seek(toOffset: place)
    let byte = try #require(try writer.read(upToCount: 1)?.first)
    var written = byte
    let failed = directory.url.appendingPathComponent("failed.cambium")
    let error = cambiumError {
      try store(reader).backup(to: failed) { _ in
        written &+= 1
        try? writer.seek(toOffset: place)
        try? writer.write(contentsOf: Data([written]))
        return true
      }
    }
    #expect(error?.code == .persistentStoreSave && error?.storeURL == failed)
    #expect(error?.message.contains("saved into it meanwhile") == true)
    #expect(!FileManager.default.fileExists(atPath: failed.path))
    try writer.close()
  }

  @Test func destroy() throws {
    let directory = try TemporaryDirectory()
    let url = directory.url.appendingPathComponent("flights.cambium")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try FlightModel.make())
    do {
      let container = try directory.container()
      try fill(container, ["Ada"])
      let error = cambiumError { try coordinator.destroyPersistentStore(at: url) }
      #expect(error?.code == .persistentStoreOperation && error?.storeURL == url)
      #expect(try names(container) == ["Ada"])
    }
    try coordinator.destroyPersistentStore(at: url)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    try coordinator.destroyPersistentStore(at: url)
    #expect(try names(try directory.container()) == [])
    // Damaged ones, too.
    let damaged = directory.url.appendingPathComponent("damaged.cambium")
    try Data([1, 2, 3]).write(to: damaged)
    try coordinator.destroyPersistentStore(at: damaged)
    #expect(!FileManager.default.fileExists(atPath: damaged.path))
  }

  @Test func replace() throws {
    let directory = try TemporaryDirectory()
    let (a, b) = (directory.url.appendingPathComponent("a.cambium"), directory.url.appendingPathComponent("b.cambium"))
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try FlightModel.make())
    let source = try directory.container("a")
    try fill(source, ["Ada"])
    // Where there is none; over another; over a damaged one. The source is in use all the time.
    try coordinator.replacePersistentStore(at: b, withPersistentStoreFrom: a)
    #expect(try names(try directory.container("b")) == ["Ada"])
    try fill(source, ["Bea"])
    try coordinator.replacePersistentStore(at: b, withPersistentStoreFrom: a)
    #expect(try names(try directory.container("b")) == ["Ada", "Bea"])
    try Data(repeating: 9, count: 50_000).write(to: b)
    try coordinator.replacePersistentStore(at: b, withPersistentStoreFrom: a)
    do {
      let copy = try directory.container("b")
      #expect(try names(copy) == ["Ada", "Bea"])
      // Not under the hands of somebody.
      let error = cambiumError { try coordinator.replacePersistentStore(at: b, withPersistentStoreFrom: a) }
      #expect(error?.code == .persistentStoreOperation)
      #expect(try names(copy) == ["Ada", "Bea"])
    }
    // A source that is not there, or is none.
    let none = directory.url.appendingPathComponent("none.cambium")
    #expect(
      cambiumError { try coordinator.replacePersistentStore(at: b, withPersistentStoreFrom: none) }?.code
        == .persistentStoreOpen)
    try Data("SQLite format 3\0 and more".utf8).write(to: none)
    #expect(cambiumError { try coordinator.replacePersistentStore(at: b, withPersistentStoreFrom: none) } != nil)
    #expect(try names(try directory.container("b")) == ["Ada", "Bea"])
    // A source that nobody may write to, as in an application's bundle.
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: b.path)
    let c = directory.url.appendingPathComponent("c.cambium")
    try coordinator.replacePersistentStore(at: c, withPersistentStoreFrom: b)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: b.path)
    #expect(try names(try directory.container("c")) == ["Ada", "Bea"])
  }

  @Test func metadataAndModelOfAFile() throws {
    let directory = try TemporaryDirectory()
    let url = directory.url.appendingPathComponent("flights.cambium")
    let model = try FlightModel.make()
    do {
      let container = try directory.container(model: model)
      try fill(container, ["Ada"])
    }
    try PersistentStoreCoordinator.setMetadata(["version": 7, "note": "x"], forPersistentStoreAt: url)
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: url)
    #expect(metadata["version"] as? Int == 7)
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(try PersistentStoreCoordinator.cachedModelForPersistentStore(at: url).entitiesByName.keys.contains("Pilot"))
    #expect(try names(try directory.container(model: try FlightModel.make())) == ["Ada"])
    let none = directory.url.appendingPathComponent("none.cambium")
    #expect(
      cambiumError { _ = try PersistentStoreCoordinator.metadataForPersistentStore(at: none) }?.code
        == .persistentStoreOpen)
    #expect(!FileManager.default.fileExists(atPath: none.path))
  }

  @Test func configurations() throws {
    let directory = try TemporaryDirectory()
    func model() throws -> ManagedObjectModel {
      let model = try ManagedObjectModel {
        Entity("Place") { Attribute("name", .string) }
        Entity("Setting") { Attribute("name", .string) }
        Entity("Note") { Attribute("name", .string) }
      }
      for (name, members) in [("cloud", ["Place", "Note"]), ("local", ["Setting", "Note"])] {
        model.setEntities(members.compactMap { model.entitiesByName[$0] }, forConfigurationName: name)
      }
      return model
    }
    func container() throws -> PersistentContainer {
      try directory.container(model(), configurations: ["cloud", "local"])
    }
    do {
      let container = try container()
      let stores = container.persistentStoreCoordinator.persistentStores
      let context = container.newBackgroundContext()
      try context.make("Place", ["name": "a"])
      try context.make("Setting", ["name": "b"])
      try context.make("Note", ["name": "first"])
      let note = try context.make("Note", ["name": "second"])
      context.assign(note, to: stores[1])
      // What cannot be is noted, and the next save throws it.
      context.assign(try context.make("Place", ["name": "c"]), to: stores[1])
      #expect(cambiumError { try context.save() }?.code == .invalidArgument)
      try context.save()
      #expect(note.objectID.storeIdentifier == stores[1].identifier)
    }
    let again = try container()
    let stores = again.persistentStoreCoordinator.persistentStores
    let context = again.newBackgroundContext()
    for (entity, store, expected) in [
      ("Place", 0, ["a", "c"]), ("Setting", 1, ["b"]), ("Note", 0, ["first"]), ("Note", 1, ["second"]),
    ] {
      let request = FetchRequest<ManagedObject>(entityName: entity)
      request.affectedStores = [stores[store]]
      #expect(try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted() == expected)
    }
    #expect(try context.all("Note").count == 2)
  }
}

extension StoreFilesTests {
  /// A process that was stopped while it writes: saves of others end when their time is over, and go on behind it.
  @Test func savesWaitAsLongAsTheyMay() throws {
    let directory = try TemporaryDirectory()
    let model = try ManagedObjectModel { Entity("Note") { Attribute("name", .string) } }
    let container = try directory.container(model: model) { $0.timeout = 0.02 }
    let context = container.newBackgroundContext()
    try context.make("Note", ["name": "a"])
    try context.save()
    let url = try #require(container.persistentStoreCoordinator.persistentStores.first?.url)
    // As another process has the turn.
    let other = try FileDevice(path: url.path, sharing: .shared)
    let turn: Range<UInt64> = (1 << 62 + 2)..<(1 << 62 + 3)
    #expect(try other.tryLock(.exclusive, turn))
    try context.make("Note", ["name": "b"])
    #expect(cambiumError { try context.save() }?.code == .persistentStoreTimeout)
    #expect(context.hasChanges)
    let reader = container.newBackgroundContext()
    #expect(try reader.all("Note").count == 1)
    try other.unlock(turn)
    other.close()
    try context.save()
    #expect(try reader.all("Note").count == 2)
    let description = PersistentStoreDescription(url: url)
    description.setOption(2, forKey: PersistentStoreCoordinator.persistentStoreTimeoutOption)
    #expect(description.timeout == 2 && description.storeOptions.turnTimeoutMilliseconds == 2000)
    description.timeout = .infinity
    #expect(description.storeOptions.turnTimeoutMilliseconds == Int(Int32.max))
    description.timeout = .nan
    #expect(description.storeOptions.turnTimeoutMilliseconds == 0)
  }
}
