// Validation methods of single properties, as Core Data's saves call them: `validateName(_:)` of a property `name`, and
// `validateValue(_:forKey:)`. Nothing finds a method by its name without Objective-C. So `cambium migrate-source` adds
// an override of `validateValue(_:forKey:)` that calls a class's methods, and calls of the methods below.

@_spi(CoreData) import Cambium

#if !canImport(Darwin)
  /// A pointer to a value that a method may replace, as Core Data's validation methods take it.
  public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>
#endif

extension ManagedObject {
  /// Calls ``ManagedObject/validateValue(_:forKey:)-(ManagedObject.ValuePointer,_)`` with the value of every property,
  /// and sets the property if the method puts another object in its place. Call it in `validateForInsert()`, before
  /// `super.validateForInsert()`.
  ///
  /// Saves allow this for attributes. A relationship that is changed so makes the save fail.
  ///
  /// - Throws: what the method threw, if once; `validationMultipleErrors` with all errors if more than once.
  public func validateValuesForInsert() throws {
    let entity = self.entity
    try validateValues(Array(entity.attributesByName.keys) + Array(entity.relationshipsByName.keys))
  }

  /// Calls ``ManagedObject/validateValue(_:forKey:)-(ManagedObject.ValuePointer,_)`` as ``validateValuesForInsert()``
  /// does, with the values of the properties that changed. Call it in `validateForUpdate()`, before
  /// `super.validateForUpdate()`.
  public func validateValuesForUpdate() throws { try validateValues(Array(ownChangedValues.keys)) }

  private func validateValues(_ keys: [String]) throws {
    var errors: [any Error] = []
    let attributes = entity.attributesByName
    for key in keys.sorted() where !(attributes[key] is DerivedAttributeDescription) {
      var value = value(forKey: key).map { foundationObject($0) }
      let proposed = value
      do { try validateValue(&value, forKey: key) } catch {
        errors.append(error)
        continue
      }
      if value !== proposed { setValue(swiftValue(value), forKey: key) }
    }
    guard let first = errors.first else { return }
    if errors.count == 1 { throw first }
    var result = CambiumError(.validationMultipleErrors, "\(errors.count) validation errors; see detailedErrors")
    for error in errors {
      switch error {
      case let error as CambiumError where error.code == .validationMultipleErrors:
        result.detailedErrors += error.detailedErrors
      case let error as CambiumError: result.detailedErrors.append(error)
      default:
        result.detailedErrors.append(
          CambiumError(
            .managedObjectValidation, "\(error)", entityName: entity.ownName, objectID: objectID, underlying: [error]))
      }
    }
    throw result
  }
}

/// Returns a value as an object of Foundation's class for it, which casts back to Swift's type.
func foundationObject(_ value: Any) -> AnyObject {
  switch value {
  case let value as ManagedObject: return value
  case let value as String: return NSString(string: value)
  case let value as Date: return NSDate(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate)
  case let value as Data: return NSData(data: value)
  case let value as UUID: return NSUUID(uuidString: value.uuidString) ?? NSUUID()
  case let value as URL: return NSURL(string: value.absoluteString) ?? value as AnyObject
  case let value as Set<ManagedObject>: return NSSet(set: value)
  default: return value as AnyObject
  }
}
