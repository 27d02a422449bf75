extension SaveBatch {
  /// Returns the error that a relationship leads to an unsaved object, which this save does not insert. The error names
  /// the object that has the relationship.
  func unsavedDestination(_ id: ManagedObjectID) -> CambiumError {
    let found = referrer(of: id)
    let place = found.map { "'\($0.name)' of \($0.object.objectID)" } ?? "a relationship"
    return CambiumError(
      .managedObjectReferentialIntegrity,
      "\(place) leads to \(id), which is neither saved nor inserted in this context; insert it, or lead the relationship "
        + "elsewhere",
      entityName: found?.object.entity.name, key: found?.name, objectID: found?.object.objectID ?? id)
  }

  /// The first object of the batch that leads to an object, and its relationship. O(changes), because only an error
  /// asks for it.
  private func referrer(of id: ManagedObjectID) -> (object: ManagedObject, name: String)? {
    for object in insertions + updates {
      var name: String?
      object.toOneChanges.forEach { (place, destination) in
        if destination == id { name = object.info.relationships[place].name }
      }
      if let links = object.pendingLinks() {
        for (r, ids) in links.lists where ids.contains(id) { name = r.rules.name }
        for (r, added, _) in links.edits where added.contains(id) { name = r.rules.name }
      }
      if let name { return (object, name) }
    }
    return nil
  }
}
