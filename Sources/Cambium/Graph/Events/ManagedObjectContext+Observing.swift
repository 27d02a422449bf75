extension ManagedObjectContext {
  /// Calls a closure with everything that the context tells, on the context's queue, before the call that caused it
  /// returns. Objects may be used and changed there. What a child of a main-queue context saves on another thread is
  /// told afterwards, on the main thread.
  ///
  ///     let observation = context.observe { notification in
  ///       if notification.kind == .didSave { count(notification.insertedObjects) }
  ///     }
  ///
  /// - Returns: what keeps the closure being called as long as it lives.
  public func observe(_ handler: @escaping @Sendable (ContextNotification) -> Void) -> ContextObservation {
    let observers = events.observers
    let number = observers.add(handler)
    return ContextObservation { [weak observers] in observers?.remove(number) }
  }

  /// The same of all contexts of the process, those to come included. For modules that pass on what contexts tell, as
  /// `CambiumNotifications` does to `NotificationCenter`.
  public static func observeAll(_ handler: @escaping @Sendable (ContextNotification) -> Void) -> ContextObservation {
    let number = ContextObservers.everywhere.add(handler)
    return ContextObservation { ContextObservers.everywhere.remove(number) }
  }

  /// What the context tells from now on, by identifiers, to be used anywhere. Each call gives a stream of its own,
  /// which ends with the context.
  ///
  ///     for await event in context.events([.didSave]) {
  ///       await other.perform { other.mergeChanges(fromContextDidSave: event.objectIDs) }
  ///     }
  ///
  /// - Parameters:
  ///   - kinds: What is wanted of what the context tells.
  ///   - bufferingPolicy: How many events wait for one who takes them slower than they come, or not at all: by default
  ///     any number, in memory that nothing bounds. With a bound some are lost, and merging those that are left is not
  ///     enough.
  public func events(
    _ kinds: Set<ContextNotification.Kind> = Set(ContextNotification.Kind.allCases),
    bufferingPolicy: AsyncStream<ContextEvent>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<ContextEvent> {
    let observers = events.observers
    return AsyncStream(bufferingPolicy: bufferingPolicy) { continuation in
      // The stream's end comes with the closure's, which the context's observers hold.
      let end = StreamEnd { continuation.finish() }
      let number = observers.add { notification in
        withExtendedLifetime(end) {
          guard kinds.contains(notification.kind) else { return }
          continuation.yield(
            ContextEvent(
              kind: notification.kind, objectIDs: notification.objectIDs,
              isInvalidatedAll: notification.isInvalidatedAll))
        }
      }
      continuation.onTermination = { [weak observers] _ in observers?.remove(number) }
    }
  }

  /// Whether anybody wants to know.
  var isObserved: Bool { !(events.observers.all.isEmpty && ContextObservers.everywhere.all.isEmpty) }

  func tell(_ make: () -> ContextNotification) {
    let handlers = events.observers.all + ContextObservers.everywhere.all
    if handlers.isEmpty { return }
    let notification = make()
    for handler in handlers { handler(notification) }
  }
}

/// Ends a stream when it is gone itself.
private final class StreamEnd: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
