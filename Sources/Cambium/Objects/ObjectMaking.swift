/// What a context makes objects with, kept from one object to the next.
final class ObjectMaking {
  /// Objects that were prefetched, and that nobody else holds.
  let prefetched = PrefetchedObjects()
  /// See ``KnownBirth``.
  @exclusivity(unchecked) var lastBirth: KnownBirth?
  /// The entity that an object was inserted of last, so that it need not be looked up for every one.
  @exclusivity(unchecked) var lastInsertable: ManagedObjectContext.Insertable?
  /// New objects whose relationships are still to be set, while some are set that were made without a context.
  @exclusivity(unchecked) var earlyInWaiting: [(ManagedObject, ManagedObject.EarlyValues)]?
}
