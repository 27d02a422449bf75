import CambiumEngine

// Values without what comes with them, and the notices of accessors that are written by hand: Core Data's primitive
// values.
//
//     var sectionTitle: String? {
//       willAccessValue(forKey: "sectionTitle")
//       defer { didAccessValue(forKey: "sectionTitle") }
//       if let known = primitiveValue(forKey: "sectionTitle") as? String { return known }
//       …
//     }
extension ManagedObject {
  /// The value of a property as ``value(forKey:)`` gives it. Core Data: `primitiveValueForKey:`.
  ///
  /// Unlike with Core Data, the row of a fault is read, so that there is a value also without
  /// ``willAccessValue(forKey:)``; and a to-many relationship gives a set or an array of its own, not one to change
  /// (``mutableSetValue(forKey:)`` is for that).
  ///
  /// `nil` as well where reading fails; the error is noted in ``ManagedObjectContext/recordedErrors``.
  @_disfavoredOverload public func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }

  /// Sets an attribute without telling anybody: it is not of the event that
  /// ``ContextNotification/Kind/objectsDidChange`` tells, cannot be undone by itself, and has ``willSave()`` not called
  /// again. For initial values, for values that are kept between ``willAccessValue(forKey:)`` and the next change, and
  /// for accessors that are written by hand, between ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)``. Core
  /// Data: `setPrimitiveValue:forKey:`.
  ///
  /// The types of values are those of ``setValue(_:forKey:)``, and so is what is done about others. Unlike with Core
  /// Data, an attribute that is stored and was set is saved by the next save, whatever was said of it; and a
  /// relationship is set as by ``setValue(_:forKey:)``, since both of its sides change.
  public func setPrimitiveValue(_ value: Any?, forKey key: String) {
    do { try setPrimitive(value, key) } catch { note(error, losesChange: true) }
  }

  /// Reads the row if the object is a fault. An accessor that is written by hand begins with it.
  ///
  /// Where reading fails, the error is noted in ``ManagedObjectContext/recordedErrors``.
  public func willAccessValue(forKey key: String?) {
    if state == .loaded || state == .inserted || state == .detached { return }
    do { try load() } catch { managedObjectContext?.record(error, losesChange: false) }
  }

  /// Ends what ``willAccessValue(forKey:)`` began. There is nothing to be done; it is for code written for Core Data.
  public func didAccessValue(forKey key: String?) {}

  /// Says that a property is about to be changed by ``setPrimitiveValue(_:forKey:)``: the change is of the event that
  /// is told next, can be undone, and has ``willSave()`` called again, as one by ``setValue(_:forKey:)``. Keys that the
  /// model does not have are passed over.
  public func willChangeValue(forKey key: String) {
    guard info.properties[key] != nil else { return }
    willChangeForNow()
    ownOverlay.fields.pointee.isChangeNoticed = true
  }

  /// Says that a property was changed; see ``willChangeValue(forKey:)``.
  public func didChangeValue(forKey key: String) {
    guard info.properties[key] != nil, let overlay else { return }
    overlay.fields.pointee.isChangeNoticed = false
    if hasValueChanges { noteChange() }
  }

  private func setPrimitive(_ value: Any?, _ key: String) throws {
    let property = try settableProperty(key)
    guard let rules = property.rules else { return try set(value, forKey: key) }
    if property.isTransient {
      transients[key] = try acceptTransient(value, property)
      return
    }
    var value = value
    if property.isTransformed { value = try rules.untransformed(value, path: key, entity: entity.name) }
    if rules.type == .objectID { try requireOwnStore(value, key) }
    noteInValidation(isRelationship: false)
    try assignQuietly(try rules.accept(value, path: key, entity: entity.name), at: property.place)
  }

  // MARK: Accessors of primitive values

  /// The property whose primitive value a key names, as `primitiveSectionTitle` that of `sectionTitle`, unless the
  /// entity has a property of that very name.
  func primitiveKey(_ key: String) -> String? {
    let prefix = "primitive"
    guard key.hasPrefix(prefix), info.properties[key] == nil else { return nil }
    let name = key.dropFirst(prefix.count)
    guard let first = name.first, first.isUppercase else { return nil }
    // A name may begin with a capital letter as well.
    let candidates = [first.lowercased() + name.dropFirst(), String(name)]
    return candidates.first { info.properties[$0] != nil }
  }

  /// Sets the primitive value that a key names; answers whether it names one.
  func setByPrimitiveKey(_ value: Any?, _ key: String) throws -> Bool {
    guard let name = primitiveKey(key) else { return false }
    try setPrimitive(value, name)
    return true
  }
}
