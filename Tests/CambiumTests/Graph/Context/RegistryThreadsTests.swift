import Foundation
import Testing

@testable import Cambium

/// Objects that are let go of on other threads, and contexts that go while their objects are used.
@Suite struct RegistryThreadsTests {
  /// Hands objects from one thread to another.
  private final class Box: @unchecked Sendable {
    // `@unchecked`: touched with `lock` held only.
    private let lock = NSCondition()
    private var objects: [ManagedObject] = []
    private var isClosed = false

    func put(_ new: [ManagedObject]) {
      lock.withLock { objects += new }
      lock.signal()
    }

    func close() {
      lock.withLock { isClosed = true }
      lock.broadcast()
    }

    /// What there is, as soon as there is any; nil at the end.
    func take() -> [ManagedObject]? {
      lock.withLock {
        while objects.isEmpty && !isClosed { lock.wait() }
        defer { objects = [] }
        return objects.isEmpty ? nil : objects
      }
    }
  }

  /// Runs blocks on threads of their own, and waits for them.
  private func together(_ blocks: [@Sendable () -> Void]) async {
    // What the threads did comes before what the test does next: Thread Sanitizer knows that of locks, and not of
    // continuations where the code is optimized.
    let fence = NSLock()
    defer { fence.withLock {} }
    await withTaskGroup(of: Void.self) { group in
      for block in blocks {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread.detachNewThread {
              block()
              fence.withLock {}
              continuation.resume()
            }
          }
        }
      }
    }
  }

  private func filled(_ directory: TemporaryDirectory, _ count: Int) throws -> PersistentContainer {
    let container = try directory.container()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let airport = try context.make("Airport", ["faaIdentifier": "KPAO"])
      for number in 0..<count { try context.make("LogEntry", ["number": number, "origin": airport]) }
      try context.save()
    }
    return container
  }

  @Test func lastReferencesAreDroppedElsewhere() async throws {
    let directory = try TemporaryDirectory()
    let container = try filled(directory, 400)
    let context = container.newBackgroundContext()
    let (box, failures) = (Box(), Failures())
    await together([
      {
        // Looks for objects that nobody holds while others let go of them.
        failures.note {
          for round in 0..<60 {
            try context.performAndWait {
              let all = try context.all("LogEntry")
              try #require(all.count == 400)
              box.put(all)
              try #require(Set(all.map { ObjectIdentifier($0) }).count == 400)
            }
            context.performAndWait { context.registry.sweep() }
            // One object of a row at a time, whoever holds it.
            try context.performAndWait {
              let known = try context.all("LogEntry", "number < 40")
              let again = try context.all("LogEntry", "number < 40")
              try #require(zip(known, again).allSatisfy { $0 === $1 }, "round \(round)")
              for object in known { try #require(try object.get("number", as: Int.self) != nil) }
            }
          }
        }
        box.close()
      },
      { while let objects = box.take() { withExtendedLifetime(objects) {} } },
      {
        while let objects = box.take() {
          var rest = objects
          while !rest.isEmpty { rest.removeLast() }
        }
      },
    ])
    #expect(failures.all.isEmpty, "\(failures.all)")
    #expect(context.registeredObjects.isEmpty)
  }

  private final class Holder: @unchecked Sendable {
    // `@unchecked`: set before the threads begin, and touched by one of them.
    var context: ManagedObjectContext?
    init(_ context: ManagedObjectContext) { self.context = context }
  }

  @Test func contextsGoWhileTheirObjectsAreUsed() async throws {
    let directory = try TemporaryDirectory()
    let container = try filled(directory, 50)
    for round in 0..<40 {
      let failures = Failures()
      let holder = Holder(container.newBackgroundContext())
      let box = Box()
      let objects = try #require(try holder.context?.all("LogEntry"))
      // Some of their rows have been read, some have not, and one has changes.
      for object in objects.prefix(20) { _ = object.value(forKey: "number") }
      objects[0].setValue(1.5, forKey: "duration")
      box.put(objects)
      box.close()
      await together([
        { holder.context = nil },
        {
          let objects = box.take() ?? []
          for object in objects + objects {
            // The value, or none: the context may be gone, as may its store be for all that the object knows.
            let number = object.value(forKey: "number")
            if let number, !(number is Int) { failures.note("\(number)") }
            if let origin = object.value(forKey: "origin") as? ManagedObject {
              let name = origin.value(forKey: "faaIdentifier") as? String
              if let name, name != "KPAO" { failures.note(name) }
            }
            object.setValue("late", forKey: "remarks")
            _ = object.hasChanges || object.isFault || object.description.isEmpty
          }
        },
      ])
      #expect(failures.all.isEmpty, "\(failures.all), round \(round)")
      // Nothing keeps the context, and what is without it says so.
      let object = objects[1]
      #expect(object.managedObjectContext == nil)
      #expect(cambiumError { _ = try object.objectIDs(forRelationshipNamed: "pilots") }?.code == .invalidArgument)
    }
    // Nothing of what had no context was saved.
    let reader = container.newBackgroundContext()
    #expect(try reader.all("LogEntry", "remarks == 'late'").isEmpty)
  }

  /// Thread-safe.
  private final class Failures: @unchecked Sendable {
    // `@unchecked`: touched with `lock` held only.
    private let lock = NSLock()
    private var texts: [String] = []
    var all: [String] { lock.withLock { texts } }
    func note(_ text: String) { lock.withLock { texts.append(text) } }
    func note(_ body: () throws -> Void) { do { try body() } catch { note("\(error)") } }
  }

  // MARK: Identifiers

  /// Temporary identifiers are understood for long, and not for ever.
  @Test func oldTemporaryIdentifiersAreForgotten() throws {
    let container = try memoryContainer()
    let parent = container.newBackgroundContext()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    for context in [parent, child] { context.family.permanentIDs.limit = 50 }
    var temporary: [ManagedObjectID] = []
    var permanent: [ManagedObjectID] = []
    for number in 0..<200 {
      let object = try child.make("Aircraft", ["tailNumber": "N\(number)"])
      temporary.append(object.objectID)
      try child.save()
      try parent.save()
      permanent.append(object.objectID)
      #expect(!object.objectID.isTemporaryID)
    }
    for context in [parent, child] {
      #expect(context.family.permanentIDs.count <= 100)
      #expect(context.object(with: temporary[199]).objectID == permanent[199])
      #expect(context.object(with: temporary[151]).objectID == permanent[151])
      #expect(context.family.permanentIDs[temporary[0]] == nil)
      context.reset()
      #expect(context.family.permanentIDs.count == 0)
    }
  }
}
