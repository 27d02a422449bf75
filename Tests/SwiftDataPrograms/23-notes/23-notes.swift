// Notes with attachments in a store in a file: large data, values in memory only, and what is left when the file is opened again.
// Expected output:
//   saved 2 notes, 3000000 bytes
//   changed: false, in memory: true
//   fetched: draft nil, selected false, stars 3
//   the picture is whole: true
//   thumbnail: nil, then 3 bytes
//   tags: ["a", "b"] counts ["a": 2]
//   link: https://example.com/a%20b
//   empty file stays empty: true
//   attachments left: 1
//   bytes of the largest: 3000000
import CambiumSwiftData
import Foundation

@Model
final class Note {
  @Attribute(.spotlight) var title: String
  @Attribute(originalName: "content") var body: String
  @Attribute(.preserveValueOnDeletion) var serial: Int
  @Attribute(.ephemeral) var draft: String?
  @Transient var isSelected = false
  var stars: Int = 1 + 2
  var tags: [String] = []
  var counts: [String: Int] = [:]
  var link: URL?
  var createdAt: Date = Date.now
  @Relationship(deleteRule: .cascade, inverse: \Attachment.note)
  var attachments: [Attachment]?

  init(title: String, body: String = "", serial: Int) {
    self.title = title
    self.body = body
    self.serial = serial
  }
}

@Model
final class Attachment {
  @Attribute(.unique) var fileName: String
  @Attribute(.externalStorage) var data: Data
  @Attribute(.externalStorage) var thumbnail: Data?
  @Attribute(.allowsCloudEncryption, hashModifier: "2") var secret: String = ""
  var size: Int = 0
  var note: Note?

  init(fileName: String, data: Data) {
    self.fileName = fileName
    self.data = data
    self.size = data.count
  }
}

@main
enum NotesApp {
  static let picture = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  static func main() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "Notes.store")
    try write(url)
    try read(url)
  }

  static func write(_ url: URL) throws {
    let container = try ModelContainer(for: Note.self, configurations: ModelConfiguration("Notes", url: url))
    let context = ModelContext(container)
    let note = Note(title: "With picture", serial: 1)
    note.attachments = [Attachment(fileName: "a.png", data: picture), Attachment(fileName: "empty", data: Data())]
    note.tags = ["a", "b"]
    note.counts["a", default: 0] += 2
    note.link = URL(string: "https://example.com/a%20b")
    let plain = Note(title: "Plain", body: "Hello", serial: 2)
    plain.attachments?.append(Attachment(fileName: "b.txt", data: Data("text".utf8)))
    context.insert(note)
    context.insert(plain)
    try context.save()
    let count = try context.fetchCount(FetchDescriptor<Note>())
    print("saved \(count) notes, \(note.attachments?.map(\.data.count).max() ?? 0) bytes")
    note.draft = "unsaved words"
    note.isSelected = true
    print("changed: \(note.hasChanges && context.hasChanges), in memory: \(note.draft != nil && note.isSelected)")
    try context.save()
  }

  static func read(_ url: URL) throws {
    let container = try ModelContainer(for: Note.self, configurations: ModelConfiguration("Notes", url: url))
    let context = ModelContext(container)
    var descriptor = FetchDescriptor<Note>(predicate: #Predicate { $0.serial == 1 })
    descriptor.relationshipKeyPathsForPrefetching = [\.attachments]
    descriptor.propertiesToFetch = [\.title]
    guard let note = try context.fetch(descriptor).first else { return print("lost") }
    print("fetched: draft \(note.draft ?? "nil"), selected \(note.isSelected), stars \(note.stars)")
    guard let attachment = note.attachments?.first(where: { $0.fileName == "a.png" }) else { return print("lost") }
    print("the picture is whole:", attachment.data == picture)
    let before = attachment.thumbnail
    attachment.thumbnail = Data([1, 2, 3])
    print("thumbnail: \(before.map { "\($0.count)" } ?? "nil"), then \(attachment.thumbnail?.count ?? 0) bytes")
    print("tags: \(note.tags) counts \(note.counts)")
    print("link:", note.link?.absoluteString ?? "-")
    let empty = try context.fetch(FetchDescriptor<Attachment>(predicate: #Predicate { $0.fileName == "empty" }))
    print("empty file stays empty:", empty.first?.data == Data())
    let plain = try context.fetch(FetchDescriptor<Note>(predicate: #Predicate { $0.title.contains("Plain") }))
    let largest = attachment.size
    note.attachments = nil
    for one in empty + [attachment] { context.delete(one) }
    context.delete(note)
    try context.save()
    print("attachments left:", plain.first?.attachments?.count ?? -1)
    print("bytes of the largest:", largest)
  }
}
