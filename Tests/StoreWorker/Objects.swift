import Cambium
import Foundation

/// The model of the objects; the test that starts this has the same.
func noteModel() throws -> ManagedObjectModel {
  try ManagedObjectModel {
    Entity("Note") {
      Attribute("text", .string)
      Attribute("number", .integer64)
      Index("byNumber", "number")
    }
  }
}

/// Saves `count` notes, each by itself, and then renames the one with the number 0, if there is one.
func saveObjects(path: String, count: UInt64) throws {
  let container = PersistentContainer(name: "Notes", managedObjectModel: try noteModel())
  container.persistentStoreDescriptions = [PersistentStoreDescription(url: URL(fileURLWithPath: path))]
  try container.loadPersistentStores()
  let context = container.newBackgroundContext()
  try context.performAndWait {
    for number in 0..<count {
      let note = try context.insertNewObject(forEntityName: "Note")
      try note.set("by the worker", forKey: "text")
      try note.set(Int64(1 + number), forKey: "number")
      try context.save()
    }
    let request = FetchRequest<ManagedObject>(entityName: "Note")
    request.predicate = try FetchPredicate(format: "number == 0")
    for note in try context.fetch(request) {
      try note.set("renamed by the worker, \(count)", forKey: "text")
    }
    try context.save()
  }
}
