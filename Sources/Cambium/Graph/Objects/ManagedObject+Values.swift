import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ManagedObject {
  // MARK: By key

  /// The value of a property.
  ///
  /// Attributes give Foundation values: integers of 16, 32 and 64 bits as `Int` (64 bits as `Int64` where `Int` has
  /// 32), `Double`, `Float`, `Bool`, `Decimal`, `String`, `Date`, `Data`, `UUID`, `URL`, ``ManagedObjectID``;
  /// composites `[String: Any]` with the elements that have a value. Relationships give a ``ManagedObject``, a
  /// `Set<ManagedObject>`, or, if ordered, a `[ManagedObject]`. Fires the fault.
  ///
  /// `nil` as well where ``get(_:)`` throws; the error is noted in ``ManagedObjectContext/recordedErrors``.
  @_disfavoredOverload public func value(forKey key: String) -> Any? {
    do { return try get(key) } catch {
      managedObjectContext?.record(error, losesChange: false)
      return nil
    }
  }

  /// Sets a property: see ``set(_:forKey:)``. Where that throws, the object stays as it is, and the error is noted in
  /// ``ManagedObjectContext/recordedErrors`` and thrown by the next save.
  public func setValue(_ value: Any?, forKey key: String) {
    do { try set(value, forKey: key) } catch { note(error, losesChange: true) }
  }

  /// The value of a property, as ``value(forKey:)``.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; ``CambiumError/Code/managedObjectReferentialIntegrity`` if the row is
  ///   gone; what reading the store throws.
  public func get(_ key: String) throws -> Any? {
    guard let property = info.properties[key] else {
      if let fetched = fetchedProperty(key) { return try fetchedObjects(fetched) }
      if let primitive = primitiveKey(key) { return try get(primitive) }
      return try property(key)
    }
    if property.isTransient { return try transientValue(property) }
    switch property.kind {
    case .attribute(let attribute, _):
      let value = try currentValue(property).foundation(type: attribute.type, objects: objectID.space)
      return property.isTransformed ? try transformed(value, property) : value
    case .relationship(let r): return try destinations(r)
    }
  }

  private func destinations(_ r: RelationshipInfo) throws -> Any? {
    let context = try requireContext()
    guard r.isToMany else { return try currentToOne(r).map { context.object(with: $0) } }
    let objects = try currentToMany(r).map { context.object(with: $0) }
    return r.isOrdered ? objects : Set(objects)
  }

  /// Sets a property to a value of the types that ``value(forKey:)`` gives, `nil` for none. Numbers of other types are
  /// taken if the attribute holds them without loss; a to-many relationship takes a set or an array.
  ///
  /// A composite takes a `[String: Any]` dictionary, nested for nested composites, or a ``CompositeRepresentable``. An
  /// element that is missing takes its default (see ``CompositeAttributeDescription``), and one that is `nil` becomes
  /// null. An element that the composite does not have, or a value that its element cannot hold, is refused as a whole.
  ///
  /// Objects of Foundation's are taken as what they stand for, also where they arrive as `Any`, as in a dictionary of
  /// JSON: `NSNumber`, `NSString`, `NSDate`, `NSData`, sets and arrays; `NSNull` is no value. A number becomes what the
  /// attribute is, so that the `true` of JSON is a Boolean for a Boolean attribute, and 1 for an integer.
  ///
  /// A transient attribute takes what a stored one of its type does; one without type, and a transformable one,
  /// whatever is given.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; ``CambiumError/Code/invalidArgument`` for a value that the property
  ///   cannot hold (Core Data: `NSInvalidArgumentException`), with the key path of the element in question; the object
  ///   is unchanged then.
  public func set(_ value: Any?, forKey key: String) throws {
    // Most values are of a few types, and most properties are stored attributes: this needs no cast and no look-up in a
    // dictionary.
    if let usual = value.map({ Value(usual: $0) }) ?? .null, try setStored(usual, key) { return }
    guard let property = info.properties[key] else {
      if try !setByPrimitiveKey(value, key) { _ = try settableProperty(key) }
      return
    }
    try requireSettable(property, key)
    if property.isTransient { return try setTransient(value, property) }
    switch property.kind {
    case .attribute(let attribute, let rules):
      var value = value
      if property.isTransformed { value = try rules.untransformed(value, path: key, entity: entity.name) }
      if attribute.type == .objectID { try requireOwnStore(value, key) }
      if attribute.type == .composite, let composite = value as? any CompositeRepresentable {
        return try composite.setManagedValue(of: self, forKey: key)
      }
      try assign(try rules.accept(value, path: key, entity: entity.name), to: property)
    case .relationship(let r) where r.isToMany:
      guard let value = unwrapped(value), !isFoundationNull(value) else { return try assignToMany([], r) }
      guard let objects = managedObjects(in: value) else { throw misfit(value, key, "a set or array of objects") }
      try assignToMany(objects, r)
    case .relationship(let r):
      if let object = value as? ManagedObject { return try assignToOne(object, r) }
      guard let value = unwrapped(value), !isFoundationNull(value) else { return try assignToOne(nil, r) }
      throw misfit(value, key, "an object")
    }
  }

  /// Refuses identifiers of another store for an attribute that is stored, which holds them without their store. One
  /// that is not inserted has none yet.
  func requireOwnStore(_ value: Any?, _ key: String) throws {
    guard let value = unwrapped(value), !isEarly else { return }
    guard let id = value as? ManagedObjectID ?? (value as? ManagedObject)?.objectID,
      id.space.identifier != space.identifier
    else { return }
    throw CambiumError(
      .invalidArgument,
      "'\(key)' of '\(entity.name)' holds identifiers of objects of its own store; \(id) is of another. Its URI can be kept as text",
      entityName: entity.name, key: key, objectID: id)
  }

  func misfit(_ value: Any, _ key: String, _ expected: String) -> CambiumError {
    CambiumError(
      .invalidArgument, "'\(key)' of '\(entity.name)' takes \(expected), not a \(type(of: value))",
      entityName: entity.name, key: key)
  }

  /// The value of a property; `nil` where ``value(forKey:)`` gives `nil`.
  public subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value of an attribute as a Swift type, without boxing it; `nil` if there is none, or it is of another kind.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``, also for a relationship; what reading throws.
  public func get<T: AttributeRepresentable>(_ key: String, as type: T.Type) throws -> T? {
    let property = try property(key)
    if property.isTransient {
      guard let value = transients[property.name] else { return nil }
      return value as? T ?? Value(foundation: value).flatMap { T(attributeValue: $0) }
    }
    guard property.attribute != nil else {
      throw CambiumError(
        .unknownKey, "'\(key)' of '\(entity.name)' is a relationship", entityName: entity.name, key: key)
    }
    return T(attributeValue: try currentValue(property))
  }

  private func transformed(_ value: Any?, _ property: PropertyInfo) throws -> Any? {
    try property.rules?.transformed(value, path: property.name, entity: entity.name)
  }

  /// The property of a key, unless its values are not the caller's to set.
  func settableProperty(_ key: String) throws -> PropertyInfo {
    guard let property = info.properties[key] else {
      guard fetchedProperty(key) != nil else { return try property(key) }
      throw CambiumError(
        .invalidArgument, "'\(key)' of '\(entity.name)' is a fetched property, which cannot be set",
        entityName: entity.name, key: key)
    }
    try requireSettable(property, key)
    return property
  }

  private func requireSettable(_ property: PropertyInfo, _ key: String) throws {
    guard property.isDerived else { return }
    throw CambiumError(
      .invalidArgument,
      "'\(key)' of '\(entity.name)' is derived from '\(property.rules?.derivation ?? "")' when the object is saved, and "
        + "cannot be set", entityName: entity.name, key: key)
  }

  // MARK: By key path

  /// The value at the end of a key path through to-one relationships and composites, such as
  /// `aircraft.colorScheme.primary`; `nil` if there is none on the way. Through a to-many relationship, the array of
  /// what its destinations give, or what an operator makes of that: `logEntries.@count`, `logEntries.@sum.minutes`, and
  /// `@avg`, `@min`, `@max`, `@unionOfObjects` and `@distinctUnionOfObjects` likewise, unsaved changes included. Values
  /// that are null do not count. Where Core Data raises, `nil`, and the error is noted.
  @_disfavoredOverload public func value(forKeyPath keyPath: String) -> Any? {
    do { return try get(keyPath: keyPath) } catch {
      managedObjectContext?.record(error, losesChange: false)
      return nil
    }
  }

  /// The value at the end of a key path; see ``value(forKeyPath:)``.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey``; what reading throws.
  public func get(keyPath: String) throws -> Any? {
    try checkLength(keyPath)
    let (key, rest) = split(keyPath)
    guard let rest else { return try get(key) }
    if let property = info.properties[key], let attribute = property.attribute {
      let path = try elementPath(rest, attribute, keyPath)
      let whole = property.isTransient ? try transientEngineValue(property) : try currentValue(attribute)
      let value = element(rest, of: whole).foundation(type: path.type, objects: objectID.space)
      guard property.isTransformed, let rules = property.rules else { return value }
      return try elementPath(rest, rules, keyPath).transformed(value, path: keyPath, entity: entity.name)
    }
    switch try get(key) {
    case let object as ManagedObject: return try object.get(keyPath: rest)
    case let objects as [ManagedObject]: return try collected(objects, rest)
    case let objects as Set<ManagedObject>: return try collected(Array(objects), rest)
    default: return nil
    }
  }

  /// What a key path gives for the destinations of a to-many relationship: the values, or what an operator makes of
  /// them.
  private func collected(_ objects: [ManagedObject], _ keyPath: String) throws -> Any? {
    guard keyPath.hasPrefix("@") else { return try objects.map { try $0.get(keyPath: keyPath) as Any } }
    let (name, rest) = split(keyPath)
    guard let function = KeyPathOperator(rawValue: name), (rest == nil) == (function == .count) else {
      throw CambiumError(
        .unknownKey,
        "'\(keyPath)' is no operator on a relationship of '\(entity.name)'; there are @count, and @sum, @avg, @min, @max, "
          + "@distinctUnionOfObjects and @unionOfObjects of a key path", entityName: entity.name, key: keyPath)
    }
    guard let rest else { return objects.count }
    return try function.result(of: objects.compactMap { try $0.get(keyPath: rest) }, keyPath, entity.name)
  }

  /// Sets the value at the end of a key path through to-one relationships, or an element of a composite, whose other
  /// elements stay. A composite that was null comes into being with the defaults of its other elements.
  ///
  /// - Throws: as ``set(_:forKey:)``; ``CambiumError/Code/invalidArgument`` if a relationship on the way is empty.
  public func set(_ value: Any?, forKeyPath keyPath: String) throws {
    try checkLength(keyPath)
    let (key, rest) = split(keyPath)
    guard let rest else { return try set(value, forKey: key) }
    let property = try settableProperty(key)
    if let attribute = property.attribute, let rules = property.rules {
      let target = try elementPath(rest, rules, keyPath)
      var bytes = value
      if property.isTransformed {
        bytes = try target.untransformed(value, path: keyPath, entity: entity.name)
      }
      let new = try target.accept(bytes, path: keyPath, entity: entity.name)
      let present = property.isTransient ? try transientEngineValue(property) : try currentValue(attribute)
      let changed = replacing(rest, with: new, in: present, of: rules)
      guard let coerced = attribute.coerce(changed) else { throw misfit(value as Any, keyPath, "another value") }
      if property.isTransient { return setTransientEngineValue(coerced, property) }
      return try assign(coerced, to: attribute)
    }
    guard let object = try get(key) as? ManagedObject else {
      throw CambiumError(
        .invalidArgument, "there is no object at '\(key)' to set '\(rest)' of", entityName: entity.name, key: keyPath)
    }
    try object.set(value, forKeyPath: rest)
  }

  /// Sets the value at the end of a key path: see ``set(_:forKeyPath:)``. Where that throws, the error is noted and
  /// thrown by the next save.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    do { try set(value, forKeyPath: keyPath) } catch { note(error, losesChange: true) }
  }

  /// Following a path takes a call for each component, and the stack is finite.
  private func checkLength(_ keyPath: String) throws {
    let dots = keyPath.utf8.reduce(0) { $1 == UInt8(ascii: ".") ? $0 + 1 : $0 }
    guard dots >= CambiumEngine.Predicate.depthLimit else { return }
    throw CambiumError(
      .unknownKey, "a key path has \(dots + 1) components; at most \(CambiumEngine.Predicate.depthLimit) are followed",
      entityName: entity.name)
  }

  private func split(_ keyPath: String) -> (key: String, rest: String?) {
    guard let dot = keyPath.firstIndex(of: ".") else { return (keyPath, nil) }
    return (String(keyPath[..<dot]), String(keyPath[keyPath.index(after: dot)...]))
  }

  private func elementPath(_ path: String, _ attribute: AttributeSchema, _ whole: String) throws -> AttributeSchema {
    var current = attribute
    for part in path.split(separator: ".", omittingEmptySubsequences: false) {
      guard let element = current.element(named: String(part)) else {
        throw CambiumError(
          .unknownKey, "'\(whole)' of '\(entity.name)' does not exist: there is no element '\(part)'",
          entityName: entity.name, key: whole)
      }
      current = element
    }
    return current
  }

  private func element(_ path: String, of value: Value) -> Value {
    var current = value
    for part in path.split(separator: ".") {
      guard case .composite(let composite) = current else { return .null }
      current = composite[String(part)] ?? .null
    }
    return current
  }

  /// The value with an element replaced; composites on the way that are null come into being. As deep as the schema.
  private func replacing(_ path: String, with new: Value, in value: Value, of attribute: AttributeSchema) -> Value {
    let (key, rest) = split(path)
    var composite: CompositeValue
    if case .composite(let present) = value { composite = present } else { composite = attribute.initialElements }
    if let rest, let element = attribute.element(named: key) {
      composite[key] = replacing(rest, with: new, in: composite[key] ?? .null, of: element)
    } else {
      composite[key] = new
    }
    return .composite(composite)
  }

  // MARK: Composites

  /// The value of a composite attribute as a Swift type; `nil` if there is none, if the key is of no composite, or if
  /// the type refuses the elements. A key path reaches nested composites.
  public func composite<C: CompositeRepresentable>(_ type: C.Type, forKey key: String) -> C? {
    (value(forKeyPath: key) as? [String: Any]).flatMap { C(compositeValues: $0) }
  }

  /// Sets a composite attribute from a Swift type; `nil` for none. Where ``set(_:forKey:)`` throws, the error is noted
  /// and thrown by the next save.
  public func setComposite<C: CompositeRepresentable>(_ composite: C?, forKey key: String) {
    setValue(composite?.compositeValues, forKeyPath: key)
  }

  // MARK: Changes

  /// The properties that were changed since the object was last read or saved, with their present values. Reads nothing
  /// but to-many relationships that were changed.
  @_disfavoredOverload public func changedValues() -> [String: Any?] {
    var result: [String: Any?] = [:]
    for key in changedKeys { result.updateValue(value(forKey: key), forKey: key) }
    return result
  }

  /// The names of the changed properties, in order.
  var changedKeys: [String] {
    guard let overlay else { return [] }
    var keys = overlay.attributeChanges.keys.map { info.schema.allAttributes[$0].name }
    keys += overlay.toOneChanges.keys.map { info.schema.allRelationships[$0].name }
    keys += overlay.toManyChanges.keys.map { info.schema.allRelationships[$0].name }
    return keys.ordered()
  }

  /// The values of properties as they were last read or saved; `nil` keys for all. Every key that was asked for is in
  /// the result. For an inserted object all values are `nil`.
  @_disfavoredOverload public func committedValues(forKeys keys: [String]?) -> [String: Any?] {
    var result: [String: Any?] = [:]
    for key in keys ?? info.ordered.filter({ !$0.isTransient }).map({ $0.name }) {
      do { result.updateValue(try committed(key), forKey: key) } catch {
        managedObjectContext?.record(error, losesChange: false)
        result.updateValue(nil, forKey: key)
      }
    }
    return result
  }

  private func committed(_ key: String) throws -> Any? {
    let property = try property(key)
    if property.isTransient || state == .inserted { return nil }
    let context = try requireContext()
    switch property.kind {
    case .attribute(let attribute, _):
      let value = try committedValue(attribute).foundation(type: attribute.type, objects: objectID.space)
      return property.isTransformed ? try transformed(value, property) : value
    case .relationship(let r) where r.isToMany:
      let objects = try committedToMany(r).map { context.object(with: $0) }
      return r.isOrdered ? objects : Set(objects)
    case .relationship(let r): return try committedToOne(r).map { context.object(with: $0) }
    }
  }

  // MARK: For predicates

  /// What a predicate reads at a key path of another object of the same store; null if that is deleted or gone.
  func engineValue(of reference: ObjectReference, keyPath: String) throws -> Value {
    let context = try requireContext()
    let other = context.object(with: ManagedObjectID(space: objectID.space, reference: reference))
    if other.isDeleted, !context.isMissing(other) { return .null }
    do { return try other.engineValue(keyPath: keyPath) } catch let error as CambiumError {
      guard error.code == .managedObjectReferentialIntegrity else { throw error }
      return .null
    }
  }

  /// What a predicate or order reads at a key path: unsaved changes included; a list through a to-many relationship.
  func engineValue(keyPath: String) throws -> Value {
    try checkLength(keyPath)
    let (key, rest) = split(keyPath)
    if key == "self" || key == "SELF" {
      if let rest { return try engineValue(keyPath: rest) }
      return .reference(objectID.reference)
    }
    if key == "objectID" { return .reference(objectID.reference) }
    let property = try property(key)
    switch property.kind {
    case .attribute(let attribute, _):
      if property.isTransient { return .null }
      let value = try currentValue(attribute)
      return rest.map { element($0, of: value) } ?? value
    case .relationship(let r):
      if property.isTransient { return r.isToMany ? .list([]) : .null }
      if r.isToMany {
        var values: [Value] = []
        for id in try currentToMany(r) {
          guard let rest else {
            values.append(.reference(id.reference))
            continue
          }
          let value = try requireContext().object(with: id).engineValue(keyPath: rest)
          if case .list(let inner) = value { values += inner } else { values.append(value) }
        }
        return .list(values)
      }
      guard let id = try currentToOne(r) else { return .null }
      guard let rest else { return .reference(id.reference) }
      return try requireContext().object(with: id).engineValue(keyPath: rest)
    }
  }
}
