import CambiumEngine
import CambiumKernel
import CambiumSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// By a mapping model of the application's (or by stages, see `StoreMigration+StagedCopy.swift`), a store is migrated
// into a file beside it, which then takes its place:
//
//   close the store -> open it alone, for reading -> make the other file under a temporary name, locked -> three passes
//   -> close and sync it -> rename it over the store -> sync the directory -> open the store
//
// The old file is locked until the new one has its name, so nobody can be left working on a file without one; who took
// its locks too late finds that the path leads elsewhere by then, and opens again. What a kill leaves of the new file,
// the next opening of the store removes.
extension StoreMigration {
  /// How often, and with what pause in milliseconds, is tried to have the file alone: others that are to migrate it as
  /// well have it open for a moment.
  private static let attempts = (count: 50, pause: 20)

  /// Opens the file; before that, replaces it by what becomes of it if the application has a mapping model for it.
  ///
  /// - Throws: ``CambiumError/Code/migrationManagerSourceStore`` if the file is to be replaced and somebody else has it
  ///   open; what ``MigrationManager/migrateStore(_:mapping:to:)`` throws. The store is as it was then, but for a
  ///   directory that cannot be synced in the end.
  func open(_ url: URL, making model: Schema) throws -> SharedStore {
    try check()
    try requireNoCopy(of: url.resolvingSymlinksInPath().path)
    for _ in 0..<Self.attempts.count {
      let shared: SharedStore
      do { shared = try OpenStores.open(description, path: url.path) { model } } catch StoreError.busy
        where stagesInCopy != nil
      {
        // Another process may be running the stages.
        continue
      }
      do {
        if !description.isReadOnly { FileDevice.removeUnfinishedReplacement(of: url.resolvingSymlinksInPath().path) }
        if try !needsReplacement(shared) { return shared }
      } catch {
        try? OpenStores.close(shared)
        throw error
      }
      try OpenStores.close(shared)
      if try !replace(url) { SystemEnvironment().pause(milliseconds: Self.attempts.pause) }
    }
    throw CambiumError(
      .migrationManagerSourceStore,
      "the store is to be migrated by \(stagesInCopy == nil ? "a mapping model" : "stages"), which replaces its file, and "
        + "another \(stagesInCopy == nil ? "coordinator" : "container") or process has it open; close it there, and open it "
        + "again",
      underlying: [StoreError.busy])
  }

  /// The manager whose stages are one commit, if there is one.
  private var stagesInCopy: StagedMigrationManager? {
    guard let manager = description.stagedMigrationManager, manager.hooks != nil else { return nil }
    return manager
  }

  private func needsReplacement(_ shared: SharedStore) throws -> Bool {
    if let manager = stagesInCopy {
      let store = try mapping(.persistentStoreOpen) { () throws(EngineError) in try shared.current() }
      try manager.hooks?.checkSource(store.schema)
      return try !description.isReadOnly && needsCopy(store, manager)
    }
    guard description.shouldMigrateStoreAutomatically, !description.isReadOnly, !description.mappingModels.isEmpty
    else {
      return false
    }
    let store = try mapping(.persistentStoreOpen) { () throws(EngineError) in try shared.current() }
    return try customMapping(of: store) != nil
  }

  /// The mapping model that the application has for a store of another model; nil if there is none.
  private func customMapping(of store: EntityStore) throws -> MappingModel? {
    let model = try ManagedObjectModel.compile(definition, basedOn: store.schema)
    if model.differingEntities(from: store.schema).isEmpty { return nil }
    return try MappingModel(
      from: description.mappingModels, forSourceModel: ManagedObjectModel(schema: store.schema),
      destinationModel: destination)
  }

  /// Puts a file with what becomes of the store in its place; false if somebody has it open.
  @_optimize(none)
  private func replace(_ url: URL) throws -> Bool {
    let path = url.resolvingSymlinksInPath().path
    do {
      try OpenStores.alone(path: path, description.storeOptions) { engine in
        // Another process may have been faster.
        if let manager = stagesInCopy {
          guard try needsCopy(engine, manager) else { return }
          return try replace(path) { device in try migrateCopy(of: path, into: device, manager) }
        }
        if let mapping = try customMapping(of: engine) { try replace(path, engine, mapping) }
      }
      return true
    } catch {
      if error as? StoreError == .busy { return false }
      DebugLog.write(.migration, "\(file): not migrated: \(error)")
      guard let error = error as? StoreError else { throw error }
      throw CambiumError(error, during: .migration)
    }
  }

  @_optimize(none)
  private func replace(_ path: String, _ engine: EntityStore, _ mapping: MappingModel) throws {
    DebugLog.write(
      .migration,
      "\(file): migrating from model \(engine.schema.versionChecksum) by a mapping model of the application's")
    let manager = MigrationManager(
      sourceModel: ManagedObjectModel(schema: engine.schema), destinationModel: destination)
    try mapping.check(from: manager.sourceModel, to: destination)
    let reading = PersistentStoreDescription(url: URL(fileURLWithPath: path))
    reading.isReadOnly = true
    let coordinator = manager.sourceContext.persistentStoreCoordinator
    let source = try coordinator.borrow(engine, as: reading)
    defer { try? coordinator.remove(source) }
    try manager.claim {
      try replace(path) { device in
        try manager.migrate(source, mapping, into: device, description, replacing: true)
      }
    }
  }

  /// Puts a file that `fill` writes in the store's place.
  private func replace(_ path: String, filling: @escaping (FileDevice) throws -> Void) throws {
    var temporary = path
    try StoreFiles.passingErrors { (fill: (FileDevice) throws(StoreError) -> Void) throws(StoreError) in
      try FileDevice.replace(at: path) { (device, temporaryPath) throws(StoreError) in
        temporary = temporaryPath
        try fill(device)
      }
    } filling: { device in
      try Self.copyPermissions(from: path, to: temporary)
      try filling(device)
    }
    DebugLog.write(.migration, "\(file): migrated, a new file has taken the store's place")
  }

  /// A store that was for some eyes only stays so.
  private static func copyPermissions(from path: String, to copy: String) throws {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    guard let permissions = attributes[.posixPermissions] else { return }
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: copy)
  }
}
