// A server of a chat: several actors write at the same time, one saves by itself, and the main actor watches.
// Expected output:
//   posted 200 by 4 rooms
//   each room has 50: true
//   the archive saved by itself: true
//   the archivist failed: true, then saved: true
//   summary: lobby 50
//   main sees: 202
//   moved to: kitchen, by: chat server
//   executors differ: true
//   wrong class: nil, unknown: nil
//   in the background: 202
//   closed with the last words: 203
import CambiumSwiftData
import Foundation

@Model
final class Room {
  @Attribute(.unique) var name: String
  @Relationship(deleteRule: .deny, inverse: \Message.room) var messages: [Message] = []
  init(name: String) { self.name = name }
}

@Model
final class Message {
  #Index<Message>([\.sentAt])
  var text: String
  var sentAt: Date
  var sender: String?
  var room: Room?
  init(text: String, sentAt: Date = .now) {
    self.text = text
    self.sentAt = sentAt
  }
}

struct Post: Sendable {
  var text: String
  var sender: String
}

@ModelActor
actor ChatRoom {
  private(set) var posted = 0

  func open(_ name: String) throws -> PersistentIdentifier {
    modelContext.author = "chat server"
    let room = Room(name: name)
    modelContext.insert(room)
    try modelContext.save()
    return room.persistentModelID
  }

  func post(_ posts: [Post], to id: PersistentIdentifier) throws {
    guard let room = self[id, as: Room.self] else { return }
    for post in posts {
      let message = Message(text: post.text)
      message.sender = post.sender
      message.room = room
      modelContext.insert(message)
    }
    try modelContext.save()
    posted += posts.count
  }

  func summary(_ id: PersistentIdentifier) -> String {
    guard let room = self[id, as: Room.self] else { return "-" }
    return "\(room.name) \(room.messages.count)"
  }

  func move(_ id: PersistentIdentifier, to name: String) throws -> String? {
    self[id, as: Room.self]?.name = name
    try modelContext.save()
    return modelContext.editingState.author
  }

  func looksUp(_ id: PersistentIdentifier) -> (String?, String?) {
    let unknown = try? PersistentIdentifier.identifier(
      for: id.storeIdentifier ?? "", entityName: id.entityName, primaryKey: 123_456)
    return (self[id, as: Message.self]?.text, unknown.flatMap { self[$0, as: Room.self]?.name })
  }
}

@ModelActor
actor Archivist {
  init(container: ModelContainer) {
    let context = ModelContext(container)
    modelContainer = container
    modelExecutor = DefaultSerialModelExecutor(modelContext: context)
    context.autosaveEnabled = true
    context.autosaveInterval = 0.01
  }

  func archive(_ text: String) { modelContext.insert(Message(text: text)) }
  func isSaved() -> Bool { !modelContext.hasChanges }
  func failures() -> AsyncStream<any Error> { modelContext.autosaveErrors }
  func deleteRooms() throws { try modelContext.delete(model: Room.self) }
  func rollBack() { modelContext.rollback() }
}

@main
struct ChatServer {
  @MainActor
  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "chat-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = ModelConfiguration(url: folder.appending(path: "chat.store"))
    let container = try ModelContainer(for: Room.self, configurations: configuration)

    let names = ["lobby", "kitchen", "garden", "attic"]
    let rooms = names.map { _ in ChatRoom(modelContainer: container) }
    let ids = try await withThrowingTaskGroup(of: (Int, PersistentIdentifier).self) { group in
      for (number, room) in rooms.enumerated() {
        group.addTask {
          let id = try await room.open(names[number])
          for start in 0..<5 {
            try await room.post((0..<10).map { Post(text: "\(start) \($0)", sender: "Ada") }, to: id)
          }
          return (number, id)
        }
      }
      var result: [Int: PersistentIdentifier] = [:]
      for try await (number, id) in group { result[number] = id }
      return names.indices.compactMap { result[$0] }
    }
    var posted = 0
    for room in rooms { posted += await room.posted }
    print("posted \(posted) by \(rooms.count) rooms")
    let all = try container.mainContext.fetch(FetchDescriptor<Room>())
    print("each room has 50:", all.count == 4 && all.allSatisfy { $0.messages.count == 50 })

    let archivist = Archivist(container: container)
    await archivist.archive("first")
    for _ in 0..<1000 {
      if await archivist.isSaved() { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    print("the archive saved by itself:", await archivist.isSaved())
    var failures = await archivist.failures().makeAsyncIterator()
    try await archivist.deleteRooms()
    let failure = await failures.next()
    let isDenied = failure.map { SwiftDataError.modelValidationFailure ~= $0 } ?? false
    await archivist.rollBack()
    await archivist.archive("second")
    for _ in 0..<1000 {
      if await archivist.isSaved() { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    print("the archivist failed: \(isDenied), then saved: \(await archivist.isSaved())")

    print("summary:", await rooms[1].summary(ids[0]))
    print("main sees:", try container.mainContext.fetchCount(FetchDescriptor<Message>()))
    try await delete(ids[1], container)
    let author = try await rooms[0].move(ids[0], to: "kitchen")
    let found: Room? = container.mainContext.registeredModel(for: ids[0])
    for _ in 0..<1000 where found?.name != "kitchen" { await Task.yield() }
    print("moved to: \(found?.name ?? "-"), by: \(author ?? "-")")
    print("executors differ:", rooms[0].modelExecutor !== rooms[1].modelExecutor)
    let (wrong, unknown) = await rooms[2].looksUp(ids[2])
    print("wrong class: \(wrong ?? "nil"), unknown: \(unknown ?? "nil")")
    let count = try await container.perform { try $0.fetchCount(FetchDescriptor<Message>()) }
    print("in the background:", count)

    container.mainContext.insert(Message(text: "last words"))
    try await container.close()
    let again = try ModelContainer(for: Room.self, configurations: configuration)
    print("closed with the last words:", try again.mainContext.fetchCount(FetchDescriptor<Message>()))
  }

  /// Renames a room, so that its name is free.
  static func delete(_ id: PersistentIdentifier, _ container: ModelContainer) async throws {
    try await container.perform { context in
      guard let room = context.model(for: id) as? Room else { return }
      room.name = "old kitchen"
      try context.save()
    }
  }
}
