extension PersistentStoreDescription {
  /// Mapping models of the application's own: the first whose version hashes of entities are exactly those of the store
  /// and of the coordinator's model is used before one is inferred. Core Data looks for them in bundles.
  ///
  /// The store is migrated into a file beside it (``MigrationManager``), which then takes its place at once; a kill at
  /// any point leaves the old store or the new one. Nobody else may have it open. The store keeps its
  /// ``PersistentStore/identifier`` and what the application keeps with it; its objects get new identifiers, and the
  /// old ones name nothing any more.
  public var mappingModels: [MappingModel] {
    get { ownMigration["mappingModels"] as? [MappingModel] ?? [] }
    set { ownMigration["mappingModels"] = newValue }
  }

  /// The stages by which a store of an earlier version is migrated; without, it is migrated in one step. Needs both
  /// ``shouldMigrateStoreAutomatically`` and ``shouldInferMappingModelAutomatically``, and no ``mappingModels``.
  public var stagedMigrationManager: StagedMigrationManager? {
    get { ownMigration["stagedMigrationManager"] as? StagedMigrationManager }
    set { ownMigration["stagedMigrationManager"] = newValue }
  }
}
