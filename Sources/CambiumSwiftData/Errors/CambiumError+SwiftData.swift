import Cambium

extension CambiumError {
  /// The error as this API throws it.
  var asSwiftDataError: any Error {
    switch code {
    case .managedObjectValidation, .managedObjectConstraintValidation, .validationMultipleErrors,
      .validationMissingMandatoryProperty, .validationRelationshipLacksMinimumCount,
      .validationRelationshipExceedsMaximumCount, .validationRelationshipDeniedDelete, .validationNumberTooLarge,
      .validationNumberTooSmall, .validationDateTooLate, .validationDateTooSoon, .validationInvalidDate,
      .validationStringTooLong, .validationStringTooShort, .validationStringPatternMatching, .validationInvalidURI:
      SwiftDataError(.modelValidationFailure, message, self)
    case .persistentHistoryTokenExpired: SwiftDataError(.historyTokenExpired, message, self)
    case .stagedMigrationBackwardMigration: SwiftDataError(.backwardMigration, message, self)
    case .managedObjectModelReferenceNotFound: SwiftDataError(.unknownDataStoreSchema, message, self)
    case .invalidPredicate: SwiftDataError(.unsupportedPredicate, message, self)
    case .coreData:
      // One that this API has noted itself.
      underlyingErrors.lazy.compactMap { $0 as? SwiftDataError }.first ?? self
    default: self
    }
  }
}

/// Runs `body`, and has its errors be those of this API.
func mappingErrors<R>(_ body: () throws -> R) throws -> R {
  do { return try body() } catch let error as CambiumError { throw error.asSwiftDataError }
}

extension SwiftDataError {
  /// Runs what makes a container or opens a store, and has all errors be of this type.
  static func loading<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as SwiftDataError {
      throw error
    } catch let error as CambiumError {
      // What this API refused while the store was opened.
      if error.code == .persistentStoreOpen, let own = error.underlyingErrors.first as? SwiftDataError { throw own }
      if let mapped = error.asSwiftDataError as? SwiftDataError { throw mapped }
      throw SwiftDataError(.loadIssueModelContainer, error.message, error)
    } catch {
      throw SwiftDataError(.loadIssueModelContainer, "\(error)", error)
    }
  }
}
