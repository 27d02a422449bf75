// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Core Data's constants. Where Cambium has a value of its own, it is that: a key is found under it in metadata and
// options.

/// The type of a store in a file. Cambium has one kind of file, its own: nothing is left of SQLite but the name. A file
/// that SQLite wrote is refused, and the error says what it is.
public let NSSQLiteStoreType = PersistentStoreType.file.rawValue
/// The type of a store in a file, as ``NSSQLiteStoreType``: the file is of the same kind.
public let NSBinaryStoreType = PersistentStoreType.file.rawValue
/// The type of a store in a file, as ``NSSQLiteStoreType``: the file is of the same kind.
public let NSXMLStoreType = PersistentStoreType.file.rawValue
/// The type of a store in memory.
public let NSInMemoryStoreType = PersistentStoreType.inMemory.rawValue

/// The option that a store may only be read (`Bool`).
public let NSReadOnlyPersistentStoreOption = PersistentStoreCoordinator.readOnlyPersistentStoreOption
/// The option that a store of another model is migrated (`Bool`).
public let NSMigratePersistentStoresAutomaticallyOption =
  PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption
/// The option that the mapping for that is inferred (`Bool`).
public let NSInferMappingModelAutomaticallyOption = PersistentStoreCoordinator.inferMappingModelAutomaticallyOption
/// The option that gives the stages of a migration (``NSStagedMigrationManager``).
public let NSPersistentStoreStagedMigrationManagerOptionKey = PersistentStoreCoordinator.stagedMigrationManagerOption
/// The option that a migration may put things off (`Bool`), and the key under which metadata say that it has.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  PersistentStoreCoordinator.deferredLightweightMigrationOption
/// The option of how many seconds are waited for other processes.
public let NSPersistentStoreTimeoutOption = PersistentStoreCoordinator.persistentStoreTimeoutOption
/// The option that a store keeps history (`Bool`).
public let NSPersistentHistoryTrackingKey = PersistentStoreCoordinator.persistentHistoryTrackingOption
/// The option that what is saved in a store is posted as `NSPersistentStoreRemoteChange` (`Bool`).
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  PersistentStoreCoordinator.remoteChangeNotificationPostOption
/// Without effect: any number of contexts read at the same time.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Without effect: there is no SQLite.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Without effect: there is no SQLite.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Without effect: there is no SQLite; room is used again, and `PersistentStore.compact(progress:)` gives it back.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"

/// The key of a store's type in its metadata.
public let NSStoreTypeKey = PersistentStore.storeTypeKey
/// The key of a store's UUID in its metadata, and in a notification of its changes.
public let NSStoreUUIDKey = PersistentStore.storeUUIDKey
/// The key of the version hashes by entity in a store's metadata.
public let NSStoreModelVersionHashesKey = PersistentStore.modelVersionHashesKey
/// The key of the model's version identifiers in a store's metadata.
public let NSStoreModelVersionIdentifiersKey = PersistentStore.modelVersionIdentifiersKey
/// The key of the model's checksum in a store's metadata.
public let NSPersistentStoreModelVersionChecksumKey = PersistentStore.modelVersionChecksumKey

/// ``MergePolicy/error``.
public let NSErrorMergePolicy = MergePolicy.error
/// ``MergePolicy/mergeByPropertyStoreTrump``.
public let NSMergeByPropertyStoreTrumpMergePolicy = MergePolicy.mergeByPropertyStoreTrump
/// ``MergePolicy/mergeByPropertyObjectTrump``.
public let NSMergeByPropertyObjectTrumpMergePolicy = MergePolicy.mergeByPropertyObjectTrump
/// ``MergePolicy/overwrite``.
public let NSOverwriteMergePolicy = MergePolicy.overwrite
/// ``MergePolicy/rollback``.
public let NSRollbackMergePolicy = MergePolicy.rollback
