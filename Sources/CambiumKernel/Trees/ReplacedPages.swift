/// Pages that a transaction's merges have replaced. New views do not read them any more once it commits: what they take
/// of the cache is best used for the pages that come in their place, whose memory is then still in the processor's
/// caches.
///
/// Until it commits, others go on reading them. So they leave the cache only while nobody begins a view; whoever reads
/// an older state all the same reads them from the file.
final class ReplacedPages {
  private let store: Store
  @exclusivity(unchecked) private var pages: [PageRef] = []
  @exclusivity(unchecked) private var viewsSeen: Int

  /// So many are given up together: who misses a page waits for the lock.
  private static let batch = 64

  init(_ store: Store) {
    self.store = store
    viewsSeen = store.viewsBegun
  }

  /// Notes a page that was replaced.
  func append(_ ref: PageRef) {
    pages.append(ref)
    if pages.count == Self.batch { giveUp() }
  }

  /// Has the cache give up what was noted, unless somebody has begun to read since this was last asked.
  func giveUp() {
    if pages.isEmpty { return }
    let views = store.viewsBegun
    if views == viewsSeen { store.cache.drop(pages) }
    viewsSeen = views
    pages.removeAll(keepingCapacity: true)
  }
}
