// Core Data's codes as Foundation's `CocoaError` has them on Apple platforms.

#if !canImport(Darwin)
  extension CocoaError.Code {
    /// The code ``NSManagedObjectValidationError``.
    public static var managedObjectValidation: Self { Self(rawValue: NSManagedObjectValidationError) }
    /// The code ``NSValidationMultipleErrorsError``.
    public static var validationMultipleErrors: Self { Self(rawValue: NSValidationMultipleErrorsError) }
    /// The code ``NSValidationMissingMandatoryPropertyError``.
    public static var validationMissingMandatoryProperty: Self {
      Self(rawValue: NSValidationMissingMandatoryPropertyError)
    }
    /// The code ``NSValidationRelationshipLacksMinimumCountError``.
    public static var validationRelationshipLacksMinimumCount: Self {
      Self(rawValue: NSValidationRelationshipLacksMinimumCountError)
    }
    /// The code ``NSValidationRelationshipExceedsMaximumCountError``.
    public static var validationRelationshipExceedsMaximumCount: Self {
      Self(rawValue: NSValidationRelationshipExceedsMaximumCountError)
    }
    /// The code ``NSValidationRelationshipDeniedDeleteError``.
    public static var validationRelationshipDeniedDelete: Self {
      Self(rawValue: NSValidationRelationshipDeniedDeleteError)
    }
    /// The code ``NSValidationNumberTooLargeError``.
    public static var validationNumberTooLarge: Self { Self(rawValue: NSValidationNumberTooLargeError) }
    /// The code ``NSValidationNumberTooSmallError``.
    public static var validationNumberTooSmall: Self { Self(rawValue: NSValidationNumberTooSmallError) }
    /// The code ``NSValidationDateTooLateError``.
    public static var validationDateTooLate: Self { Self(rawValue: NSValidationDateTooLateError) }
    /// The code ``NSValidationDateTooSoonError``.
    public static var validationDateTooSoon: Self { Self(rawValue: NSValidationDateTooSoonError) }
    /// The code ``NSValidationInvalidDateError``.
    public static var validationInvalidDate: Self { Self(rawValue: NSValidationInvalidDateError) }
    /// The code ``NSValidationStringTooLongError``.
    public static var validationStringTooLong: Self { Self(rawValue: NSValidationStringTooLongError) }
    /// The code ``NSValidationStringTooShortError``.
    public static var validationStringTooShort: Self { Self(rawValue: NSValidationStringTooShortError) }
    /// The code ``NSValidationStringPatternMatchingError``.
    public static var validationStringPatternMatching: Self { Self(rawValue: NSValidationStringPatternMatchingError) }
    /// The code ``NSManagedObjectContextLockingError``.
    public static var managedObjectContextLocking: Self { Self(rawValue: NSManagedObjectContextLockingError) }
    /// The code ``NSPersistentStoreCoordinatorLockingError``.
    public static var persistentStoreCoordinatorLocking: Self {
      Self(rawValue: NSPersistentStoreCoordinatorLockingError)
    }
    /// The code ``NSManagedObjectReferentialIntegrityError``.
    public static var managedObjectReferentialIntegrity: Self {
      Self(rawValue: NSManagedObjectReferentialIntegrityError)
    }
    /// The code ``NSManagedObjectExternalRelationshipError``.
    public static var managedObjectExternalRelationship: Self {
      Self(rawValue: NSManagedObjectExternalRelationshipError)
    }
    /// The code ``NSManagedObjectMergeError``.
    public static var managedObjectMerge: Self { Self(rawValue: NSManagedObjectMergeError) }
    /// The code ``NSManagedObjectConstraintMergeError``.
    public static var managedObjectConstraintMerge: Self { Self(rawValue: NSManagedObjectConstraintMergeError) }
    /// The code ``NSPersistentStoreInvalidTypeError``.
    public static var persistentStoreInvalidType: Self { Self(rawValue: NSPersistentStoreInvalidTypeError) }
    /// The code ``NSPersistentStoreTypeMismatchError``.
    public static var persistentStoreTypeMismatch: Self { Self(rawValue: NSPersistentStoreTypeMismatchError) }
    /// The code ``NSPersistentStoreIncompatibleSchemaError``.
    public static var persistentStoreIncompatibleSchema: Self {
      Self(rawValue: NSPersistentStoreIncompatibleSchemaError)
    }
    /// The code ``NSPersistentStoreSaveError``.
    public static var persistentStoreSave: Self { Self(rawValue: NSPersistentStoreSaveError) }
    /// The code ``NSPersistentStoreIncompleteSaveError``.
    public static var persistentStoreIncompleteSave: Self { Self(rawValue: NSPersistentStoreIncompleteSaveError) }
    /// The code ``NSPersistentStoreSaveConflictsError``.
    public static var persistentStoreSaveConflicts: Self { Self(rawValue: NSPersistentStoreSaveConflictsError) }
    /// The code ``NSCoreDataError``.
    public static var coreData: Self { Self(rawValue: NSCoreDataError) }
    /// The code ``NSPersistentStoreOperationError``.
    public static var persistentStoreOperation: Self { Self(rawValue: NSPersistentStoreOperationError) }
    /// The code ``NSPersistentStoreOpenError``.
    public static var persistentStoreOpen: Self { Self(rawValue: NSPersistentStoreOpenError) }
    /// The code ``NSPersistentStoreTimeoutError``.
    public static var persistentStoreTimeout: Self { Self(rawValue: NSPersistentStoreTimeoutError) }
    /// The code ``NSPersistentStoreUnsupportedRequestTypeError``.
    public static var persistentStoreUnsupportedRequestType: Self {
      Self(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
    }
    /// The code ``NSPersistentStoreIncompatibleVersionHashError``.
    public static var persistentStoreIncompatibleVersionHash: Self {
      Self(rawValue: NSPersistentStoreIncompatibleVersionHashError)
    }
    /// The code ``NSMigrationError``.
    public static var migration: Self { Self(rawValue: NSMigrationError) }
    /// The code ``NSMigrationCancelledError``.
    public static var migrationCancelled: Self { Self(rawValue: NSMigrationCancelledError) }
    /// The code ``NSMigrationMissingSourceModelError``.
    public static var migrationMissingSourceModel: Self { Self(rawValue: NSMigrationMissingSourceModelError) }
    /// The code ``NSMigrationMissingMappingModelError``.
    public static var migrationMissingMappingModel: Self { Self(rawValue: NSMigrationMissingMappingModelError) }
    /// The code ``NSMigrationManagerSourceStoreError``.
    public static var migrationManagerSourceStore: Self { Self(rawValue: NSMigrationManagerSourceStoreError) }
    /// The code ``NSMigrationManagerDestinationStoreError``.
    public static var migrationManagerDestinationStore: Self { Self(rawValue: NSMigrationManagerDestinationStoreError) }
    /// The code ``NSEntityMigrationPolicyError``.
    public static var entityMigrationPolicy: Self { Self(rawValue: NSEntityMigrationPolicyError) }
    /// The code ``NSSQLiteError``.
    public static var sqlite: Self { Self(rawValue: NSSQLiteError) }
    /// The code ``NSInferredMappingModelError``.
    public static var inferredMappingModel: Self { Self(rawValue: NSInferredMappingModelError) }
    /// The code ``NSExternalRecordImportError``.
    public static var externalRecordImport: Self { Self(rawValue: NSExternalRecordImportError) }
  }

  extension CocoaError {
    /// The code ``NSManagedObjectValidationError``.
    public static var managedObjectValidation: Code { .managedObjectValidation }
    /// The code ``NSValidationMultipleErrorsError``.
    public static var validationMultipleErrors: Code { .validationMultipleErrors }
    /// The code ``NSValidationMissingMandatoryPropertyError``.
    public static var validationMissingMandatoryProperty: Code { .validationMissingMandatoryProperty }
    /// The code ``NSValidationRelationshipLacksMinimumCountError``.
    public static var validationRelationshipLacksMinimumCount: Code { .validationRelationshipLacksMinimumCount }
    /// The code ``NSValidationRelationshipExceedsMaximumCountError``.
    public static var validationRelationshipExceedsMaximumCount: Code { .validationRelationshipExceedsMaximumCount }
    /// The code ``NSValidationRelationshipDeniedDeleteError``.
    public static var validationRelationshipDeniedDelete: Code { .validationRelationshipDeniedDelete }
    /// The code ``NSValidationNumberTooLargeError``.
    public static var validationNumberTooLarge: Code { .validationNumberTooLarge }
    /// The code ``NSValidationNumberTooSmallError``.
    public static var validationNumberTooSmall: Code { .validationNumberTooSmall }
    /// The code ``NSValidationDateTooLateError``.
    public static var validationDateTooLate: Code { .validationDateTooLate }
    /// The code ``NSValidationDateTooSoonError``.
    public static var validationDateTooSoon: Code { .validationDateTooSoon }
    /// The code ``NSValidationInvalidDateError``.
    public static var validationInvalidDate: Code { .validationInvalidDate }
    /// The code ``NSValidationStringTooLongError``.
    public static var validationStringTooLong: Code { .validationStringTooLong }
    /// The code ``NSValidationStringTooShortError``.
    public static var validationStringTooShort: Code { .validationStringTooShort }
    /// The code ``NSValidationStringPatternMatchingError``.
    public static var validationStringPatternMatching: Code { .validationStringPatternMatching }
    /// The code ``NSManagedObjectContextLockingError``.
    public static var managedObjectContextLocking: Code { .managedObjectContextLocking }
    /// The code ``NSPersistentStoreCoordinatorLockingError``.
    public static var persistentStoreCoordinatorLocking: Code { .persistentStoreCoordinatorLocking }
    /// The code ``NSManagedObjectReferentialIntegrityError``.
    public static var managedObjectReferentialIntegrity: Code { .managedObjectReferentialIntegrity }
    /// The code ``NSManagedObjectExternalRelationshipError``.
    public static var managedObjectExternalRelationship: Code { .managedObjectExternalRelationship }
    /// The code ``NSManagedObjectMergeError``.
    public static var managedObjectMerge: Code { .managedObjectMerge }
    /// The code ``NSManagedObjectConstraintMergeError``.
    public static var managedObjectConstraintMerge: Code { .managedObjectConstraintMerge }
    /// The code ``NSPersistentStoreInvalidTypeError``.
    public static var persistentStoreInvalidType: Code { .persistentStoreInvalidType }
    /// The code ``NSPersistentStoreTypeMismatchError``.
    public static var persistentStoreTypeMismatch: Code { .persistentStoreTypeMismatch }
    /// The code ``NSPersistentStoreIncompatibleSchemaError``.
    public static var persistentStoreIncompatibleSchema: Code { .persistentStoreIncompatibleSchema }
    /// The code ``NSPersistentStoreSaveError``.
    public static var persistentStoreSave: Code { .persistentStoreSave }
    /// The code ``NSPersistentStoreIncompleteSaveError``.
    public static var persistentStoreIncompleteSave: Code { .persistentStoreIncompleteSave }
    /// The code ``NSPersistentStoreSaveConflictsError``.
    public static var persistentStoreSaveConflicts: Code { .persistentStoreSaveConflicts }
    /// The code ``NSCoreDataError``.
    public static var coreData: Code { .coreData }
    /// The code ``NSPersistentStoreOperationError``.
    public static var persistentStoreOperation: Code { .persistentStoreOperation }
    /// The code ``NSPersistentStoreOpenError``.
    public static var persistentStoreOpen: Code { .persistentStoreOpen }
    /// The code ``NSPersistentStoreTimeoutError``.
    public static var persistentStoreTimeout: Code { .persistentStoreTimeout }
    /// The code ``NSPersistentStoreUnsupportedRequestTypeError``.
    public static var persistentStoreUnsupportedRequestType: Code { .persistentStoreUnsupportedRequestType }
    /// The code ``NSPersistentStoreIncompatibleVersionHashError``.
    public static var persistentStoreIncompatibleVersionHash: Code { .persistentStoreIncompatibleVersionHash }
    /// The code ``NSMigrationError``.
    public static var migration: Code { .migration }
    /// The code ``NSMigrationCancelledError``.
    public static var migrationCancelled: Code { .migrationCancelled }
    /// The code ``NSMigrationMissingSourceModelError``.
    public static var migrationMissingSourceModel: Code { .migrationMissingSourceModel }
    /// The code ``NSMigrationMissingMappingModelError``.
    public static var migrationMissingMappingModel: Code { .migrationMissingMappingModel }
    /// The code ``NSMigrationManagerSourceStoreError``.
    public static var migrationManagerSourceStore: Code { .migrationManagerSourceStore }
    /// The code ``NSMigrationManagerDestinationStoreError``.
    public static var migrationManagerDestinationStore: Code { .migrationManagerDestinationStore }
    /// The code ``NSEntityMigrationPolicyError``.
    public static var entityMigrationPolicy: Code { .entityMigrationPolicy }
    /// The code ``NSSQLiteError``.
    public static var sqlite: Code { .sqlite }
    /// The code ``NSInferredMappingModelError``.
    public static var inferredMappingModel: Code { .inferredMappingModel }
    /// The code ``NSExternalRecordImportError``.
    public static var externalRecordImport: Code { .externalRecordImport }
  }
#endif

/// Whether an error has a code of Cocoa's domain, for `catch CocoaError.managedObjectConstraintMerge`.
public func ~= (code: CocoaError.Code, error: any Error) -> Bool {
  let error = error as NSError
  return error.domain == NSCocoaErrorDomain && error.code == code.rawValue
}
