import Cambium
import Foundation
import Testing

@Suite struct QueryGenerationTests {
  private func names(_ context: ManagedObjectContext) throws -> [String] {
    try context.all("Pilot", sort: [FetchSortDescriptor(key: "name", ascending: true)]).compactMap {
      $0.value(forKey: "name") as? String
    }
  }

  @Test func pinsAtTheNextRead() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let writer = container.newBackgroundContext()
    let reader = container.newBackgroundContext()
    let ada = try writer.make("Pilot", ["name": "Ada"])
    try ada.add(try writer.make("LogEntry", ["number": 1]), toRelationship: "logEntries")
    try writer.save()
    #expect(reader.queryGenerationToken == nil)
    try reader.setQueryGenerationFrom(.current)
    #expect(reader.queryGenerationToken === QueryGenerationToken.current)
    // Not pinned yet.
    try writer.make("Pilot", ["name": "Bea"])
    try writer.save()
    #expect(try names(reader) == ["Ada", "Bea"])
    let token = try #require(reader.queryGenerationToken)
    #expect(token != .current)
    try ada.set("Changed", forKey: "name")
    try ada.add(try writer.make("LogEntry", ["number": 2]), toRelationship: "logEntries")
    writer.delete(try #require(try writer.all("Pilot", "name == 'Bea'").first))
    try writer.make("Pilot", ["name": "Cid"])
    try writer.save()
    for _ in 0..<2 {
      #expect(try names(reader) == ["Ada", "Bea"])
      let there = reader.object(with: ada.objectID)
      #expect(there.value(forKey: "name") as? String == "Ada")
      #expect(try there.count(ofRelationship: "logEntries") == 1)
      let request = FetchRequest<[String: Any]>(entityName: "Pilot")
      #expect(try reader.fetch(request).count == 2)
      #expect(try reader.count(for: FetchRequest<ManagedObject>(entityName: "Pilot")) == 2)
      #expect(try reader.count(for: FetchRequest<ManagedObject>(entityName: "LogEntry")) == 1)
      // What is refreshed is read from the same state.
      reader.refreshAllObjects()
    }
    // Another context may read the same state; without one, each fetch reads the newest.
    let third = container.newBackgroundContext()
    #expect(try names(third) == ["Changed", "Cid"])
    try third.setQueryGenerationFrom(token)
    #expect(try names(third) == ["Ada", "Bea"])
    #expect(third.queryGenerationToken == token)
    try reader.setQueryGenerationFrom(nil)
    #expect(reader.queryGenerationToken == nil)
    #expect(try names(reader) == ["Changed", "Cid"])
  }

  @Test func advances() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container { $0.tracksHistory = true }
    let writer = container.newBackgroundContext()
    let reader = container.newBackgroundContext()
    var expected: [String] = []
    func add(_ name: String) throws {
      try writer.make("Pilot", ["name": name])
      try writer.save()
      expected.append(name)
    }
    try add("A")
    try reader.setQueryGenerationFrom(.current)
    #expect(try names(reader) == expected)
    // A save, which finds conflicts by the newest commits.
    try add("B")
    #expect(try names(reader) == ["A"])
    let mine = try #require(try reader.all("Pilot").first)
    try mine.set("A2", forKey: "name")
    let theirs = try writer.existingObject(with: mine.objectID)
    try theirs.set("A3", forKey: "name")
    try writer.save()
    #expect(cambiumError { try reader.save() }?.code == .managedObjectMerge)
    #expect(try names(reader) == ["A2"])
    reader.mergePolicy = .mergeByPropertyObjectTrump
    try reader.save()
    #expect(reader.queryGenerationToken === QueryGenerationToken.current)
    expected = ["A2", "B"]
    #expect(try names(reader) == expected)
    // reset
    try add("C")
    #expect(try names(reader) == ["A2", "B"])
    reader.reset()
    #expect(try names(reader) == expected)
    // mergeChanges
    let token = try container.persistentStoreCoordinator.currentPersistentHistoryToken()
    try add("D")
    #expect(try names(reader) == ["A2", "B", "C"])
    for transaction in try reader.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions {
      reader.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
    }
    #expect(try names(reader) == expected)
    try add("E")
    #expect(try names(reader) == ["A2", "B", "C", "D"])
  }

  @Test func manyToManyOfASaveIsOfTheNewestCommit() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let writer = container.newBackgroundContext()
    let entry = try writer.make("LogEntry", ["number": 1])
    let pilots = try ["A", "B", "C"].map { try writer.make("Pilot", ["name": $0]) }
    try entry.add(pilots[0], toRelationship: "pilots")
    try writer.save()
    let reader = container.newBackgroundContext()
    reader.mergePolicy = .mergeByPropertyObjectTrump
    try reader.setQueryGenerationFrom(.current)
    let there = try reader.existingObject(with: entry.objectID)
    try there.add(reader.object(with: pilots[2].objectID), toRelationship: "pilots")
    try entry.add(pilots[1], toRelationship: "pilots")
    try writer.save()
    #expect(try there.count(ofRelationship: "pilots") == 2)
    try reader.save()
    #expect(try there.count(ofRelationship: "pilots") == 3)
  }

  /// An object that is read before the context can see its row counts as deleted until the row is found.
  @Test(arguments: 0..<7) func whatWasReadTooEarlyIsBack(way: Int) throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let writer = container.newBackgroundContext()
    try writer.make("Pilot", ["name": "Ada"])
    try writer.save()
    let reader = container.newBackgroundContext()
    try reader.setQueryGenerationFrom(.current)
    #expect(try names(reader) == ["Ada"])
    let pilot = try writer.make("Pilot", ["name": "Bea"])
    try writer.save()
    let there = reader.object(with: pilot.objectID)
    #expect(there.value(forKey: "name") == nil && there.isDeleted)
    if way > 1 { try reader.setQueryGenerationFrom(nil) }
    switch way {
    case 0:
      var saved = ObjectIDNotification()
      saved.insertedObjectIDs = [pilot.objectID]
      reader.mergeChanges(fromContextDidSave: saved)
    case 1:
      try reader.make("Pilot", ["name": "Ada II"])
      try reader.save()
      #expect(there.value(forKey: "name") as? String == "Bea")
    case 2: #expect(try reader.all("Pilot", "name == 'Bea'").first === there)
    case 3:
      let request = FetchRequest<ManagedObject>(entityName: "Pilot")
      request.includesPropertyValues = false
      #expect(try reader.fetch(request).contains(there))
    case 4: reader.refresh(there, mergeChanges: false)
    case 5: reader.refreshAllObjects()
    default: #expect(try reader.existingObject(with: pilot.objectID) === there)
    }
    #expect(!there.isDeleted)
    #expect(there.value(forKey: "name") as? String == "Bea")
    there.setValue("Bessie", forKey: "name")
    try reader.save()
    #expect(try writer.all("Pilot", "name == 'Bessie'").count == 1)
    // What is to be deleted stays so.
    reader.delete(there)
    reader.refreshAllObjects()
    reader.refresh(there, mergeChanges: true)
    #expect(there.isDeleted && cambiumError { _ = try reader.existingObject(with: pilot.objectID) } != nil)
    try reader.save()
    #expect(try writer.all("Pilot", "name == 'Bessie'").isEmpty)
  }

  @Test func storesAddedLater() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container("first")
    let context = container.newBackgroundContext()
    try context.make("Pilot", ["name": "A"])
    try context.save()
    try context.setQueryGenerationFrom(.current)
    #expect(try names(context) == ["A"])
    let later = try container.persistentStoreCoordinator.addPersistentStore(
      PersistentStoreDescription(url: directory.url.appendingPathComponent("second.cambium")))
    let other = container.newBackgroundContext()
    let object = try other.make("Pilot", ["name": "B"])
    other.assign(object, to: later)
    try other.save()
    #expect(try names(other) == ["A", "B"])
    #expect(try names(context) == ["A"])
    let request = FetchRequest<ManagedObject>(entityName: "Pilot")
    request.affectedStores = [later]
    #expect(try context.fetch(request).isEmpty && context.count(for: request) == 0)
    #expect(cambiumError { _ = try context.existingObject(with: object.objectID) }?.code == .persistentStoreOperation)
    context.reset()
    #expect(try names(context) == ["A", "B"])
    // A token of other stores.
    let foreign = try directory.container("third").newBackgroundContext()
    try foreign.setQueryGenerationFrom(.current)
    _ = try names(foreign)
    let token = foreign.queryGenerationToken
    #expect(cambiumError { try context.setQueryGenerationFrom(token) }?.code == .invalidArgument)
  }

  @Test func asynchronousFetchesToo() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let writer = container.newBackgroundContext()
    try writer.make("Pilot", ["name": "A"])
    try writer.save()
    let reader = container.newBackgroundContext()
    try reader.setQueryGenerationFrom(.current)
    #expect(try names(reader) == ["A"])
    try writer.make("Pilot", ["name": "B"])
    try writer.save()
    let count = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
      do {
        try reader.execute(
          AsynchronousFetchRequest(FetchRequest<ManagedObjectID>(entityName: "Pilot")) { result in
            continuation.resume(returning: result.finalResult?.count ?? -1)
          })
      } catch { continuation.resume(throwing: error) }
    }
    #expect(count == 1)
  }
}
