/// Hears of each change of a relationship, before it is made: one that the application makes, and one that keeps the other
/// side in agreement.
package protocol RelationshipObserver: AnyObject, Sendable {
  /// Is called on the thread that makes the change.
  func relationshipWillChange(_ name: String, of object: AnyObject)
}

extension ManagedObjectContext {
  /// Has an observer hear of the changes of relationships of the context's objects. To be called before the context has any.
  package func observeRelationships(_ observer: any RelationshipObserver) { link.relationshipObserver = observer }
}
