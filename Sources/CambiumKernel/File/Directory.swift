// The directory: everything a checkpoint publishes, but for what the superblock holds itself. A byte stream, cut into
// chunks that are stored like pages; the superblock names a chunk that lists them (the index).
//
//     u32 version (1)   u64 sequence of the last commit in it   u64 next large value id   u32 next tree id
//     u32 trees:     each  u32 id, u8 kind, u8 level, u16 zero, PageRef root, u64 entries, pages, bytes, large values,
//                          merged to; u32 counters: each u32 index, u64 value
//     u32 segments:  each  36 bytes, see Segment
//     u32 retained:  each  u64 id, u64 sequence, u64 publication, PageRef index (none: this directory), u64 bytes,
//                          u64 made (ms), u64 expires (ms, 0 never), u64 limit (bytes, 0 none), u32 length, reason UTF-8
//
// The trailing bytes of the stream are zero (room that was reserved and not needed).

struct Directory {
  static let version: UInt32 = 1
  /// No store gets here, and one more can always be counted.
  static let highestSequence: UInt64 = 1 << 63

  /// What a tree without counters takes.
  private static let leastTreeSize = 68

  var sequence: UInt64 = 0
  var nextValueID: UInt64 = 1
  var nextTree: UInt32 = 16
  var trees: [TreeID: TreeState] = [:]
  var segments: [Segment] = []
  var retained: [RetainedEntry] = []

  func encoded() -> [UInt8] {
    var w = ByteWriter()
    w.u32(Self.version)
    w.u64(sequence)
    w.u64(nextValueID)
    w.u32(nextTree)
    w.u32(UInt32(truncatingIfNeeded: trees.count))
    for (id, t) in trees.ordered(by: { $0.key < $1.key }) {
      w.u32(id.rawValue)
      w.u8(t.kind.rawValue)
      w.u8(t.level)
      w.u16(0)
      w.u64(t.root.location)
      w.u64(t.root.checksum)
      w.u64(t.count)
      w.u64(t.pages)
      w.u64(t.bytes)
      w.u64(t.largeValues)
      w.u64(t.mergedTo)
      w.u32(UInt32(truncatingIfNeeded: t.counters.count))
      for c in t.counters {
        w.u32(c.index)
        w.u64(UInt64(bitPattern: c.value))
      }
    }
    w.u32(UInt32(truncatingIfNeeded: segments.count))
    for s in segments { s.write(to: &w) }
    w.u32(UInt32(truncatingIfNeeded: retained.count))
    for r in retained { r.write(to: &w) }
    return w.bytes
  }

  /// Reads a directory; nil if the bytes are not one.
  init?(_ bytes: UnsafeRawBufferPointer) {
    var r = ByteReader(bytes)
    let version = r.u32()
    guard Verification.directoryVersion.holds(version == Self.version), let sequence = r.u64(),
      let nextValueID = r.u64(), let nextTree = r.u32(),
      let treeCount = r.u32(),
      Verification.directoryNumbers.holds(sequence < Self.highestSequence && nextValueID <= Extents.highestID)
    else { return nil }
    self.sequence = sequence
    self.nextValueID = nextValueID
    self.nextTree = nextTree
    // A number of no truth is found out where the bytes end.
    trees.reserveCapacity(min(Int(clamping: treeCount), r.remaining / Self.leastTreeSize))
    for _ in 0..<treeCount {
      guard let id = r.u32(), let kind = r.u8().flatMap(TreeKind.init(rawValue:)), let level = r.u8(), r.u16() != nil,
        let location = r.u64(), let checksum = r.u64(), let count = r.u64(), let pages = r.u64(),
        let stored = r.u64(), let large = r.u64(), let merged = r.u64(), let counters = r.u32(),
        Verification.treeLevel.holds(level <= TreeDescent.highest), Verification.treeIdentifier.holds(id < nextTree),
        Verification.treeCount.holds(count <= UInt64(Int64.max)), Verification.treeMerged.holds(merged <= sequence)
      else { return nil }
      var t = TreeState(kind: kind)
      t.level = level
      t.root = PageRef(location: location, checksum: checksum)
      t.count = count
      t.pages = pages
      t.bytes = stored
      t.largeValues = large
      t.mergedTo = merged
      for _ in 0..<counters {
        guard let index = r.u32(), let value = r.u64() else { return nil }
        t.counters.append(TreeCounter(index: index, value: Int64(bitPattern: value)))
      }
      let other = trees.updateValue(t, forKey: TreeID(rawValue: id))
      guard Verification.treeTwice.holds(other == nil) else { return nil }
    }
    let extents = trees[.extents]
    guard Verification.treeOfExtents.holds(extents?.kind == .integer) else { return nil }
    guard let segmentCount = r.u32() else { return nil }
    segments.reserveCapacity(min(Int(clamping: segmentCount), r.remaining / Segment.encodedSize))
    for _ in 0..<segmentCount {
      guard let s = Segment(&r) else { return nil }
      segments.append(s)
    }
    guard let retainedCount = r.u32() else { return nil }
    for _ in 0..<retainedCount {
      guard let entry = RetainedEntry(&r), Verification.retainedIdentifier.holds(entry.id < Self.highestSequence) else {
        return nil
      }
      retained.append(entry)
    }
  }

  init() {}
}

/// A commit that is kept although newer ones superseded it.
struct RetainedEntry {
  var id: UInt64
  var sequence: UInt64
  var publication: UInt64
  /// The index of its directory; none in the directory that is itself the retained one.
  var directory: PageRef
  var directoryBytes: UInt64
  var made: UInt64
  var expires: UInt64
  var limit: UInt64
  var reason: [UInt8]

  func write(to w: inout ByteWriter) {
    w.u64(id)
    w.u64(sequence)
    w.u64(publication)
    w.u64(directory.location)
    w.u64(directory.checksum)
    w.u64(directoryBytes)
    w.u64(made)
    w.u64(expires)
    w.u64(limit)
    w.u32(UInt32(truncatingIfNeeded: reason.count))
    reason.withUnsafeBytes { w.raw($0) }
  }

  init(
    id: UInt64, sequence: UInt64, publication: UInt64, made: UInt64, expires: UInt64, limit: UInt64,
    reason: [UInt8]
  ) {
    self.id = id
    self.sequence = sequence
    self.publication = publication
    directory = .none
    directoryBytes = 0
    self.made = made
    self.expires = expires
    self.limit = limit
    self.reason = reason
  }

  init?(_ r: inout ByteReader) {
    guard let id = r.u64(), let sequence = r.u64(), let publication = r.u64(), let location = r.u64(),
      let checksum = r.u64(), let bytes = r.u64(), let made = r.u64(), let expires = r.u64(), let limit = r.u64(),
      let length = r.u32(), let n = Int(exactly: length), let text = r.raw(n)
    else { return nil }
    self.id = id
    self.sequence = sequence
    self.publication = publication
    directory = PageRef(location: location, checksum: checksum)
    directoryBytes = bytes
    self.made = made
    self.expires = expires
    self.limit = limit
    reason = Array(text)
  }
}
