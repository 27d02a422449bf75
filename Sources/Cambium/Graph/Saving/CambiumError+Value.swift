import CambiumEngine

extension CambiumError {
  /// The value that breaks a rule of the model, as ``ManagedObject/value(forKey:)`` gives it, if a single property's
  /// value is what the error is about. Core Data: `NSValidationValueErrorKey`.
  public var validationValue: Any? {
    (userInfo["validationValue"] as? Value)?.foundation(type: .undefined, objects: nil)
  }

  /// The error with the value that it is about.
  func about(_ value: Value) -> CambiumError {
    var result = self
    result.userInfo["validationValue"] = value
    return result
  }
}
