/// What the present event of a context has changed, and who is told of it. Touched with the context's lock held, or on
/// its queue.
final class ContextEvents {
  let observers = ContextObservers()
  /// Is called after each save; see ``ManagedObjectContext/afterSaving(_:)``.
  @exclusivity(unchecked) var savedHandler: SavedHandler?
  /// The objects that the present event has changed.
  @exclusivity(unchecked) var objects: [ManagedObject] = []
  /// The objects that were refreshed in the present event.
  @exclusivity(unchecked) var refreshed = Set<ManagedObject>()
  /// The changes of the event that observers are being told of.
  @exclusivity(unchecked) var told: ChangeList?
  /// Whether changes belong to an event. The changes that a save computes, and those of migrations, do not.
  @exclusivity(unchecked) var isNoting = true
  /// Whether the event that ends took in what others have saved, so that it is not to be undone.
  @exclusivity(unchecked) var isTakingIn = false
  /// Whether observers are told when the context's queue comes to it, because a child saves on another thread.
  @exclusivity(unchecked) var tellsLater = false
  /// The objects that saves have changed themselves since the last one was told.
  @exclusivity(unchecked) var changedBySaving = Set<ManagedObject>()
  /// Whether somebody listens to those, as of the beginning of the save.
  @exclusivity(unchecked) var notesChangesBySaving = false
}
