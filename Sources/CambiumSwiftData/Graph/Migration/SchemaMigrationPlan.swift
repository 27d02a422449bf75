/// The versions of an application's schema, and how a store gets from each to the next. SwiftData:
/// `SchemaMigrationPlan`.
///
///     enum Plan: SchemaMigrationPlan {
///       static var schemas: [any VersionedSchema.Type] { [Version1.self, Version2.self] }
///       static var stages: [MigrationStage] {
///         [.lightweight(fromVersion: Version1.self, toVersion: Version2.self)]
///       }
///     }
///     let container = try ModelContainer(for: Trip.self, migrationPlan: Plan.self)
///
/// The container looks up the store's version by its checksum, and runs the stages from there on. All of them are one
/// commit: if one fails, or the process ends, the store stays as it was.
///
/// ``ModelContainer/preflight(_:storeAt:)`` tells what is in the way in a store, without changing it.
public protocol SchemaMigrationPlan: SendableMetatype {
  /// The versions, the oldest first. The last is that of the container.
  static var schemas: [any VersionedSchema.Type] { get }
  /// A stage from each version to the next, in the same order.
  static var stages: [MigrationStage] { get }
}
