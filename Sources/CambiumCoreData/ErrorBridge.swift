// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Errors as `NSError`, in the ways that Core Data code takes them.

/// The domain of the errors that Core Data has no code for, because it raises an exception: an unknown key, a model
/// that cannot be used, and the other codes of ``CambiumError/Code`` below 100.
public let CambiumErrorDomain = CambiumError.ownDomain

extension CambiumError: CustomNSError {
  /// `NSCocoaErrorDomain`, the domain of Core Data's errors. One that Core Data has no code for has
  /// ``CambiumErrorDomain``.
  public static var errorDomain: String { NSCocoaErrorDomain }

  /// Core Data's number, or one of Cambium's own.
  public var errorCode: Int { code.rawValue }

  /// What the error is about, under Core Data's keys, as far as it is known.
  public var errorUserInfo: [String: Any] {
    var result: [String: Any] = [NSLocalizedDescriptionKey: message]
    if !detailedErrors.isEmpty { result[NSDetailedErrorsKey] = detailedErrors.map { $0 as NSError } }
    if let key { result[NSValidationKeyErrorKey] = key }
    if let validationValue { result[NSValidationValueErrorKey] = foundationValue(validationValue) }
    if let objectID { result[NSValidationObjectErrorKey] = objectID }
    if !affectedObjectIDs.isEmpty { result[NSAffectedObjectsErrorKey] = affectedObjectIDs }
    if let storeURL { result[NSAffectedStoresErrorKey] = [storeURL] }
    let all: [Any] = conflicts + constraintConflicts
    if !all.isEmpty { result[NSPersistentStoreSaveConflictsErrorKey] = all }
    if let first = underlyingErrors.first { result[NSUnderlyingErrorKey] = first }
    return result
  }
}

extension ManagedObjectModelError: CustomNSError {
  /// ``CambiumErrorDomain``: Core Data raises an exception.
  public static var errorDomain: String { CambiumErrorDomain }
  /// The number of ``CambiumError/Code/invalidModel``.
  public var errorCode: Int { CambiumError.Code.invalidModel.rawValue }
  /// The description.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: "\(self)"] }
}

#if !canImport(ObjectiveC)
  // `catch let error as NSError` ends the process there for every error that is not an `NSError` (Swift 6.3): the
  // compiler holds the cast for one that cannot fail, and the runtime does not make it. It makes the cast for types
  // that bridge to the class.

  /// An `NSError` that leads back to the error that it stands for.
  private final class BridgedError: NSError, @unchecked Sendable {
    // `@unchecked`: nothing of it changes.
    let error: any Error

    init(_ error: any BridgedToNSError) {
      self.error = error
      super.init(domain: error.bridgedDomain, code: error.errorCode, userInfo: error.errorUserInfo)
    }

    /// No archive has one; there is nothing to be read.
    required init?(coder: NSCoder) { return nil }
  }

  /// An error that casts to `NSError`, and back.
  public protocol BridgedToNSError: CustomNSError, _ObjectiveCBridgeable where _ObjectiveCType == NSError {
    /// The domain of this error.
    var bridgedDomain: String { get }
    /// What ``_unconditionallyBridgeFromObjectiveC(_:)`` gives for an `NSError` of another origin.
    init(foreign error: NSError?)
  }

  extension BridgedToNSError {
    /// The error with its domain, code and user info.
    public func _bridgeToObjectiveC() -> NSError { BridgedError(self) }

    /// Gives the error back that an `NSError` was made of.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
      result = _unconditionallyBridgeFromObjectiveC(source)
    }

    /// Gives the error back that an `NSError` was made of; `false` if it was made of none.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout Self?) -> Bool {
      result = (source as? BridgedError)?.error as? Self
      return result != nil
    }

    /// Gives the error back that an `NSError` was made of, or wraps the `NSError`.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
      (source as? BridgedError)?.error as? Self ?? Self(foreign: source)
    }
  }

  extension CambiumError: BridgedToNSError {
    /// `NSCocoaErrorDomain` or ``CambiumErrorDomain``.
    public var bridgedDomain: String { _domain }
    /// Wraps an `NSError` of another origin.
    public init(foreign error: NSError?) {
      self.init(.coreData, error?.localizedDescription ?? "no error", underlying: error.map { [$0] } ?? [])
    }
  }

  extension ManagedObjectModelError: BridgedToNSError {
    /// ``CambiumErrorDomain``.
    public var bridgedDomain: String { Self.errorDomain }
    /// Stands for an `NSError` of another origin.
    public init(foreign error: NSError?) {
      self = .invalidElement(name: "", type: "\(error?.localizedDescription ?? "no error")", composite: "")
    }
  }
#endif
