/// A consistent, unchanging view of the store as of one commit.
///
/// Taking one copies three words; it neither waits for the writer nor holds it up. As long as it is held, the pages that
/// it can reach are kept. Any number of threads may use one snapshot.
public final class Snapshot: TreeView, @unchecked Sendable {
  deinit { core.unpin(generation.number) }
}
