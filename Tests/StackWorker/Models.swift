import CambiumSwiftData

/// A note, as the model classes know it.
@Model final class Note {
  var stack: String
  var number: Int
  init(stack: String, number: Int) {
    self.stack = stack
    self.number = number
  }
}

/// Saves `count` notes, and reads in the history which notes the other stack saved.
func runModels(_ url: URL, _ count: Int) throws {
  let container = try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: url))
  let context = ModelContext(container)
  context.author = "models"
  let seen = SeenNotes()
  var token: DefaultHistoryToken?
  func look() throws {
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    if let token { descriptor.predicate = #Predicate { $0.token > token } }
    for transaction in try context.fetchHistory(descriptor) {
      token = transaction.token
      guard transaction.author == "objects" else { continue }
      for change in transaction.changes {
        guard case .insert(let insert as DefaultHistoryInsert<Note>) = change,
          let note: Note = try context.existingModel(for: insert.changedPersistentIdentifier)
        else { continue }
        seen.note(note.stack, note.number, expected: "objects")
      }
    }
  }
  for number in 0..<count {
    // Both stacks save at the same time, from the second note on.
    if number == 1 { try seen.wait(for: 1, look) }
    context.insert(Note(stack: "models", number: number))
    try context.save()
    if number % 50 == 49 { try look() }
  }
  try seen.wait(for: count, look)
  print("saw \(seen.count)")
}
