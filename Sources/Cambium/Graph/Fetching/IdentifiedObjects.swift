import CambiumEngine

/// Reads the objects of known identifiers, in the order of the identifiers.
struct IdentifiedObjects {
  let context: ManagedObjectContext

  /// Returns an object for each identifier, with the row that the newest commit has. An object without a row is a
  /// fault.
  func objects(with identifiers: [ManagedObjectID]) throws -> [ManagedObject] {
    try context.lock.run {
      if let parent = context.parent {
        return try parent.lock.run {
          let found = try IdentifiedObjects(context: parent).objects(with: identifiers)
          context.takeInMail()
          return found.map { context.take($0) }
        }
      }
      context.advance()
      // Hold the objects until all of them are found, because the context holds them weakly.
      var held: [ManagedObject] = []
      let coordinator = context.persistentStoreCoordinator
      let stored = identifiers.filter { id in
        !id.isTemporaryID && coordinator.store(of: id.space) != nil && id.space.info(id.reference.entity) != nil
      }
      for (_, some) in Dictionary(grouping: stored, by: { ObjectIdentifier($0.space) }) {
        held += try FoundObjects(of: some.map { $0.reference }, in: some[0].space, for: context).objects
      }
      return withExtendedLifetime(held) { identifiers.map { context.object(with: $0) } }
    }
  }

  /// Returns the objects of identifiers, without those that have no row.
  ///
  /// - Parameter new: Unsaved objects, by the identifiers under which they were listed.
  func presentObjects(
    with identifiers: [ManagedObjectID], new: [ManagedObjectID: ManagedObject]
  ) throws -> [ManagedObject] {
    if let parent = context.parent {
      return try parent.lock.run {
        let wanted = identifiers.filter { new[$0] == nil }
        let found = try IdentifiedObjects(context: parent).presentObjects(with: wanted, new: [:])
        context.takeInMail()
        var held: [ManagedObjectID: ManagedObject] = [:]
        for object in found where !object.isDeleted { held[object.objectID] = context.take(object) }
        return identifiers.compactMap { new[$0] ?? held[$0] }
      }
    }
    var held: [ManagedObjectID: ManagedObject] = [:]
    let stored = Dictionary(grouping: identifiers.filter { !$0.isTemporaryID }) { ObjectIdentifier($0.space) }
    for some in stored.values {
      for object in try presentObjects(of: some.map { $0.reference }, in: some[0].space) {
        held[object.objectID] = object
      }
    }
    return identifiers.compactMap { new[$0] ?? held[$0] }
  }

  /// Returns the objects of distinct references to a store, without those that have no row.
  func presentObjects(of references: [ObjectReference], in space: StoreSpace) throws -> [ManagedObject] {
    _ = try store(of: space)
    return ordered(try FoundObjects(of: references, in: space, for: context).objects, as: references[...], in: space)
  }

  /// Sorts the objects that were found for references into the order of the references.
  func ordered(
    _ found: [ManagedObject], as references: ArraySlice<ObjectReference>, in space: StoreSpace
  ) -> [ManagedObject] {
    // Without a requested order, references are in the order of the rows, which is also the order of `found`.
    var last: ObjectReference?
    let areInOrder = references.allSatisfy { reference in
      defer { last = reference }
      return last.map { $0.entity == reference.entity && $0.row < reference.row } ?? true
    }
    if areInOrder { return found }
    if found.count == references.count {
      // The registry finds every object, because `found` holds them.
      let registry = context.registry
      return withExtendedLifetime(found) { references.compactMap { registry.object(space, $0) } }
    }
    var places: [ObjectReference: Int] = [:]
    places.reserveCapacity(references.count)
    for (place, reference) in references.enumerated() { places[reference] = place }
    var ordered = [ManagedObject?](repeating: nil, count: references.count)
    for object in found {
      if let place = places[object.objectID.reference] { ordered[place] = object }
    }
    return ordered.compactMap { $0 }
  }

  /// A store that is being removed serves the requests that began before.
  ///
  /// - Throws: ``CambiumError/Code/persistentStoreOperation`` if the store is closed.
  func store(of space: StoreSpace) throws -> PersistentStore {
    let store = context.persistentStoreCoordinator.store(of: space) ?? space.store.value
    if let store, !store.uses.isClosed { return store }
    throw CambiumError(
      .persistentStoreOperation,
      "the store of the objects was removed from the coordinator while they were gone through")
  }
}
