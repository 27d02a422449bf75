extension PersistentStoreDescription {
  /// Sets an option; `nil` removes it, and with it what the property that it stands for was set to. Of those that a
  /// coordinator knows, see ``PersistentStoreCoordinator/migratePersistentStoresAutomaticallyOption``; others have no
  /// effect.
  public func setOption(_ option: (any Sendable)?, forKey key: String) {
    options[key] = option
    if let option { try? apply(option: key, option) } else { takeBack(option: key) }
  }

  /// Sets what an option stands for to what it is without.
  private func takeBack(option key: String) {
    let usual = PersistentStoreDescription(type: usedType)
    switch key {
    case PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption:
      shouldMigrateStoreAutomatically = usual.shouldMigrateStoreAutomatically
    case PersistentStoreCoordinator.inferMappingModelAutomaticallyOption:
      shouldInferMappingModelAutomatically = usual.shouldInferMappingModelAutomatically
    case PersistentStoreCoordinator.allowReturningToFormerModelsOption:
      allowsReturningToFormerModels = usual.allowsReturningToFormerModels
    case PersistentStoreCoordinator.sourceModelsOption: sourceModels = usual.sourceModels
    case PersistentStoreCoordinator.allowDroppingUnknownDataOption:
      allowsDroppingUnknownData = usual.allowsDroppingUnknownData
    case PersistentStoreCoordinator.mappingModelsOption: mappingModels = usual.mappingModels
    case PersistentStoreCoordinator.deferredLightweightMigrationOption:
      shouldDeferLightweightMigration = usual.shouldDeferLightweightMigration
    case PersistentStoreCoordinator.stagedMigrationManagerOption: stagedMigrationManager = usual.stagedMigrationManager
    case PersistentStoreCoordinator.persistentStoreTimeoutOption: timeout = usual.timeout
    case PersistentStoreCoordinator.readOnlyPersistentStoreOption: isReadOnly = usual.isReadOnly
    case PersistentStoreCoordinator.persistentHistoryTrackingOption: tracksHistory = usual.tracksHistory
    case PersistentStoreCoordinator.remoteChangeNotificationPostOption: postsRemoteChanges = usual.postsRemoteChanges
    default: break
    }
  }

  /// Sets options.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for one of another type.
  func take(_ options: [String: any Sendable]) throws {
    for (key, value) in options {
      try apply(option: key, value)
      self.options[key] = value
    }
  }

  /// Brings an option into effect.
  func apply(option key: String, _ value: any Sendable) throws {
    switch key {
    case PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption:
      shouldMigrateStoreAutomatically = try flag(key, value)
    case PersistentStoreCoordinator.inferMappingModelAutomaticallyOption:
      shouldInferMappingModelAutomatically = try flag(key, value)
    case PersistentStoreCoordinator.allowReturningToFormerModelsOption:
      allowsReturningToFormerModels = try flag(key, value)
    case PersistentStoreCoordinator.sourceModelsOption:
      guard let models = value as? [ManagedObjectModel] else {
        throw CambiumError(
          .invalidArgument, "the option '\(key)' takes [ManagedObjectModel], not \(Swift.type(of: value))")
      }
      sourceModels = models
    case PersistentStoreCoordinator.allowDroppingUnknownDataOption:
      allowsDroppingUnknownData = try flag(key, value)
    case PersistentStoreCoordinator.mappingModelsOption:
      guard let models = value as? [MappingModel] else {
        throw CambiumError(.invalidArgument, "the option '\(key)' takes [MappingModel], not \(Swift.type(of: value))")
      }
      mappingModels = models
    case PersistentStoreCoordinator.deferredLightweightMigrationOption:
      shouldDeferLightweightMigration = try flag(key, value)
    case PersistentStoreCoordinator.stagedMigrationManagerOption:
      guard let manager = value as? StagedMigrationManager else {
        throw CambiumError(
          .invalidArgument, "the option '\(key)' takes a StagedMigrationManager, not \(Swift.type(of: value))")
      }
      stagedMigrationManager = manager
    case PersistentStoreCoordinator.persistentStoreTimeoutOption:
      guard let seconds = value as? Double ?? (value as? Int).map({ Double($0) }) else {
        throw CambiumError(.invalidArgument, "the option '\(key)' takes a number, not \(Swift.type(of: value))")
      }
      timeout = seconds
    case PersistentStoreCoordinator.readOnlyPersistentStoreOption: isReadOnly = try flag(key, value)
    case PersistentStoreCoordinator.persistentHistoryTrackingOption: tracksHistory = try flag(key, value)
    case PersistentStoreCoordinator.remoteChangeNotificationPostOption: postsRemoteChanges = try flag(key, value)
    default: break
    }
  }

  private func flag(_ key: String, _ value: any Sendable) throws -> Bool {
    // As Foundation's numbers say it.
    if let number = value as? Int, number == 0 || number == 1 { return number == 1 }
    guard let flag = value as? Bool else {
      throw CambiumError(.invalidArgument, "the option '\(key)' takes true or false, not \(Swift.type(of: value))")
    }
    return flag
  }
}
