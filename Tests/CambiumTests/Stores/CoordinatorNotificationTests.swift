import CambiumTesting
import Foundation
import Testing

@testable import Cambium
@testable import CambiumNotifications

/// What coordinators tell: stores that come and go, and what is saved in them, by whomever.
@Suite(.serialized) struct CoordinatorNotificationTests {
  /// The worker's model.
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Note") {
        Attribute("text", .string)
        Attribute("number", .integer64)
        Index("byNumber", "number")
      }
    }
  }

  private final class Files {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)")
    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: folder) }
    subscript(name: String) -> URL { folder.appendingPathComponent(name) }
  }

  private func coordinator(
    _ url: URL, posts: Bool = true, history: Bool = true
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try Self.model())
    let description = PersistentStoreDescription(url: url)
    description.postsRemoteChanges = posts
    description.tracksHistory = history
    try coordinator.addPersistentStore(description)
    return coordinator
  }

  private func save(_ coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
    try context.performAndWait {
      try context.make("Note", ["text": "here"])
      try context.save()
    }
  }

  /// Waits for something that another thread does.
  private func wait(_ until: () throws -> Bool) async throws -> Bool {
    for _ in 0..<500 {
      if try until() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }

  @Test func storesComeAndGo() throws {
    let files = try Files()
    let told = Locked<[String]>([])
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try Self.model())
    let observation = coordinator.observe { notification in
      // The coordinator may be used where it tells.
      let count = notification.coordinator.persistentStores.count
      let (added, removed) = (notification.addedStores, notification.removedStores)
      told.withLock { $0.append("\(notification.kind) +\(added.count) -\(removed.count) of \(count)") }
    }
    let other = PersistentStoreCoordinator(managedObjectModel: try Self.model())
    try other.addPersistentStore(type: .inMemory)
    #expect(told.withLock { $0 } == [])
    let store = try coordinator.addPersistentStore(PersistentStoreDescription(url: files["a"]))
    let added = ["storesWillChange +1 -0 of 0", "storesDidChange +1 -0 of 1"]
    #expect(told.withLock { $0 } == added)
    // A store that the coordinator has already changes nothing.
    _ = cambiumError { _ = try coordinator.addPersistentStore(PersistentStoreDescription(url: files["a"])) }
    #expect(told.withLock { $0 } == added)
    // A store that is moved goes and comes in one; where that fails, it is there as before.
    let moved = try coordinator.migratePersistentStore(store, to: files["b"])
    let going = ["willRemoveStore +0 -1 of 1", "storesWillChange +0 -1 of 1"]
    #expect(told.withLock { $0 } == added + going + ["storesDidChange +1 -1 of 1"])
    told.withLock { $0 = [] }
    _ = cambiumError { _ = try coordinator.migratePersistentStore(moved, to: files["a"]) }
    #expect(told.withLock { $0 } == going + ["storesDidChange +0 -0 of 1"])
    told.withLock { $0 = [] }
    try coordinator.remove(moved)
    #expect(told.withLock { $0 } == going + ["storesDidChange +0 -1 of 0"])
    told.withLock { $0 = [] }
    #expect(cambiumError { try coordinator.remove(moved) }?.code == .invalidArgument)
    #expect(told.withLock { $0 } == [])
    observation.cancel()
    try coordinator.addPersistentStore(type: .inMemory)
    #expect(told.withLock { $0 } == [])
  }

  @Test func whatAnyoneSavesIsPosted() async throws {
    let files = try Files()
    let listening = try coordinator(files["store"])
    let silent = try coordinator(files["silent"], posts: false)
    let store = try #require(listening.persistentStores.first)
    // Before anybody listens.
    try save(listening)
    let posted = Locked<[(Bool, String?, URL?, Int64?)]>([])
    let token = NotificationCenter.default.addObserver(
      forName: PersistentStoreCoordinator.remoteChangeNotification, object: listening, queue: nil
    ) { [weak listening, identifier = store.identifier] notification in
      typealias Key = PersistentStoreCoordinator.NotificationKey
      let info = notification.userInfo ?? [:]
      let history = info[Key.historyToken.rawValue] as? PersistentHistoryToken
      let line = (
        notification.object as? PersistentStoreCoordinator === listening,
        info[PersistentStore.storeUUIDKey] as? String, info[Key.storeURL.rawValue] as? URL,
        history?.positions[identifier]
      )
      posted.withLock { $0.append(line) }
    }
    let others = Locked(0)
    let silence = NotificationCenter.default.addObserver(
      forName: PersistentStoreCoordinator.remoteChangeNotification, object: silent, queue: nil
    ) { _ in others.withLock { $0 += 1 } }
    defer {
      CambiumNotifications.stopRemoteChanges()
      NotificationCenter.default.removeObserver(token)
      NotificationCenter.default.removeObserver(silence)
    }
    // Another test ends the posting, which asking for the name begins again.
    func comes(_ save: () throws -> Void) async throws -> Bool {
      for _ in 0..<5 {
        _ = PersistentStoreCoordinator.remoteChangeNotification
        try save()
        let last = try listening.currentPersistentHistoryToken()?.positions[store.identifier] ?? 0
        if try await wait({ posted.withLock { $0.last?.3 ?? 0 } >= last }) { return true }
      }
      return false
    }
    try save(silent)
    #expect(try await comes { try save(listening) })
    let another = try coordinator(files["store"], posts: false)
    #expect(try await comes { try save(another) })
    let byProcess = try await comes {
      let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: another)
      try context.performAndWait {
        // The worker counts what is called so.
        try context.make("Note", ["text": "shared"])
        try context.save()
      }
      #expect(try runWorker(files["store"].path) == 0)
    }
    #expect(byProcess)
    let all = posted.withLock { $0 }
    #expect(all.allSatisfy { $0.0 && $0.1 == store.identifier && $0.2 == store.url })
    #expect(all.first?.3 == 2, "what was saved before is no news")
    #expect(others.withLock { $0 } == 0)
  }

  private func runWorker(_ path: String) throws -> Int32 {
    let process = Process()
    process.executableURL =
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("StoreWorker")
    process.arguments = ["count", path, "1", "1"]
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Stores are looked at only while somebody listens and there is a coordinator to be told of, which this does not
  /// keep.
  @Test func nobodyIsKept() async throws {
    let files = try Files()
    let lookout = RemoteChangeLookout.everywhere
    CambiumNotifications.stopRemoteChanges()
    var told: PersistentStoreCoordinator? = try coordinator(files["store"], history: false)
    weak let weakly = told
    weak let store = told?.persistentStores.first
    #expect(!lookout.isLooking)
    let changes = Locked<[PersistentStoreRemoteChange]>([])
    let observation = told?.observe([.remoteChange]) { notification in
      if let change = notification.remoteChange { changes.withLock { $0.append(change) } }
    }
    #expect(lookout.isLooking)
    try told.map { try save($0) }
    #expect(try await wait { changes.withLock { !$0.isEmpty } })
    // A store without history has no place in it.
    #expect(changes.withLock { $0.first?.historyToken } == nil)
    observation?.cancel()
    #expect(!lookout.isLooking)
    let again = told?.observe([.storesDidChange, .remoteChange]) { _ in }
    #expect(lookout.isLooking)
    told = nil
    #expect(try await wait { weakly == nil && store == nil && !lookout.isLooking })
    withExtendedLifetime(again) {}
    // One who comes later is looked for as well.
    let later = try coordinator(files["later"])
    #expect(lookout.isLooking)
    let laterStore = try #require(later.persistentStores.first)
    try later.withdraw(laterStore)
    #expect(try await wait { !lookout.isLooking })
    // A store whose move has failed is there again, and so are its changes; one that comes later is known from its
    // coming on.
    later.put(laterStore, at: 0)
    #expect(lookout.isLooking)
    changes.withLock { $0 = [] }
    let last = later.observe([.remoteChange]) { notification in
      if let change = notification.remoteChange { changes.withLock { $0.append(change) } }
    }
    let description = PersistentStoreDescription(type: .inMemory)
    description.postsRemoteChanges = true
    let memory = try later.addPersistentStore(description)
    let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: later)
    try context.performAndWait {
      context.assign(try context.make("Note", [:]), to: memory)
      try context.save()
    }
    #expect(try await wait { changes.withLock { $0.map { $0.storeIdentifier } } == [memory.identifier] })
    try later.remove(laterStore)
    try later.remove(memory)
    #expect(try await wait { !lookout.isLooking })
    withExtendedLifetime(last) {}
  }
}
