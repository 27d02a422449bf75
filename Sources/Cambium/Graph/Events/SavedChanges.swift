/// The objects that a save has inserted, updated and deleted.
package struct SavedChanges {
  package let inserted: [ManagedObject]
  package let updated: [ManagedObject]
  package let deleted: [ManagedObject]
  /// The objects that delete rules have updated and deleted, of which the context need not have any.
  package let byRules: ObjectIDNotification
}

/// Is called after each save, before those who listen are told of it.
package typealias SavedHandler = (SavedChanges) -> Void

extension ManagedObjectContext {
  /// Has one handler called after each save of the context. It takes less time than to listen by ``observe(_:)``, for
  /// which the context gathers what each event changes.
  package func afterSaving(_ handler: @escaping SavedHandler) { events.savedHandler = handler }

  /// The objects that the next save inserts, updates and deletes.
  package var pendingObjects: (inserted: [ManagedObject], updated: [ManagedObject], deleted: [ManagedObject]) {
    lock.run { (inserted.values, updated.values.filter { $0.isUpdated }, deleted.values) }
  }

  /// The executor that runs jobs of an actor on the threads of the coordinator, with the context's lock held.
  package var serialExecutor: any SerialExecutor { runner.queue }

  /// Starts a block behind the jobs of ``serialExecutor``, as an event of its own.
  package func startOnExecutor(_ block: @escaping @Sendable () -> Void) {
    runner.queue.start { self.runEvent(block) }
  }

  /// Notes an error of a call that cannot throw. The next save throws it if a change was lost.
  package func note(_ error: any Error, losesChange: Bool) { lock.run { record(error, losesChange: losesChange) } }
}
