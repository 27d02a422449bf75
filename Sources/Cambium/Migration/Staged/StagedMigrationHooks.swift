import CambiumEngine

/// How another face of the object graph, with classes of its own, migrates by stages.
///
/// With hooks, the containers of handlers have the classes that the stages' models name, and all stages together are
/// one commit: see `StoreMigration+StagedCopy.swift`.
package struct StagedMigrationHooks {
  /// Looks at the model of the store before anything is done, and throws if the store must not be migrated.
  package var checkSource: (Schema) throws -> Void
  /// Returns the error about objects in the way of a stage, given that of the migration, which has a ``MigrationBlock``
  /// for each reason underneath. The container shows the store before the stage's migration.
  package var explainBlocks: (CambiumError, CustomMigrationStage, PersistentContainer) -> any Error

  /// Hooks.
  package init(
    checkSource: @escaping (Schema) throws -> Void,
    explainBlocks: @escaping (CambiumError, CustomMigrationStage, PersistentContainer) -> any Error
  ) {
    (self.checkSource, self.explainBlocks) = (checkSource, explainBlocks)
  }
}
