// Values by key as Core Data's code casts them. Without Objective-C, an `Int` in an `Any` casts to no other type of
// numbers, and a Swift array to no ordered set; Foundation's `NSNumber` casts to every type of numbers that holds its
// value.

@_spi(CoreData) import Cambium

/// Returns a value in Foundation's classes where a cast needs them: numbers as `NSNumber` and `NSDecimalNumber`, also
/// within collections. Everything else casts to Foundation's classes and to Swift's types as it is.
func foundationValue(_ value: Any) -> Any {
  switch value {
  case is ManagedObject, is Set<ManagedObject>, is String, is Date, is Data: return value
  case let value as Decimal: return NSDecimalNumber(decimal: value)
  case let value as NSNumber: return value
  case let value as [String: Any]: return value.mapValues { foundationValue($0) }
  case let value as [ManagedObject]: return value
  case let value as [Any]: return value.map { foundationValue($0) }
  default: return value
  }
}

/// Returns a value as ``foundationValue(_:)``, and no value as `NSNull`.
private func foundationValueOrNull(_ value: Any?) -> Any { value.map { foundationValue($0) } ?? NSNull() }

extension ManagedObject {
  /// The value of a property as Core Data gives it: numbers and Booleans as `NSNumber`, decimal numbers as
  /// `NSDecimalNumber`, an ordered to-many relationship as `NSOrderedSet`. An unordered one is a set, which casts to
  /// `NSSet` and to `Set<Item>`. `nil` if there is no value.
  ///
  /// A transformable attribute gives what its transformer made.
  public func value(forKey key: String) -> Any? {
    guard let value = ownValue(forKey: key) else { return nil }
    if let objects = value as? [ManagedObject] {
      return isOrderedRelationship(key) ? NSOrderedSet(array: objects) : objects
    }
    return isTransformable(key) ? value : foundationValue(value)
  }

  private func isOrderedRelationship(_ key: String) -> Bool { entity.relationshipsByName[key]?.isOrdered ?? false }

  func isTransformable(_ key: String) -> Bool { entity.attributesByName[key]?.attributeType == .transformable }

  /// The value at the end of a key path, as ``value(forKey:)`` gives values.
  ///
  /// A path through a to-many relationship gives the values of its objects: an `NSOrderedSet` if the relationship is
  /// ordered, otherwise an `NSSet`. An object without a value adds nothing.
  public func value(forKeyPath keyPath: String) -> Any? {
    guard let dot = keyPath.firstIndex(of: ".") else { return value(forKey: keyPath) }
    let (key, rest) = (String(keyPath[..<dot]), String(keyPath[keyPath.index(after: dot)...]))
    // Operators, elements of composites, and paths of more components than are followed go to the object itself.
    guard let relationship = entity.relationshipsByName[key], !keyPath.contains("@"), dots(in: keyPath) < 100 else {
      return ownValue(forKeyPath: keyPath).map { foundationValue($0) }
    }
    switch ownValue(forKey: key) {
    case let object as ManagedObject: return object.value(forKeyPath: rest)
    case let objects as [ManagedObject] where relationship.isOrdered:
      return NSOrderedSet(array: objects.compactMap { $0.value(forKeyPath: rest) })
    case let objects as [ManagedObject]: return NSSet(array: objects.compactMap { $0.value(forKeyPath: rest) })
    case let objects as Set<ManagedObject>: return NSSet(array: objects.compactMap { $0.value(forKeyPath: rest) })
    default: return nil
    }
  }

  private func dots(in keyPath: String) -> Int { keyPath.utf8.reduce(0) { $1 == UInt8(ascii: ".") ? $0 + 1 : $0 } }

  /// The value of a property as ``value(forKey:)`` gives it.
  public func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }

  /// The properties that were changed since the object was last read or saved, with their present values; `NSNull` for
  /// none.
  public func changedValues() -> [String: Any] { ownChangedValues.mapValues { foundationValueOrNull($0) } }

  /// The values of properties as they were last read or saved, `NSNull` for none; `nil` keys for all properties.
  public func committedValues(forKeys keys: [String]?) -> [String: Any] {
    ownCommittedValues(forKeys: keys).mapValues { foundationValueOrNull($0) }
  }

  /// The values of several properties; `NSNull` for none.
  public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    keys.reduce(into: [:]) { result, key in result[key] = value(forKey: key) ?? NSNull() }
  }

  /// Sets several properties; `NSNull` for none.
  public func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) {
      setValue(settableValue(value, forKey: key), forKey: key)
    }
  }
}

// MARK: Results of fetches

extension NSDictionary: FetchRequestResult {}
extension NSNumber: FetchRequestResult {}

extension ManagedObjectContext {
  /// Fetches dictionaries, whose numbers are `NSNumber`, and cast to every type of numbers; see ``fetch(_:)``.
  public func fetch(_ request: NSFetchRequest<[String: Any]>) throws -> [[String: Any]] {
    try own(request).map { $0.mapValues { foundationValue($0) } }
  }

  /// Fetches dictionaries, as ``fetch(_:)-(NSFetchRequest<[String:Any]>)``. The request's result type must be
  /// `.dictionaryResultType`.
  public func fetch(_ request: NSFetchRequest<NSDictionary>) throws -> [NSDictionary] {
    try fetch(request.giving([String: Any].self)).map { NSDictionary(dictionary: $0) }
  }

  /// Fetches the number of objects that match. The request's result type must be `.countResultType`.
  public func fetch(_ request: NSFetchRequest<NSNumber>) throws -> [NSNumber] {
    try own(request.giving(Int.self)).map { NSNumber(value: $0) }
  }

  private func own<Result: FetchRequestResult>(_ request: NSFetchRequest<Result>) throws -> [Result] {
    try fetch(request)
  }
}
