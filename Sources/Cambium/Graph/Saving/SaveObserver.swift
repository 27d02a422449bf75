/// An event of a context that its coordinator reports to observers, on the context's queue.
enum ContextNews {
  /// The context has saved into the stores, if there was anything to save; there is nothing after deleting objects that
  /// were never saved. The refreshed objects are those that the save itself has changed, of which no event tells:
  /// derived attributes, and what a merge policy decided. They are updated or deleted as well, if they were saved.
  case saved(ObjectIDNotification)
  /// The context, a child, has saved into its parent.
  case pushed(ObjectIDNotification)
  /// The context has new values for some objects, because it gave up its unsaved changes or took in what was saved
  /// elsewhere. If the context has the main queue and a child saved on another one, observers hear of it later.
  case takenIn(ObjectIDNotification)
  /// An event of the context is over.
  case ended(ChangeList)
}

/// One that is told of the saves and events of a coordinator's contexts.
protocol SaveObserver: AnyObject, Sendable {
  /// Whether it is concerned with what happens in a context before that is saved, and what saving changes there.
  func follows(_ context: ManagedObjectContext) -> Bool

  /// Called on the queue of the context.
  func hear(_ news: ContextNews, of context: ManagedObjectContext)
}

extension SaveObservers {
  /// Adds an observer, which is not kept alive by this.
  func add(_ observer: any SaveObserver) { hold(observer) }

  func tell(_ news: ContextNews, of context: ManagedObjectContext) {
    for observer in observers { observer.hear(news, of: context) }
  }

  /// Whether anybody is to be told of the events of a context.
  func follow(_ context: ManagedObjectContext) -> Bool { observers.contains { $0.follows(context) } }

  private var observers: [any SaveObserver] { living.compactMap { $0 as? any SaveObserver } }
}
