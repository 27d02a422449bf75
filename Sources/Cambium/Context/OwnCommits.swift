import CambiumEngine

/// By the stores' spaces, what a context has saved last, as it was then. Objects show what was saved of them, and what they are given next is
/// based on it, whatever others save behind it: if they do, that is a conflict.
struct OwnCommits {
  /// What was saved, and what of it may not have been read since.
  struct Commit {
    let space: StoreSpace
    let view: EntityView
    fileprivate(set) var written: [ObjectReference]
  }

  private var commits: [ObjectIdentifier: Commit] = [:]

  var isEmpty: Bool { commits.isEmpty }

  func view(of space: ObjectIdentifier) -> EntityView? { commits[space]?.view }

  mutating func keep(_ view: EntityView, of space: StoreSpace, _ written: [ObjectReference]) {
    commits[ObjectIdentifier(space)] = Commit(space: space, view: view, written: written)
  }

  /// Takes all out.
  mutating func take() -> [Commit] {
    defer { commits = [:] }
    return Array(commits.values)
  }
}

extension ManagedObjectContext {
  /// Notes what a save has put into a store, as long as the context reads nothing newer.
  func keepOwnCommit(_ outcome: SaveOutcome) {
    guard !isSavedByMigration, let view = outcome.view else { return }
    let (batch, space) = (outcome.batch, outcome.batch.space)
    var written = outcome.permanent
    written.reserveCapacity(written.count + batch.updates.count)
    batch.updates.lend { _, object in written.append(object.reference) }
    for id in outcome.changedByRules { written.append(id.reference) }
    if written.isEmpty { return }
    ownCommits.keep(view, of: space, written)
  }

  /// Reads what objects were given by the last save, before the context goes on to what others have saved since: those that somebody
  /// holds and nobody has looked at yet. To read them all when they are saved would take longer than most need.
  func readOwnCommits() {
    if ownCommits.isEmpty { return }
    for commit in ownCommits.take() {
      for reference in commit.written {
        guard let object = registry.peekAtHeld(commit.space, reference), object.state == .stale, object.heldRow == nil,
          !object.isDeleted
        else { continue }
        // What cannot be read is read when somebody asks for it, who is told then.
        guard let row = try? commit.view.row(reference) else { continue }
        object.row = row
        object.state = .loaded
      }
    }
  }
}
