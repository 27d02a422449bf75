import CambiumTesting

@testable import CambiumKernel

/// What a sync of the kernel is for, told from what was written since the one before it.
enum SyncSite: String, CaseIterable, Sendable {
  /// The record of a commit.
  case commit
  /// Large values that a record will refer to.
  case values
  /// The pages and the directory of a checkpoint, alone.
  case checkpointContent
  /// The same, with records of commits.
  case checkpointContentAndCommit
  /// The superblock of a checkpoint.
  case checkpointPublication
  /// The superblock that begins a session.
  case session
  /// The superblock that closes the store.
  case cleanMark
  /// One copy of the superblock that an opening has read.
  case proof
  /// Records copied by recovery.
  case recoveredRecords
  /// The superblock that names them.
  case recoveryPublication
  /// Log segments that a compaction is about to move the log into.
  case movedLogSegments
  /// The superblock that names those.
  case movedLogPublication
}

/// Passes everything on to a disk, but swallows the syncs of one site: the store believes that they were made.
final class SyncSkippingDevice: StorageDevice {
  fileprivate struct State {
    var isOpening = false
    var last: [Written] = []
    var copies = 0
    /// The publication that is being written, of whose copies this is the first or the second.
    var publishing: UInt64 = 0
    var skipped = 0
    var logIsMoving = false
    var valueSegments: [Range<UInt64>] = []
  }

  fileprivate enum Written {
    case record, logSegment, page, value, copy, secondCopy, publication, recovery, session, cleanMark
  }

  private let disk: SimulatedDisk
  private let site: SyncSite?
  private let state = Locked(State())

  init(_ disk: SimulatedDisk, skipping site: SyncSite?) {
    self.disk = disk
    self.site = site
  }

  var isOpening: Bool {
    get { state.withLock { $0.isOpening } }
    set {
      state.withLock {
        $0.isOpening = newValue
        $0.copies = 0
      }
    }
  }

  /// How many syncs were swallowed.
  var skipped: Int { state.withLock { $0.skipped } }

  func size() throws(StoreError) -> UInt64 { try disk.size() }
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    try disk.read(at: offset, into: buffer)
  }
  func resize(to size: UInt64) throws(StoreError) { try disk.resize(to: size) }
  func close() { disk.close() }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    nonisolated(unsafe) let bytes = bytes
    let newest =
      offset < UInt64(Superblock.regionSize) ? (try? Store.readSuperblock(disk, readOnly: true).0.publication) ?? 0 : 0
    state.withLock { $0.last.append($0.kind(of: bytes, at: offset, newest: newest)) }
    try disk.write(bytes, at: offset)
  }

  func sync() throws(StoreError) {
    let isSkipped = state.withLock { state in
      let here = state.site()
      state.last = []
      guard let here, here == site else { return false }
      state.skipped += 1
      return true
    }
    if !isSkipped { try disk.sync() }
  }
}

extension SyncSkippingDevice.State {
  /// What is written there. The newest superblock on the disk is publication `newest`.
  fileprivate mutating func kind(
    of bytes: UnsafeRawBufferPointer, at offset: UInt64, newest: UInt64
  ) -> SyncSkippingDevice.Written {
    let p = bytes.start
    if offset < UInt64(Superblock.regionSize) {
      guard case .valid(let s) = Superblock.decode(bytes, at: offset, readOnly: true) else { return .publication }
      // A copy of the superblock that was read is written again; a publication is newer than what is there.
      if s.publication != publishing, s.publication <= newest {
        copies += 1
        return copies % 2 == 1 ? .copy : .secondCopy
      }
      publishing = s.publication
      if s.isClean { return .cleanMark }
      if s.publication == s.generation { return .publication }
      return isOpening ? .recovery : .session
    }
    if p.u32(0) == LogRecordHeader.magic { return .record }
    if p.u32(0) == SegmentHeader.magic {
      switch Segment.Kind(rawValue: p.u8(52)) {
      case .log: return .logSegment
      case .values:
        valueSegments.append(offset..<offset + UInt64(p.u32(4)) * UInt64(SegmentTable.unitSize))
        return .value
      default:
        valueSegments.removeAll { $0.contains(offset) }
        return .page
      }
    }
    return valueSegments.contains { $0.contains(offset) } ? .value : .page
  }

  fileprivate mutating func site() -> SyncSite? {
    let has = Set(last)
    if has.contains(.copy) { return .proof }
    if has.contains(.cleanMark) { return .cleanMark }
    if has.contains(.publication) { return .checkpointPublication }
    if has.contains(.recovery) { return .recoveryPublication }
    let logIsMoving = logIsMoving
    self.logIsMoving = false
    if has.contains(.session) { return logIsMoving ? .movedLogPublication : .session }
    if isOpening { return .recoveredRecords }
    if has == [.logSegment] {
      self.logIsMoving = true
      return .movedLogSegments
    }
    if has.contains(.page) { return has.contains(.record) ? .checkpointContentAndCommit : .checkpointContent }
    if has.contains(.record) { return .commit }
    return has.contains(.value) ? .values : nil
  }
}
