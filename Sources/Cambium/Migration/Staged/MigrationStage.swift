/// A part of a staged migration: a ``LightweightMigrationStage`` or a ``CustomMigrationStage``. Core Data:
/// `NSMigrationStage`.
///
/// Set stages up on one thread, before a store is opened with their manager.
public class MigrationStage: @unchecked Sendable {
  // `@unchecked`: set up on one thread, as the documentation asks; a migration only reads it.
  /// What the stage is called in messages and logs.
  public var label: String?

  init() {}

  /// The stage in messages.
  var name: String { label.map { "'\($0)'" } ?? "without label" }
}

/// Versions of a model that the next version can be inferred from. Core Data: `NSLightweightMigrationStage`.
///
/// A stage lists the versions that it **departs from**, oldest first; it leads to the version that the next stage
/// departs from, or, at the end, to the coordinator's model. A store of any of them is migrated there in one step if
/// that can be inferred, and else version by version, for which the models in between have to be known: by references
/// given here, by those of custom stages, or by the manager's
/// (``StagedMigrationManager/init(_:models:modelFolders:)``). Core Data tries the one step only.
public final class LightweightMigrationStage: MigrationStage, @unchecked Sendable {
  // `@unchecked`: nothing changes after `init`; the superclass is.
  /// The checksums of the versions, oldest first.
  public let versionChecksums: [String]
  let references: [ManagedObjectModelReference]

  /// A stage of versions by their checksums (``ManagedObjectModel/versionChecksum``), oldest first.
  public init(_ versionChecksums: [String]) {
    self.versionChecksums = versionChecksums
    references = []
    super.init()
  }

  /// A stage of versions whose models can be found, oldest first.
  public init(models references: [ManagedObjectModelReference]) {
    versionChecksums = references.map { $0.versionChecksum }
    self.references = references
    super.init()
  }
}

/// A step from one version of a model to the next in which the application takes part. Core Data:
/// `NSCustomMigrationStage`.
///
///     let stage = CustomMigrationStage(migratingFrom: second, to: third)
///     stage.label = "V2 to V3: flight data get an entity of their own"
///     stage.willMigrateHandler = { manager, stage in
///       guard let context = manager.container?.newBackgroundContext() else { return }
///       try context.performAndWait {
///         let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
///         request.predicate = try FetchPredicate(format: "flightData != nil")
///         for aircraft in try context.fetch(request) {
///           let data = try context.insertNewObject(forEntityName: "FlightData")
///           try data.set(aircraft.value(forKey: "flightData"), forKey: "data")
///           try data.set(aircraft, forKey: "aircraft")
///           try aircraft.set(nil, forKey: "flightData")
///         }
///         try context.save()
///       }
///     }
///
/// The step itself has to be one that can be inferred (``MappingModel/inferred(from:to:)``); a change that cannot is
/// split into two such steps with a handler in between.
///
/// **Handlers have to be fit to run again.** What a handler saves is on the disk at once, but the stage is done only
/// when the last handler has returned. A process that ends before, or a handler that throws, leaves the store in the
/// stage, and the next opening calls the handler that was under way again, with what it had saved. The one above may:
/// aircraft that were done have no flight data any more.
public final class CustomMigrationStage: MigrationStage, @unchecked Sendable {
  // `@unchecked`: handlers are set by who makes the stage, and called by the one thread that opens the store.
  /// What the application does in a stage. Throwing ends the opening of the store; what was saved stays. It is called
  /// on the thread that opens the store. It must not migrate the store, nor undo a migration of it, nor wait for
  /// another thread that opens the store: that one waits for the stage.
  public typealias Handler = (StagedMigrationManager, CustomMigrationStage) throws -> Void

  /// The model that the stage departs from.
  public let currentModel: ManagedObjectModelReference
  /// The model that it leads to.
  public let nextModel: ManagedObjectModelReference
  /// Called before the migration: ``StagedMigrationManager/container`` has the current model.
  public var willMigrateHandler: Handler?
  /// Called after the migration, to carry over what the migration cannot: ``StagedMigrationManager/container`` has the
  /// next model, and ``StagedMigrationManager/containerBefore`` shows the store as it was right before the migration,
  /// with the current model. That state is kept in the file until the handler has returned, whatever happens in
  /// between, so that one handler can read what the next model has no place for, without a version in between that has
  /// both. Core Data has nothing like it.
  ///
  ///     stage.migrateHandler = { manager, _ in
  ///       guard let before = manager.containerBefore?.viewContext, let after = manager.container?.viewContext else { return }
  ///       for old in try before.fetch(FetchRequest<ManagedObject>(entityName: "Note")) {
  ///         let new = try manager.migrated(old, in: after)
  ///         try new?.set((old.value(forKey: "number") as? String).flatMap { Int($0) }, forKey: "amount")
  ///       }
  ///       try after.save()
  ///     }
  public var migrateHandler: Handler?
  /// Called last, after the migration: ``StagedMigrationManager/container`` has the next model. Core Data does not call
  /// it again when the process ends meanwhile; Cambium does.
  public var didMigrateHandler: Handler?

  /// A stage from one version to the next.
  public init(migratingFrom currentModel: ManagedObjectModelReference, to nextModel: ManagedObjectModelReference) {
    self.currentModel = currentModel
    self.nextModel = nextModel
    super.init()
  }
}
