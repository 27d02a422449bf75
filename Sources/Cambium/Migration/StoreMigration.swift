import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Brings a store that is being opened to the model of its coordinator, as far as its description allows.
struct StoreMigration {
  let description: PersistentStoreDescription
  let destination: ManagedObjectModel
  let definition: SchemaDefinition

  init(_ description: PersistentStoreDescription, _ destination: ManagedObjectModel, _ definition: SchemaDefinition) {
    self.description = description
    self.destination = destination
    self.definition = definition
  }

  var file: String { description.url?.lastPathComponent ?? "memory" }

  /// Makes sure that what the description asks for goes together.
  func check() throws {
    guard let manager = description.stagedMigrationManager else { return }
    _ = try manager.order
    for (isSet, option) in [
      (description.shouldMigrateStoreAutomatically, "migratePersistentStoresAutomaticallyOption"),
      (description.shouldInferMappingModelAutomatically, "inferMappingModelAutomaticallyOption"),
    ] where !isSet {
      throw CambiumError(
        .invalidArgument,
        "Staged Migration was requested with stagedMigrationManagerOption but without setting \(option) to true; set both "
          + "migratePersistentStoresAutomaticallyOption and inferMappingModelAutomaticallyOption")
    }
    if !description.mappingModels.isEmpty {
      throw CambiumError(
        .invalidArgument,
        "a store is migrated by stages (stagedMigrationManagerOption) or by mapping models (mappingModelsOption), not by "
          + "both; give one of them")
    }
  }

  /// The store, with the model.
  @_optimize(none)
  func prepare(_ shared: SharedStore) throws -> EntityStore {
    if !shared.allowsOtherModel(keepsModel: description.keepsModel) { try requireSameModel(shared) }
    if let manager = description.stagedMigrationManager, !description.isReadOnly {
      try StagedMigration(
        manager: manager, description: description, destination: destination, definition: definition, shared: shared
      ).run()
    }
    try requireNoStage(shared)
    let store = try mapping(.persistentStoreOpen) { () throws(EngineError) in try shared.current() }
    let definition = try definition(for: store)
    let model = try ManagedObjectModel.compile(definition, basedOn: store.schema)
    if model.isEqualButForOrder(to: store.schema) {
      DebugLog.write(.store, "\(file): opened, model \(store.schema.versionChecksum)")
      return store
    }
    let differing = model.differingEntities(from: store.schema)
    if differing.isEmpty {
      // What is stored is the same; a store that cannot be written keeps its indexes.
      if description.isReadOnly { return store }
      DebugLog.write(.store, "\(file): taking over what is no part of the model's version")
      return try migrate(shared, to: definition)
    }
    DebugLog.write(
      .migration,
      "\(file): model \(store.schema.versionChecksum) is not \(model.versionChecksum); these entities differ: "
        + differing.joined(separator: ", "))
    guard description.shouldMigrateStoreAutomatically else {
      throw mismatch(
        differing,
        "the store was made with another model; these entities differ: "
          + "\(differing.joined(separator: ", ")). Let it be migrated (shouldMigrateStoreAutomatically, "
          + "migratePersistentStoresAutomaticallyOption), or open it with the model that it was made with")
    }
    guard !description.isReadOnly else {
      throw mismatch(
        differing,
        "the store was made with another model, and cannot be migrated since it was opened for reading only; "
          + "these entities differ: \(differing.joined(separator: ", ")). Open it for writing once, or with its own model"
      )
    }
    guard description.shouldInferMappingModelAutomatically else {
      throw CambiumError(
        .migrationMissingMappingModel,
        "the store was made with another model, and there is no mapping model for the migration. Let one be inferred "
          + "(shouldInferMappingModelAutomatically), or migrate with a migration manager")
    }
    return try migrate(shared, to: definition)
  }

  /// Refuses a store in the middle of a stage, waiting for one that runs; a handler itself may open it.
  private func requireNoStage(_ shared: SharedStore) throws {
    func pending() throws -> StageRecord? {
      do {
        return try mapping(.persistentStoreOpen) { () throws(EngineError) in try shared.current() }.pendingStage()
      } catch let error as EngineError {
        throw CambiumError(error, during: .persistentStoreOpen)
      }
    }
    if StagedMigration.running.contains(ObjectIdentifier(shared)) { return }
    guard try pending() != nil else { return }
    try shared.alone { if let record = try pending() { throw CambiumError(unfinished: record) } }
  }

  @_optimize(none)
  private func migrate(_ shared: SharedStore, to definition: SchemaDefinition) throws -> EntityStore {
    var number = 0
    let file = file
    var refusal: CambiumError?
    do throws(EngineError) {
      let store = try shared.migrated(
        to: definition, defers: description.shouldDeferLightweightMigration,
        keepsPriorState: description.keepsStateBeforeMigration,
        check: { (store, model) throws(EngineError) in
          refusal = try dropRefusal(store, model)
          if refusal != nil { throw .misuse("the migration was refused") }
        },
        // Telling of steps takes a look at the rows: nobody pays for it who does not listen.
        observe: !DebugLog.isOn(.migration)
          ? nil
          : { step in
            number += 1
            DebugLog.write(.migration, "\(file): step \(number): \(step.description)")
          })
      DebugLog.write(.migration, "\(file): migrated, model \(store.schema.versionChecksum)")
      return store
    } catch {
      DebugLog.write(.migration, "\(file): not migrated: \(refusal?.message ?? error.description)")
      throw refusal ?? CambiumError(error, during: .migration)
    }
  }

  func mismatch(_ entities: [String], _ text: String) -> CambiumError {
    var error = CambiumError(.persistentStoreIncompatibleVersionHash, text)
    error.mismatchedEntities = entities
    error.storeURL = description.url
    return error
  }
}
