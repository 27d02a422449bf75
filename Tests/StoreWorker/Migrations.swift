import Cambium
import CambiumEngine
import CambiumKernel
import CambiumSystem
import Foundation

/// The models that the store of notes goes through, over and over; the test that starts this has the same.
///
/// | version | `text` is called | `number` | `old` |
/// |---|---|---|---|
/// | 0 | text | integer | there |
/// | 1 | title | integer | dropped, which is put off |
/// | 2 | title | double, which rewrites every row | gone |
func noteModel(version: Int) throws -> ManagedObjectModel {
  switch version {
  case 0:
    try ManagedObjectModel {
      Entity("Note") {
        Attribute("text", .string, renamed: "text")
        Attribute("number", .integer64)
        Attribute("old", .string, optional: false, default: "none")
        Index("byNumber", "number")
      }
    }
  case 1:
    try ManagedObjectModel {
      Entity("Note") {
        Attribute("title", .string, renamed: "text")
        Attribute("number", .integer64)
        Index("byTitle", "title")
      }
    }
  default:
    try ManagedObjectModel {
      Entity("Note") {
        Attribute("title", .string, renamed: "text")
        Attribute("number", .double)
        Index("byNumber", "number")
      }
    }
  }
}

/// Opens the notes with a version of their model, which migrates them if they have another.
func openNotes(_ path: String, version: Int) throws -> PersistentContainer {
  let container = PersistentContainer(name: "Notes", managedObjectModel: try noteModel(version: version))
  let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
  description.shouldDeferLightweightMigration = true
  // From version to version, and round again.
  description.allowsDroppingUnknownData = true
  container.persistentStoreDescriptions = [description]
  try container.loadPersistentStores()
  return container
}

/// Migrates the notes from version to version, `count` times or until it is killed; does what was put off in small
/// parts, and goes back now and then. Writes a byte to standard output for each step, so that it can be killed at any
/// of them.
func migrateNotes(path: String, count: UInt64) throws {
  var version = 1
  for round in 0..<count {
    let step = Data(".".utf8)
    FileHandle.standardOutput.write(step)
    let container = try openNotes(path, version: version)
    let coordinator = container.persistentStoreCoordinator
    FileHandle.standardOutput.write(step)
    var parts = 0
    let isDone = try coordinator.finishDeferredLightweightMigration(rowsAtATime: 500) { _ in
      parts += 1
      FileHandle.standardOutput.write(step)
      return round % 4 != 3 || parts < 3
    }
    if !isDone {
      try coordinator.rollBackMigration()
      continue
    }
    version = (version + 1) % 3
  }
}

/// Reads the notes again and again until it is killed, with the model that they had when they were opened, and opens
/// them anew when it is told that they have another. Ends with a message if anything is not as it must be.
func readNotes(path: String) throws {
  var options = StoreOptions()
  options.isReadOnly = true
  let device = try FileDevice(path: path, access: .readOnly, sharing: .shared)
  let kernel = try Store.open(on: device, environment: SystemEnvironment(), options: options)
  var store = try EntityStore.open(kernel)
  while true {
    let view: EntityView
    do { view = try store.view() } catch EngineError.modelChanged {
      store = try EntityStore.open(kernel)
      continue
    }
    if let wrong = try findWrongNote(store, view) { throw WorkerError(wrong) }
  }
}

/// What is wrong with the notes in a view; nil if nothing is.
func findWrongNote(_ store: EntityStore, _ view: EntityView) throws -> String? {
  guard let entity = store.schema.entity(named: "Note"), let number = entity.attribute(named: "number"),
    let text = entity.attribute(named: "text") ?? entity.attribute(named: "title")
  else { return "this is none of the models" }
  let old = entity.attribute(named: "old")
  var wrong: String?
  var count = 0
  var originals = 0
  try view.rows(entity: entity, includesSubentities: false) { (row) throws(EngineError) in
    switch try row.value(number) {
    case .integer(Int64(count)), .double(Double(count)): break
    case let found: wrong = "note \(count) has the number \(found)"
    }
    if try row.value(text) != .string("note \(count)") { wrong = "note \(count) has another text" }
    if let old {
      switch try row.value(old) {
      case .string("old \(count)"): originals += 1
      case .string("none"): break
      case let found: wrong = "note \(count) has \(found) from before"
      }
    }
    count += 1
    return wrong == nil
  }
  if wrong == nil, count != 2000 { wrong = "there are \(count) notes" }
  if wrong == nil, originals != 0, originals != count { wrong = "\(originals) notes have what they had at first" }
  return wrong
}
