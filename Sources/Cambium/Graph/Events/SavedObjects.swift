/// The objects that a save inserts, updates and deletes, each in the order of the changes.
package struct SavedObjects {
  package internal(set) var inserted: [ManagedObject] = []
  package internal(set) var updated: [ManagedObject] = []
  package internal(set) var deleted: [ManagedObject] = []
  /// The objects that delete rules have updated and deleted in the transaction. The context need not have them.
  package internal(set) var byRules = ObjectIDNotification()

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// The objects without those of the rules, in the order in which a save calls them.
  var all: [ManagedObject] { deleted + inserted + updated }

  /// The identifiers. To other contexts an inserted object counts as updated.
  var identifiers: ObjectIDNotification {
    var result = byRules
    for list in [inserted, updated] { result.updatedObjectIDs.formUnion(list.lazy.map { $0.objectID }) }
    result.deletedObjectIDs.formUnion(deleted.lazy.map { $0.objectID })
    return result
  }
}

/// Is called after each save, before those who listen are told of it.
package typealias SavedHandler = (SavedObjects) -> Void

extension ManagedObjectContext {
  /// Has one handler called after each save of the context. It takes less time than to listen by ``observe(_:)``, for
  /// which the context gathers what each event changes.
  package func afterSaving(_ handler: @escaping SavedHandler) { events.savedHandler = handler }

  /// The objects that the next save inserts, updates and deletes.
  package var pendingObjects: SavedObjects {
    lock.run {
      SavedObjects(
        inserted: inserted.ordered(), updated: updated.orderedUpdates(), deleted: deleted.ordered())
    }
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
