import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// A store that is removed from its coordinators is closed, whoever still has it.
@Suite(.timeLimit(.minutes(5))) struct RemovedStoreTests {
  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private let store: PersistentStore
  private let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    container = try directory.container()
    store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    url = try #require(store.url)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for number in 0..<10 { try context.make("Pilot", ["name": "\(number)"]) }
      try context.save()
    }
  }

  private var coordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }

  private func pilots(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    let request = FetchRequest<ManagedObject>(entityName: "Pilot")
    request.sortDescriptors = [FetchSortDescriptor(key: "name", ascending: true)]
    return try context.performAndWait { try context.fetch(request) }
  }

  private func code(_ body: () throws -> Void) -> CambiumError.Code? {
    do { try body() } catch { return (error as? CambiumError)?.code }
    return nil
  }

  // MARK: Files

  /// The usual way to begin anew, while a variable has the store, and contexts have read it.
  @Test func removedStoresCanBeDestroyed() throws {
    let (counting, reading) = (container.newBackgroundContext(), container.newBackgroundContext())
    #expect(
      try counting.performAndWait { try counting.count(for: FetchRequest<ManagedObject>(entityName: "Pilot")) } == 10)
    let objects = try pilots(reading)
    try coordinator.remove(store)
    try coordinator.destroyPersistentStore(at: url)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    // Another store may be made there at once.
    try container.loadPersistentStores()
    #expect(try pilots(container.newBackgroundContext()).isEmpty)
    #expect(objects.count == 10)
  }

  @Test func removedStoresCanBeReplaced() throws {
    let copy = directory.url.appendingPathComponent("copy.cambium")
    try store.backup(to: copy)
    let context = container.newBackgroundContext()
    for pilot in try pilots(context) { context.performAndWait { context.delete(pilot) } }
    try context.performAndWait { try context.save() }
    try coordinator.remove(store)
    try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: copy)
    try container.loadPersistentStores()
    #expect(try pilots(container.newBackgroundContext()).count == 10)
  }

  /// The file belongs to both until both have removed the store.
  @Test func theLastCoordinatorClosesTheFile() throws {
    let other = try directory.container()
    let first = container.newBackgroundContext()
    let objects = try pilots(first)
    try coordinator.remove(store)
    #expect(code { try coordinator.destroyPersistentStore(at: url) } == .persistentStoreOperation)
    // The other one goes on, and the one that removed the store does not.
    #expect(try pilots(other.newBackgroundContext()).count == 10)
    first.performAndWait { first.refresh(objects[0], mergeChanges: false) }
    #expect(code { _ = try first.performAndWait { try objects[0].get("name") } } == .persistentStoreOperation)
    for store in other.persistentStoreCoordinator.persistentStores {
      try other.persistentStoreCoordinator.remove(store)
    }
    try coordinator.destroyPersistentStore(at: url)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  // MARK: What comes afterwards

  @Test func removedStoresRefuse() throws {
    let context = container.newBackgroundContext()
    let objects = try pilots(context)
    let kept = try store.retain(reason: "a test")
    try coordinator.remove(store)
    let copy = directory.url.appendingPathComponent("copy.cambium")
    let calls: [(String, () throws -> Void)] = [
      ("backup", { try store.backup(to: copy) }), ("check", { _ = try store.check() }),
      ("compact", { try store.compact() }), ("statistics", { _ = try store.statistics() }),
      ("setMetadata", { try store.setMetadata(["a": 1]) }), ("metadata", { _ = try store.applicationMetadata() }),
      ("retain", { _ = try store.retain(reason: "another") }), ("states", { _ = try store.retainedCommits() }),
      ("release", { try store.release(kept) }), ("snapshot", { _ = try store.snapshot(at: kept) }),
      ("suspend", { try store.suspend() }),
      (
        "save",
        {
          try context.performAndWait {
            objects[0]["name"] = "another"
            try context.save()
          }
        }
      ),
      (
        "refresh",
        {
          try context.performAndWait {
            context.refresh(objects[1], mergeChanges: false)
            _ = try objects[1].get("name")
          }
        }
      ),
      ("fetch", { _ = try pilots(context) }), ("fetch anew", { _ = try pilots(container.newBackgroundContext()) }),
      (
        "count",
        {
          _ = try context.performAndWait { try context.count(for: FetchRequest<ManagedObject>(entityName: "Pilot")) }
        }
      ),
      ("batch", { try context.performAndWait { _ = try context.execute(BatchUpdateRequest(entityName: "Pilot")) } }),
      ("insert", { _ = try context.performAndWait { try context.make("Pilot", ["name": "new"]) } }),
      ("token", { _ = try coordinator.currentPersistentHistoryToken() }),
      ("retain by the container", { _ = try container.retain(reason: "another") }),
      ("relationship", { _ = try context.performAndWait { try objects[2].get("logEntries") } }),
    ]
    for (name, call) in calls { #expect(code(call) == .persistentStoreOperation, "\(name)") }
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    // It can be added again.
    try container.loadPersistentStores()
    #expect(try pilots(container.newBackgroundContext()).count == 10)
  }

  /// Values that were read stay, large ones included; what is read later says so.
  @Test func loadedValuesStayReadable() throws {
    let context = container.newBackgroundContext()
    let photo = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let (aircraft, fault) = try context.performAndWait {
      let aircraft = try context.make("Aircraft", ["tailNumber": "N1", "photo": photo])
      let fault = try context.make("Aircraft", ["tailNumber": "N2"])
      try context.save()
      context.refresh(aircraft, mergeChanges: false)
      context.refresh(fault, mergeChanges: false)
      #expect(aircraft["photo"] as? Data == photo)
      return (aircraft, fault)
    }
    try coordinator.remove(store)
    context.performAndWait {
      #expect(aircraft["tailNumber"] as? String == "N1")
      #expect(aircraft["photo"] as? Data == photo)
      #expect(context.recordedErrors.isEmpty)
      #expect(fault["tailNumber"] == nil)
      #expect(context.recordedErrors.map { $0.code } == [.persistentStoreOperation])
    }
  }

  /// An earlier state is one of the store's, and goes with it.
  @Test func statesOfRemovedStoresRefuse() throws {
    let kept = try store.retain(reason: "a test")
    let then = try store.snapshot(at: kept)
    let context = then.newBackgroundContext()
    #expect(try pilots(context).count == 10)
    try coordinator.remove(store)
    #expect(code { _ = try pilots(context) } == .persistentStoreOperation)
    try coordinator.destroyPersistentStore(at: url)
  }

  /// A state that is removed leaves its store alone.
  @Test func storesOfRemovedStatesGoOn() throws {
    let then = try store.snapshot(at: try store.retain(reason: "a test"))
    for state in then.persistentStoreCoordinator.persistentStores { try then.persistentStoreCoordinator.remove(state) }
    #expect(try pilots(container.newBackgroundContext()).count == 10)
  }

  // MARK: What runs meanwhile

  /// A request that runs ends before the store is closed.
  @Test func requestsThatRunEndFirst() async throws {
    let (hasBegun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let order = Locked<[String]>([])
    let context = container.newBackgroundContext()
    async let found: Int = context.perform {
      var count = 0
      try context.enumerate(FetchRequest<ManagedObject>(entityName: "Pilot"), batchSize: 2) { pilot in
        if count == 0 {
          hasBegun.signal()
          mayGoOn.wait()
        }
        #expect(pilot["name"] is String)
        count += 1
      }
      order.withLock { $0.append("enumerated") }
      return count
    }
    let remover = Thread { [coordinator, store] in
      hasBegun.wait()
      // The request goes on when the store takes no others.
      coordinator.perform {
        while store.uses.begin() {
          store.uses.end()
          sched_yield()
        }
        mayGoOn.signal()
      }
      do { try coordinator.remove(store) } catch { Issue.record(error) }
      order.withLock { $0.append("removed") }
    }
    remover.start()
    #expect(try await found == 10)
    while order.withLock({ $0.count }) < 2 { await Task.yield() }
    #expect(order.withLock { $0 } == ["enumerated", "removed"])
  }

  /// A save that threw has saved nothing, and one that did not has saved everything.
  @Test func savesBesideARemoval() async throws {
    let acknowledged = Locked<Set<String>>([])
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask { [container] in
          for number in 0..<1_000 {
            let name = "\(writer) \(number)"
            do {
              try await container.performBackgroundTask { context in
                try context.make("Pilot", ["name": name])
                try context.save()
              }
              acknowledged.withLock { _ = $0.insert(name) }
            } catch {
              return
            }
          }
        }
      }
      group.addTask { [coordinator, store] in
        while acknowledged.withLock({ $0.count }) < 50 { await Task.yield() }
        do { try coordinator.remove(store) } catch { Issue.record(error) }
      }
    }
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    let objects = try pilots(context)
    let found = Set(context.performAndWait { objects.compactMap { $0["name"] as? String } })
    #expect(found.filter { $0.contains(" ") } == acknowledged.withLock { $0 })
  }

  /// It would wait for itself.
  @Test func requestsCannotRemoveTheirStore() throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      try context.enumerate(FetchRequest<ManagedObject>(entityName: "Pilot")) { _ in
        #expect(code { try coordinator.remove(store) } == .persistentStoreOperation)
      }
    }
    #expect(coordinator.persistentStores.count == 1)
    #expect(try pilots(context).count == 10)
    // A block may.
    try context.performAndWait { try coordinator.remove(store) }
    #expect(coordinator.persistentStores.isEmpty)
  }
}
