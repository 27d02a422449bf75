import Cambium
import Foundation
import Testing

/// Versions of a model of notes. What is written in "number" as text becomes a number of the same name: that takes
/// steps.
enum NoteVersions {
  /// 1: `number` is text. 2: `amount` beside it. 3: `number` is gone. 4: `amount` is called `number`. 5: `stars` come,
  /// with a default. 6: `stars` have none any more. 7: `number` is a date.
  static func model(_ version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifiers: ["\(version)"]) {
      Entity("Note") {
        Attribute("text", .string)
        if version <= 2 { Attribute("number", .string) }
        if version == 2 || version == 3 { Attribute("amount", .integer64) }
        if (4...6).contains(version) { Attribute("number", .integer64, renamed: "amount") }
        if version == 7 { Attribute("number", .date) }
        if version == 5 { Attribute("stars", .integer16, optional: false, default: 3) }
        if version == 6 { Attribute("stars", .integer16, optional: false).with { $0.versionHashModifier = "6" } }
      }
    }
  }

  static func checksum(_ version: Int) -> String { (try? model(version).versionChecksum) ?? "none" }

  static func reference(_ version: Int) throws -> ManagedObjectModelReference {
    let model = try model(version)
    return ManagedObjectModelReference(model: model, versionChecksum: try model.versionChecksum)
  }

  static func lightweight(_ versions: Int..., named label: String? = nil) -> LightweightMigrationStage {
    let stage = LightweightMigrationStage(versions.map { checksum($0) })
    stage.label = label
    return stage
  }

  static func custom(_ version: Int, _ next: Int) throws -> CustomMigrationStage {
    let stage = CustomMigrationStage(migratingFrom: try reference(version), to: try reference(next))
    stage.label = "\(version) to \(next)"
    return stage
  }

  /// 2 to 3, in which the text becomes a number.
  static func reading(_ noted: @escaping (String) -> Void = { _ in }) throws -> CustomMigrationStage {
    let stage = try custom(2, 3)
    stage.willMigrateHandler = { manager, _ in
      noted("will")
      guard let context = manager.container?.newBackgroundContext() else { return }
      try context.performAndWait {
        for note in try context.all("Note", "number != nil") {
          try note.set((note.value(forKey: "number") as? String).flatMap { Int64($0) }, forKey: "amount")
          try note.set(nil, forKey: "number")
        }
        try context.save()
      }
    }
    return stage
  }

  static let count = 10

  /// Makes a store of a version, with notes.
  static func fill(_ directory: TemporaryDirectory, _ version: Int) throws {
    let context = try directory.container(model: try model(version)).viewContext
    for n in 0..<count {
      let number: Any = version <= 2 ? "\(n)" as Any : Int64(n)
      var values: [String: Any?] = ["text": "note \(n)", version == 3 ? "amount" : "number": number]
      if version >= 5 { values["stars"] = 5 }
      try context.make("Note", values)
    }
    try context.save()
  }

  static func open(
    _ directory: TemporaryDirectory, _ version: Int, _ stages: [MigrationStage], models: [Int] = [],
    configure: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> PersistentContainer {
    let manager = try StagedMigrationManager(stages, models: try models.map { try reference($0) })
    return try directory.container(model: try model(version)) {
      $0.setOption(manager, forKey: PersistentStoreCoordinator.stagedMigrationManagerOption)
      configure($0)
    }
  }

  /// What the store has as its version.
  static func stored(_ directory: TemporaryDirectory) throws -> String? {
    let url = directory.url.appendingPathComponent("flights.cambium")
    for version in 1...7 {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: try model(version))
      if (try? coordinator.addPersistentStore(type: .file, at: url)) != nil { return "\(version)" }
    }
    return nil
  }
}
