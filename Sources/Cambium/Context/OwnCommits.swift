import CambiumEngine

/// By the stores' spaces, what a context has saved last, as it was then. Objects show what was saved of them, and what they are given next is
/// based on it, whatever others save behind it: if they do, that is a conflict.
struct OwnCommits {
  /// What was saved, and what of it may not have been read since.
  struct Commit {
    let space: StoreSpace
    /// Not kept open for this.
    weak var store: PersistentStore?
    let view: EntityView
    let written: [ObjectReference]
  }

  /// Of fewer objects the rows are read at once: a context that saves little now and then, and reads nothing, holds on to no old state.
  var leastKept = 16

  private var commits: [ObjectIdentifier: Commit] = [:]

  var isEmpty: Bool { commits.isEmpty }

  func commit(of space: StoreSpace) -> Commit? { commits[ObjectIdentifier(space)] }

  mutating func keep(_ commit: Commit) { commits[ObjectIdentifier(commit.space)] = commit }

  mutating func forget(_ space: StoreSpace) { commits[ObjectIdentifier(space)] = nil }

  mutating func forgetAll() { commits = [:] }

  /// Takes all out.
  mutating func take() -> [Commit] {
    defer { commits = [:] }
    return Array(commits.values)
  }
}

extension ManagedObjectContext {
  /// Notes what a save has put into a store, as long as the context reads nothing newer.
  ///
  /// - Parameter unread: Objects that had a row, and are faults still: nobody has looked at them. They are given another row at once, since
  ///   faults fire with what is the newest then. A fault that had none was not written.
  func keepOwnCommit(_ outcome: SaveOutcome, unread: [ObjectReference]) {
    guard let view = outcome.view else { return }
    let (batch, space) = (outcome.batch, outcome.batch.space)
    if !unread.isEmpty, let found = try? view.findRows(of: unread) {
      for row in found.array { registry.peekAtHeld(space, row.reference)?.row = row }
    }
    var written = outcome.permanent
    batch.updates.lend { _, object in
      if object.state != .fault { written.append(object.reference) }
    }
    for id in outcome.changedByRules { written.append(id.reference) }
    if written.isEmpty { return }
    ownCommits.keep(
      OwnCommits.Commit(
        space: space, store: persistentStoreCoordinator.store(of: space), view: view, written: written))
    if written.count < ownCommits.leastKept { readOwnCommits() }
  }

  /// The row of an object as the context has saved it, if nothing newer was read since; nil of others.
  ///
  /// - Throws: what reading throws.
  func savedRow(of object: ManagedObject) throws -> Row? {
    if ownCommits.isEmpty { return nil }
    guard let commit = ownCommits.commit(of: object.space), let store = commit.store,
      persistentStoreCoordinator.store(of: object.space) === store
    else { return nil }
    defer { withExtendedLifetime(store) {} }
    do throws(EngineError) { return try commit.view.row(object.reference) } catch {
      // A view that has lapsed, since the store was suspended, is as good as none.
      guard case .store(.snapshotExpired) = error else { throw CambiumError(error) }
      ownCommits.forget(object.space)
      return nil
    }
  }

  /// Reads what objects were given by the last save, before the context goes on to what others have saved since: those that somebody
  /// holds and nobody has looked at yet. To read many when they are saved would take longer than most need.
  func readOwnCommits() {
    if ownCommits.isEmpty { return }
    for commit in ownCommits.take() {
      guard let store = commit.store, persistentStoreCoordinator.store(of: commit.space) === store else { continue }
      // Nobody closes it meanwhile.
      defer { withExtendedLifetime(store) {} }
      func waiting(_ reference: ObjectReference) -> ManagedObject? {
        guard let object = registry.peekAtHeld(commit.space, reference), object.state == .stale, object.heldRow == nil,
          !object.isDeleted || object.pending == .deleted
        else { return nil }
        return object
      }
      let references = commit.written.filter { waiting($0) != nil }
      if references.isEmpty { continue }
      // What cannot be read is read when somebody asks for it, who is told then.
      guard let found = try? commit.view.findRows(of: references) else { continue }
      for row in found.array {
        guard let object = waiting(row.reference) else { continue }
        object.row = row
        object.state = .loaded
      }
    }
  }
}
