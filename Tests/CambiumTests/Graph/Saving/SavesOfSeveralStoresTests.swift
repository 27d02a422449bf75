import CambiumEngine
import CambiumKernel
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Saves into several stores, one of which refuses, or whose device fails.
@Suite struct SavesOfSeveralStoresTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("A") {
        Attribute("name", .string)
        Unique("name")
      }
      Entity("B") {
        Attribute("name", .string)
        Unique("name")
      }
      Configuration("First", "A")
      Configuration("Second", "B")
    }
  }

  /// Two stores on devices that fail as planned.
  private struct Stores {
    let devices: [FaultDevice]
    let engines: [EntityStore]
    let coordinator: PersistentStoreCoordinator

    init() throws {
      let model = try SavesOfSeveralStoresTests.model()
      devices = (0..<2).map { _ in FaultDevice(MemoryDevice()) }
      var engines: [EntityStore] = []
      coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      for (place, name) in ["First", "Second"].enumerated() {
        let environment = TestEnvironment(seed: UInt64(place) + 5)
        let engine = try EntityStore.create(
          in: try Store.create(on: devices[place], environment: environment), schema: model.schema())
        let description = PersistentStoreDescription(url: URL(fileURLWithPath: "simulated-" + name))
        description.configuration = name
        try coordinator.borrow(engine, as: description)
        engines.append(engine)
      }
      self.engines = engines
    }

    func context() -> ManagedObjectContext {
      ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
    }

    /// The names that are stored of each entity.
    func names() throws -> [[String]] {
      let context = context()
      return try ["A", "B"].map { entity in
        try context.all(entity).compactMap { $0.value(forKey: "name") as? String }.sorted()
      }
    }
  }

  private static func change(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try ["A", "B"].flatMap { entity in
      let old = try #require(try context.all(entity, "name == 'old'").first)
      old.setValue("changed", forKey: "name")
      return [old, try context.make(entity, ["name": "new"])]
    }
  }

  private static func filled() throws -> Stores {
    let stores = try Stores()
    let context = stores.context()
    for entity in ["A", "B"] { try context.make(entity, ["name": "old"]) }
    try context.save()
    return stores
  }

  /// Every operation of either device fails once. What is told, what the context has and what is stored agree, and what
  /// has been saved of one store only is said to be.
  @Test func everyOperationMayFail() throws {
    let whole = try Self.filled()
    for device in whole.devices { device.reset() }
    let context = whole.context()
    _ = try Self.change(context)
    try context.save()
    #expect(try whole.names() == [["changed", "new"], ["changed", "new"]])
    var (incomplete, refused) = (0, 0)
    for place in 0..<2 {
      let count = whole.devices[place].operationCount
      #expect(count > 1)
      for operation in 0..<count {
        let text = "operation \(operation) of \(count) of store \(place)"
        let stores = try Self.filled()
        let context = stores.context()
        let told = Locked<[Set<String>]>([])
        let observation = context.observe { notification in
          guard notification.kind == .didSave else { return }
          let names = Set((notification.insertedObjects.union(notification.updatedObjects)).map { $0.entity.name })
          told.withLock { $0.append(names) }
        }
        for device in stores.devices { device.reset() }
        stores.devices[place].plan(FaultDevice.Fault(at: operation))
        var changed: [ManagedObject] = []
        var error: CambiumError?
        do {
          changed = try Self.change(context)
          try context.save()
        } catch let thrown as CambiumError { error = thrown }
        let isSaved = ["A", "B"].map { entity in
          let objects = changed.filter { $0.entity.name == entity }
          return !objects.isEmpty && objects.allSatisfy { !$0.hasChanges && !$0.objectID.isTemporaryID }
        }
        let saved = Set(zip(["A", "B"], isSaved).filter { $0.1 }.map { $0.0 })
        switch error?.code {
        case nil: #expect(isSaved == [true, true], "\(text)")
        case .persistentStoreIncompleteSave:
          incomplete += 1
          #expect(saved.count == 1 && error?.underlyingErrors.count == 1, "\(text)")
        default:
          refused += 1
          #expect(saved.isEmpty, "\(text): \(String(describing: error))")
        }
        #expect(told.withLock { $0 } == (saved.isEmpty ? [] : [saved]), "\(text)")
        for object in changed where !saved.contains(object.entity.name) { #expect(object.hasChanges, "\(text)") }
        // Of a store whose device failed at its commit, what is there is told by the device.
        for (number, name) in ["A", "B"].enumerated() where saved.contains(name) {
          let device = MemoryDevice(copying: (stores.devices[number].base as? MemoryDevice)?.contents() ?? [])
          let again = try EntityStore.open(try Store.open(on: device, environment: TestEnvironment(seed: 9)))
          #expect(try again.check().isSound, "\(text)")
          let entity = try #require(again.schema.entity(named: name))
          #expect(try again.view().count(EngineFetch(entity)) == 2, "\(text)")
        }
        withExtendedLifetime(observation) {}
      }
    }
    #expect(incomplete > 0 && refused > 0)
  }

  /// Contexts that save into both stores, and each into one, do not wait for each other for ever, and what one of two
  /// stores refuses is in neither.
  @Test func manySaveAtOnce() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(try Self.model(), configurations: ["Second", "First"])
    let twin = try directory.container(try Self.model(), configurations: ["First", "Second"])
    let refused = Locked(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<6 {
        group.addTask {
          try await (number % 2 == 0 ? container : twin).performBackgroundTask { context in
            for round in 0..<12 {
              // Who comes second finds one of the two names taken.
              let entities = number % 3 == 0 ? ["B", "A"] : number % 3 == 1 ? ["A", "B"] : ["A"]
              for entity in entities {
                let name = entity == (round % 2 == 0 ? "A" : "B") ? "shared \(round)" : "\(number) \(round)"
                try context.make(entity, ["name": name])
              }
              do { try context.save() } catch let error as CambiumError {
                #expect(error.code == .managedObjectConstraintMerge)
                refused.withLock { $0 += 1 }
                context.rollback()
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let context = container.newBackgroundContext()
    let names = try ["A", "B"].map { entity in
      try context.all(entity).compactMap { $0.value(forKey: "name") as? String }
    }
    #expect(refused.withLock { $0 } > 0)
    for round in 0..<12 {
      for number in 0..<6 where number % 3 != 2 {
        // Of those that save two, what is its own is there exactly if its save was not refused.
        let own = names[round % 2 == 0 ? 1 : 0].contains("\(number) \(round)")
        #expect(!own || names[round % 2].contains("shared \(round)"))
      }
      #expect(names[round % 2].count { $0 == "shared \(round)" } == 1)
      let winners = (0..<6).count { $0 % 3 != 2 && names[round % 2 == 0 ? 1 : 0].contains("\($0) \(round)") }
      #expect(winners <= 1)
    }
  }

  /// Calls what it is told to while it is made of a row.
  class Waker: ManagedObject {
    nonisolated(unsafe) static var atBeginning: (() -> Void)?
    required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
      super.init(entity: entity, insertInto: context)
      Self.atBeginning?()
    }
  }
  final class WakerA: Waker {}
  final class WakerB: Waker {}

  /// A container of two stores with an entity each, objects of which call back.
  private static func wakers(_ directory: TemporaryDirectory) throws -> PersistentContainer {
    let model = try ManagedObjectModel {
      for (name, objectClass) in [("A", WakerA.self), ("B", WakerB.self)] as [(String, ManagedObject.Type)] {
        Entity(name, class: objectClass) {
          Attribute("name", .string)
          ToOne("next", name)
          ToMany("peers", name, inverse: "peersOf")
          ToMany("peersOf", name, inverse: "peers")
        }
      }
      Configuration("First", "A")
      Configuration("Second", "B")
    }
    return try directory.container(model, configurations: ["First", "Second"])
  }

  @Suite(.serialized) struct CallingBack {
    private let directory: TemporaryDirectory
    private let container: PersistentContainer
    private let other: ManagedObjectContext
    private let context: ManagedObjectContext

    init() throws {
      directory = try TemporaryDirectory()
      container = try SavesOfSeveralStoresTests.wakers(directory)
      (other, context) = (container.newBackgroundContext(), container.newBackgroundContext())
    }

    /// Two stored objects of an entity.
    private func stored(_ entity: String) throws -> [ManagedObject] {
      let objects = try ["1", "2"].map { try other.make(entity, ["name": $0]) }
      try other.save()
      return objects
    }

    /// What a refused save has objects made for is made when no transaction is under way: it may save into either
    /// store.
    @Test(arguments: [("A", "B"), ("B", "A")])
    func conflictsAreLookedAtAfterTheTransactions(new: String, old: String) throws {
      defer { Waker.atBeginning = nil }
      let objects = try stored(old)
      try context.make(new, ["name": "new"])
      let changed = context.object(with: objects[0].objectID)
      changed.setValue(context.object(with: objects[1].objectID), forKey: "next")
      other.delete(objects[1])
      try other.save()
      // What is led to is nobody's object by then.
      context.registry.sweep()
      let (saves, failures) = (Locked(0), Locked(0))
      Waker.atBeginning = {
        Waker.atBeginning = nil
        do {
          for entity in ["A", "B"] { try other.make(entity, ["name": "while it was made"]) }
          try other.save()
          saves.withLock { $0 += 1 }
        } catch { failures.withLock { $0 += 1 } }
      }
      let error = cambiumError { try context.save() }
      #expect(error?.code == .managedObjectMerge)
      #expect(saves.withLock { $0 } == 1 && failures.withLock { $0 } == 0)
      #expect(try container.newBackgroundContext().all(new).count == 1 && context.insertedObjects.count == 1)
    }
  }

  /// So many objects that their rows are made by several threads, within a transaction within another, with history,
  /// and names of all kinds: all are in both stores, or none is in either.
  @Test func thousandsInEach() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(try Self.model(), configurations: ["First", "Second"], tracksHistory: true)
    let names = (0..<3000).map { number in
      ["naïve", "nai\u{308}ve", "日本語", "👩‍👩‍👧‍👦", "\u{0}", "ﬁ", "", " "][number % 8] + "\(number)"
    }
    func history() throws -> [[PersistentHistoryChangeType: Int]] {
      try container.newBackgroundContext().execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
        .transactions.map { transaction in
          (transaction.changes ?? []).reduce(into: [:]) { $0[$1.changeType, default: 0] += 1 }
        }
    }
    let context = container.newBackgroundContext()
    for entity in ["A", "B"] { for name in names { try context.make(entity, ["name": name]) } }
    try context.save()
    let reading = container.newBackgroundContext()
    for entity in ["A", "B"] {
      let stored = try reading.all(entity).compactMap { $0.value(forKey: "name") as? String }
      // Compared as code points: two of them are the same characters.
      let isSame = Set(stored.map { Array($0.unicodeScalars) }) == Set(names.map { Array($0.unicodeScalars) })
      #expect(isSame && stored.count == names.count)
    }
    #expect(try history() == [[.insert: 3000], [.insert: 3000]])
    // The last one that is made of one entity has a name that is taken.
    for taken in ["A", "B"] {
      context.reset()
      for entity in ["A", "B"] {
        for name in names { try context.make(entity, ["name": "second " + name]) }
        try context.make(entity, ["name": entity == taken ? names[2999] : "free"])
      }
      let error = cambiumError { try context.save() }
      #expect(error?.code == .managedObjectConstraintMerge)
      #expect(context.insertedObjects.count == 6002)
      let counts = try ["A", "B"].map { entity in
        try container.newBackgroundContext().count(for: FetchRequest<ManagedObject>(entityName: entity))
      }
      #expect(counts == [3000, 3000])
      #expect(try history().count == 2)
    }
    // What is in the way gone, all of it is saved.
    let last = try #require(context.insertedObjects.first { $0.value(forKey: "name") as? String == names[2999] })
    last.setValue("also free", forKey: "name")
    try context.save()
    #expect(try history().compactMap { $0[.insert] }.sorted() == [3000, 3000, 3001, 3001])
  }

  /// A store that was moved has another space: objects from before and new ones are saved into it all the same.
  @Test func aStoreThatWasMovedMeanwhile() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: try Self.model())
    let context = container.newBackgroundContext()
    let kept = try context.make("A", ["name": "old"])
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.migratePersistentStore(store, to: directory.url.appendingPathComponent("moved.cambium"))
    kept.setValue("changed", forKey: "name")
    let new = try context.make("B", ["name": "new"])
    #expect(kept.space !== new.space)
    try context.save()
    let reading = container.newBackgroundContext()
    #expect(try reading.all("A").map { $0.value(forKey: "name") as? String } == ["changed"])
    #expect(try reading.all("B").map { $0.value(forKey: "name") as? String } == ["new"])
  }
}
