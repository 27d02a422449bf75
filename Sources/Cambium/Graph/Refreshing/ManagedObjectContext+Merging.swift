extension ManagedObjectContext {
  /// Brings the objects of the context up to date with what was changed elsewhere: unchanged ones show the newest
  /// commit when they are read next, changes are based on it from then on, and deleted ones are as if they had never
  /// been fetched, unless they have unsaved changes, which meet a conflict when they are saved. Those that the next
  /// save will delete are deleted as they are now.
  ///
  /// It changes objects: call it on the context's queue, for a main-queue context on the main thread, or in a block.
  public func mergeChanges(fromContextDidSave notification: ObjectIDNotification) {
    lock.run { ObjectRefresh(context: self).merge(notification) }
  }

  /// Merges the changes of a save that another context tells of: in ``observe(_:)``, on that context's queue.
  public func mergeChanges(fromContextDidSave notification: ContextNotification) {
    mergeChanges(fromContextDidSave: notification.objectIDs)
  }

  /// Merges the changes of an element of ``events(_:bufferingPolicy:)``.
  public func mergeChanges(fromContextDidSave event: ContextEvent) {
    mergeChanges(fromContextDidSave: event.objectIDs)
  }

  /// Merges changes into several contexts, from any thread. Main-queue contexts merge them when their queue comes to
  /// it, unless this is called on it: by code that is isolated to the main actor, on the main thread, or in a block of
  /// the context. The others have merged them when this returns.
  ///
  /// - Parameter isolation: The actor that the caller is isolated to. The compiler provides it, because the thread does
  ///   not tell on every platform: on Linux the main actor continues on another thread than the main one after a wait.
  public static func mergeChanges(
    fromRemoteContextSave notification: ObjectIDNotification, into contexts: [ManagedObjectContext],
    isolation: isolated (any Actor)? = #isolation
  ) {
    let isOnMainActor = isolation === MainActor.shared
    for context in contexts {
      // A private queue is whatever thread has the context's lock.
      if isOnMainActor || context.isOnQueue {
        context.mergeChanges(fromContextDidSave: notification)
      } else {
        context.perform { context.mergeChanges(fromContextDidSave: notification) }
      }
    }
  }
}
