/// The room in the file: which part is used for what, and where new segments go. Used by who has the turn to write.
final class FileSpace {
  let device: any StorageDevice
  let storeSeed: UInt64
  // Belongs to the turn; looked at for every page that is written.
  @exclusivity(unchecked) var table = SegmentTable()
  var session: UInt64 = 0
  var durablePublication: UInt64 = 0
  /// Where new segments go, and the file does not grow, while set: for compaction.
  var bounds: SegmentBounds?
  /// The segment whose end is being emptied, if one is.
  var cut: SegmentCut?
  /// Segments in which nothing was reached any more at some time since the pass began.
  private(set) var emptied: [UInt32] = []
  /// How the file was lost, if growing it has met a cut. The end of the turn poisons the store then.
  @exclusivity(unchecked) private(set) var loss: FileLoss?
  /// Bytes of zeros written so far to prepare log space.
  var preparedBytes: UInt64 = 0

  init(device: any StorageDevice, storeSeed: UInt64) {
    self.device = device
    self.storeSeed = storeSeed
  }

  /// The usual size of a new segment: at most a sixteenth of the file, from one unit to 64.
  var preferredUnits: UInt32 {
    var units: UInt32 = 1
    while units < UInt32(SegmentTable.maxUnits), units * 32 <= table.fileUnits { units *= 2 }
    return units
  }

  /// A new segment, in free room if there is some, else behind the end of the file.
  ///
  /// - Throws: ``StoreError/deviceFull(bytes:)``.
  func allocate(_ kind: Segment.Kind, wanted: UInt32, least: UInt32, born: UInt64) throws(StoreError) -> Segment {
    let wanted = min(wanted, UInt32(SegmentTable.maxUnits))
    guard least <= UInt32(SegmentTable.maxUnits) else {
      throw .misuse("a segment longer than 1 MiB was asked for")
    }
    // A run that is far shorter than wanted is left alone, unless there is nothing better.
    let decent = max(least, wanted / 4)
    let bounds = bounds?[kind]
    if let free = table.findFree(wanted: wanted, least: decent, in: bounds) {
      return take(free.start, free.units, kind, born)
    }
    if let free = table.findFree(wanted: wanted, least: least, in: bounds) {
      return take(free.start, free.units, kind, born)
    }
    if bounds != nil { throw .deviceFull(bytes: UInt64(wanted) * UInt64(SegmentTable.unitSize)) }
    let used = table.usedUnits
    try grow(to: UInt64(used) + UInt64(wanted), least: UInt64(used) + UInt64(least))
    guard let free = table.findFree(wanted: wanted, least: least) else {
      throw .deviceFull(bytes: UInt64(wanted) * UInt64(SegmentTable.unitSize))
    }
    return take(free.start, free.units, kind, born)
  }

  private func take(_ start: UInt32, _ units: UInt32, _ kind: Segment.Kind, _ born: UInt64) -> Segment {
    let s = Segment(start: start, units: units, kind: kind, used: UInt32(SegmentHeader.size), born: born)
    _ = table.insert(s)
    return s
  }

  /// Makes the file at least `least` units long, `wanted` if the device has the room, and a little more in a large file
  /// unless it is to be no longer than that.
  private func grow(to wanted: UInt64, least: UInt64, exactly: Bool = false) throws(StoreError) {
    guard wanted < UInt64(UInt32.max) else { throw .deviceFull(bytes: 0) }
    if device.locks != nil {
      // Another process that was killed may have made the file longer than it said.
      let there = try device.size() / UInt64(SegmentTable.unitSize)
      if there > UInt64(table.fileUnits) { table.fileUnits = UInt32(clamping: there) }
      if there >= wanted { return }
    }
    try requireWholeFile()
    let extra = exactly ? 0 : min(UInt64(table.fileUnits) / 16, 64)
    for target in [min(wanted + extra, UInt64(UInt32.max)), wanted, least] {
      do throws(StoreError) {
        try device.resize(to: target * UInt64(SegmentTable.unitSize))
        table.fileUnits = UInt32(target)
        return
      } catch {
        guard case .deviceFull = error else { throw error }
        if target == least { throw error }
      }
    }
  }

  /// Throws if somebody has cut the file. Growing it then would fill the gap with zeros, and hide the cut from every
  /// later look at the length.
  ///
  /// If other processes share the file, only the log is known to lie in it: they may have cut off the rest.
  func requireWholeFile() throws(StoreError) {
    var units = table.fileUnits
    if device.locks != nil { units = table.segments.last { $0.kind == .log }?.end ?? 0 }
    let needed = UInt64(units) * UInt64(SegmentTable.unitSize)
    guard let size = device.fileState()?.sizeBytes, size < needed else { return }
    let loss = FileLoss.cut(sizeBytes: size, neededBytes: needed)
    self.loss = loss
    throw .fileLost(loss)
  }

  /// Makes sure that `units` are free, growing the file if need be, and no further than that if so told.
  func reserve(_ units: UInt64, exactly: Bool = false) throws(StoreError) {
    let free = table.freeUnits
    if free >= units { return }
    let all = UInt64(table.fileUnits) + (units - free)
    try grow(to: all, least: all, exactly: exactly)
  }

  /// Makes the file at least `units` long in all.
  func extend(to units: UInt32) throws(StoreError) {
    if units > table.fileUnits { try grow(to: UInt64(units), least: UInt64(units)) }
  }

  /// Takes the whole units back that the segments of pages and values have not used, or not any more, for
  /// `publication`, which is the first to know them shorter. Of those in `fresh` no older publication knows, so their
  /// units are free at once; those of the others are from now on segments in which nothing is live, and free when such
  /// segments are.
  ///
  /// - Complexity: O(segments).
  func cutUnusedUnits(at publication: UInt64, fresh: [UInt32]) {
    if let cut, cut.live == 0, let i = table.index(start: cut.start) {
      table[i].used = min(table[i].used, cut.units * UInt32(SegmentTable.unitSize))
    }
    for s in table.segments where s.hasUnusedUnits {
      guard let i = table.index(start: s.start) else { continue }
      let needed = s.usedUnits
      table[i].units = needed
      if fresh.contains(s.start) || isPlanted(.cutEndFreeAtOnce) { continue }
      var rest = Segment(start: s.start + needed, units: s.units - needed, kind: s.kind, used: 0, born: s.born)
      rest.dead = publication
      _ = table.insert(rest)
    }
  }

  /// How many segments ``cutUnusedUnits(at:fresh:)`` would cut.
  var cuttableSegments: Int { table.segments.reduce(cut == nil ? 0 : 1) { $0 + ($1.hasUnusedUnits ? 1 : 0) } }

  func header(for s: Segment, next: LogSegment = .none) -> SegmentHeader {
    SegmentHeader(
      units: s.units, next: next, session: session, durablePublication: durablePublication, born: s.born,
      start: s.start, kind: s.kind)
  }

  /// Notes that `ref` is not reached any more from the publication under way on.
  func release(_ address: UInt64, _ length: Int) {
    guard let i = table.index(of: address) else { return }
    let n = UInt32(truncatingIfNeeded: length)
    let left = isPlanted(.releaseForgotten) ? table[i].live : table[i].live >= n ? table[i].live - n : 0
    table[i].live = left
    if left == 0 { noteEmptied(table[i]) }
    if let cut, cut.start == table[i].start, address + UInt64(length) > cut.address {
      self.cut?.live = cut.live - min(cut.live, UInt64(length))
    }
  }

  /// Notes that nothing in a segment is reached any more.
  func noteEmptied(_ s: Segment) {
    emptied.append(s.start)
  }

  /// Forgets which segments were emptied, but for some.
  func forgetEmptied(but kept: [UInt32] = []) {
    emptied = kept
  }

  /// Notes that `length` bytes at `address` are reached.
  func retain(_ address: UInt64, _ length: Int) {
    guard let i = table.index(of: address) else { return }
    table[i].live &+= UInt32(truncatingIfNeeded: length)
  }
}

/// Between which units the new segments of a compaction go.
struct SegmentBounds {
  private var pages: Range<UInt32>
  private var others: Range<UInt32>

  init(_ all: Range<UInt32>) {
    pages = all
    others = all
  }

  /// Pages elsewhere than values.
  init(values: Range<UInt32>, pages: Range<UInt32>) {
    self.pages = pages
    others = values
  }

  subscript(_ kind: Segment.Kind) -> Range<UInt32> { kind == .pages ? pages : others }
}
