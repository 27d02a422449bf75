/// Figures about a store, for tools and tests.
public struct StoreStatistics: Sendable {
  /// Bytes of the file.
  public var fileBytes: UInt64 = 0
  /// Bytes of pages and large values that the newest state reaches.
  public var liveBytes: UInt64 = 0
  /// Bytes of segments of pages and large values.
  public var segmentBytes: UInt64 = 0
  /// Bytes of log segments.
  public var logSegmentBytes: UInt64 = 0
  /// Bytes of log since the last checkpoint.
  public var logBytes: UInt64 = 0
  /// Free bytes within the file.
  public var freeBytes: UInt64 = 0
  /// Bytes kept free for the next checkpoint.
  public var reserveBytes: UInt64 = 0
  /// Bytes of memory that the deltas hold.
  public var deltaBytes = 0
  /// The newest visible commit.
  public var sequence: UInt64 = 0
  /// The newest publication.
  public var publication: UInt64 = 0
  /// The publication that the oldest open snapshot or transaction descends from; nil if none is open.
  public var oldestPinnedPublication: UInt64?
  /// Segments in use.
  public var segments = 0
  /// Retained commits.
  public var retainedCommits = 0
  /// Checkpoints since the store was opened.
  public var checkpoints: UInt64 = 0
  /// Bytes copied forward since the store was opened.
  public var relocatedBytes: UInt64 = 0
  /// Pages read from the device since the store was opened.
  public var pageReads: UInt64 = 0
}

/// Figures about one tree.
public struct TreeStatistics: Sendable {
  /// What its keys are.
  public var kind: TreeKind
  /// Entries, as of the view.
  public var entries: UInt64
  /// Pages, as of the last checkpoint.
  public var pages: UInt64
  /// Stored bytes of these pages.
  public var pageBytes: UInt64
  /// Levels: 0 when the tree has no page, 1 when a leaf is its root.
  public var levels: Int
  /// Entries whose value lies outside the tree, as of the last checkpoint.
  public var largeValues: UInt64
}

extension Store {
  /// Figures as of now. Waits for the turn to write.
  public func statistics() throws(StoreError) -> StoreStatistics {
    try beginLooking()
    defer { endLooking() }
    var s = StoreStatistics()
    s.fileBytes = try device.size()
    for segment in space.table.segments {
      s.segments += 1
      if segment.kind == .log {
        s.logSegmentBytes += UInt64(segment.length)
      } else {
        s.segmentBytes += UInt64(segment.length)
        s.liveBytes += UInt64(segment.live)
      }
    }
    s.logBytes = log.length
    s.freeBytes = space.table.freeUnits * UInt64(SegmentTable.unitSize)
    s.reserveBytes = reserveUnits() * UInt64(SegmentTable.unitSize)
    s.deltaBytes = current.active.bytes + (current.frozen?.bytes ?? 0)
    lock.lock()
    s.sequence = visibleSequence
    lock.unlock()
    s.publication = superblock.publication
    s.oldestPinnedPublication = ownPins().min()
    s.retainedCommits = retained.count { !hasLapsed($0) }
    s.checkpoints = counters.checkpoints
    s.relocatedBytes = counters.relocatedBytes
    s.pageReads = cache.missCount
    return s
  }
}

extension TreeView {
  /// Figures about `tree`.
  public func statistics(_ tree: TreeID) throws(StoreError) -> TreeStatistics {
    let entries = try count(tree)
    let state = generation.trees[tree] ?? TreeState(kind: kind(of: tree) ?? .bytes)
    return TreeStatistics(
      kind: state.kind, entries: entries, pages: state.pages, pageBytes: state.bytes,
      levels: state.root.isNone ? 0 : Int(state.level) + 1, largeValues: state.largeValues)
  }
}
