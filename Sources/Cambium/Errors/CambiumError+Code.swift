extension CambiumError {
  /// The domain of errors that Core Data has no code for, as `NSError` has it.
  package static let ownDomain = "CambiumErrorDomain"

  /// The domain of the error as an `NSError`: Cocoa's, unless ``code`` means something else there.
  public var _domain: String { code.rawValue < 100 ? Self.ownDomain : "NSCocoaErrorDomain" }

  /// The number of ``code``.
  public var _code: Int { code.rawValue }

  /// The kind of an error. The raw values are Core Data's, or those that Cocoa has for files; those below 100 are
  /// Cambium's own.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int

    /// Wraps a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An argument that Core Data answers with `NSInvalidArgumentException`.
    public static let invalidArgument = Code(rawValue: 1)
    /// A key that the entity does not have, which Core Data answers with `NSUnknownKeyException`.
    public static let unknownKey = Code(rawValue: 2)
    /// A change of a model, or a part of one, that is in use; Core Data raises an exception.
    public static let modelInUse = Code(rawValue: 3)
    /// A model that cannot be used: see the underlying error.
    public static let invalidModel = Code(rawValue: 4)
    /// A predicate that cannot be used: see the underlying error.
    public static let invalidPredicate = Code(rawValue: 5)
    /// Something that this version does not do yet.
    public static let unsupported = Code(rawValue: 6)
    /// An earlier state of a store that is no longer kept: it was released, has lapsed, or was overtaken while the
    /// process was suspended.
    public static let snapshotExpired = Code(rawValue: 7)
    /// A file or folder that is not there.
    public static let fileReadNoSuchFile = Code(rawValue: 260)
    /// A file that is damaged.
    public static let fileReadCorruptFile = Code(rawValue: 259)
    /// A store or file that can only be read.
    public static let fileWriteNoPermission = Code(rawValue: 513)
    /// The caller gave up what was under way.
    public static let userCancelled = Code(rawValue: 3072)
    /// A device without room. If the store has dead room, ``PersistentStore/compact(progress:)`` gives it back.
    public static let fileWriteOutOfSpace = Code(rawValue: 640)

    /// Generic validation error.
    public static let managedObjectValidation = Code(rawValue: 1550)
    /// A uniqueness constraint is violated within the objects being saved. Never thrown:
    /// ``managedObjectConstraintMerge`` is, for these as well.
    public static let managedObjectConstraintValidation = Code(rawValue: 1551)
    /// Several validation errors: see `detailedErrors`.
    public static let validationMultipleErrors = Code(rawValue: 1560)
    /// A property that is not optional has no value.
    public static let validationMissingMandatoryProperty = Code(rawValue: 1570)
    /// A to-many relationship has fewer destinations than its least count.
    public static let validationRelationshipLacksMinimumCount = Code(rawValue: 1580)
    /// A relationship has more destinations than its greatest count.
    public static let validationRelationshipExceedsMaximumCount = Code(rawValue: 1590)
    /// An object with a relationship of delete rule deny was deleted while that has destinations.
    public static let validationRelationshipDeniedDelete = Code(rawValue: 1600)
    /// A number is greater than allowed, or a binary has more bytes.
    public static let validationNumberTooLarge = Code(rawValue: 1610)
    /// A number is less than allowed, or a binary has fewer bytes.
    public static let validationNumberTooSmall = Code(rawValue: 1620)
    /// A date is later than allowed.
    public static let validationDateTooLate = Code(rawValue: 1630)
    /// A date is earlier than allowed.
    public static let validationDateTooSoon = Code(rawValue: 1640)
    /// A date is not a date. Never thrown: what is no date is refused when it is set, as ``invalidArgument``.
    public static let validationInvalidDate = Code(rawValue: 1650)
    /// A string or URI has more characters than allowed.
    public static let validationStringTooLong = Code(rawValue: 1660)
    /// A string or URI has fewer characters than allowed.
    public static let validationStringTooShort = Code(rawValue: 1670)
    /// A string does not match the attribute's pattern.
    public static let validationStringPatternMatching = Code(rawValue: 1680)
    /// A URI is not one. Never thrown: what is no URI is refused when it is set, as ``invalidArgument``.
    public static let validationInvalidURI = Code(rawValue: 1690)

    /// An object, or the target of a reference, is not in the store.
    public static let managedObjectReferentialIntegrity = Code(rawValue: 133000)
    /// An object of another store or context.
    public static let managedObjectExternalRelationship = Code(rawValue: 133010)
    /// Objects were changed by others since they were read: see `conflicts`.
    public static let managedObjectMerge = Code(rawValue: 133020)
    /// A uniqueness constraint is violated against the store.
    public static let managedObjectConstraintMerge = Code(rawValue: 133021)

    /// A store type that does not exist. Thrown only for names of types, which `CambiumCoreData` takes.
    public static let persistentStoreInvalidType = Code(rawValue: 134000)
    /// A store that is of another type than was asked for.
    public static let persistentStoreTypeMismatch = Code(rawValue: 134010)
    /// The store cannot hold the model.
    public static let persistentStoreIncompatibleSchema = Code(rawValue: 134020)
    /// Saving failed.
    public static let persistentStoreSave = Code(rawValue: 134030)
    /// Saving failed in some of several stores.
    public static let persistentStoreIncompleteSave = Code(rawValue: 134040)
    /// Conflicts could not be resolved. Never thrown: ``managedObjectMerge`` and ``managedObjectConstraintMerge`` are.
    public static let persistentStoreSaveConflicts = Code(rawValue: 134050)
    /// Generic error.
    public static let coreData = Code(rawValue: 134060)
    /// An operation of the store failed.
    public static let persistentStoreOperation = Code(rawValue: 134070)
    /// A store could not be opened.
    public static let persistentStoreOpen = Code(rawValue: 134080)
    /// A store was not reached in time.
    public static let persistentStoreTimeout = Code(rawValue: 134090)
    /// A request of a kind that the store does not know. Never thrown: all stores know all requests.
    public static let persistentStoreUnsupportedRequestType = Code(rawValue: 134091)
    /// The store was made with another model: see `mismatchedEntities`. It needs a migration.
    public static let persistentStoreIncompatibleVersionHash = Code(rawValue: 134100)
    /// A migration failed.
    public static let migration = Code(rawValue: 134110)
    /// A migration would violate a uniqueness constraint.
    public static let migrationConstraintViolation = Code(rawValue: 134111)
    /// A migration was cancelled.
    public static let migrationCancelled = Code(rawValue: 134120)
    /// The application does not know the store's model, and the migration would drop a part of it. The message names
    /// every drop and the line to add. ``CambiumError/underlyingErrors`` has a ``ModelDrop`` for each. See
    /// ``PersistentStoreDescription/allowsDroppingUnknownData``. Also thrown for a renaming identifier that names
    /// nothing in the store's model, if its entity has a drop. Core Data throws this code for every source model that
    /// it does not find.
    public static let migrationMissingSourceModel = Code(rawValue: 134130)
    /// There is no mapping between two models, and none could be inferred.
    public static let migrationMissingMappingModel = Code(rawValue: 134140)
    /// The source store of a migration failed.
    public static let migrationManagerSourceStore = Code(rawValue: 134150)
    /// The destination store of a migration failed.
    public static let migrationManagerDestinationStore = Code(rawValue: 134160)
    /// A migration policy of the application failed.
    public static let entityMigrationPolicy = Code(rawValue: 134170)
    /// A mapping cannot be inferred.
    public static let inferredMappingModel = Code(rawValue: 134190)
    /// A token names history that was purged.
    public static let persistentHistoryTokenExpired = Code(rawValue: 134301)
    /// A model reference could not be resolved.
    public static let managedObjectModelReferenceNotFound = Code(rawValue: 134504)
    /// The store was written by a version that does not know staged migration.
    public static let stagedMigrationFrameworkVersionMismatch = Code(rawValue: 134505)
    /// The store is newer than the model.
    public static let stagedMigrationBackwardMigration = Code(rawValue: 134506)
  }
}
