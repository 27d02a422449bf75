import CambiumEngine

// What the accessors call that `@Managed` makes. They can be written by hand all the same.
extension ManagedObject {
  /// A property as a Swift type; see ``Managed()``. Where a value cannot be read or set, the error is noted as by
  /// ``value(forKey:)`` and ``setValue(_:forKey:)``.
  @inlinable public subscript<T: ManagedValue>(managed key: String) -> T? {
    get { managedValue(key) { try T.managedValue(of: self, forKey: key) } }
    set { setManagedValue(newValue, key) }
  }

  /// A property as a Swift type, ``ManagedDefault/managedDefault`` if there is no value. See ``Managed()``.
  @inlinable public subscript<T: ManagedValue & ManagedDefault>(managed key: String) -> T {
    get { managedValue(key) { try T.managedValue(of: self, forKey: key) } ?? T.managedDefault }
    set { setManagedValue(newValue, key) }
  }

  /// Is chosen for types without ``ManagedDefault`` that are not optional, for the sake of its message alone.
  @available(
    *, unavailable,
    message: """
      make the property optional, as a to-one relationship always is, or say what is read where there is no value: \
      '@Managed(default: ...)', or the type's conformance to 'ManagedDefault'
      """
  )
  public subscript<T: ManagedValue>(managed key: String) -> T {
    // Nobody can call it, and there is no value of every type to answer.
    get { while true {} }
    set {}
  }

  /// A property as a Swift type, and what to read if there is no value. See ``Managed(_:default:)``.
  @inlinable public subscript<T: ManagedValue>(managed key: String, default value: @autoclosure () -> T) -> T {
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

  @inlinable
  func managedValue<T>(_ key: String, _ read: () throws -> T?) -> T? {
    do { return try read() } catch {
      note(error, losesChange: false)
      return nil
    }
  }

  @usableFromInline
  func note(_ error: any Error, losesChange: Bool) {
    if let managedObjectContext {
      managedObjectContext.record(error, losesChange: losesChange)
    } else if losesChange, isEarly || isOfBatch, overlay?.earlyError == nil {
      // The context records it when the object is inserted; a batch request throws it.
      ownOverlay.earlyError = error
    }
  }

  @inlinable
  func setManagedValue<T: ManagedValue>(_ value: T?, _ key: String) {
    do {
      if let value {
        try value.setManagedValue(of: self, forKey: key)
      } else if try !setStored(.null, key) {
        try set(nil, forKey: key)
      }
    } catch { note(error, losesChange: true) }
  }

  /// The value, which has to be of the type.
  func anyValue<T>(_ key: String, as type: T.Type) throws -> T? {
    guard let value = try get(key) else { return nil }
    if let value = value as? T { return value }
    throw misread(key, "a \(Swift.type(of: value))", "\(type)")
  }

  @usableFromInline
  func misread(_ key: String, _ found: String, _ type: String) -> CambiumError {
    let remedy =
      found == "a ManagedObject"
      ? "; name the class of its entity in the model, or use it before the first object is made" : ""
    return CambiumError(
      .invalidArgument, "'\(key)' of '\(entity.name)' has \(found), which cannot be read as \(type)\(remedy)",
      entityName: entity.name, key: key, objectID: objectID)
  }

  @usableFromInline
  func misread(_ key: String, _ found: CompositeElements, _ type: String) -> CambiumError {
    misread(key, "the elements \(found.dictionary)", type)
  }

  /// The object as an object of a class that an application asks for.
  func asResult<Result>(_ type: Result.Type) throws -> Result {
    guard let result = self as? Result else {
      throw CambiumError(
        .invalidArgument, "\(objectID) is a \(Swift.type(of: self)) and no \(type)", entityName: entity.name,
        objectID: objectID)
    }
    return result
  }

  // MARK: Attributes

  /// The value of an attribute, as it is stored; nil for one that is transient, or that a transformer makes.
  @usableFromInline
  func storedValue(_ key: String) throws -> Value? {
    if let attribute = directAttribute(key) { return try currentValue(at: attribute.place) }
    guard try property(key).isAttribute else { throw misread(key, "a relationship", "a value") }
    return Optional.none
  }

  /// The value of a transient or transformed attribute, which has to be one that the type can be read from.
  @usableFromInline
  func specialValue<T: AttributeRepresentable>(_ key: String, as type: T.Type) throws -> T? {
    guard let any = try get(key) else { return nil }
    if let known = any as? T { return known }
    guard let value = Value(foundation: any) else { throw misread(key, "a \(Swift.type(of: any))", "\(type)") }
    if value.isNull { return nil }
    if let result = T(attributeValue: value) { return result }
    throw misread(key, "the value \(value)", "\(type)")
  }

  /// The value of an attribute, which has to be one that the type can be read from.
  @inlinable
  func attributeValue<T: AttributeRepresentable>(_ key: String, as type: T.Type) throws -> T? {
    if let direct = try directValue(key, as: type) { return direct }
    guard let value = try storedValue(key) else { return try specialValue(key, as: type) }
    if let result = T(attributeValue: value) { return result }
    if value.isNull { return nil }
    throw misread(key, "the value \(value)", "\(type)")
  }

  /// Sets an attribute without boxing the value where that is possible; answers whether it was.
  @usableFromInline
  func setStored(_ value: Value, _ key: String) throws -> Bool {
    guard let attribute = directAttribute(key), attribute.isPlain else { return false }
    let (place, type) = (attribute.place, attribute.type)
    if type.holds(value) {
      try assign(value, at: place)
      return true
    }
    guard let coerced = type == .composite ? info.compositeValue(value, at: place) : type.coerce(value) else {
      return false
    }
    try assign(coerced, at: place)
    return true
  }

  /// Sets an attribute.
  @inlinable
  func setAttribute<T: AttributeRepresentable>(_ value: T, _ key: String) throws {
    if try !setStored(value.attributeValue, key) { try set(value, forKey: key) }
  }

  /// The elements of a composite attribute; nil if it has no value.
  @usableFromInline
  func compositeElements(_ key: String) throws -> CompositeElements? {
    if let direct = try directComposite(key) { return direct }
    if let attribute = directAttribute(key), attribute.type == .composite {
      guard case .composite(let value) = try currentValue(at: attribute.place) else { return nil }
      return CompositeElements(value, objectID.space)
    }
    guard let dictionary: [String: Any] = try anyValue(key, as: [String: Any].self) else { return nil }
    guard case .composite(let value)? = Value(foundation: dictionary) else {
      throw misread(key, "the elements \(dictionary)", "a composite")
    }
    return CompositeElements(value, objectID.space)
  }

  // MARK: Relationships

  /// The destination of a to-one relationship, which has to be of the class.
  func destination<T: ManagedObject>(_ key: String, as type: T.Type) throws -> T? {
    if let direct = try directDestination(key, as: type) {
      guard let direct else { return nil }
      // A class that nobody inherits from is told at a glance.
      if Swift.type(of: direct) == type { return unsafeDowncast(direct, to: type) }
      return try object(direct, key, as: type)
    }
    let property = try property(key)
    guard let r = property.relationship, !r.isToMany else { throw misread(key, "no to-one relationship", "\(type)") }
    if property.isTransient { return try heldObjects(property).first.map { try object($0, key, as: type) } }
    guard let id = try currentToOne(r) else { return nil }
    let context = try requireContext()
    use(type, for: r, context)
    return try object(context.object(with: id), key, as: type)
  }

  /// Fixes the class of the entity that a relationship leads to, if the model names none and none was used before.
  func use(_ type: ManagedObject.Type, for r: RelationshipInfo, _ context: ManagedObjectContext) {
    if type != ManagedObject.self, let info = space.info(r.destination) { use(type, for: info, context) }
  }

  private func use(_ type: ManagedObject.Type, for info: EntityInfo, _ context: ManagedObjectContext) {
    // If the entity is of another class, its objects are found not to be of this one.
    if info.objectClass == nil { _ = try? context.persistentStoreCoordinator.use(type, for: info) }
  }

  /// The destinations of a to-many relationship, or the objects of a fetched property; they have to be of the class.
  func destinations<T: ManagedObject>(_ key: String, as type: T.Type) throws -> [T] {
    guard let fetched = fetchedProperty(key) else {
      let property = try property(key)
      guard let r = property.relationship, r.isToMany else { throw misread(key, "no to-many relationship", "\(type)") }
      if property.isTransient { return try heldObjects(property).map { try object($0, key, as: type) } }
      let context = try requireContext()
      let ids = try currentToMany(r)
      if !ids.isEmpty { use(type, for: r, context) }
      return try ids.map { try object(context.object(with: $0), key, as: type) }
    }
    if type != ManagedObject.self, let name = fetched.fetchRequest?.entityName, let info = space.info(named: name) {
      use(type, for: info, try requireContext())
    }
    return try fetchedObjects(fetched).map { try object($0, key, as: type) }
  }

  /// An object that has to be of a class.
  private func object<T: ManagedObject>(_ object: ManagedObject, _ key: String, as type: T.Type) throws -> T {
    guard let result = object as? T else { throw misread(key, "a \(Swift.type(of: object))", "\(type)") }
    return result
  }
}
