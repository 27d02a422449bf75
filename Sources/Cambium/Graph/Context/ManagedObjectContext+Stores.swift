import CambiumEngine

extension ManagedObjectContext {
  /// Says in which store a new object is to be saved, where several hold its entity; without, it is the first that may
  /// be written. The object gets another temporary identifier, so say it before relationships are set.
  ///
  /// Core Data raises where this notes ``CambiumError/Code/invalidArgument``, which the next save throws: for an object
  /// that is not new, or has relationships or a permanent identifier, and for a store that the coordinator does not
  /// have or that does not hold the entity.
  public func assign(_ object: ManagedObject, to store: PersistentStore) {
    lock.run {
      do {
        guard object.managedObjectContext === self, object.isInserted else {
          throw CambiumError(.invalidArgument, "\(object.objectID) is not a new object of the context")
        }
        guard persistentStoreCoordinator.persistentStores.contains(where: { $0 === store }),
          let info = store.space.info(named: object.entity.name)
        else {
          throw CambiumError(
            .invalidArgument, "the store is not one of the coordinator's that hold '\(object.entity.name)'",
            entityName: object.entity.name)
        }
        if object.objectID.space === store.space { return }
        guard object.objectID.isTemporaryID, object.toOneChanges.isEmpty, object.toManyChanges.isEmpty else {
          throw CambiumError(
            .invalidArgument,
            "\(object.objectID) has relationships or a permanent identifier already: assign it to a store first",
            entityName: object.entity.name)
        }
        processEvent()
        inserted.remove(object)
        unregister(object.objectID)
        // The other store may have the properties in another order.
        let changes = object.attributeChanges.compactMap { place, value in
          info.properties[object.info.schema.allAttributes[place].name].map { ($0.place, value) }
        }
        object.become(ManagedObjectID.temporary(info.schema.id, in: store.space), info, in: self)
        object.state = .inserted
        object.attributeChanges = [:]
        for (place, value) in changes { object.overlay(value, at: place) }
        inserted.insert(object)
        register(object)
      } catch { record(error, losesChange: true) }
    }
  }
}
