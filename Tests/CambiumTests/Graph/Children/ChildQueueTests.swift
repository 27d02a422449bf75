import CambiumSystem
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Where the main thread ends with the program's first function, the main queue has another one.
private let mainQueueKey: DispatchSpecificKey<Bool> = {
  let key = DispatchSpecificKey<Bool>()
  DispatchQueue.main.setSpecific(key: key, value: true)
  return key
}()

private func isOnMainQueue() -> Bool { DispatchQueue.getSpecific(key: mainQueueKey) == true }

/// Parents and children on different threads, of which the main thread uses objects without a lock.
@MainActor @Suite struct ChildQueueTests {
  private final class Noted<Element: Sendable>: Sendable {
    private let list = Locked<[Element]>([])
    var all: [Element] { list.withLock { $0 } }
    func add(_ element: Element) { list.withLock { $0.append(element) } }
  }

  /// Runs a block on another thread, while the main thread waits and does nothing else.
  private func elsewhere(_ body: @escaping @Sendable () throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    let errors = Noted<String>()
    Thread.detachNewThread {
      do { try body() } catch { errors.add("\(error)") }
      done.signal()
    }
    done.wait()
    #expect(errors.all.isEmpty)
  }

  /// Waits for the blocks that wait for a context's queue.
  private func turn(of context: ManagedObjectContext) async {
    await withCheckedContinuation { continuation in context.perform { continuation.resume() } }
  }

  // MARK: Identifiers

  @Test func aMainQueueChildIsNotRenamedByAnotherThread() async throws {
    let directory = try TemporaryDirectory()
    let writer = try directory.container().newBackgroundContext()
    let child = ManagedObjectContext(concurrencyType: .mainQueue, parent: writer)
    let aircraft = try child.make("Aircraft", ["tailNumber": "A"])
    try child.save()
    elsewhere { try writer.performAndWait { try writer.save() } }
    // It may be in use at this moment.
    #expect(aircraft.objectID.isTemporaryID)
    await turn(of: child)
    #expect(!aircraft.objectID.isTemporaryID)
    #expect(try child.all("Aircraft").first === aircraft)
    // On the main thread there is nobody whom it could disturb.
    let other = try child.make("Aircraft", ["tailNumber": "B"])
    try child.save()
    try writer.performAndWait { try writer.save() }
    #expect(SystemEnvironment.isMainThread() == !other.objectID.isTemporaryID)
    withExtendedLifetime(directory) {}
  }

  @Test func anObjectIsFoundByTheNameThatItHasByNow() throws {
    let directory = try TemporaryDirectory()
    let root = try directory.container().newBackgroundContext()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
    try child.performAndWait {
      let aircraft = try child.make("Aircraft", ["tailNumber": "A"])
      try child.save()
      let saved = Noted<ManagedObjectID>()
      // The child is busy, and finds the identifier in its mail.
      elsewhere {
        try root.performAndWait {
          try root.save()
          for object in try root.all("Aircraft") { saved.add(object.objectID) }
        }
      }
      let id = try #require(saved.all.first)
      #expect(!id.isTemporaryID)
      #expect(child.object(with: id) === aircraft)
      #expect(aircraft.objectID == id)
    }
    withExtendedLifetime(directory) {}
  }

  @Test func aRowHasOneObjectInTheParent() throws {
    let directory = try TemporaryDirectory()
    let root = try directory.container().newBackgroundContext()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
    let aircraft = try child.make("Aircraft", ["tailNumber": "A"])
    let entry = try child.make("LogEntry", ["number": 1, "aircraft": aircraft])
    try child.obtainPermanentIDs(for: [aircraft, entry])
    let early = root.object(with: aircraft.objectID)
    let read = root.object(with: entry.objectID)
    #expect(read.value(forKey: "number") == nil)
    #expect(read.isDeleted)
    try child.save()
    #expect(root.object(with: aircraft.objectID) === early)
    #expect(early.isInserted && read.isInserted)
    #expect(early.value(forKey: "tailNumber") as? String == "A")
    #expect(read.value(forKey: "aircraft") as? ManagedObject === early)
    early.setValue("B", forKey: "tailNumber")
    read.setValue(2, forKey: "number")
    try root.save()
    let reader = try directory.container().newBackgroundContext()
    #expect(try reader.all("LogEntry", "aircraft.tailNumber == 'B' AND number == 2").count == 1)
    #expect(try reader.all("Aircraft").count == 1)
    withExtendedLifetime(directory) {}
  }

  // MARK: Telling

  private final class Delegate: FetchedResultsControllerDelegate {
    let threads = Noted<Bool>()
    func controllerDidChangeContent<Result>(_ controller: FetchedResultsController<Result>) {
      threads.add(isOnMainQueue())
    }
  }

  @Test func aMainQueueParentTellsOnTheMainThread() async throws {
    let directory = try TemporaryDirectory()
    let view = try directory.container().viewContext
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: view)
    view.undoManager = ContextUndoManager()
    let controller = FetchedResultsController(
      fetchRequest: FetchRequest<ManagedObject>(entityName: "Aircraft"), managedObjectContext: view)
    try controller.performFetch()
    let delegate = Delegate()
    controller.delegate = delegate
    let told = Noted<String>()
    let observation = view.observe { notification in
      let tails = notification.insertedObjects.compactMap { $0.value(forKey: "tailNumber") as? String }
      let changed = notification.insertedObjects.map { $0.changedValuesForCurrentEvent().isEmpty }
      told.add("\(tails) \(changed) \(isOnMainQueue())")
    }
    // What the main thread has begun is told before what the child brings, and is another event.
    try view.make("Aircraft", ["tailNumber": "Mine"])
    elsewhere {
      try child.performAndWait {
        try child.make("Aircraft", ["tailNumber": "Child's"])
        try child.save()
      }
    }
    #expect(told.all.isEmpty)
    #expect(delegate.threads.all.isEmpty)
    #expect(controller.fetchedObjects?.isEmpty == true)
    await turn(of: view)
    #expect(told.all == [#"["Mine"] [false] true"#, #"["Child\'s"] [false] true"#])
    #expect(delegate.threads.all == [true, true])
    #expect(controller.fetchedObjects?.count == 2)
    view.undo()
    #expect(try view.all("Aircraft").map { $0.value(forKey: "tailNumber") as? String } == ["Mine"])

    // In a block of the parent, and on the main thread, at once.
    elsewhere {
      try view.performAndWait {
        let count = told.all.count
        try child.make("Aircraft", [:])
        try child.save()
        #expect(told.all.count == count + 1)
      }
    }
    let count = told.all.count
    try child.make("Aircraft", [:])
    try child.save()
    #expect(told.all.count == (SystemEnvironment.isMainThread() ? count + 1 : count))
    withExtendedLifetime((directory, observation)) {}
  }

  @Test func whatIsMergedIntoSeveralContextsComesToTheirQueues() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let (view, background, other) = (
      container.viewContext, container.newBackgroundContext(), container.newBackgroundContext()
    )
    let aircraft = try view.make("Aircraft", ["tailNumber": "A"])
    try view.save()
    let id = aircraft.objectID
    #expect(aircraft.value(forKey: "tailNumber") as? String == "A")
    let told = Noted<String>()
    let observations = [("view", view), ("background", background)].map { (name, context) in
      context.observe { if $0.kind == .didMergeChanges { told.add("\(name) \(isOnMainQueue())") } }
    }
    elsewhere {
      try other.performAndWait {
        try other.existingObject(with: id).set("B", forKey: "tailNumber")
        try other.save()
      }
      var changes = ObjectIDNotification()
      changes.updatedObjectIDs = [id]
      ManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [view, background])
    }
    #expect(told.all == ["background false"])
    #expect(aircraft.value(forKey: "tailNumber") as? String == "A")
    await turn(of: view)
    #expect(told.all == ["background false", "view true"])
    #expect(aircraft.value(forKey: "tailNumber") as? String == "B")
    withExtendedLifetime((directory, observations)) {}
  }

  /// On Linux the main actor goes on by another thread than the main one once something was waited for.
  @Test func whatIsMergedOnTheMainActorIsTakenInAtOnce() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let (view, other) = (container.viewContext, container.newBackgroundContext())
    let aircraft = try view.make("Aircraft", ["tailNumber": "A"])
    try view.save()
    let id = aircraft.objectID
    #expect(aircraft.value(forKey: "tailNumber") as? String == "A")
    for tail in ["B", "C", "D"] {
      try await other.perform {
        try other.existingObject(with: id).set(tail, forKey: "tailNumber")
        try other.save()
      }
      #expect(aircraft.value(forKey: "tailNumber") as? String != tail)
      ManagedObjectContext.mergeChanges(fromRemoteContextSave: ObjectIDNotification(updated: [id]), into: [view])
      #expect(aircraft.value(forKey: "tailNumber") as? String == tail)
    }
    // From elsewhere it waits for the queue.
    try await other.perform {
      try other.existingObject(with: id).set("E", forKey: "tailNumber")
      try other.save()
    }
    elsewhere {
      ManagedObjectContext.mergeChanges(fromRemoteContextSave: ObjectIDNotification(updated: [id]), into: [view])
    }
    #expect(aircraft.value(forKey: "tailNumber") as? String == "D")
    await turn(of: view)
    #expect(aircraft.value(forKey: "tailNumber") as? String == "E")
    withExtendedLifetime(directory) {}
  }

  // MARK: Failing

  @Test func aFailedSaveOfAChildLeavesWhatObserversChanged() throws {
    let directory = try TemporaryDirectory()
    let root = try directory.container().newBackgroundContext()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
    let aircraft = try root.make("Aircraft", ["tailNumber": "A"])
    let note = try root.make("Aircraft", ["tailNumber": "B", "engines": 0])
    try root.save()
    let id = note.objectID
    let observation = root.observe { notification in
      // Changes something in turn, and once more because of that.
      guard notification.kind == .objectsDidChange else { return }
      let note = notification.context.object(with: id)
      let count = note.value(forKey: "engines") as? Int ?? 0
      if count < 2 { note.setValue(count + 1, forKey: "engines") }
    }
    child.object(with: aircraft.objectID).setValue("Child's", forKey: "tailNumber")
    aircraft.setValue("Parent's", forKey: "tailNumber")
    #expect(cambiumError { try child.save() }?.code == .managedObjectMerge)
    #expect(aircraft.value(forKey: "tailNumber") as? String == "Parent's")
    #expect(note.value(forKey: "engines") as? Int == 2)
    try root.save()
    let reader = try directory.container().newBackgroundContext()
    #expect(try reader.all("Aircraft", "engines == 2 AND tailNumber == 'B'").count == 1)
    withExtendedLifetime((directory, observation)) {}
  }
}
