import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What went wrong, in one type for the whole object layer.
///
/// Every throwing call of this module throws a `CambiumError`, except where it passes on what a closure or an
/// overridden method of the application threw. ``code`` says which kind of error it is and has Core Data's number;
/// ``message`` says what happened, where, and what to do; the other fields carry what Core Data puts into a `userInfo`
/// dictionary.
public struct CambiumError: Error, Sendable {
  /// The kind of error, with Core Data's raw value.
  public var code: Code
  /// What happened, where, and what to do about it; for developers.
  public var message: String
  /// What caused the error, if it came from below: the engine's or the kernel's error, or another of this type.
  public var underlyingErrors: [any Error] = []
  /// The parts of a ``Code/validationMultipleErrors`` error. Core Data: `NSDetailedErrorsKey`.
  public var detailedErrors: [CambiumError] = []
  /// The entity in question.
  public var entityName: String?
  /// The property in question. Core Data: `NSValidationKeyErrorKey`.
  public var key: String?
  /// The store's file. Core Data: `NSAffectedStoresErrorKey`.
  public var storeURL: URL?
  /// The entities whose description in the store is not the model's, for
  /// ``Code/persistentStoreIncompatibleVersionHash``.
  public var mismatchedEntities: [String] = []
  /// The values of the properties ``objectID``, ``affectedObjectIDs``, ``conflicts`` and ``constraintConflicts``, by
  /// their names. The folder of errors does not know the types of these values.
  var userInfo: [String: any Sendable] = [:]

  /// Makes an error about no object in particular; the remaining fields are set on the result.
  package init(
    _ code: Code, _ message: String, entityName: String? = nil, key: String? = nil, underlying: [any Error] = []
  ) {
    self.code = code
    self.message = message
    self.entityName = entityName
    self.key = key
    underlyingErrors = underlying
  }
}

extension CambiumError {
  /// Whether a save conflicts with another one, so that it may succeed if what it is based on is read anew.
  var isConflict: Bool { code == .managedObjectMerge || code == .managedObjectConstraintMerge }
}

extension CambiumError: CustomStringConvertible {
  /// The code and the message, and the same of every detailed error, and of every underlying one that the message
  /// does not tell already.
  public var description: String {
    var text = "\(code): \(message)"
    for error in detailedErrors { text += "\n  - \(error)" }
    for error in underlyingErrors {
      let cause = "\(error)"
      if !message.contains(cause) { text += "\n  caused by \(cause)" }
    }
    return text
  }
}

extension CambiumError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}
