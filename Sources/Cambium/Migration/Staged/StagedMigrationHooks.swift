import CambiumEngine

/// How another face of the object graph, with classes of its own, migrates by stages.
///
/// With hooks, the containers of handlers have the classes that the stages' models name, and all stages together are
/// one commit: see `StoreMigration+StagedCopy.swift`. A renaming identifier is a name in the version before, whatever
/// identifiers that version has.
package struct StagedMigrationHooks {
  /// Looks at the model of the store before anything is done, and throws if the store must not be migrated.
  package var checkSource: (Schema) throws -> Void
  /// Returns the error about objects in the way of a stage, given that of the migration, which has a ``MigrationBlock``
  /// for each reason underneath. The container shows the store before the stage's migration.
  package var explainBlocks: (CambiumError, CustomMigrationStage, PersistentContainer) -> any Error

  /// Returns the text of an error of a handler, without its kind; nil for errors of other types.
  package var message: (any Error) -> String?

  /// Hooks.
  package init(
    checkSource: @escaping (Schema) throws -> Void,
    explainBlocks: @escaping (CambiumError, CustomMigrationStage, PersistentContainer) -> any Error,
    message: @escaping (any Error) -> String?
  ) {
    (self.checkSource, self.explainBlocks, self.message) = (checkSource, explainBlocks, message)
  }
}
