import CambiumEngine

extension ManagedObjectContext {
  /// Gives inserted objects their permanent identifiers, which they otherwise get when they are saved into a store. The rows
  /// are reserved: if the objects are never saved, they stay unused.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for an object of another context; ``CambiumError/Code/fileWriteNoPermission``
  ///   for a store that was opened for reading only; what writing throws.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    try lock.run {
      takeInMail()
      processEvent()
      for object in objects where object.managedObjectContext !== self {
        throw CambiumError(
          .invalidArgument, "an object of another context gets its identifier there", objectID: object.objectID)
      }
      var wanted = objects.filter { $0.objectID.isTemporaryID && $0.isPresent }
      if let parent {
        // What was saved into the parent already is the parent's to name.
        let tellsLater = concurrencyType != .mainQueue && !parent.isOnQueue
        try parent.lock.run {
          let outer = parent.tellsLater
          parent.tellsLater = outer || tellsLater
          defer { parent.tellsLater = outer }
          try parent.obtainPermanentIDs(
            for: wanted.compactMap { parent.registered($0.objectID) }.filter { $0.isPresent })
        }
        takeInMail()
        wanted.removeAll { !$0.objectID.isTemporaryID }
      }
      let bySpace = Dictionary(grouping: wanted) { ObjectIdentifier($0.objectID.space) }
      for group in bySpace.values {
        guard let space = group.first?.objectID.space else { continue }
        guard let store = persistentStoreCoordinator.store(of: space) else {
          throw CambiumError(.persistentStoreOperation, "the objects' store was removed from the coordinator")
        }
        if store.isReadOnly { throw store.readOnlyError }
        var identifiers: [ManagedObjectID: ManagedObjectID] = [:]
        try mapping(.persistentStoreSave) { () throws(EngineError) in
          identifiers = try store.write { (t) throws(EngineError) in
            var made: [ManagedObjectID: ManagedObjectID] = [:]
            for object in group where made[object.objectID] == nil {
              made[object.objectID] = ManagedObjectID(
                space: space, reference: try t.reserveReference(object.info.schema))
            }
            return made
          }
        }
        rename(identifiers)
        tellChildren(permanent: identifiers)
        // Results may have told of them by their temporary identifiers.
        tell(renamed: group)
      }
    }
  }

  /// Makes the next save meet a conflict if others change an object until then, though this context has not changed it: for
  /// what is decided by its values. Reads the object if that was not done. Nothing is looked for in objects that are new.
  ///
  /// It does not matter whether the object is read again meanwhile, by a fetch, say; only
  /// ``refresh(_:mergeChanges:)`` of the object ends it. In a child, the conflict is with what the parent has.
  ///
  /// - Throws: ``CambiumError/Code/managedObjectReferentialIntegrity`` if it is gone; what reading throws.
  public func detectConflicts(for object: ManagedObject) throws {
    try lock.run {
      guard object.managedObjectContext === self, object.isPresent, object.state != .inserted else { return }
      try object.load()
      watched[object.objectID] = WatchedObject(object)
    }
  }
}

extension ManagedObject {
  /// Whether the next save would write something of the object. Transient values are not written.
  public var hasPersistentChangedValues: Bool {
    changedKeys.contains { info.properties[$0]?.isTransient == false }
  }

  /// Whether reading a relationship would read from the store, or from the parent context. Asking does not. Destinations of
  /// to-many relationships are read whenever they are asked for, unless they are ordered and changed.
  public func hasFault(forRelationshipNamed key: String) -> Bool {
    guard let r = info.properties[key]?.relationship, state != .inserted, state != .detached else { return false }
    if r.isToMany { return toManyChanges[r.place]?.list == nil }
    return !toOneChanges.contains(r.place) && row == nil && parentState == nil
  }
}
