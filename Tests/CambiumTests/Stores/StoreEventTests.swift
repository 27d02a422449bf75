import Foundation
import Testing

@testable import Cambium

/// What is told of openings, requests, saves and batches. Serialized, since lines of the log are the process's.
@Suite(.serialized) struct StoreEventTests {
  private final class Told: @unchecked Sendable {
    // `@unchecked`: touched with `lock` held only.
    private let lock = NSLock()
    private var events: [StoreEvent] = []

    func note(_ event: StoreEvent) { lock.withLock { events.append(event) } }
    /// What has come since this was last asked.
    func take() -> [StoreEvent] {
      lock.withLock {
        defer { events = [] }
        return events
      }
    }
  }

  /// The outcome of the only thing that was told, which has begun and ended.
  private func outcome(_ events: [StoreEvent]) throws -> StoreEvent.Outcome {
    try #require(events.count == 2 && events[0].id == events[1].id, "\(events)")
    guard case .begin = events[0].phase, case .end(let outcome) = events[1].phase else {
      throw CambiumError(.coreData, "\(events)")
    }
    #expect("\(events[0].activity)" == "\(events[1].activity)")
    return outcome
  }

  @Test func everythingIsTold() throws {
    let directory = try TemporaryDirectory()
    let told = Told()
    let model = try FlightModel.make()
    let container = PersistentContainer(name: "flights", managedObjectModel: model)
    let url = directory.url.appendingPathComponent("flights.cambium")
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
    container.persistentStoreCoordinator.setEventHandler(explainingFetches: true) { told.note($0) }
    try container.loadPersistentStores()
    var events = told.take()
    #expect(try outcome(events).error == nil)
    guard case .opening(url)? = events.first?.activity else { throw CambiumError(.coreData, "\(events)") }

    let context = container.newBackgroundContext()
    context.name = "import"
    context.transactionAuthor = "test"
    for number in 0..<5 { try context.make("Aircraft", ["tailNumber": "N\(number)", "engines": 1]) }
    #expect(told.take().isEmpty)
    try context.save()
    events = told.take()
    #expect(try outcome(events).count == 5)
    #expect(try outcome(events).duration > .zero)
    #expect(events[0].contextName == "import" && events[0].author == "test")
    guard case .save(inserted: 5, updated: 0, deleted: 0) = events[0].activity else {
      throw CambiumError(.coreData, "\(events)")
    }
    #expect(events[1].description.hasPrefix("[import] save 5 inserted, 0 updated, 0 deleted: 5, "))

    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    request.predicate = try FetchPredicate(format: "tailNumber == %@", "N3")
    let found = try context.fetch(request)
    events = told.take()
    #expect(try outcome(events).count == 1)
    container.persistentStoreCoordinator.setEventHandler(nil)
    #expect(try outcome(events).plan == context.explain(request))
    guard case .fetch(entityName: "Aircraft", let predicate, .managedObject) = events[0].activity else {
      throw CambiumError(.coreData, "\(events)")
    }
    #expect(predicate?.contains("N3") == true)
    // Not with each event.
    container.persistentStoreCoordinator.setEventHandler { told.note($0) }
    #expect(try context.count(for: request) == 1)
    events = told.take()
    #expect(try outcome(events).count == 1 && outcome(events).plan == nil)

    found[0].setValue(2, forKey: "engines")
    context.delete(try #require(try context.all("Aircraft", "tailNumber == 'N4'").first))
    _ = told.take()
    try context.save()
    events = told.take()
    guard case .save(inserted: 0, updated: 1, deleted: 1) = events[0].activity else {
      throw CambiumError(.coreData, "\(events)")
    }

    // What fails, and why.
    found[0].setValue(99, forKey: "engines")
    #expect(throws: CambiumError.self) { try context.save() }
    #expect(try outcome(told.take()).error?.code == .validationNumberTooLarge)
    request.predicate = try FetchPredicate(format: "nothing == 1")
    #expect(throws: CambiumError.self) { try context.fetch(request) }
    #expect(try outcome(told.take()).error != nil)
    found[0].setValue("x", forKey: "nothing")
    events = told.take()
    #expect(events.count == 1)
    guard case .recordedError(let error)? = events.first?.activity, case .moment? = events.first?.phase else {
      throw CambiumError(.coreData, "\(events)")
    }
    #expect(error.code == .unknownKey && error.key == "nothing")
    context.rollback()

    // Batches, and what children do.
    var update = BatchUpdateRequest(entityName: "Aircraft")
    update.propertiesToUpdate = ["engines": 4]
    try context.execute(update)
    events = told.take()
    #expect(try outcome(events).count == 4)
    guard case .batch(.update, entityName: "Aircraft") = events[0].activity else {
      throw CambiumError(.coreData, "\(events)")
    }
    try context.execute(BatchInsertRequest(entityName: "Aircraft", objects: [["tailNumber": "X"]]))
    #expect(try outcome(told.take()).count == 1)
    try context.execute(BatchDeleteRequest(objectIDs: [found[0].objectID]))
    #expect(try outcome(told.take()).count == 1)
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
    child.name = "child"
    #expect(try child.all("Aircraft").count == 4)
    events = told.take()
    #expect(try outcome(events).count == 4 && events[0].contextName == "child")

    container.persistentStoreCoordinator.setEventHandler(nil)
    _ = try context.all("Aircraft")
    #expect(told.take().isEmpty)
  }

  @Test func linesOfTheLog() throws {
    let directory = try TemporaryDirectory()
    // Other tests run meanwhile, with contexts of other names.
    let name = "logged \(UUID().uuidString)"
    let context = try directory.container().newBackgroundContext()
    context.name = name
    try LoggedLines.collect(.request, isOn: false) { told in
      _ = try context.all("Aircraft", "tailNumber == 'N1'")
      #expect(!told.take().contains { $0.contains(name) })
      DebugLog.set(.request, isOn: true)
      _ = try context.all("Aircraft", "tailNumber == 'N1'")
      let lines = told.take().filter { $0.contains(name) }
      #expect(lines.count == 1)
      #expect(lines.first?.hasPrefix("[\(name)] fetch Aircraft where tailNumber == ") == true)
      #expect(lines.first?.hasSuffix(" us") == true)
    }
  }
}
