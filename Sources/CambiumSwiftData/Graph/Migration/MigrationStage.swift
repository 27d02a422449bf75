/// How a store gets from one version of the schema to the next. SwiftData: `MigrationStage`.
///
/// The container calls handlers on the thread that makes it. A context of a handler has the classes of one version, and
/// belongs to the handler: it is of no use when the handler has returned.
///
/// A handler must save. If it returns with unsaved changes, the migration fails. If it throws, the migration fails as
/// well, and the store stays as it was before the first stage. The next container starts again from there, so a handler
/// need not care whether it ran before.
public enum MigrationStage: @unchecked Sendable {
  // `@unchecked`: SwiftData's handlers are no `@Sendable` closures, and plans keep stages in static properties. The
  // thread that makes a container calls them, and no two of them at a time for one container.

  /// Everything follows from the two versions: see <doc:MigratingWithPlans>.
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)

  /// As a lightweight stage, with handlers before and after it.
  ///
  /// - `willMigrate` gets a context with the old version's classes.
  /// - `didMigrate` gets one with the new version's.
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((_ context: ModelContext) throws -> Void)?, didMigrate: ((_ context: ModelContext) throws -> Void)?)

  /// As a lightweight stage, with a handler after it that sees the store before and after; see
  /// ``custom(from:to:migrate:)``.
  case comparing(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    migrate: (_ old: ModelContext, _ new: ModelContext) throws -> Void)

  /// Returns a stage whose handler sees the store before and after it. SwiftData has nothing like it.
  ///
  ///     static let toVersion2 = MigrationStage.custom(from: Version1.self, to: Version2.self) { old, new in
  ///       for trip in try old.fetch(FetchDescriptor<Version1.Trip>()) {
  ///         let copy: Version2.Trip? = try new.existingModel(for: trip.persistentModelID)
  ///         copy?.minutes = Int(trip.duration) ?? 0
  ///       }
  ///       try new.save()
  ///     }
  ///
  /// The handler runs after the migration of the stage. The old context shows the store as it was right before, with
  /// the old version's classes. It is read-only: a change of its models fails the migration. The new context has the
  /// new version's classes. A model keeps its identifier.
  ///
  /// - Parameters:
  ///   - oldVersion: The version before.
  ///   - newVersion: The version after.
  ///   - migrate: Carries over what the migration cannot, and saves the new context.
  public static func custom(
    from oldVersion: any VersionedSchema.Type, to newVersion: any VersionedSchema.Type,
    migrate: @escaping (_ old: ModelContext, _ new: ModelContext) throws -> Void
  ) -> MigrationStage {
    .comparing(fromVersion: oldVersion, toVersion: newVersion, migrate: migrate)
  }

  /// The version before and the version after.
  var versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type) {
    switch self {
    case .lightweight(let from, let to): (from, to)
    case .custom(let from, let to, _, _): (from, to)
    case .comparing(let from, let to, _): (from, to)
    }
  }

  /// Whether the stage is declared to be a lightweight one.
  var isLightweight: Bool {
    if case .lightweight = self { return true }
    return false
  }

  /// Whether the application takes part.
  var isCustom: Bool {
    switch self {
    case .lightweight, .custom(_, _, nil, nil): false
    case .custom, .comparing: true
    }
  }

  /// Whether a handler can change the models before the stage.
  var hasWillMigrate: Bool {
    switch self {
    case .lightweight, .comparing: false
    case .custom(_, _, let willMigrate, _): willMigrate != nil
    }
  }
}
