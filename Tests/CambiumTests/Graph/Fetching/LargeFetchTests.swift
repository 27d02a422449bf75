import Foundation
import Testing

@testable import Cambium
@testable import CambiumEngine

/// Fetches of so many objects that rows are copied by other threads while those before them become objects.
@Suite(.serialized) struct LargeFetchTests {
  /// Has something done while it is being made.
  final class Passenger: ManagedObject {
    /// What is done, once, when so many have been made.
    nonisolated(unsafe) static var event: (after: Int, work: () throws -> Void)?
    nonisolated(unsafe) static var made = 0
    nonisolated(unsafe) static var failure: (any Error)?

    required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
      super.init(entity: entity, insertInto: context)
      Self.made += 1
      guard let event = Self.event, Self.made == event.after else { return }
      Self.event = nil
      do { try event.work() } catch { Self.failure = error }
    }

    @Managed var number: Int
    @Managed var name: String?
  }

  private static let count = 40_000
  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    let model = try ManagedObjectModel {
      Entity("Passenger", class: Passenger.self) {
        Attribute("number", .integer32)
        Attribute("name", .string)
      }
      Entity("Bag") { Attribute("number", .integer32) }
    }
    container = try directory.container(model: model)
    context = container.newBackgroundContext()
    try container.newBackgroundContext().execute(
      BatchInsertRequest(
        entityName: "Passenger", objects: (0..<Self.count).map { ["number": $0, "name": "p\($0 % 100)"] }))
    Passenger.event = nil
    Passenger.made = 0
    Passenger.failure = nil
  }

  private func all(_ format: String? = nil) throws -> [Passenger] {
    let request = FetchRequest<Passenger>()
    request.predicate = try format.map { try FetchPredicate(format: $0) }
    return try context.fetch(request)
  }

  /// What `body` does is done when `after` objects of a fetch have been made.
  private func fetch(after: Int, _ body: @escaping () throws -> Void) throws -> [Passenger] {
    Passenger.made = 0
    Passenger.event = (after, body)
    defer { Passenger.event = nil }
    let found = try all()
    if let failure = Passenger.failure { throw failure }
    #expect(Passenger.event == nil)
    return found
  }

  @Test func givesAllOfThemInOrder() throws {
    let found = try all()
    var isRight = found.count == Self.count && found.allSatisfy { $0.isFault }
    #expect(isRight)
    isRight = found.enumerated().allSatisfy { $1.number == $0 && $1.name == "p\($0 % 100)" }
    #expect(isRight)
    isRight =
      try all("number >= 100 AND name == 'p7'").map(\.number) == Array(stride(from: 107, to: Self.count, by: 100))
    #expect(isRight)
    // The same objects once more.
    isRight = try all() == found
    #expect(isRight)
  }

  @Test func showsTheCommitAndKeepsUnsavedChanges() throws {
    let before = try all("number IN {5, 6, 7, 30000, 30001}")
    #expect(before.map(\.number) == [5, 6, 7, 30_000, 30_001])
    before[0].name = "own"
    context.delete(before[3])
    let other = container.newBackgroundContext()
    let theirs = try other.fetch(FetchRequest<Passenger>())
    for passenger in theirs where [5, 6, 30_001].contains(passenger.number) { passenger.name = "theirs" }
    other.delete(theirs[7])
    try other.save()
    let found = try all()
    #expect(found.count == Self.count - 2)
    #expect(before[0].name == "own" && before[1].name == "theirs" && before[4].name == "theirs")
    // An object stays the same one.
    let isSame = found[5] === before[0] && found[6] === before[1] && found[29_999] === before[4]
    #expect(isSame && !found.contains(before[2]))
    context.rollback()
    #expect(before[0].name == "p5" && !before[3].isDeleted)
    #expect(try all().count == Self.count - 1 && before[0].name == "theirs")
  }

  /// Whatever an initializer does with the context that fetches.
  @Test func anInitializerMayUseItsContextMeanwhile() throws {
    // Another fetch of all.
    var inner: [Passenger] = []
    var found = try fetch(after: 3_000) { inner = try self.all() }
    var isRight = found.map(\.number) == Array(0..<Self.count) && inner == found
    #expect(isRight)
    // What it has saved is of a later commit than the rest.
    context.reset()
    found = try fetch(after: 20_000) {
      try self.context.make("Bag", ["number": 1])
      try self.context.save()
    }
    isRight =
      found.map(\.number) == Array(0..<Self.count) && found.allSatisfy { $0.managedObjectContext === self.context }
    #expect(isRight)
    #expect(try context.all("Bag").count == 1)
    // What was made before a reset is of no use any more, and what comes behind it is the context's.
    context.reset()
    found = try fetch(after: 10_000) { self.context.reset() }
    #expect(found.count == Self.count && found[9_000].managedObjectContext == nil)
    isRight = found[10_000...].enumerated().allSatisfy {
      $1.managedObjectContext === self.context && $1.number == $0 + 10_000
    }
    #expect(isRight)
    // Enumerated within.
    context.reset()
    var sum = 0
    found = try fetch(after: 15_000) {
      try self.context.enumerate(FetchRequest<Passenger>(), batchSize: 500) { sum += $0.number }
    }
    #expect(found.count == Self.count && sum == Self.count * (Self.count - 1) / 2)
    // All of them, behind a reset: what was made before that is of no use, and all else is there once.
    context.reset()
    found = try fetch(after: 15_000) {
      self.context.reset()
      inner = try self.all()
    }
    isRight = found[14_999...].elementsEqual(inner[14_999...], by: ===) && inner.map(\.number) == Array(0..<Self.count)
    #expect(isRight)
  }

  /// Objects of several classes, one after the other by turns, with what has to be known of them changing in every
  /// part.
  @Test func severalClassesByTurns() throws {
    final class Car: ManagedObject {}
    final class Bus: ManagedObject {}
    let model = try ManagedObjectModel {
      Entity("Vehicle") { Attribute("number", .integer32) }
      Entity("Car", parent: "Vehicle", class: Car.self) {}
      Entity("Bus", parent: "Vehicle", class: Bus.self) { Attribute("seats", .integer32) }
    }
    let container = try directory.container("vehicles", model: model)
    let filling = container.newBackgroundContext()
    let names = ["Car", "Bus", "Vehicle", "Bus"]
    for number in 0..<36_000 { try filling.make(names[number % 4], ["number": number]) }
    try filling.save()
    let reading = container.newBackgroundContext()
    let found = try reading.all("Vehicle")
    let classes: [ManagedObject.Type] = [Car.self, Bus.self, ManagedObject.self, Bus.self]
    var isRight = found.count == 36_000 && found.allSatisfy { $0.isFault }
    #expect(isRight)
    var wrong = 0
    for (place, object) in found.enumerated() {
      if type(of: object) != classes[place % 4] || object.entity.name != names[place % 4] { wrong += 1 }
      if object["number"] as? Int != place { wrong += 1 }
    }
    #expect(wrong == 0)
    let buses = try reading.fetch(FetchRequest<Bus>())
    let expected = found.compactMap { $0 as? Bus }
    isRight = buses.elementsEqual(expected, by: ===)
    #expect(isRight && buses.count == 18_000)
  }

  /// Others delete half of the rows, change the rest, and give back the room that these had, while they are copied
  /// ahead.
  @Test func othersChangeAllOfItMeanwhile() throws {
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let found = try fetch(after: 3_000) {
      let other = self.container.newBackgroundContext()
      let halves = FetchRequest<ManagedObject>(entityName: "Passenger")
      halves.predicate = try FetchPredicate(format: "modulus:by:(number, 2) == 1")
      try other.execute(BatchDeleteRequest(fetchRequest: halves))
      var update = BatchUpdateRequest(entityName: "Passenger")
      update.propertiesToUpdate = ["name": "changed"]
      try other.execute(update)
      try store.compact()
    }
    // They are of the commit that the context read when the fetch began.
    var isRight =
      found.count == Self.count && found.enumerated().allSatisfy { $1.number == $0 && $1.name == "p\($0 % 100)" }
    #expect(isRight)
    let next = try all()
    isRight =
      next.count == Self.count / 2
      && next.enumerated().allSatisfy { $1.number == 2 * $0 && $1.name == "changed" && $1 === found[2 * $0] }
    #expect(isRight)
    #expect(try store.check().isSound)
  }

  /// The store is removed while threads read it, and closed after them.
  @Test func aStoreMayBeRemovedMeanwhile() throws {
    let coordinator = container.persistentStoreCoordinator
    let isRemoved = DispatchSemaphore(value: 0)
    let found = try fetch(after: 8_000) {
      Thread.detachNewThread {
        do { for store in coordinator.persistentStores { try coordinator.remove(store) } } catch { Issue.record(error) }
        isRemoved.signal()
      }
      while !coordinator.persistentStores.isEmpty { sched_yield() }
    }
    isRemoved.wait()
    #expect(found.count == Self.count)
    #expect(coordinator.persistentStores.isEmpty)
    // It can be opened again, and has lost nothing.
    let again = try directory.container(model: container.managedObjectModel)
    #expect(try again.newBackgroundContext().count(for: FetchRequest<Passenger>()) == Self.count)
  }

  /// What had been made when a fetch failed is let go of, and the next one finds all. With one processor, all rows are
  /// copied first.
  @Test(.enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
  func aFetchThatFailsLeavesNothingBehind() throws {
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let kept = try all("number == 39000")
    kept[0].name = "own"
    Passenger.made = 0
    Passenger.event = (3_000, { try store.suspend() })
    let error = cambiumError { _ = try all() }
    #expect(error != nil && Passenger.failure == nil && Passenger.made >= 3_000 && Passenger.made < Self.count)
    #expect(context.registry.count == 1)
    try store.resume()
    #expect(kept[0].name == "own" && context.updatedObjects == [kept[0]])
    #expect(try all().count == Self.count)
  }

  /// Objects hold what they have in common, each other's ends aside; nothing is left when they are gone.
  @Test func whatObjectsAreMadeWithEndsWithThem() throws {
    weak var twin: EntityDescription?
    weak var home: ObjectHome?
    weak var row: RowBlock?
    var kept: [Passenger] = []
    do {
      let context = container.newBackgroundContext()
      try context.performAndWait {
        var found = try context.fetch(FetchRequest<Passenger>())
        let itsHome = try #require(found[0].home)
        (home, twin) = (itsHome, context.twin(of: itsHome))
        #expect(twin?.home === itsHome)
        row = found[1_000].row?.block
        kept = [found[5], found[39_999]]
        found = []
        let new = Passenger(context: context)
        new.number = -1
        try context.save()
        #expect(new.home === itsHome)
      }
    }
    // The objects outlive their context.
    #expect(kept.allSatisfy { $0.managedObjectContext == nil && $0.entity.name == "Passenger" })
    #expect(home != nil && twin != nil && row == nil)
    #expect(kept[1].objectID.uriRepresentation().absoluteString.contains("Passenger"))
    kept = []
    #expect(home == nil && twin == nil)
  }
}
