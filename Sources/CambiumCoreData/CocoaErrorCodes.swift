// Core Data's codes as Foundation's `CocoaError` has them on Apple platforms.

#if !canImport(Darwin)
  extension CocoaError.Code {
    /// 1550; see the constant of that number.
    public static var managedObjectValidation: Self { Self(rawValue: 1550) }
    /// 1560; see the constant of that number.
    public static var validationMultipleErrors: Self { Self(rawValue: 1560) }
    /// 1570; see the constant of that number.
    public static var validationMissingMandatoryProperty: Self { Self(rawValue: 1570) }
    /// 1580; see the constant of that number.
    public static var validationRelationshipLacksMinimumCount: Self { Self(rawValue: 1580) }
    /// 1590; see the constant of that number.
    public static var validationRelationshipExceedsMaximumCount: Self { Self(rawValue: 1590) }
    /// 1600; see the constant of that number.
    public static var validationRelationshipDeniedDelete: Self { Self(rawValue: 1600) }
    /// 1610; see the constant of that number.
    public static var validationNumberTooLarge: Self { Self(rawValue: 1610) }
    /// 1620; see the constant of that number.
    public static var validationNumberTooSmall: Self { Self(rawValue: 1620) }
    /// 1630; see the constant of that number.
    public static var validationDateTooLate: Self { Self(rawValue: 1630) }
    /// 1640; see the constant of that number.
    public static var validationDateTooSoon: Self { Self(rawValue: 1640) }
    /// 1650; see the constant of that number.
    public static var validationInvalidDate: Self { Self(rawValue: 1650) }
    /// 1660; see the constant of that number.
    public static var validationStringTooLong: Self { Self(rawValue: 1660) }
    /// 1670; see the constant of that number.
    public static var validationStringTooShort: Self { Self(rawValue: 1670) }
    /// 1680; see the constant of that number.
    public static var validationStringPatternMatching: Self { Self(rawValue: 1680) }
    /// 132000; see the constant of that number.
    public static var managedObjectContextLocking: Self { Self(rawValue: 132000) }
    /// 132010; see the constant of that number.
    public static var persistentStoreCoordinatorLocking: Self { Self(rawValue: 132010) }
    /// 133000; see the constant of that number.
    public static var managedObjectReferentialIntegrity: Self { Self(rawValue: 133000) }
    /// 133010; see the constant of that number.
    public static var managedObjectExternalRelationship: Self { Self(rawValue: 133010) }
    /// 133020; see the constant of that number.
    public static var managedObjectMerge: Self { Self(rawValue: 133020) }
    /// 133021; see the constant of that number.
    public static var managedObjectConstraintMerge: Self { Self(rawValue: 133021) }
    /// 134000; see the constant of that number.
    public static var persistentStoreInvalidType: Self { Self(rawValue: 134000) }
    /// 134010; see the constant of that number.
    public static var persistentStoreTypeMismatch: Self { Self(rawValue: 134010) }
    /// 134020; see the constant of that number.
    public static var persistentStoreIncompatibleSchema: Self { Self(rawValue: 134020) }
    /// 134030; see the constant of that number.
    public static var persistentStoreSave: Self { Self(rawValue: 134030) }
    /// 134040; see the constant of that number.
    public static var persistentStoreIncompleteSave: Self { Self(rawValue: 134040) }
    /// 134050; see the constant of that number.
    public static var persistentStoreSaveConflicts: Self { Self(rawValue: 134050) }
    /// 134060; see the constant of that number.
    public static var coreData: Self { Self(rawValue: 134060) }
    /// 134070; see the constant of that number.
    public static var persistentStoreOperation: Self { Self(rawValue: 134070) }
    /// 134080; see the constant of that number.
    public static var persistentStoreOpen: Self { Self(rawValue: 134080) }
    /// 134090; see the constant of that number.
    public static var persistentStoreTimeout: Self { Self(rawValue: 134090) }
    /// 134091; see the constant of that number.
    public static var persistentStoreUnsupportedRequestType: Self { Self(rawValue: 134091) }
    /// 134100; see the constant of that number.
    public static var persistentStoreIncompatibleVersionHash: Self { Self(rawValue: 134100) }
    /// 134110; see the constant of that number.
    public static var migration: Self { Self(rawValue: 134110) }
    /// 134120; see the constant of that number.
    public static var migrationCancelled: Self { Self(rawValue: 134120) }
    /// 134130; see the constant of that number.
    public static var migrationMissingSourceModel: Self { Self(rawValue: 134130) }
    /// 134140; see the constant of that number.
    public static var migrationMissingMappingModel: Self { Self(rawValue: 134140) }
    /// 134150; see the constant of that number.
    public static var migrationManagerSourceStore: Self { Self(rawValue: 134150) }
    /// 134160; see the constant of that number.
    public static var migrationManagerDestinationStore: Self { Self(rawValue: 134160) }
    /// 134170; see the constant of that number.
    public static var entityMigrationPolicy: Self { Self(rawValue: 134170) }
    /// 134180; see the constant of that number.
    public static var sqlite: Self { Self(rawValue: 134180) }
    /// 134190; see the constant of that number.
    public static var inferredMappingModel: Self { Self(rawValue: 134190) }
    /// 134200; see the constant of that number.
    public static var externalRecordImport: Self { Self(rawValue: 134200) }
  }

  extension CocoaError {
    /// 1550.
    public static var managedObjectValidation: Code { .managedObjectValidation }
    /// 1560.
    public static var validationMultipleErrors: Code { .validationMultipleErrors }
    /// 1570.
    public static var validationMissingMandatoryProperty: Code { .validationMissingMandatoryProperty }
    /// 1580.
    public static var validationRelationshipLacksMinimumCount: Code { .validationRelationshipLacksMinimumCount }
    /// 1590.
    public static var validationRelationshipExceedsMaximumCount: Code { .validationRelationshipExceedsMaximumCount }
    /// 1600.
    public static var validationRelationshipDeniedDelete: Code { .validationRelationshipDeniedDelete }
    /// 1610.
    public static var validationNumberTooLarge: Code { .validationNumberTooLarge }
    /// 1620.
    public static var validationNumberTooSmall: Code { .validationNumberTooSmall }
    /// 1630.
    public static var validationDateTooLate: Code { .validationDateTooLate }
    /// 1640.
    public static var validationDateTooSoon: Code { .validationDateTooSoon }
    /// 1650.
    public static var validationInvalidDate: Code { .validationInvalidDate }
    /// 1660.
    public static var validationStringTooLong: Code { .validationStringTooLong }
    /// 1670.
    public static var validationStringTooShort: Code { .validationStringTooShort }
    /// 1680.
    public static var validationStringPatternMatching: Code { .validationStringPatternMatching }
    /// 132000.
    public static var managedObjectContextLocking: Code { .managedObjectContextLocking }
    /// 132010.
    public static var persistentStoreCoordinatorLocking: Code { .persistentStoreCoordinatorLocking }
    /// 133000.
    public static var managedObjectReferentialIntegrity: Code { .managedObjectReferentialIntegrity }
    /// 133010.
    public static var managedObjectExternalRelationship: Code { .managedObjectExternalRelationship }
    /// 133020.
    public static var managedObjectMerge: Code { .managedObjectMerge }
    /// 133021.
    public static var managedObjectConstraintMerge: Code { .managedObjectConstraintMerge }
    /// 134000.
    public static var persistentStoreInvalidType: Code { .persistentStoreInvalidType }
    /// 134010.
    public static var persistentStoreTypeMismatch: Code { .persistentStoreTypeMismatch }
    /// 134020.
    public static var persistentStoreIncompatibleSchema: Code { .persistentStoreIncompatibleSchema }
    /// 134030.
    public static var persistentStoreSave: Code { .persistentStoreSave }
    /// 134040.
    public static var persistentStoreIncompleteSave: Code { .persistentStoreIncompleteSave }
    /// 134050.
    public static var persistentStoreSaveConflicts: Code { .persistentStoreSaveConflicts }
    /// 134060.
    public static var coreData: Code { .coreData }
    /// 134070.
    public static var persistentStoreOperation: Code { .persistentStoreOperation }
    /// 134080.
    public static var persistentStoreOpen: Code { .persistentStoreOpen }
    /// 134090.
    public static var persistentStoreTimeout: Code { .persistentStoreTimeout }
    /// 134091.
    public static var persistentStoreUnsupportedRequestType: Code { .persistentStoreUnsupportedRequestType }
    /// 134100.
    public static var persistentStoreIncompatibleVersionHash: Code { .persistentStoreIncompatibleVersionHash }
    /// 134110.
    public static var migration: Code { .migration }
    /// 134120.
    public static var migrationCancelled: Code { .migrationCancelled }
    /// 134130.
    public static var migrationMissingSourceModel: Code { .migrationMissingSourceModel }
    /// 134140.
    public static var migrationMissingMappingModel: Code { .migrationMissingMappingModel }
    /// 134150.
    public static var migrationManagerSourceStore: Code { .migrationManagerSourceStore }
    /// 134160.
    public static var migrationManagerDestinationStore: Code { .migrationManagerDestinationStore }
    /// 134170.
    public static var entityMigrationPolicy: Code { .entityMigrationPolicy }
    /// 134180.
    public static var sqlite: Code { .sqlite }
    /// 134190.
    public static var inferredMappingModel: Code { .inferredMappingModel }
    /// 134200.
    public static var externalRecordImport: Code { .externalRecordImport }
  }
#endif

/// Whether an error has a code of Cocoa's domain, for `catch CocoaError.managedObjectConstraintMerge`.
public func ~= (code: CocoaError.Code, error: any Error) -> Bool {
  let error = error as NSError
  return error.domain == NSCocoaErrorDomain && error.code == code.rawValue
}
