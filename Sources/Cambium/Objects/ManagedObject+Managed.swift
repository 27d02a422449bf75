import CambiumEngine

// What the accessors call that `@Managed` makes. They can be written by hand all the same.
extension ManagedObject {
  /// A property as a Swift type; see ``Managed()``. Where a value cannot be read or set, the error is noted as by
  /// ``value(forKey:)`` and ``setValue(_:forKey:)``.
  public subscript<T: ManagedValue>(managed key: String) -> T? {
    get { managedValue(key) { try T.managedValue(of: self, forKey: key) } }
    set { setManagedValue(newValue, key) }
  }

  /// A property as a Swift type, ``ManagedDefault/managedDefault`` if there is no value. See ``Managed()``.
  public subscript<T: ManagedValue & ManagedDefault>(managed key: String) -> T {
    get { managedValue(key) { try T.managedValue(of: self, forKey: key) } ?? T.managedDefault }
    set { setManagedValue(newValue, key) }
  }

  /// A property as a Swift type, and what to read if there is no value. See ``Managed(_:default:)``.
  public subscript<T: ManagedValue>(managed key: String, default value: @autoclosure () -> T) -> T {
    get { managedValue(key) { try T.managedValue(of: self, forKey: key) } ?? value() }
    set { setManagedValue(newValue, key) }
  }

  /// A transformable or transient attribute, whose values may be of any type. See ``Managed()``.
  public subscript<T>(managed key: String) -> T? {
    get { managedValue(key) { try anyValue(key, as: T.self) } }
    set { setValue(newValue, forKey: key) }
  }

  /// A transformable or transient attribute, and what to read if there is no value. See ``Managed(_:default:)``.
  public subscript<T>(managed key: String, default value: @autoclosure () -> T) -> T {
    get { managedValue(key) { try anyValue(key, as: T.self) } ?? value() }
    set { setValue(newValue, forKey: key) }
  }

  private func managedValue<T>(_ key: String, _ read: () throws -> T?) -> T? {
    do { return try read() } catch {
      managedObjectContext?.record(error, losesChange: false)
      return nil
    }
  }

  private func setManagedValue<T: ManagedValue>(_ value: T?, _ key: String) {
    guard let value else { return setValue(nil, forKey: key) }
    do { try value.setManagedValue(of: self, forKey: key) } catch {
      managedObjectContext?.record(error, losesChange: true)
    }
  }

  /// The value, which has to be of the type.
  func anyValue<T>(_ key: String, as type: T.Type) throws -> T? {
    guard let value = try get(key) else { return nil }
    if let value = value as? T { return value }
    throw misread(key, "a \(Swift.type(of: value))", type)
  }

  func misread<T>(_ key: String, _ found: String, _ type: T.Type) -> CambiumError {
    CambiumError(
      .invalidArgument, "'\(key)' of '\(entity.name)' has \(found), which cannot be read as \(type)",
      entityName: entity.name, key: key, objectID: objectID)
  }

  // MARK: Attributes

  /// The value of an attribute, which has to be one that the type can be read from.
  func attributeValue<T: AttributeRepresentable>(_ key: String, as type: T.Type) throws -> T? {
    let property = try property(key)
    guard let attribute = property.attribute else { throw misread(key, "a relationship", type) }
    let value: Value
    if property.isTransient || property.isTransformed {
      guard let any = try get(key) else { return nil }
      if let known = any as? T { return known }
      guard let converted = Value(foundation: any) else { throw misread(key, "a \(Swift.type(of: any))", type) }
      value = converted
    } else {
      value = try currentValue(attribute)
    }
    if value.isNull { return nil }
    if let result = T(attributeValue: value) { return result }
    throw misread(key, "the value \(value)", type)
  }

  /// Sets an attribute without boxing the value where that is possible.
  func setAttribute<T: AttributeRepresentable>(_ value: T, _ key: String) throws {
    guard let property = info.properties[key], !property.isTransient, !property.isTransformed, !property.isDerived,
      let attribute = property.attribute, let coerced = attribute.coerce(value.attributeValue)
    else { return try set(value, forKey: key) }
    try assign(coerced, to: attribute)
  }

  // MARK: Relationships

  /// The destination of a to-one relationship, which has to be of the class.
  func destination<T: ManagedObject>(_ key: String, as type: T.Type) throws -> T? {
    guard let r = try property(key).relationship, !r.isToMany else {
      throw misread(key, "no to-one relationship", type)
    }
    guard let id = try currentToOne(r) else { return nil }
    let object = try requireContext().object(with: id)
    if let result = object as? T { return result }
    throw misread(key, "a \(Swift.type(of: object))", type)
  }

  /// The destinations of a to-many relationship, or the objects of a fetched property; they have to be of the class.
  func destinations<T: ManagedObject>(_ key: String, as type: T.Type) throws -> [T] {
    let objects: [ManagedObject]
    if let fetched = fetchedProperty(key) {
      objects = try fetchedObjects(fetched)
    } else {
      guard let r = try property(key).relationship, r.isToMany else {
        throw misread(key, "no to-many relationship", type)
      }
      let context = try requireContext()
      objects = try currentToMany(r).map { context.object(with: $0) }
    }
    return try objects.map { object in
      guard let result = object as? T else { throw misread(key, "a \(Swift.type(of: object))", type) }
      return result
    }
  }
}
