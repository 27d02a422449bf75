import CambiumEngine
import CambiumKernel

// What another API in front of the object graph needs of objects, beside what everybody has.
extension ManagedObject {
  /// Tells the entity from others. To ask for the entity itself takes longer, because it is counted.
  package final var entityIdentity: ObjectIdentifier? { withHome { ObjectIdentifier($0.entity) } }

  /// The value of a stored attribute in the engine's form; nil for a transient or transformed one.
  package final func engineValue(forKey key: String) throws -> Value? { try storedValue(key) }

  /// The elements of a composite attribute, which stay in the row if all of them are texts; nil if it has no value.
  package final func elements(forKey key: String) throws -> CompositeElements? { try compositeElements(key) }

  /// The destinations of a to-many relationship, in its order if it has one.
  ///
  /// - Parameter type: The class to use for the entity that the relationship leads to.
  /// - Throws: as ``get(_:)``.
  package final func destinations(forKey key: String, class type: ManagedObject.Type) throws -> [ManagedObject] {
    let property = try property(key)
    guard let r = property.relationship, r.isToMany else { throw misread(key, "no to-many relationship", "\(type)") }
    if property.isTransient { return heldObjects(property) }
    let context = try requireContext()
    let ids = try currentToMany(r)
    if ids.isEmpty { return [] }
    use(type, for: r, context)
    return context.lock.run { ids.map { context.destination(of: $0) } }
  }

  /// Notes an error of a call that cannot throw: in the context, or, of an object that is not inserted yet, for the one
  /// that it will be inserted into.
  package final func keep(_ error: any Error) { note(error, losesChange: true) }

  /// Sets an attribute to a value in the engine's form. See ``set(_:forKey:)``.
  package final func setEngineValue(_ value: Value, forKey key: String) throws {
    if try !setStored(value, key) { try set(value.foundation(type: .undefined, objects: space), forKey: key) }
  }
}

extension CompositeElements {
  /// The elements of a value.
  package init(_ value: CompositeValue) { self.init(value, nil) }

  /// All elements in the engine's form. Those of a row are read anew each time.
  package var engineValue: CompositeValue { value }
}

extension ManagedObjectID {
  /// The number of the row in its entity's table; of a temporary identifier, one that no other object of the process
  /// has.
  package var number: UInt64 { reference.row }
}

extension PersistentStoreCoordinator {
  /// The identifier of a row in one of the coordinator's stores, whether or not there is such a row. Nil if no store
  /// has the identifier, or if the store has no such entity.
  package func managedObjectID(store: String, entityName: String, number: UInt64) -> ManagedObjectID? {
    guard number > 0, number < ObjectReference.firstTemporaryRow else { return nil }
    for known in persistentStores where known.identifier == store {
      guard let info = known.space.info(named: entityName) else { continue }
      return ManagedObjectID(space: known.space, reference: ObjectReference(entity: info.schema.id, row: number))
    }
    return nil
  }

  /// The space of temporary numbers begins here.
  package static var firstTemporaryNumber: UInt64 { ObjectReference.firstTemporaryRow }
}

extension Value {
  /// The value of an attribute, in the engine's form, of one in Foundation's. Nil if no attribute has such a value.
  package init?(any value: Any) { self.init(foundation: value) }

  /// The value in Foundation's form; nil for null.
  package var any: Any? { foundation(type: .undefined, objects: nil) }
}
