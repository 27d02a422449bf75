// A client that tells a server of changes, by the notifications of saves, and keeps identifiers in a file of its own.
// Expected output:
//   will save, did save: 2 inserted, 0 updated, 0 deleted
//   will save, did save: 0 inserted, 1 updated, 0 deleted
//   nothing to save
//   will save, did save: 0 inserted, 0 updated, 2 deleted
//   from an actor: did save: 1 inserted
//   identifiers in the order of insertion: true
//   described: Stop/p1, of Stop, hashed alike: true
//   restored in another container: ["Bergen", "Oslo"]
//   by number: Oslo, wrong: unsupportedKeyPath
//   before a save: same model true, after: false
//   registered: nil, then Oslo
//   another store's: city "", context nil
//   by whom: server 1
import CambiumSwiftData
import Foundation
import Synchronization

@Model final class Trip {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
  init(name: String) { self.name = name }
}

@Model final class Stop {
  var city: String
  var trip: Trip?
  init(city: String) { self.city = city }
}

struct State: Codable {
  var opened: [PersistentIdentifier]
  var last: PersistentIdentifier?
}

@ModelActor actor Server {
  func author() -> String? { modelContext.author }

  func receive(_ city: String) throws {
    modelContext.author = "server"
    modelContext.insert(Stop(city: city))
    try modelContext.save()
  }
}

final class Listener: Sendable {
  let heard = Mutex<[String]>([])

  func listen(to context: ModelContext?) {
    let center = NotificationCenter.default
    let hearsAll = context == nil
    if context != nil {
      _ = center.addObserver(forName: ModelContext.willSave, object: context, queue: nil) { _ in
        self.heard.withLock { $0.append("will save") }
      }
    }
    _ = center.addObserver(forName: ModelContext.didSave, object: context, queue: nil) { notification in
      func count(_ key: ModelContext.NotificationKey) -> Int {
        (notification.userInfo?[key.rawValue] as? [PersistentIdentifier])?.count ?? -1
      }
      let inserted = count(.insertedIdentifiers)
      let text = "did save: \(inserted) inserted"
      let rest = ", \(count(.updatedIdentifiers)) updated, \(count(.deletedIdentifiers)) deleted"
      self.heard.withLock { $0.append(hearsAll ? text : text + rest) }
    }
  }

  func take() -> String {
    heard.withLock { heard in
      defer { heard = [] }
      return heard.isEmpty ? "nothing to save" : heard.joined(separator: ", ")
    }
  }
}

@main struct Main {
  static func main() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "sync-\(UUID().uuidString).store")
    defer { try? FileManager.default.removeItem(at: url) }
    let configuration = ModelConfiguration(url: url)
    let container = try ModelContainer(for: Trip.self, configurations: configuration)
    let context = ModelContext(container)
    let listener = Listener()
    listener.listen(to: context)
    let trip = Trip(name: "North")
    trip.stops.append(Stop(city: "Tromso"))
    context.insert(trip)
    try context.save()
    print(listener.take())
    trip.name = "Far north"
    try context.save()
    print(listener.take())
    try context.save()
    print(listener.take())
    context.delete(trip)
    try context.save()
    print(listener.take())

    let others = Listener()
    others.listen(to: nil)
    try await Server(modelContainer: container).receive("Hammerfest")
    print("from an actor:", others.take())

    let stops = ["Oslo", "Bergen", "Vik"].map { Stop(city: $0) }
    let before = stops.map(\.persistentModelID)
    for stop in stops { context.insert(stop) }
    let isSame = stops.map(\.persistentModelID) == before
    try context.save()
    let identifiers = stops.map(\.persistentModelID)
    print(
      "identifiers in the order of insertion:", identifiers.sorted() == identifiers && identifiers[0] < identifiers[1])
    let oslo = identifiers[0]
    let number = "\(oslo)".split(separator: "/p").last.flatMap { Int($0) } ?? 0
    let coded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(oslo))
    let name = "\(oslo)".replacing("p\(number)", with: "p1")
    print(
      "described: \(name), of \(oslo.entityName), hashed alike: \(Set([coded, oslo]).count == 1 && coded.id == oslo.id)"
    )

    let file = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try JSONEncoder().encode(State(opened: Array(identifiers.prefix(2)), last: oslo)).write(to: file)
    let second = try ModelContainer(for: Trip.self, configurations: configuration)
    let fresh = ModelContext(second)
    let state = try JSONDecoder().decode(State.self, from: Data(contentsOf: file))
    let isRegistered: Stop? = fresh.registeredModel(for: oslo)
    let opened = state.opened.compactMap { fresh.model(for: $0) as? Stop }
    print("restored in another container:", opened.map(\.city).sorted())
    let made = try PersistentIdentifier.identifier(
      for: oslo.storeIdentifier ?? "-", entityName: "Stop", primaryKey: number)
    var wrong = ""
    do {
      _ = try PersistentIdentifier.identifier(for: "x", entityName: "Stop", primaryKey: "no number")
    } catch SwiftDataError.unsupportedKeyPath {
      wrong = "unsupportedKeyPath"
    }
    let found: Stop? = try fresh.existingModel(for: made)
    print("by number: \(found?.city ?? "-"), wrong: \(wrong)")
    print("before a save: same model \(isSame), after: \(before[0] == oslo)")
    let nowRegistered: Stop? = fresh.registeredModel(for: oslo)
    print("registered: \(isRegistered?.city ?? "nil"), then \(nowRegistered?.city ?? "nil")")
    let memory = ModelContext(try ModelContainer(for: Trip.self, configurations: .init(isStoredInMemoryOnly: true)))
    let stranger = memory.model(for: oslo)
    let city = (stranger as? Stop)?.city ?? "nil"
    print("another store's: city \"\(city)\", context \(stranger.modelContext == nil ? "nil" : "set")")
    let server = Server(modelContainer: second)
    try await server.receive("Alta")
    let all = FetchDescriptor<Stop>(predicate: #Predicate { $0.city == "Alta" })
    print("by whom: \(await server.author() ?? "-") \(try context.fetchCount(all))")
  }
}
