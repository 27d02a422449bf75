/// What a context makes objects with, kept from one object to the next.
final class ObjectMaking {
  /// Objects that were prefetched, and that nobody else holds.
  let prefetched = PrefetchedObjects()
  /// See ``KnownBirth``.
  @exclusivity(unchecked) var lastBirth: KnownBirth?
  /// The entities that objects were inserted of lately, the last one first, so that they need not be looked up for
  /// every object.
  @exclusivity(unchecked) private var insertables: [ManagedObjectContext.Insertable] = []
  /// So many are kept: as many entities are often inserted of in turn, and as few are found soon.
  private static let mostInsertables = 8
  /// New objects whose relationships are still to be set, while some are set that were made without a context.
  @exclusivity(unchecked) var earlyInWaiting: [(ManagedObject, ManagedObject.EarlyValues)]?

  /// One of the entities that objects were inserted of lately.
  ///
  /// - Parameter version: How many times stores have come or gone.
  @inline(__always)
  func insertable(
    version: Int, _ isMeant: (ManagedObjectContext.Insertable) -> Bool
  ) -> ManagedObjectContext.Insertable? {
    for place in insertables.indices where insertables[place].version == version && isMeant(insertables[place]) {
      if place > 0 { insertables.swapAt(0, place) }
      return insertables[0]
    }
    return nil
  }

  func note(_ insertable: ManagedObjectContext.Insertable) {
    if insertables.count == Self.mostInsertables { insertables.removeLast() }
    insertables.insert(insertable, at: 0)
  }

  /// Forgets what new objects were made of.
  func forget() {
    insertables = []
    lastBirth = nil
  }
}
