import CambiumEngine
import CambiumKernel

// Values that are kept in memory only. Those of attributes without type and of transformable ones are the application's
// and may be anything; all others are held in the form in which a stored attribute would be read, so that they are of
// the attribute's type whatever was set.
extension ManagedObject {
  /// The value of a transient property, as ``value(forKey:)`` gives it.
  func transientValue(_ property: PropertyInfo) throws -> Any? {
    if let r = property.relationship, r.isToMany {
      let objects = heldObjects(property)
      return r.isOrdered ? objects : Set(objects)
    }
    let value = transients[property.name]
    guard property.isTransformed, let rules = property.rules, rules.type == .composite else { return value }
    return try rules.transformed(value, path: property.name, entity: entity.name)
  }

  /// Sets a transient property; see ``set(_:forKey:)``.
  func setTransient(_ value: Any?, _ property: PropertyInfo) throws {
    let accepted = try acceptTransient(value, property)
    willChangeForNow()
    if accepted == nil, transients.isEmpty { return }
    transients[property.name] = accepted
  }

  /// A transient property's value in the form in which it is held.
  func acceptTransient(_ value: Any?, _ property: PropertyInfo) throws -> Any? {
    guard let value = unwrapped(value) else { return nil }
    let key = property.name
    guard let rules = property.rules else {
      guard let r = property.relationship else { return value }
      if isFoundationNull(value) { return nil }
      let objects = r.isToMany ? managedObjects(in: value) : nil
      guard let objects = r.isToMany ? objects : (value as? ManagedObject).map({ [$0] }) else {
        throw misfit(value, key, r.isToMany ? "a set or array of objects" : "an object")
      }
      // Without a context, where it leads is looked at when the object is inserted.
      if !isEarly, !isOfBatch {
        for object in objects { try checkDestination(object, r) }
        for object in objects { try bringAlong(object, r) }
      }
      if !r.isToMany { return value }
      var seen = Set<ObjectIdentifier>()
      return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
    if rules.type == .undefined || rules.type == .transformable { return value }
    let given: Any? = property.isTransformed ? try rules.untransformed(value, path: key, entity: entity.name) : value
    let accepted = try rules.accept(given, path: key, entity: entity.name)
    if rules.type == .objectID {
      // It may be of another store, which the engine's value does not tell.
      return (value as? ManagedObject)?.objectID ?? value
    }
    return accepted.foundation(type: rules.type, objects: objectID.space) ?? value
  }

  /// The objects that a transient relationship leads to: in order, or by their identifiers.
  func heldObjects(_ property: PropertyInfo) -> [ManagedObject] {
    switch transients[property.name] {
    case let list as [ManagedObject]: return list
    case let set as Set<ManagedObject>: return set.ordered { $0.objectID.reference < $1.objectID.reference }
    case let object as ManagedObject: return [object]
    default: return []
    }
  }

  /// Changes the objects that a transient to-many relationship leads to.
  func changeHeldObjects(_ property: PropertyInfo, _ change: (inout [ManagedObject]) -> Void) throws {
    var objects = heldObjects(property)
    change(&objects)
    try setTransient(objects, property)
  }

  /// The value of a transient attribute that has a type, as the engine has values; null for any other.
  func transientEngineValue(_ property: PropertyInfo) throws -> Value {
    guard let rules = property.rules, rules.type != .undefined, rules.type != .transformable,
      let value = transients[property.name]
    else { return .null }
    // Elements that the held dictionary lacks are null. They took their defaults when it was set.
    return Value(foundation: value).flatMap { rules.coerce($0) } ?? .null
  }

  /// Sets a transient attribute that has a type to a value in its form.
  func setTransientEngineValue(_ value: Value, _ property: PropertyInfo) {
    willChangeForNow()
    transients[property.name] = value.foundation(type: property.rules?.type ?? .undefined, objects: objectID.space)
  }
}
