import Cambium
import Foundation

/// A note, as managed objects know it.
final class CDNote: ManagedObject {
  @Managed var stack: String
  @Managed var number: Int
}

/// Saves `count` notes, and reads in the history which notes the other stack saved.
func runObjects(_ url: URL, _ count: Int) throws {
  let model = try ManagedObjectModel {
    Entity("Note", class: CDNote.self) {
      Attribute("stack", .string, optional: false)
      Attribute("number", .integer64, optional: false)
    }
  }
  let container = PersistentContainer(name: "Notes", managedObjectModel: model)
  let description = PersistentStoreDescription(url: url)
  description.tracksHistory = true
  container.persistentStoreDescriptions = [description]
  try container.loadPersistentStores()
  let context = container.newBackgroundContext()
  context.transactionAuthor = "objects"
  let reader = HistoryReader(context)
  try context.performAndWait {
    for number in 0..<count {
      // Both stacks save at the same time, from the second note on.
      if number == 1 { try reader.seen.wait(for: 1, reader.look) }
      let note = CDNote(context: context)
      (note.stack, note.number) = ("objects", number)
      try context.save()
      if number % 50 == 49 { try reader.look() }
    }
    try reader.seen.wait(for: count, reader.look)
  }
  print("saw \(reader.seen.count)")
}

/// Reads the notes that the other stack saved.
private final class HistoryReader {
  let seen = SeenNotes()
  private let context: ManagedObjectContext
  private var token: PersistentHistoryToken?

  init(_ context: ManagedObjectContext) { self.context = context }

  func look() throws {
    let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
    for transaction in try context.execute(request).transactions {
      token = transaction.token
      guard transaction.author == "models" else { continue }
      for change in transaction.changes ?? [] where change.changeType == .insert {
        guard let note = try context.existingObject(with: change.changedObjectID) as? CDNote else { continue }
        seen.note(note.stack, note.number, expected: "models")
      }
    }
  }
}
