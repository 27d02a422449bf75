/// One that is told of the saves and events of a coordinator's contexts.
protocol SaveObserver: AnyObject, Sendable {
  /// Whether it is concerned with what happens in a context before that is saved, and what saving changes there.
  func follows(_ context: ManagedObjectContext) -> Bool

  /// Called on the queue of the context that saved, when everything is saved; also if there was nothing to save, as
  /// after deleting what was never saved.
  ///
  /// - Parameter saved: The refreshed objects are those that the save itself has changed, of which no event tells:
  ///   derived attributes, and what a merge policy decided. They are updated or deleted as well, if they were saved.
  func didSave(_ saved: ObjectIDNotification, in context: ManagedObjectContext)

  /// Called on the queue of a context of which objects have other values than before, because it gave up its unsaved
  /// changes or took in what was saved elsewhere. On the main thread, if it has the main queue and a child saved on
  /// another one.
  func didTakeIn(_ changes: ObjectIDNotification, in context: ManagedObjectContext)

  /// Called on the queue of a child that has saved into its parent, when everything is there.
  func didPush(_ saved: ObjectIDNotification, in context: ManagedObjectContext)

  /// Called on the queue of a context at the end of an event.
  func didChange(_ list: ChangeList, in context: ManagedObjectContext)
}

extension SaveObservers {
  /// Adds an observer, which is not kept alive by this.
  func add(_ observer: any SaveObserver) { hold(observer) }

  func tell(_ saved: ObjectIDNotification, from context: ManagedObjectContext) {
    for observer in observers { observer.didSave(saved, in: context) }
  }

  func tell(takenIn changes: ObjectIDNotification, in context: ManagedObjectContext) {
    for observer in observers { observer.didTakeIn(changes, in: context) }
  }

  func tell(pushed saved: ObjectIDNotification, from context: ManagedObjectContext) {
    for observer in observers { observer.didPush(saved, in: context) }
  }

  func tell(_ list: ChangeList, in context: ManagedObjectContext) {
    for observer in observers { observer.didChange(list, in: context) }
  }

  /// Whether anybody is to be told of the events of a context.
  func follow(_ context: ManagedObjectContext) -> Bool { observers.contains { $0.follows(context) } }

  private var observers: [any SaveObserver] { living.compactMap { $0 as? any SaveObserver } }
}
