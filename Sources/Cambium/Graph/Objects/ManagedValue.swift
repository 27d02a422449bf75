import CambiumEngine

/// A Swift type that a property with ``Managed()`` may have: ``AttributeRepresentable``, ``CompositeRepresentable``,
/// ``ManagedObject``, sets and arrays of those, ``ManagedObjectID``, and `[String: Any]`. Conform to one of the first
/// two instead of to this.
public protocol ManagedValue {
  /// Reads a property; `nil` if it has no value.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; ``CambiumError/Code/invalidArgument`` for a value of another type;
  ///   what reading throws.
  static func managedValue(of object: ManagedObject, forKey key: String) throws -> Self?

  /// Sets a property to this value.
  ///
  /// - Throws: as ``ManagedObject/set(_:forKey:)``.
  func setManagedValue(of object: ManagedObject, forKey key: String) throws
}

extension AttributeRepresentable {
  /// Reads an attribute.
  @inlinable
  public static func managedValue(of object: ManagedObject, forKey key: String) throws -> Self? {
    try object.attributeValue(key, as: Self.self)
  }

  /// Sets an attribute.
  @inlinable
  public func setManagedValue(of object: ManagedObject, forKey key: String) throws {
    try object.setAttribute(self, key)
  }
}

extension CompositeRepresentable {
  /// Reads a composite.
  @inlinable
  public static func managedValue(of object: ManagedObject, forKey key: String) throws -> Self? {
    guard let elements = try object.compositeElements(key) else { return nil }
    if let composite = Self(compositeElements: elements) { return composite }
    throw object.misread(key, elements, "\(Self.self)")
  }

  /// Sets a composite.
  public func setManagedValue(of object: ManagedObject, forKey key: String) throws {
    // What cannot be stored is refused by its name among the values.
    if let elements = compositeElements, !elements.isUnstorable,
      try object.setStored(.composite(elements.value), key)
    {
      return
    }
    try object.set(compositeValues, forKey: key)
  }
}

extension ManagedObject: ObjectIdentifying {}

extension ManagedObject: ManagedValue {
  /// Reads a to-one relationship.
  public static func managedValue(of object: ManagedObject, forKey key: String) throws -> Self? {
    try object.destination(key, as: Self.self)
  }

  /// Sets a to-one relationship.
  public func setManagedValue(of object: ManagedObject, forKey key: String) throws {
    if QueueCheck.isOn { QueueCheck.check(object, key) }
    if try object.withToOne(key, { try object.assignToOne(self, $0) }) != nil { return }
    guard let property = object.info.properties[key], let r = property.relationship, !r.isToMany, !property.isTransient
    else {
      return try object.set(self, forKey: key)
    }
    try object.assignToOne(self, r)
  }
}

extension ManagedObjectID: ManagedValue {
  /// Reads an attribute that holds an identifier.
  public static func managedValue(of object: ManagedObject, forKey key: String) throws -> Self? {
    try object.anyValue(key, as: Self.self)
  }

  /// Sets an attribute that holds an identifier.
  public func setManagedValue(of object: ManagedObject, forKey key: String) throws { try object.set(self, forKey: key) }
}

extension Set: ManagedValue where Element: ManagedObject {
  /// Reads a to-many relationship, or a fetched property.
  public static func managedValue(of object: ManagedObject, forKey key: String) throws -> Set? {
    Set(try object.destinations(key, as: Element.self))
  }

  /// Sets a to-many relationship.
  public func setManagedValue(of object: ManagedObject, forKey key: String) throws { try object.set(self, forKey: key) }
}

extension Array: ManagedValue where Element: ManagedObject {
  /// Reads a to-many relationship, in its order if it has one, or a fetched property.
  public static func managedValue(of object: ManagedObject, forKey key: String) throws -> Array? {
    try object.destinations(key, as: Element.self)
  }

  /// Sets a to-many relationship.
  public func setManagedValue(of object: ManagedObject, forKey key: String) throws { try object.set(self, forKey: key) }
}

extension Dictionary: ManagedValue where Key == String, Value == Any {
  /// Reads a composite, its elements that have a value.
  public static func managedValue(of object: ManagedObject, forKey key: String) throws -> Dictionary? {
    try object.anyValue(key, as: Self.self)
  }

  /// Sets a composite.
  public func setManagedValue(of object: ManagedObject, forKey key: String) throws { try object.set(self, forKey: key) }
}

// MARK: Where there is no value

extension Set: ManagedDefault where Element: ManagedObject {
  /// No objects.
  public static var managedDefault: Set { [] }
}

extension Array: ManagedDefault where Element: ManagedObject {
  /// No objects.
  public static var managedDefault: Array { [] }
}
