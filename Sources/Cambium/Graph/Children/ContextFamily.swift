import CambiumEngine
import CambiumSystem
import Synchronization

/// The children of a context, held weakly. Thread-safe.
final class ContextChildren: @unchecked Sendable {
  // `@unchecked`: touched with `lock` held only.
  private struct WeakContext { weak var context: ManagedObjectContext? }

  private let lock = StateLock()
  private var children: [WeakContext] = []

  func add(_ context: ManagedObjectContext) {
    lock.locked {
      children.removeAll { $0.context == nil }
      children.append(WeakContext(context: context))
    }
  }

  func remove(_ context: ManagedObjectContext) {
    lock.locked { children.removeAll { $0.context == nil || $0.context === context } }
  }

  var living: [ManagedObjectContext] { lock.locked { children.compactMap { $0.context } } }
}

/// The permanent identifiers of objects that were saved, on their way from a parent to a child, whose lock the parent
/// does not wait for. Thread-safe.
final class ContextMail: @unchecked Sendable {
  // `@unchecked`: `contents` is touched with `lock` held only.
  private let lock = StateLock()
  private let hasMail = Atomic(false)
  private var contents = Contents()

  struct Contents {
    var identifiers: [ManagedObjectID: ManagedObjectID] = [:]
    /// Whether an object among them came to be another one, which there was before.
    var areJoined = false
  }

  func add(_ new: [ManagedObjectID: ManagedObjectID], areJoined: Bool) {
    lock.locked {
      // What came to be another object may have become permanent with that since.
      for (old, known) in contents.identifiers { if let newest = new[known] { contents.identifiers[old] = newest } }
      contents.identifiers.merge(new) { $1 }
      contents.areJoined = contents.areJoined || areJoined
      hasMail.store(true, ordering: .releasing)
    }
  }

  func take() -> Contents {
    guard hasMail.load(ordering: .acquiring) else { return Contents() }
    return lock.locked {
      hasMail.store(false, ordering: .releasing)
      defer { contents = Contents() }
      return contents
    }
  }
}

/// The children of a context, and what passes between them and their parent.
final class ContextFamily {
  let children = ContextChildren()
  let mail = ContextMail()
  /// The permanent identifiers of objects that children may know by their temporary ones.
  var permanentIDs = PermanentIDs()
  /// Whether the context is saving into its parent.
  var isPushing = false
  /// The child that is saving into the context.
  var pushingChild: ManagedObjectContext?
  /// Whether the context takes in what others save by itself.
  let mergesAutomatically = Atomic(false)
}

// Locks are taken from child to parent only: what a parent has to tell a child, it leaves where the child finds it, and
// takes the child's lock only if nobody has it, and that means that nobody uses the child.
extension ManagedObjectContext {
  /// Tells objects that are saved by their permanent identifiers from now on; here, in children, and in theirs.
  func rename(_ identifiers: [ManagedObjectID: ManagedObjectID]) {
    if identifiers.isEmpty { return }
    // Results and others who look on may have told of the objects.
    if parent != nil || persistentStoreCoordinator.saveObservers.follow(self) { family.permanentIDs.merge(identifiers) }
    for (old, new) in identifiers {
      guard let object = registered(old) else { continue }
      if let other = registered(new), other !== object {
        join(object, to: other)
        continue
      }
      unregister(old)
      object.objectID = new
      register(object)
    }
    renameChanges(identifiers)
    renameEventStates(identifiers)
    if parent != nil { for object in allRegistered { object.parentState?.rename(identifiers) } }
  }

  /// Has what is not saved lead to objects by their permanent identifiers.
  func renameChanges(_ identifiers: [ManagedObjectID: ManagedObjectID]) {
    if identifiers.isEmpty { return }
    for list in [inserted.values, updated.values, deleted.values] {
      for object in list { object.renameChanges(identifiers) }
    }
  }

  /// Has an object be another one from now on, since a merge policy of a parent has made one of them: the other gets
  /// the unsaved changes, and reads the rest anew.
  private func join(_ object: ManagedObject, to other: ManagedObject) {
    if object.isUpdated, other.isPresent {
      rebase(other)
      other.willChange()
      for (place, value) in object.attributeChanges { other.overlay(value, at: place) }
      for (place, id) in object.toOneChanges { other.toOneChanges.updateValue(id, forKey: place) }
      for (place, change) in object.toManyChanges { other.toManyChanges[place] = change }
      noteChange(of: other)
    } else if !other.isUpdated {
      rebase(other)
    }
    updated.remove(object)
    deleted.remove(object)
    drop(object)
    let joined = ObjectIDNotification(updated: [other.objectID], deleted: [object.objectID])
    perform { self.persistentStoreCoordinator.saveObservers.tell(.takenIn(joined), of: self) }
  }

  /// The same of what objects were before the event.
  func renameEventStates(_ identifiers: [ManagedObjectID: ManagedObjectID]) {
    for object in events.objects {
      guard case .changed(let snapshot)? = object.eventState else { continue }
      renameDestinations(&snapshot.toOneChanges, &snapshot.toManyChanges, identifiers)
    }
  }

  /// Passes permanent identifiers on to the children.
  ///
  /// - Parameter areJoined: Whether they are those of objects that there were before, which a merge policy has found to
  ///   be the same.
  func tellChildren(permanent identifiers: [ManagedObjectID: ManagedObjectID], areJoined: Bool = false) {
    let children = family.children.living
    if identifiers.isEmpty || children.isEmpty { return }
    family.permanentIDs.merge(identifiers)
    for child in children {
      child.family.mail.add(identifiers, areJoined: areJoined)
      if child.lock.isHeldHere {
        // A child that is saving takes it in when it is done.
        if !child.family.isPushing { child.takeInMail() }
      } else if !child.isUsedWithLockOnly || !child.lock.runIfFree({ child.takeInMail() }) {
        child.perform { child.takeInMail() }
      }
    }
  }

  /// Whether nobody but the calling thread can be using the context's objects while its lock is free. The main thread
  /// uses those of a main-queue context without the lock.
  private var isUsedWithLockOnly: Bool { concurrencyType != .mainQueue || SystemEnvironment.isMainThread() }

  /// Whether the calling thread may call the context's observers, which expect the context's queue. True within a block
  /// of the context and, for a main-queue context, on the main thread. The thread that has the lock of a private-queue
  /// context is on its queue.
  var isOnQueue: Bool { isUsedWithLockOnly || lock.isHeldHere }

  /// Takes in what the parent has left. The context's lock is held.
  func takeInMail() {
    guard parent != nil else { return }
    let mail = family.mail.take()
    if mail.identifiers.isEmpty { return }
    rename(mail.identifiers)
    // An insertion that came to be a change of a stored object must not be undone by deleting that.
    if mail.areJoined { undoManager?.removeAllActions() }
    tellChildren(permanent: mail.identifiers, areJoined: mail.areJoined)
  }

  /// Has the children that want it merge changes, when their queues come to it. The context need not have the objects.
  func tellChildren(_ changes: ObjectIDNotification) {
    for child in family.children.living
    where child !== family.pushingChild && child.concurrencyType != .confinement
      && child.automaticallyMergesChangesFromParent
    {
      child.perform { child.mergeChanges(fromContextDidSave: changes) }
    }
  }

  /// Whether what others save is taken in by itself, when the context's queue comes to it: what other contexts of the
  /// coordinator save, or, in a child, what changes in the parent. Off at first.
  ///
  /// Unsaved changes stay, and are based on what was taken in. Set it on the context's queue, before or between
  /// changes. Without effect on a context with ``ConcurrencyType/confinement``, which has no queue to do it on.
  public var automaticallyMergesChangesFromParent: Bool {
    get { family.mergesAutomatically.load(ordering: .relaxed) }
    set {
      family.mergesAutomatically.store(newValue, ordering: .relaxed)
      if newValue, parent == nil { persistentStoreCoordinator.saveObservers.add(self) }
    }
  }
}

extension ManagedObjectContext: SaveObserver {
  func follows(_ context: ManagedObjectContext) -> Bool { false }

  func hear(_ news: ContextNews, of context: ManagedObjectContext) {
    guard case .saved(let saved) = news, context !== self, parent == nil, concurrencyType != .confinement,
      automaticallyMergesChangesFromParent, !saved.isEmpty,
      context.persistentStoreCoordinator === persistentStoreCoordinator
    else { return }
    let changes = ObjectIDNotification(updated: saved.updatedObjectIDs, deleted: saved.deletedObjectIDs)
    perform { [weak self] in self?.mergeChanges(fromContextDidSave: changes) }
  }
}

extension ManagedObject {
  func renameChanges(_ identifiers: [ManagedObjectID: ManagedObjectID]) {
    renameDestinations(&toOneChanges, &toManyChanges, identifiers)
  }
}

private func renameDestinations(
  _ toOne: inout PropertyMap<ManagedObjectID?>, _ toMany: inout PropertyMap<ToManyChange>,
  _ identifiers: [ManagedObjectID: ManagedObjectID]
) {
  for place in toOne.keys {
    if case .some(.some(let id)) = toOne[place], let new = identifiers[id] { toOne.updateValue(new, forKey: place) }
  }
  for place in toMany.keys {
    if let renamed = toMany[place]?.renamed(identifiers) { toMany[place] = renamed }
  }
}
