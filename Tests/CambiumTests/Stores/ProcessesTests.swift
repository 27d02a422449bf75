import Foundation
import Testing

@testable import Cambium

/// Containers of two processes on one file.
@Suite struct ProcessesTests {
  /// The container of a file, with the worker's model.
  private func container(
    _ path: String, isShared: Bool = true, tracksHistory: Bool = false
  ) throws -> PersistentContainer {
    let model = try ManagedObjectModel {
      Entity("Note") {
        Attribute("text", .string)
        Attribute("number", .integer64)
        Index("byNumber", "number")
      }
    }
    let container = PersistentContainer(name: "Notes", managedObjectModel: model)
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
    description.isSharedBetweenProcesses = isShared
    description.tracksHistory = tracksHistory
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  private func start(_ arguments: [String], program: String = "StoreWorker") throws -> Process {
    let process = Process()
    process.executableURL =
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(program)
    process.standardOutput = FileHandle.nullDevice
    process.arguments = arguments
    try process.run()
    return process
  }

  private func runWorker(_ path: String, _ count: Int) throws {
    let process = try start(["objects", path, "\(count)"])
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test func contextsSeeWhatOtherProcessesSave() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let container = try container(path)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Note")
      let own = try context.insertNewObject(forEntityName: "Note")
      try own.set("own", forKey: "text")
      try own.set(Int64(0), forKey: "number")
      try context.save()
      #expect(own.value(forKey: "text") as? String == "own")

      try runWorker(path, 5)
      // What the context shows stays as it was until it is asked for more.
      #expect(own.value(forKey: "text") as? String == "own")
      #expect(try context.fetch(request).count == 6)
      context.refresh(own, mergeChanges: false)
      #expect(own.value(forKey: "text") as? String == "renamed by the worker, 5")

      // A change that is based on what the other process has changed since is a conflict, as between contexts.
      try own.set("changed here", forKey: "text")
      try runWorker(path, 0)
      let error = cambiumError { try context.save() }
      #expect(error?.code == .managedObjectMerge)
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.save()
      context.refresh(own, mergeChanges: false)
      #expect(own.value(forKey: "text") as? String == "changed here")

      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      try store.suspend()
      #expect(throws: (any Error).self) { try context.fetch(request) }
      try runWorker(path, 1)
      try store.resume()
      #expect(try context.fetch(request).count == 7)
    }
  }

  /// What each policy makes of an object that another process has changed since it was read: of an attribute that both
  /// have changed, of one that was changed here, and of one that was changed there.
  @Test func mergePoliciesBetweenProcesses() throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appendingPathComponent("notes.cambium").path
    let context = try container(path).newBackgroundContext()
    let renamed = "renamed by the worker, 0"
    let expected: [(policy: MergePolicy, both: String, numberOfBoth: Int, there: String, here: Int)] = [
      (.mergeByPropertyObjectTrump, "here", 5, renamed, 6), (.mergeByPropertyStoreTrump, renamed, 5, renamed, 6),
      (.overwrite, "here", 5, "before", 6), (.rollback, renamed, 0, renamed, 0),
    ]
    for (policy, both, numberOfBoth, there, here) in expected {
      let notes = try (0..<2).map { _ in try context.make("Note", ["text": "before", "number": 0]) }
      try context.save()
      for note in notes { _ = note.value(forKey: "text") }
      try notes[0].set("here", forKey: "text")
      try notes[0].set(5, forKey: "number")
      try notes[1].set(6, forKey: "number")
      // The other process gives all notes with the number 0 another text.
      try runWorker(path, 0)
      context.mergePolicy = .error
      let error = cambiumError { try context.save() }
      #expect(error?.code == .managedObjectMerge && Set(error?.conflicts.map { $0.objectID } ?? []).count == 2)
      context.mergePolicy = policy
      try context.save()
      #expect(!context.hasChanges)
      // As the context shows it, and as the store has it.
      let reader = try container(path).newBackgroundContext()
      for known in [notes, try notes.map { try reader.existingObject(with: $0.objectID) }] {
        let texts = try known.map { try $0.get("text", as: String.self) }
        let numbers = try known.map { try $0.get("number", as: Int.self) }
        #expect(texts == [both, there] && numbers == [numberOfBoth, here], "\(policy.mergeType)")
      }
      // The next ones are the only ones that the other process finds.
      for note in notes { context.delete(note) }
      try context.save()
    }
  }

  /// Processes with contexts on one store, which all count the same notes: conflicts are found, history tells each what
  /// the others did, and nothing is lost.
  @Test func contextsOfProcessesCountTogether() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let container = try container(path, tracksHistory: true)
    let context = container.newBackgroundContext()
    context.transactionAuthor = "test"
    let shared = ["shared a", "shared b"]
    let counters = try context.performAndWait {
      let notes = try shared.map { text in
        let note = try context.insertNewObject(forEntityName: "Note")
        try note.set(text, forKey: "text")
        return note
      }
      try context.save()
      return notes.map { $0.objectID }
    }
    let beginning = try container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)

    let steps = 60
    let workers = try (1...3).map { try start(["count", path, "\($0)", "\(steps)"]) }
    // Merges what history tells while they count: a third context, which must end with what they left.
    var token = beginning
    var counted: [String: Int] = [:]
    var inserted = 0
    try context.performAndWait {
      let notes = try counters.map { try context.existingObject(with: $0) }
      repeat {
        let isLast = workers.allSatisfy { !$0.isRunning }
        for transaction in try context.execute(.fetchHistory(after: token)).transactions {
          context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
          for change in transaction.changes ?? [] {
            switch change.changeType {
            case .insert: inserted += 1
            case .update where counters.contains(change.changedObjectID):
              #expect(change.updatedProperties == ["number"])
              counted[transaction.author ?? "", default: 0] += 1
            default: Issue.record("\(change)")
            }
          }
          token = transaction.token
        }
        if isLast { break }
        Thread.sleep(forTimeInterval: 0.005)
      } while true
      for worker in workers { #expect(worker.terminationStatus == 0) }
      #expect(counted == ["counter 1": steps, "counter 2": steps, "counter 3": steps])
      #expect(inserted == 3 * (steps / 4 + 1))
      let numbers = try notes.map { try $0.get("number", as: Int.self) ?? 0 }
      #expect(numbers.reduce(0, +) == 3 * steps)
      let request = FetchRequest<ManagedObject>(entityName: "Note")
      #expect(try context.count(for: request) == 2 + inserted)
      request.predicate = try FetchPredicate(format: "text BEGINSWITH 'conflicts'")
      let conflicts = try context.fetch(request).map { try $0.get("number", as: Int.self) ?? 0 }
      #expect(conflicts.count == 3)
      // Each let the others count between reading and saving, fifteen times.
      #expect(conflicts.reduce(0, +) > 0)
    }
  }

  @Test func backupsBesideAnotherProcess() throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appendingPathComponent("notes.cambium").path
    let container = try container(path)
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let process = try start(["objects", path, "400"])
    var counts: [Int] = []
    while process.isRunning || counts.last != 400 {
      let copy = directory.url.appendingPathComponent("copy\(counts.count).cambium")
      try store.backup(to: copy)
      let context = try self.container(copy.path).newBackgroundContext()
      // The worker saves one after the other, so that a commit has all up to some number.
      let numbers = try context.all("Note").compactMap { $0.value(forKey: "number") as? Int }.sorted()
      #expect(numbers == Array(1..<(numbers.count + 1)))
      counts.append(numbers.count)
      if !process.isRunning, process.terminationStatus != 0 { break }
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(counts == counts.sorted() && counts.last == 400)
    #expect(counts.contains { $0 > 0 && $0 < 400 }, "\(counts)")
    #expect(try store.retainedCommits().isEmpty)
  }

  /// A store is checked and compacted, by its application and by the tool, while another process saves into it.
  @Test func upkeepBesideAnotherProcess() throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appendingPathComponent("notes.cambium").path
    let container = try container(path)
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let context = container.newBackgroundContext()
    for number in 0..<4000 {
      try context.make("Note", ["text": String(repeating: "\(number)", count: 60), "number": -1 - number])
    }
    try context.save()
    let process = try start(["objects", path, "300"])
    // Until the worker is at it.
    while try context.count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 4000, process.isRunning {
      Thread.sleep(forTimeInterval: 0.002)
    }
    for number in 0..<5 {
      var request = BatchUpdateRequest(entityName: "Note")
      request.predicate = try FetchPredicate(format: "number < 0")
      request.propertiesToUpdate = ["text": "changed \(number)"]
      try context.execute(request)
      try store.compact()
      #expect(try store.check().isSound)
      for command in ["compact", "check"] {
        let tool = try start([command, path], program: "cambium")
        tool.waitUntilExit()
        #expect(tool.terminationStatus == 0, "\(command)")
      }
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let report = try store.check()
    #expect(report.isSound && report.objectCount == 4300, "\(report)")
    #expect(try context.all("Note", "text == 'changed 4'").count == 4000)
  }

  @Test func aFileThatAnotherProcessHasIsLeftAlone() throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appendingPathComponent("notes.cambium").path
    try runWorker(path, 1)
    let process = try start(["objects", path, "100000"])
    defer {
      // It may have the other signal blocked, as the thread has that starts it.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel())
    let url = URL(fileURLWithPath: path)
    // The worker has it open once it has saved something more.
    do {
      let context = try container(path).newBackgroundContext()
      while try context.count(for: FetchRequest<ManagedObject>(entityName: "Note")) < 2, process.isRunning {
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
    let other = directory.url.appendingPathComponent("other.cambium")
    try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: url)
    #expect(
      cambiumError { try coordinator.destroyPersistentStore(at: url) }?.code == .persistentStoreOperation)
    #expect(
      cambiumError { try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: other) }?.code
        == .persistentStoreOperation)
    #expect(FileManager.default.fileExists(atPath: path) && process.isRunning)
  }

  @Test func aFileThatIsNotSharedIsRefused() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let container = try container(path, isShared: false)
    let process = Process()
    process.executableURL =
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("StoreWorker")
    process.arguments = ["objects", path, "1"]
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(text.contains("the store is in use by another process"), "\(text)")
    // Refused for that reason alone: once the file is let go, the worker has it.
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
    try runWorker(path, 1)
  }
}
