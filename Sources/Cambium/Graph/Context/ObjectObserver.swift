/// Hears what becomes of a context's objects by other means than by their accessors. For another API, whose objects
/// tell of it.
package protocol ObjectObserver: AnyObject, Sendable {
  /// Is called before each change of a relationship: one that the application makes, and one that keeps the other side
  /// in agreement.
  func relationshipWillChange(_ name: String, of object: AnyObject)

  /// Is called when an object without unsaved changes is about to show another row.
  func rowWillChange(of object: AnyObject)

  /// Is called when a merge policy has put one object in the place of another one, which belongs to no context any
  /// more.
  func object(_ object: AnyObject, became other: AnyObject)

  /// The context calls this when it has merged the saves of other contexts.
  func didMerge(_ changes: ObjectIDNotification, in context: ManagedObjectContext)
}

extension ManagedObjectContext {
  /// Has an observer hear of the context's objects. To be called before the context has any.
  package func observeObjects(_ observer: any ObjectObserver) { link.objectObserver = observer }
}
