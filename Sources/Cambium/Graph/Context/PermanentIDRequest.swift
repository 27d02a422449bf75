import CambiumEngine

/// Reserves permanent identifiers for inserted objects of a context. Use it with the context's lock held.
struct PermanentIDRequest {
  let context: ManagedObjectContext

  func run(for objects: [ManagedObject]) throws {
    context.takeInMail()
    context.processEvent()
    for object in objects where object.managedObjectContext !== context {
      throw CambiumError(
        .invalidArgument, "an object of another context gets its identifier there", objectID: object.objectID)
    }
    var wanted = objects.filter { $0.objectID.isTemporaryID && $0.isPresent }
    if let parent = context.parent {
      try ask(parent, for: wanted)
      wanted.removeAll { !$0.objectID.isTemporaryID }
    }
    let bySpace = Dictionary(grouping: wanted) { ObjectIdentifier($0.objectID.space) }
    for group in bySpace.values {
      let identifiers = try reserve(for: group, in: group[0].objectID.space)
      context.rename(identifiers)
      context.tellChildren(permanent: identifiers)
      // Results may have told their delegates the temporary identifiers.
      context.tell(renamed: group)
    }
  }

  /// Has the parent name the objects that were saved into it.
  private func ask(_ parent: ManagedObjectContext, for wanted: [ManagedObject]) throws {
    let tellsLater = context.concurrencyType != .mainQueue && !parent.isOnQueue
    try parent.lock.run {
      let outer = parent.events.tellsLater
      parent.events.tellsLater = outer || tellsLater
      defer { parent.events.tellsLater = outer }
      try parent.obtainPermanentIDs(
        for: wanted.compactMap { parent.registered($0.objectID) }.filter { $0.isPresent })
    }
    context.takeInMail()
  }

  private func reserve(
    for group: [ManagedObject], in space: StoreSpace
  ) throws -> [ManagedObjectID: ManagedObjectID] {
    guard let store = context.persistentStoreCoordinator.store(of: space) else {
      throw CambiumError(.persistentStoreOperation, "the objects' store was removed from the coordinator")
    }
    if store.isReadOnly { throw store.readOnlyError }
    return try mapping(.persistentStoreSave) { () throws(EngineError) in
      try store.write { (t) throws(EngineError) in
        var made: [ManagedObjectID: ManagedObjectID] = [:]
        for object in group where made[object.objectID] == nil {
          made[object.objectID] = ManagedObjectID(space: space, reference: try t.reserveReference(object.info.schema))
        }
        return made
      }
    }
  }
}
