import Cambium
import Foundation

/// Counts up notes that others count up as well, one save a step, `count` steps; each fourth step also adds a note. A
/// save that would overwrite what others have counted is a conflict: the note is read anew, and counted again.
///
/// The number of conflicts is left in a note with this process's name.
func countNotes(path: String, id: UInt64, count: UInt64) throws {
  let container = PersistentContainer(name: "Notes", managedObjectModel: try noteModel())
  let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
  description.tracksHistory = true
  container.persistentStoreDescriptions = [description]
  try container.loadPersistentStores()
  let coordinator = container.persistentStoreCoordinator
  let context = container.newBackgroundContext()
  context.transactionAuthor = "counter \(id)"
  try context.performAndWait {
    let request = FetchRequest<ManagedObject>(entityName: "Note")
    request.predicate = try FetchPredicate(format: "text BEGINSWITH 'shared'")
    request.sortDescriptors = [FetchSortDescriptor(key: "text")]
    var conflicts: Int64 = 0
    for step in 0..<count {
      let notes = try context.fetch(request)
      guard !notes.isEmpty else { throw WorkerError("there is nothing to count") }
      let note = notes[Int((step &* 7 &+ id) % UInt64(notes.count))]
      if step % 4 == 0 {
        let own = try context.insertNewObject(forEntityName: "Note")
        try own.set("of \(id), \(step)", forKey: "text")
        // Gives the others time to count what was read here.
        let before = try coordinator.currentPersistentHistoryToken(fromStores: nil)
        for _ in 0..<40 {
          if try coordinator.currentPersistentHistoryToken(fromStores: nil) != before { break }
          Thread.sleep(forTimeInterval: 0.001)
        }
      }
      while true {
        try note.set((try note.get("number", as: Int64.self) ?? 0) + 1, forKey: "number")
        do {
          try context.save()
          break
        } catch let error as CambiumError where error.code == .managedObjectMerge {
          conflicts += 1
          context.refresh(note, mergeChanges: false)
        }
      }
    }
    let result = try context.insertNewObject(forEntityName: "Note")
    try result.set("conflicts of \(id)", forKey: "text")
    try result.set(conflicts, forKey: "number")
    try context.save()
  }
}
