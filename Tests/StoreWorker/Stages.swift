import Cambium
import Foundation

/// The versions that notes go through by stages: `noteModel(version: 0)`; with a square and a label; without what was
/// old.
private func stagedModel(_ version: Int) throws -> ManagedObjectModel {
  if version == 0 { return try noteModel(version: 0) }
  return try ManagedObjectModel {
    Entity("Note") {
      Attribute("text", .string, renamed: "text")
      Attribute("number", .integer64)
      if version == 1 { Attribute("old", .string, optional: false, default: "none") }
      Attribute("square", .integer64)
      Attribute("label", .string)
      Index("byNumber", "number")
    }
  }
}

/// Takes notes to the last version by two stages, whose handlers save a hundred notes at a time, and does what was put
/// off. Writes a byte to standard output for each step, so that it can be killed at any of them. What is done before is
/// not done again.
func migrateNotesByStages(path: String) throws {
  let step = Data(".".utf8)
  func tell() { FileHandle.standardOutput.write(step) }
  /// Sets a property of the notes that lack it.
  func fill(_ manager: StagedMigrationManager, _ key: String, _ value: (ManagedObject) -> Any?) throws {
    tell()
    guard let context = manager.container?.newBackgroundContext() else { throw WorkerError("no container") }
    try context.performAndWait {
      while true {
        let request = FetchRequest<ManagedObject>(entityName: "Note")
        request.predicate = try FetchPredicate(format: "\(key) == nil")
        request.fetchLimit = 100
        let notes = try context.fetch(request)
        if notes.isEmpty { return }
        for note in notes { try note.set(value(note), forKey: key) }
        try context.save()
        tell()
      }
    }
  }
  let models = try (0...2).map { try stagedModel($0) }
  let versions = try models.map { ManagedObjectModelReference(model: $0, versionChecksum: try $0.versionChecksum) }
  let squares = CustomMigrationStage(migratingFrom: versions[0], to: versions[1])
  squares.willMigrateHandler = { _, _ in tell() }
  squares.didMigrateHandler = { manager, _ in
    try fill(manager, "square") { note in (note.value(forKey: "number") as? Int).map { $0 * $0 } ?? -1 }
  }
  let labels = CustomMigrationStage(migratingFrom: versions[1], to: versions[2])
  labels.willMigrateHandler = { manager, _ in try fill(manager, "label") { $0.value(forKey: "old") } }
  labels.didMigrateHandler = { _, _ in tell() }
  tell()
  let container = PersistentContainer(name: "Notes", managedObjectModel: models[2])
  let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
  description.shouldDeferLightweightMigration = true
  description.setOption(
    try StagedMigrationManager([squares, labels]), forKey: PersistentStoreCoordinator.stagedMigrationManagerOption)
  container.persistentStoreDescriptions = [description]
  try container.loadPersistentStores()
  try container.persistentStoreCoordinator.finishDeferredLightweightMigration(rowsAtATime: 300) { _ in
    tell()
    return true
  }
}
