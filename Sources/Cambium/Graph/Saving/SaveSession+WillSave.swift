import CambiumEngine

extension SaveSession {
  /// Tells the objects that the save concerns; again those that are changed meanwhile, until none is.
  func callWillSave() throws {
    // What was told is marked with the number of the save.
    changedWhileTold = []
    defer { changedWhileTold = nil }
    var last: ManagedObject?
    for _ in 0..<1000 {
      let again = changedWhileTold ?? []
      changedWhileTold = []
      let seen = (context.changeCount, context.updated.count)
      var (pending, told) = (0, 0)
      func tell(_ object: ManagedObject) {
        object.noteTold(ofSave: number)
        told += 1
        object.willSave()
      }
      let (deletions, insertions, updates) = (
        context.deleted.ordered(), context.inserted.ordered(), context.updated.ordered()
      )
      for object in again where object.hasChanges { tell(object) }
      deletions.lend { _, object in
        if object.toldOfSave != number { tell(object) }
      }
      insertions.lend { _, object in
        if object.toldOfSave != number { tell(object) }
      }
      updates.lend { _, object in
        if !object.isUpdated { return }
        pending += 1
        if object.toldOfSave != number { tell(object) }
      }
      if told == 0 { return }
      last = changedWhileTold?.first
      // Nothing was changed, nothing came to what is, and nothing of that had been taken back.
      if last == nil, seen == (context.changeCount, pending), seen.1 == context.updated.count { return }
    }
    let entity = last.map { "'\($0.entity.name)'" } ?? "an entity"
    throw CambiumError(
      .persistentStoreSave,
      "willSave() of \(entity) changes objects whenever it is called, and was called in 1,000 rounds; compare before setting, or use "
        + "setPrimitiveValue(_:forKey:)",
      entityName: last?.entity.name, objectID: last?.objectID)
  }
}
