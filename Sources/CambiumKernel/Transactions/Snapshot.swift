import Synchronization

/// A consistent, unchanging view of the store as of one commit.
///
/// Taking one copies three words; it neither waits for the writer nor holds it up. As long as it is held, the pages
/// that it can reach are kept. Any number of threads may use one snapshot.
public final class Snapshot: TreeView, @unchecked Sendable {
  // `@unchecked`: nothing changes after `init`.
  /// How often the store had been suspended.
  private let suspensions: Int

  /// When it was taken, by the clock of ``RecentSnapshot``; 0 for what is not the newest commit.
  let moment: UInt

  /// - Parameter suspensions: how often the store had been suspended when `generation` was pinned.
  init(core: Store, generation: Generation, upTo: UInt64, hint: Int, suspensions: Int, moment: UInt = 0) {
    self.suspensions = suspensions
    self.moment = moment
    super.init(core: core, generation: generation, upTo: upTo, hint: hint)
  }

  deinit { core.unpin(generation.number) }

  /// They may.
  public override var allowsConcurrentReads: Bool { true }

  override func find(_ tree: TreeID) -> TreeAccess? {
    guard let access = committed(tree) else { return nil }
    foundTrees.note(access)
    return access
  }

  override func requireOpen() throws(StoreError) {
    if core.suspensions.load(ordering: .relaxed) != suspensions {
      try core.requireUnexpired(generation, since: suspensions)
    }
  }
}
