// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Core Data's error codes, as `(error as NSError).code` has them.

/// The key of the single errors of ``NSValidationMultipleErrorsError``.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The key of the object's identifier; Core Data has the object.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The key of the property's name.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The key of the value that breaks a rule of the model, for the errors that are about a value.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The key of the identifiers of all objects in question; Core Data has the objects.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The key of the files in question; Core Data has the stores.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The key of the conflicts: ``NSMergeConflict`` or ``NSConstraintConflict``.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"

/// 1550. Generic validation error.
public let NSManagedObjectValidationError = 1550
/// The domain of errors of SQLite, which no error has.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
#if !canImport(Darwin)
  /// The least number of Cocoa's errors about values.
  public let NSValidationErrorMinimum = 1024
  /// The greatest number of Cocoa's errors about values.
  public let NSValidationErrorMaximum = 2047
#endif
/// 1551. Never thrown: the store looks at constraints, and a save that violates one throws 133021.
public let NSManagedObjectConstraintValidationError = 1551
/// 1560. Several validation errors.
public let NSValidationMultipleErrorsError = 1560
/// 1570. A property that is not optional has no value.
public let NSValidationMissingMandatoryPropertyError = 1570
/// 1580. A to-many relationship has fewer destinations than its least count.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// 1590. A relationship has more destinations than its greatest count.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// 1600. An object with a relationship of delete rule deny was deleted while that has destinations.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// 1610. A number is greater than allowed, or a binary has more bytes.
public let NSValidationNumberTooLargeError = 1610
/// 1620. A number is less than allowed, or a binary has fewer bytes.
public let NSValidationNumberTooSmallError = 1620
/// 1630. A date is later than allowed.
public let NSValidationDateTooLateError = 1630
/// 1640. A date is earlier than allowed.
public let NSValidationDateTooSoonError = 1640
/// 1650. Never thrown: what is no date is refused when it is set.
public let NSValidationInvalidDateError = 1650
/// 1660. A string or URI has more characters than allowed.
public let NSValidationStringTooLongError = 1660
/// 1670. A string or URI has fewer characters than allowed.
public let NSValidationStringTooShortError = 1670
/// 1680. A string does not match the attribute's pattern.
public let NSValidationStringPatternMatchingError = 1680
/// 1690. Never thrown: what is no URI is refused when it is set.
public let NSValidationInvalidURIError = 1690
/// 132000. Never thrown: locks are not taken by hand.
public let NSManagedObjectContextLockingError = 132000
/// 132010. Never thrown: locks are not taken by hand.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// 133000. An object, or the target of a reference, is not in the store.
public let NSManagedObjectReferentialIntegrityError = 133000
/// 133010. An object of another store or context.
public let NSManagedObjectExternalRelationshipError = 133010
/// 133020. Objects were changed by others since they were read.
public let NSManagedObjectMergeError = 133020
/// 133021. A uniqueness constraint is violated against the store.
public let NSManagedObjectConstraintMergeError = 133021
/// 134000. A store type that is none of the constants.
public let NSPersistentStoreInvalidTypeError = 134000
/// 134010. A store that is of another type than was asked for.
public let NSPersistentStoreTypeMismatchError = 134010
/// 134020. The store cannot hold the model.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// 134030. Saving failed.
public let NSPersistentStoreSaveError = 134030
/// 134040. Saving failed in some of several stores.
public let NSPersistentStoreIncompleteSaveError = 134040
/// 134050. Never thrown: 133020 and 133021 say which conflicts there are.
public let NSPersistentStoreSaveConflictsError = 134050
/// 134060. Generic error.
public let NSCoreDataError = 134060
/// 134070. An operation of the store failed.
public let NSPersistentStoreOperationError = 134070
/// 134080. A store could not be opened.
public let NSPersistentStoreOpenError = 134080
/// 134090. A store was not reached in time.
public let NSPersistentStoreTimeoutError = 134090
/// 134091. Never thrown: every store takes every request.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// 134100. The store was made with another model.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// 134110. A migration failed.
public let NSMigrationError = 134110
/// 134111. A migration would violate a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// 134120. A migration was cancelled.
public let NSMigrationCancelledError = 134120
/// 134130. The application does not know the store's model, and the migration would drop a part of it.
public let NSMigrationMissingSourceModelError = 134130
/// 134140. There is no mapping between two models, and none could be inferred.
public let NSMigrationMissingMappingModelError = 134140
/// 134150. The source store of a migration failed.
public let NSMigrationManagerSourceStoreError = 134150
/// 134160. The destination store of a migration failed.
public let NSMigrationManagerDestinationStoreError = 134160
/// 134170. A migration policy of the application failed.
public let NSEntityMigrationPolicyError = 134170
/// 134180. Never thrown: there is no SQLite.
public let NSSQLiteError = 134180
/// 134190. A mapping cannot be inferred.
public let NSInferredMappingModelError = 134190
/// 134200. Never thrown: there are no external records.
public let NSExternalRecordImportError = 134200
/// 134301. A token names history that was purged.
public let NSPersistentHistoryTokenExpiredError = 134301
/// 134504. A model reference could not be resolved.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// 134505. The store was written by a version that does not know staged migration.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// 134506. The store is newer than the model.
public let NSStagedMigrationBackwardMigrationError = 134506
