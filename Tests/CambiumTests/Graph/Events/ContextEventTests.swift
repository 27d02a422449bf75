import CambiumNotifications
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Events of contexts: what is told when, to whom, and what of it other contexts take in.
@Suite struct ContextEventTests {
  /// What was told, by names, in order.
  private final class Told: Sendable {
    private let lines = Locked<[String]>([])

    func add(_ notification: ContextNotification) {
      func names(_ objects: Set<ManagedObject>) -> String {
        objects.map { "\($0.value(forKey: "tailNumber") ?? "-")" }.sorted().joined(separator: ",")
      }
      var line = notification.kind.rawValue
      if !notification.insertedObjects.isEmpty { line += " +" + names(notification.insertedObjects) }
      if !notification.updatedObjects.isEmpty { line += " ~" + names(notification.updatedObjects) }
      if !notification.deletedObjects.isEmpty { line += " -\(notification.deletedObjects.count)" }
      if !notification.refreshedObjects.isEmpty { line += " r\(notification.refreshedObjects.count)" }
      if notification.isInvalidatedAll { line += " all" }
      if notification.kind == .didMergeChanges { line += " \(notification.objectIDs.updatedObjectIDs.count)" }
      let done = line
      lines.withLock { $0.append(done) }
    }

    func take() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  @Test func whatIsTold() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let context = container.newBackgroundContext()
    let told = Told()
    let observation = context.observe { told.add($0) }
    try context.performAndWait {
      let a = try context.make("Aircraft", ["tailNumber": "N1"])
      let b = try context.make("Aircraft", ["tailNumber": "N2"])
      #expect(told.take().isEmpty)
      context.processPendingChanges()
      #expect(told.take() == ["objectsDidChange +N1,N2"])
      context.processPendingChanges()
      #expect(told.take().isEmpty)
      a.setValue("N3", forKey: "tailNumber")
      let c = try context.make("Aircraft", ["tailNumber": "N4"])
      context.delete(c)
      try context.save()
      #expect(told.take() == ["objectsDidChange ~N3", "willSave", "didSave +N2,N3"])
      try context.save()
      #expect(told.take().isEmpty)
      a.setValue("N5", forKey: "tailNumber")
      context.delete(b)
      try context.save()
      #expect(told.take() == ["objectsDidChange ~N5 -1", "willSave", "didSave ~N5 -1"])
      _ = try context.all("Aircraft")
      context.processPendingChanges()
      #expect(told.take().isEmpty)
      a.setValue("N6", forKey: "tailNumber")
      context.rollback()
      #expect(told.take() == ["objectsDidChange r1"])
      context.refresh(a, mergeChanges: false)
      context.processPendingChanges()
      #expect(told.take() == ["objectsDidChange r1"])
      context.reset()
      #expect(told.take() == ["objectsDidChange all"])
      observation.cancel()
      try context.make("Aircraft", [:])
      context.processPendingChanges()
      #expect(told.take().isEmpty)
    }
  }

  @Test func valuesOfTheEvent() throws {
    let context = try memoryContainer().newBackgroundContext()
    try context.performAndWait {
      let pilot = try context.make("Pilot", ["name": "Amelia"])
      let first = try context.make("LogEntry", ["number": 1])
      pilot.setValue(Set([first]), forKey: "logEntries")
      #expect(Set(pilot.changedValuesForCurrentEvent().keys) == ["name", "logEntries"])
      #expect(pilot.changedValuesForCurrentEvent()["name"]! == nil)
      try context.save()
      #expect(pilot.changedValuesForCurrentEvent().isEmpty)
      pilot.setValue("Bessie", forKey: "name")
      context.processPendingChanges()
      #expect(pilot.changedValuesForCurrentEvent().isEmpty)
      pilot.setValue("Charles", forKey: "name")
      let second = try context.make("LogEntry", ["number": 2])
      pilot.setValue(Set([second]), forKey: "logEntries")
      let seen = Locked("")
      let observation = context.observe { notification in
        guard notification.kind == .objectsDidChange else { return }
        for object in notification.updatedObjects where object.entity.name == "Pilot" {
          let values = object.changedValuesForCurrentEvent()
          let entries = values["logEntries"] as? Set<ManagedObject> ?? []
          let numbers = entries.map { "\($0.value(forKey: "number") ?? "-")" }
          let text = "\(values.keys.sorted()) \(values["name"].flatMap { $0 } ?? "") \(numbers)"
          seen.withLock { $0 = text }
        }
      }
      context.processPendingChanges()
      #expect(seen.withLock { $0 } == #"["logEntries", "name"] Bessie ["1"]"#)
      #expect(pilot.changedValues().keys.sorted() == ["logEntries", "name"])
      withExtendedLifetime(observation) {}
    }
  }

  @Test func eventsEndWithBlocks() async throws {
    let context = try memoryContainer().newBackgroundContext()
    let told = Told()
    let observation = context.observe { told.add($0) }
    try await context.perform { _ = try context.make("Aircraft", ["tailNumber": "N1"]) }
    #expect(told.take() == ["objectsDidChange +N1"])
    withExtendedLifetime(observation) {}
  }

  @Test func eventsToBeUsedAnywhere() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let context = container.newBackgroundContext()
    let other = container.newBackgroundContext()
    let events = context.events([.didSave])
    let id = try context.performAndWait {
      let a = try context.make("Aircraft", ["tailNumber": "N1"])
      try context.save()
      return a.objectID
    }
    let found = try other.performAndWait { try other.existingObject(with: id).value(forKey: "tailNumber") as? String }
    #expect(found == "N1")
    let kept = other.performAndWait { other.object(with: id) }
    let told = Told()
    let observation = other.observe { told.add($0) }
    try context.performAndWait {
      context.object(with: id).setValue("N2", forKey: "tailNumber")
      try context.save()
    }
    var seen: [ContextEvent] = []
    for await event in events {
      seen.append(event)
      if seen.count == 2 { break }
    }
    #expect(seen[0].objectIDs.insertedObjectIDs == [id])
    #expect(seen[1].objectIDs.updatedObjectIDs == [id])
    other.performAndWait {
      #expect(kept.value(forKey: "tailNumber") as? String == "N1")
      other.mergeChanges(fromContextDidSave: seen[1])
      #expect(kept.value(forKey: "tailNumber") as? String == "N2")
    }
    #expect(told.take() == ["objectsDidChange r1", "didMergeChanges 1"])
    withExtendedLifetime(observation) {}
  }

  @Test func streamsEndWithTheContext() async throws {
    let container = try memoryContainer()
    var context: ManagedObjectContext? = container.newBackgroundContext()
    let events = try #require(context).events()
    try context?.performAndWait { _ = try context?.make("Aircraft", [:]) }
    context?.processPendingChanges()
    context = nil
    var kinds: [ContextNotification.Kind] = []
    for await event in events { kinds.append(event.kind) }
    #expect(kinds == [.objectsDidChange])
  }

  @Test func streamsEndThoughObservationsAreKept() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    var context: ManagedObjectContext? = container.newBackgroundContext()
    let events = try #require(context).events()
    let observation = try #require(context).observe { _ in }
    weak var observers: ContextObservers?
    observers = context?.events.observers
    context = nil
    // Otherwise the stream would never end.
    try #require(observers == nil)
    var count = 0
    for await _ in events { count += 1 }
    #expect(count == 0)
    withExtendedLifetime(observation) {}
  }

  @Test func streamsWithABound() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    var context: ManagedObjectContext? = container.newBackgroundContext()
    let newest = try #require(context).events([.didSave], bufferingPolicy: .bufferingNewest(2))
    let all = try #require(context).events([.didSave])
    var identifiers: [ManagedObjectID] = []
    for number in 0..<5 {
      try context?.performAndWait {
        let entry = try context?.make("LogEntry", ["number": number])
        try context?.save()
        identifiers += entry.map { [$0.objectID] } ?? []
      }
    }
    context = nil
    var (seen, seenOfAll): ([ManagedObjectID], [ManagedObjectID]) = ([], [])
    for await event in newest { seen += event.objectIDs.insertedObjectIDs }
    for await event in all { seenOfAll += event.objectIDs.insertedObjectIDs }
    #expect(seen == identifiers.suffix(2))
    #expect(seenOfAll == identifiers)
  }

  /// One who is told ends an event of its own; who is told after it still learns what the first event changed.
  @Test func eventsWithinEvents() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container().newBackgroundContext()
    try context.performAndWait {
      let aircraft = try context.make("Aircraft", ["tailNumber": "N1"])
      try context.save()
      let first = context.observe { notification in
        guard notification.updatedObjects.contains(where: { $0.entity.name == "Aircraft" }) else { return }
        _ = try? notification.context.make("LogEntry", ["number": 1])
        notification.context.processPendingChanges()
      }
      let seen = Locked<[String]>([])
      let second = context.observe { notification in
        guard notification.kind == .objectsDidChange else { return }
        for object in notification.updatedObjects.union(notification.insertedObjects) {
          let line = "\(object.entity.name) \(object.changedValuesForCurrentEvent().keys.sorted())"
          seen.withLock { $0.append(line) }
        }
      }
      aircraft.setValue("N2", forKey: "tailNumber")
      context.processPendingChanges()
      #expect(seen.withLock { $0 } == [#"LogEntry ["number"]"#, #"Aircraft ["tailNumber"]"#])
      #expect(aircraft.changedValuesForCurrentEvent().isEmpty)
      withExtendedLifetime((first, second)) {}
    }
  }

  @Test func notificationCenter() throws {
    let container = try memoryContainer()
    let context = container.newBackgroundContext()
    let other = container.newBackgroundContext()
    CambiumNotifications.start()
    CambiumNotifications.start()
    defer { CambiumNotifications.stop() }
    let names = Locked<[String]>([])
    let tokens = [
      ManagedObjectContext.didChangeObjectsNotification, ManagedObjectContext.willSaveObjectsNotification,
      ManagedObjectContext.didSaveObjectsNotification, ManagedObjectContext.didSaveObjectIDsNotification,
    ].map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
        let objects = notification.userInfo?["inserted"] as? Set<ManagedObject> ?? []
        let identifiers = notification.userInfo?["inserted_objectIDs"] as? Set<ManagedObjectID> ?? []
        let line = "\(notification.name.rawValue) \(objects.count) \(identifiers.count)"
        names.withLock { $0.append(line) }
        other.mergeChanges(fromContextDidSave: notification)
      }
    }
    try context.performAndWait {
      try context.make("Aircraft", [:])
      try context.save()
    }
    for token in tokens { NotificationCenter.default.removeObserver(token) }
    #expect(
      names.withLock { $0 } == [
        "CambiumObjectsDidChangeInManagedObjectContext 1 0", "CambiumManagedObjectContextWillSave 0 0",
        "CambiumManagedObjectContextDidSave 1 0", "CambiumManagedObjectContextDidSaveObjectIDs 0 1",
      ])
  }

  /// A class that notes which of its hooks were called.
  private final class Watched: ManagedObject {
    var calls: [String] = []
    override func awakeFromInsert() { calls.append("insert") }
    override func awakeFromFetch() { calls.append("fetch") }
    override func awake(fromSnapshotEvents flags: SnapshotEventType) { calls.append("snapshot \(flags.rawValue)") }
    override func willTurnIntoFault() { calls.append("will fault \(value(forKey: "tailNumber") as? String ?? "-")") }
    override func didTurnIntoFault() { calls.append("did fault \(isFault)") }
    override func willSave() { calls.append("will save") }
    override func didSave() { calls.append("did save") }

    func take() -> [String] {
      defer { calls = [] }
      return calls
    }
  }

  @Test func hooks() throws {
    let model = try ManagedObjectModel {
      Entity("Watched") { Attribute("tailNumber", .string) }
    }
    let context = try memoryContainer(model).newBackgroundContext()
    try context.performAndWait {
      let object = Watched(context: context)
      object.setValue("N1", forKey: "tailNumber")
      try context.save()
      #expect(object.take() == ["insert", "will save", "did save"])
      context.refresh(object, mergeChanges: false)
      #expect(object.take() == ["will fault N1", "did fault true", "snapshot 32"])
      context.refresh(object, mergeChanges: false)
      #expect(object.take() == ["snapshot 32"])
      _ = object.value(forKey: "tailNumber")
      #expect(object.take() == ["fetch"])
      object.setValue("N2", forKey: "tailNumber")
      context.rollback()
      #expect(object.take() == ["snapshot 16"])
      context.undoManager = ContextUndoManager()
      object.setValue("N3", forKey: "tailNumber")
      context.undo()
      #expect(object.take() == ["snapshot 8"])
      context.delete(object)
      context.undo()
      context.redo()
      #expect(object.take() == ["snapshot 4", "snapshot 2"])
    }
  }

  /// What policies and others' changes do to an object with changes of its own.
  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback])
  func hooksOfWhatIsMerged(_ policy: MergePolicy) throws {
    let model = try ManagedObjectModel {
      Entity("Watched") {
        Attribute("tailNumber", .string)
        Attribute("seats", .integer64)
      }
    }
    let container = try memoryContainer(model)
    let context = container.newBackgroundContext()
    let object = Watched(context: context)
    try context.save()
    func changeElsewhere(_ seats: Int) throws {
      let other = container.newBackgroundContext()
      try other.existingObject(with: object.objectID).set(seats, forKey: "seats")
      try other.save()
    }
    context.mergePolicy = policy
    _ = object.value(forKey: "tailNumber")
    object.setValue("N1", forKey: "tailNumber")
    try changeElsewhere(1)
    _ = object.take()
    try context.save()
    #expect(object.take().filter { $0 == "snapshot 64" } == ["snapshot 64"])
    // And what is based on others' changes is told so.
    object.setValue("N2", forKey: "tailNumber")
    try changeElsewhere(2)
    _ = object.take()
    context.refreshAllObjects()
    #expect(object.take() == ["snapshot 32"] && object.value(forKey: "seats") as? Int == 2)
    try changeElsewhere(3)
    var changes = ObjectIDNotification()
    changes.updatedObjectIDs = [object.objectID]
    context.mergeChanges(fromContextDidSave: changes)
    #expect(object.take() == ["snapshot 32"] && object.value(forKey: "seats") as? Int == 3)
    #expect(object.value(forKey: "tailNumber") as? String == "N2")
  }
}
