import CambiumEngine

extension ManagedObjectContext {
  /// Gives inserted objects their permanent identifiers, which they otherwise get when they are saved into a store. The
  /// rows are reserved: if the objects are never saved, they stay unused.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for an object of another context;
  ///   ``CambiumError/Code/fileWriteNoPermission`` for a store that was opened for reading only; what writing throws.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    try lock.run { try PermanentIDRequest(context: self).run(for: objects) }
  }

  /// Makes the next save throw a conflict if others change an object until then, even if this context has not changed
  /// it. Call this before a decision that depends on the object's values. Reads the object if necessary. New objects
  /// have no conflicts.
  ///
  /// Reading the object again, for example by a fetch, does not end this. ``refresh(_:mergeChanges:)`` of the object
  /// does. In a child, the conflict is with the parent's object.
  ///
  /// - Throws: ``CambiumError/Code/managedObjectReferentialIntegrity`` if it is gone; what reading throws.
  @_disfavoredOverload public func detectConflicts(for object: ManagedObject) throws {
    try lock.run {
      guard object.managedObjectContext === self, object.isPresent, object.state != .inserted else { return }
      try object.load()
      snapshots.watched[object.objectID] = WatchedObject(object)
    }
  }
}

extension ManagedObject {
  /// Whether the next save would write changes of the object. Transient values are not written.
  public var hasPersistentChangedValues: Bool {
    changedKeys.contains { info.properties[$0]?.isTransient == false }
  }

  /// Whether reading a relationship would read from the store or from the parent context. This call reads nothing. A
  /// to-many relationship reads its destinations each time, unless it is ordered and changed.
  public func hasFault(forRelationshipNamed key: String) -> Bool {
    guard let r = info.properties[key]?.relationship, state != .inserted, state != .detached else { return false }
    if r.isToMany { return toManyChanges[r.place]?.list == nil }
    return !toOneChanges.contains(r.place) && row == nil && parentState == nil
  }
}
