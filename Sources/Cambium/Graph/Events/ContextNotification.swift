import CambiumKernel

/// What a context tells of itself, with its objects: for use where it is told, on the context's queue. ``ContextEvent``
/// is the same for use anywhere. Core Data: the notifications of `NSManagedObjectContext`.
public struct ContextNotification {
  /// What happened.
  public enum Kind: String, Sendable, CaseIterable {
    /// Objects were changed, as of ``ManagedObjectContext/processPendingChanges()``. Fetching objects is no change.
    case objectsDidChange
    /// A save begins. No objects are named: those with changes are the context's.
    case willSave
    /// Everything was saved: into the stores, or into the parent.
    case didSave
    /// What was saved elsewhere was taken in. The objects are named by identifiers only, since the context need not
    /// have them.
    case didMergeChanges
  }

  /// What happened.
  public let kind: Kind
  /// The context that tells.
  public let context: ManagedObjectContext
  /// The objects that are new.
  public internal(set) var insertedObjects: Set<ManagedObject> = []
  /// The objects that have other values.
  public internal(set) var updatedObjects: Set<ManagedObject> = []
  /// The objects that are to be deleted, or were.
  public internal(set) var deletedObjects: Set<ManagedObject> = []
  /// The objects that show newer rows, or were made faults, or gave up their unsaved changes.
  public internal(set) var refreshedObjects: Set<ManagedObject> = []
  /// The objects that the context had and has given up, which are of no use any more.
  public internal(set) var invalidatedObjects: Set<ManagedObject> = []
  /// Whether the context has forgotten all of its objects: ``ManagedObjectContext/reset()``. They are the
  /// ``invalidatedObjects``.
  public internal(set) var isInvalidatedAll = false
  /// The generation of the stores that the context reads, or that a save has made; `nil` if it reads the newest
  /// commits, or has not read since the generation was set to ``QueryGenerationToken/current``. Who keeps it keeps that
  /// state in the stores' files. Core Data: `NSManagedObjectContextQueryGenerationKey`.
  public let queryGeneration: QueryGenerationToken?
  /// The same by identifiers, as of now.
  public internal(set) var objectIDs = ObjectIDNotification()

  init(_ kind: Kind, _ context: ManagedObjectContext) {
    self.kind = kind
    self.context = context
    queryGeneration = context.toldGeneration(isSaved: kind == .didSave)
  }

  /// Makes the notification that names the objects which an event changed.
  init(_ list: ChangeList, _ context: ManagedObjectContext) {
    self.init(.objectsDidChange, context)
    for change in list.changes {
      switch (change.existedBefore, change.existsAfter) {
      case (false, true): insertedObjects.insert(change.object)
      case (true, true): updatedObjects.insert(change.object)
      case (true, false): deletedObjects.insert(change.object)
      case (false, false): break
      }
    }
    refreshedObjects = list.refreshed.subtracting(updatedObjects)
    nameObjects()
  }

  /// Sets the identifiers to those of the objects.
  mutating func nameObjects() {
    objectIDs.insertedObjectIDs = Set(insertedObjects.lazy.map { $0.objectID })
    objectIDs.updatedObjectIDs = Set(updatedObjects.lazy.map { $0.objectID })
    objectIDs.deletedObjectIDs = Set(deletedObjects.lazy.map { $0.objectID })
    objectIDs.refreshedObjectIDs = Set(refreshedObjects.lazy.map { $0.objectID })
    objectIDs.invalidatedObjectIDs = Set(invalidatedObjects.lazy.map { $0.objectID })
  }
}

/// What a context told, by identifiers.
public struct ContextEvent: Sendable, Hashable {
  /// What happened.
  public let kind: ContextNotification.Kind
  /// The objects. After ``ContextNotification/Kind/didSave`` this is what other contexts take in by
  /// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(ObjectIDNotification)``. An object has a temporary
  /// identifier before it is saved.
  public let objectIDs: ObjectIDNotification
  /// Whether the context has forgotten all of its objects.
  public let isInvalidatedAll: Bool
}

/// Those who listen to one context, or to all. Thread-safe.
final class ContextObservers: @unchecked Sendable {
  // `@unchecked`: touched with `lock` held only.
  typealias Handler = @Sendable (ContextNotification) -> Void

  /// Those who listen to all contexts of the process.
  static let everywhere = ContextObservers()

  private let lock = StateLock()
  private var handlers: [Int: Handler] = [:]
  private var count = 0

  func add(_ handler: @escaping Handler) -> Int {
    lock.locked {
      count += 1
      handlers[count] = handler
      return count
    }
  }

  func remove(_ number: Int) {
    // What the handler holds may itself listen, and must not go with the lock held.
    let gone = lock.locked { handlers.removeValue(forKey: number) }
    withExtendedLifetime(gone) {}
  }

  /// Who is to be told, in the order in which they came.
  var all: [Handler] {
    lock.locked { handlers.isEmpty ? [] : handlers.ordered { $0.key < $1.key }.map { $0.value } }
  }
}
