import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The order of a model's versions, and what the application does between them. Core Data: `NSStagedMigrationManager`.
///
///     let manager = try StagedMigrationManager([lightweightStage, customStage])
///     description.setOption(manager, forKey: PersistentStoreCoordinator.stagedMigrationManagerOption)
///     try container.loadPersistentStores()
///
/// When a store is opened with it, the stages from the store's version to the coordinator's are run in order: those
/// that the store has behind it are left out. The whole way is looked at before anything is changed: if a model is
/// missing, or a step cannot be inferred, the store stays as it was. Each step is a commit, with a note of the handler
/// that has yet to return, so that a migration that was cut short goes on where it was (see ``CustomMigrationStage``).
///
/// **Which version a store has** is told by the ``ManagedObjectModel/versionChecksum`` of the model in it. A version
/// may be listed once, except that a custom stage may depart from the version that the custom stage before leads to. A
/// stage of two or more versions is the same as as many stages of one.
///
/// One manager runs one migration at a time; another store that is opened with it meanwhile waits. Thread-safe once the
/// stages are set up.
public final class StagedMigrationManager: @unchecked Sendable {
  // `@unchecked`: `current`, `before` and `found` are touched with `lock` held only.
  /// The stages, in order.
  public let stages: [MigrationStage]
  private let ordered: Swift.Result<StageOrder, any Error>
  let models: [ManagedObjectModelReference]
  let modelFolders: [URL]
  private let lock = StateLock()
  private let running = StateLock()
  private var current: PersistentContainer?
  private var before: PersistentContainer?
  private var found: [ManagedObjectModel]?
  /// The part of another face of the object graph in the migration. Set it before a store is opened.
  package var hooks: StagedMigrationHooks?

  /// A manager of stages.
  ///
  /// - Parameters:
  ///   - stages: The stages, in the order of the versions, the oldest first.
  ///   - models: Versions that no custom stage names, in any order: needed where lightweight versions have to be
  ///     stepped through one by one.
  ///   - modelFolders: Folders in which such versions are looked for as well.
  /// - Throws: ``CambiumError/Code/invalidArgument`` if a version is listed twice (Core Data raises
  ///   `NSInvalidArgumentException`), a custom stage leads to the version that it departs from, a lightweight stage
  ///   lists no version, or a checksum cannot be one.
  public init(
    _ stages: [MigrationStage], models: [ManagedObjectModelReference] = [], modelFolders: [URL] = []
  ) throws {
    self.stages = stages
    self.models = models
    self.modelFolders = modelFolders
    ordered = .success(try StageOrder(stages))
  }

  /// A manager of stages that are looked at when a store is opened, which throws what ``init(_:models:modelFolders:)``
  /// would: for code that, like Core Data's, has no place for it.
  public init(unchecked stages: [MigrationStage]) {
    self.stages = stages
    models = []
    modelFolders = []
    ordered = Swift.Result { try StageOrder(stages) }
  }

  /// The stages as an order of versions.
  var order: StageOrder { get throws { try ordered.get() } }

  /// While a handler runs, the store that is migrated; `nil` otherwise. Objects are plain ``ManagedObject``s, whatever
  /// classes the model names: those are the application's of today, not the version's. The container is of no use after
  /// the handler has returned.
  public var container: PersistentContainer? { lock.locked { current } }

  /// While a ``CustomMigrationStage/migrateHandler`` runs, the store as it was right before the stage's migration, with
  /// the model of then, for reading only; `nil` otherwise. As ``container``, of no use afterwards.
  public var containerBefore: PersistentContainer? { lock.locked { before } }

  /// What became of an object of ``containerBefore``, in a context of ``container``; `nil` if it is not there any more.
  /// Objects keep their identity through a migration, whatever their entity is called.
  ///
  /// - Throws: ``CambiumError`` if the store cannot be read.
  public func migrated(_ object: ManagedObject, in context: ManagedObjectContext) throws -> ManagedObject? {
    guard let store = context.persistentStoreCoordinator.persistentStores.first,
      object.objectID.space.identifier == store.identifier, store.space.info(object.objectID.reference.entity) != nil
    else { return nil }
    let id = ManagedObjectID(space: store.space, reference: object.objectID.reference)
    do { return try context.existingObject(with: id) } catch let error as CambiumError
      where error.code == .managedObjectReferentialIntegrity
    {
      return nil
    }
  }

  func setContainers(_ container: PersistentContainer?, before: PersistentContainer?) {
    lock.locked { (current, self.before) = (container, before) }
  }

  /// Runs `body` when no other migration of the manager runs.
  func alone<R>(_ body: () throws -> R) throws -> R { try running.locked(body) }

  /// The model of a version that the coordinator does not have.
  ///
  /// - Throws: ``CambiumError/Code/managedObjectModelReferenceNotFound``.
  func model(withChecksum checksum: String) throws -> ManagedObjectModel {
    for reference in try order.references + models where reference.versionChecksum == checksum {
      return try reference.resolvedModel
    }
    for model in try modelsInFolders() where try model.versionChecksum == checksum { return model }
    throw CambiumError(
      .managedObjectModelReferenceNotFound,
      "the model with version checksum \(checksum) is needed on the way, and there is no reference to it: give the staged "
        + "migration manager one (models), or a folder that the model is in (modelFolders)")
  }

  private func modelsInFolders() throws -> [ManagedObjectModel] {
    if let found = lock.locked({ found }) { return found }
    let all: [ManagedObjectModel]
    do { all = try ManagedObjectModel.models(in: modelFolders, allVersions: true) } catch {
      throw CambiumError(
        .managedObjectModelReferenceNotFound,
        "the folders with models cannot be read: \((error as? CambiumError)?.message ?? "\(error)")",
        underlying: [error])
    }
    lock.locked { found = all }
    return all
  }
}
