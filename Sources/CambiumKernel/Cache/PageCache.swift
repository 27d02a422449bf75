import Synchronization

/// The bounded cache of clean pages, read without locks.
///
/// Invariants:
/// - A frame's memory holds exactly the page its header names, as long as the header names one. The name (location and
///   checksum) is written after the content with release order and cleared, with a grace period, before the content
///   changes: a reader inside an epoch that saw the name may read the content until it leaves.
/// - The table maps a location to a frame. Readers probe it without a lock; they can miss an entry while one is
///   removed, and then look again under the lock before they read the device.
/// - The checksum is part of the name: when a segment is used again, old pages of the same address cannot be taken for
///   the new ones, and nothing needs to be purged.
final class PageCache: @unchecked Sendable {
  // `@unchecked`: what changes is atomic, or touched with `lock` held, but for frames, which the invariants above are
  // about.
  let device: any StorageDevice
  private let environment: any StoreEnvironment
  private let pageSize: Int
  let capacity: Int
  /// How much who goes through many pages reads at a time; see ``StoreOptions/bufferBytes``.
  let bufferBytes: Int
  /// The table that readers probe. It is replaced by one of twice the size as frames are made, so that a store that is
  /// opened for a few pages need not clear a large one.
  private let present = Atomic<UInt>(0)
  private let lock: any StoreLock
  let slots: ReaderSlots
  private let storeSeed: UInt64

  // Under `lock`, so that exclusive access need not be checked at run time.
  /// The present one is the last.
  @exclusivity(unchecked) private var tables: [FrameTable] = []
  @exclusivity(unchecked) private var memory: FrameMemory
  @exclusivity(unchecked) private var frames: [Frame] = []
  @exclusivity(unchecked) private var hand = 0
  @exclusivity(unchecked) private var idle: [Frame] = []
  @exclusivity(unchecked) private var retired: [(epoch: UInt, frame: Frame)] = []
  @exclusivity(unchecked) private var retiredHead = 0
  /// Frames beyond the capacity, which the table does not know: made when running reads hold every retired frame, given
  /// back when these reads have ended. The table therefore never fills up.
  @exclusivity(unchecked) private var loose: [(epoch: UInt, frame: Frame)] = []
  @exclusivity(unchecked) private var misses: UInt64 = 0
  /// Whether there are as many frames as there may be.
  private let hasAllFrames = Atomic<Bool>(false)
  /// Whether other processes may have used the room of a page again that an old view asks for.
  let mayBeOvertaken = Atomic<Bool>(false)

  init(
    device: any StorageDevice, environment: any StoreEnvironment, pageSize: Int, bytes: Int, storeSeed: UInt64,
    bufferBytes: Int = StoreOptions().bufferBytes
  ) {
    self.device = device
    self.environment = environment
    self.pageSize = pageSize
    lock = environment.makeLock()
    self.storeSeed = storeSeed
    self.bufferBytes = bufferBytes
    slots = ReaderSlots()
    capacity = max(Self.leastFrames, bytes / FrameMemory.stride(pageSize))
    memory = FrameMemory(environment, pageSize: pageSize, capacity: capacity)
    let first = FrameTable.make(size: Self.firstTableSize(capacity))
    tables = [first]
    present.store(UInt(bitPattern: first.p), ordering: .releasing)
  }

  /// With fewer frames, hardly a page would be found where it was read before.
  static let leastFrames = 4

  /// Twice as many places as there will be frames, but no more than a store that is opened for a few pages needs.
  private static func firstTableSize(_ capacity: Int) -> Int {
    var size = 16
    while size < 256, size < capacity * 2 { size *= 2 }
    return size
  }

  deinit {
    for frame in frames { frame.dropHints() }
    for (_, frame) in loose { memory.free(frame) }
    for table in tables { table.p.deallocate() }
  }

  /// For who has the lock.
  private var table: FrameTable { tables[tables.count - 1] }

  /// The length of the queue of frames whose names were cleared, with the part of it that is done.
  var retiredCount: Int {
    lock.lock()
    defer { lock.unlock() }
    return retired.count
  }

  /// How many frames there are, loose ones aside.
  var frameCount: Int {
    lock.lock()
    defer { lock.unlock() }
    return frames.count
  }

  /// How many pages were read from the device to come into the cache.
  var missCount: UInt64 {
    lock.lock()
    defer { lock.unlock() }
    return misses
  }

  /// Where the look for a page begins.
  func home(_ ref: PageRef) -> Int {
    lock.lock()
    defer { lock.unlock() }
    return table.home(Frame.word(ref))
  }

  /// Sees to it that at most half of the table is used. Readers in the old one miss what comes now, and look again
  /// under the lock; the old ones are kept for them, since all of them together are smaller than the present one.
  private func growTable() {
    let size = table.mask + 1
    if frames.count * 2 <= size { return }
    let larger = FrameTable.make(size: size * 2)
    for frame in frames {
      let word = frame.name.pointee.load(ordering: .relaxed)
      if word != 0 { larger.add(frame, word) }
    }
    tables.append(larger)
    present.store(UInt(bitPattern: larger.p), ordering: .releasing)
  }

  /// Keeps the memory of `page` as it is until ``letGo(_:)``, also when the read is over. The caller is inside an epoch
  /// in which it found the page; so whoever finds later that this epoch is over and nobody holds the frame may use it
  /// again.
  @inline(__always)
  func hold(_ page: UnsafeRawPointer) { Frame(of: page).hold() }

  @inline(__always)
  func letGo(_ page: UnsafeRawPointer) { Frame(of: page).letGo() }

  /// The page that `ref` names. The caller is inside an epoch of ``slots`` and uses the page only until it leaves it.
  ///
  /// - Throws: ``StoreError/corrupt(place:offset:detail:)`` when the bytes are not those that were written, and device
  ///   errors.
  @inline(__always)
  func page(_ ref: PageRef, tree: TreeID, level: UInt8) throws(StoreError) -> UnsafeRawPointer {
    if let hit = find(ref) {
      try checkCached(hit, ref, tree: tree, level: level)
      return hit
    }
    return try load(ref, tree: tree, level: level)
  }

  /// Throws if a page that is in the cache is not what led to it says.
  @inline(__always)
  private func checkCached(
    _ hit: UnsafeRawPointer, _ ref: PageRef, tree: TreeID, level: UInt8
  ) throws(StoreError) {
    if Verification.pageOwnerCached.holds(hit.pageLevel == level && hit.pageTree == tree) { return }
    throw .corrupt(place: .page(tree: tree), offset: ref.address, detail: "page of another tree or level")
  }

  /// Child `i` of the inner page `parent`, which `ref` names: the same, but where the child was found before is tried
  /// first.
  @inline(__always)
  func child(
    _ i: Int, of parent: UnsafeRawPointer, _ ref: PageRef, tree: TreeID, level: UInt8
  ) throws(StoreError) -> UnsafeRawPointer {
    if let frame = Frame(of: parent).hint(i), frame.holds(ref) {
      frame.markUsed()
      let hit = frame.page
      if Verification.pageOwnerCached.holds(hit.pageLevel == level && hit.pageTree == tree) { return hit }
    }
    return try childElsewhere(i, of: parent, ref, tree: tree, level: level)
  }

  /// The same if the child is in the cache; nil if it is not.
  func cachedChild(
    _ i: Int, of parent: UnsafeRawPointer, _ ref: PageRef, tree: TreeID, level: UInt8
  ) throws(StoreError) -> UnsafeRawPointer? {
    var hit: UnsafeRawPointer?
    if let frame = Frame(of: parent).hint(i), frame.holds(ref) {
      frame.markUsed()
      hit = frame.page
    } else {
      hit = find(ref)
    }
    if let hit { try checkCached(hit, ref, tree: tree, level: level) }
    return hit
  }

  /// Whether somebody who goes through so many pages would drive out most of what is in the cache.
  func isTooSmall(for pages: UInt64) -> Bool {
    hasAllFrames.load(ordering: .relaxed) && pages > UInt64(capacity / 2)
  }

  @inline(never)
  private func childElsewhere(
    _ i: Int, of parent: UnsafeRawPointer, _ ref: PageRef, tree: TreeID, level: UInt8
  ) throws(StoreError) -> UnsafeRawPointer {
    // What is loaded now may lie in memory that is given back after this read: there is no hint at it before it is
    // asked for again, and at none but what the table has led to.
    guard let hit = find(ref) else { return try load(ref, tree: tree, level: level) }
    try checkCached(hit, ref, tree: tree, level: level)
    Frame(of: parent).setHint(i, Frame(of: hit))
    return hit
  }

  @inline(__always)
  private func find(_ ref: PageRef) -> UnsafeRawPointer? {
    guard let p = UnsafeMutableRawPointer(bitPattern: present.load(ordering: .acquiring)) else { return nil }
    guard let frame = FrameTable(p: p).find(ref) else { return nil }
    frame.markUsed()
    return frame.page
  }

  @inline(never)
  private func load(_ ref: PageRef, tree: TreeID, level: UInt8) throws(StoreError) -> UnsafeRawPointer {
    try requireLength(ref, tree: tree)
    lock.lock()
    if let hit = findAnywhere(ref) {
      lock.unlock()
      try checkOwner(hit, ref, tree: tree, level: level)
      return hit
    }
    misses &+= 1
    let taken = takeFrame()
    lock.unlock()
    let frame = taken ?? FrameMemory.extra(pageSize)
    let content = frame.content
    do throws(StoreError) {
      try read(ref, tree: tree, level: level, to: content)
    } catch {
      lock.lock()
      giveBack(frame, isLoose: taken == nil)
      lock.unlock()
      throw error
    }
    lock.lock()
    defer { lock.unlock() }
    if let other = findAnywhere(ref) {
      giveBack(frame, isLoose: taken == nil)
      return other
    }
    if taken == nil {
      // For this read alone.
      loose.append((slots.retire(), frame))
    } else {
      // Whoever goes through many pages once is not to drive out what others come back to.
      publish(frame, ref, isUsed: false)
    }
    return UnsafeRawPointer(content)
  }

  /// Copies a page to `out`, which has room for the longest; answers whether it was in the cache. One that was not does
  /// not come there: whoever goes through more pages than there is room for would only drive out what others read.
  func copy(
    _ ref: PageRef, tree: TreeID, level: UInt8, to out: UnsafeMutableRawPointer
  ) throws(StoreError) -> Bool {
    try requireLength(ref, tree: tree)
    let slot = slots.enter(0)
    defer { slots.leave(slot) }
    if let hit = find(ref) {
      try checkOwner(hit, ref, tree: tree, level: level)
      out.copyMemory(from: hit, byteCount: ref.length)
      return true
    }
    try read(ref, tree: tree, level: level, to: out)
    return false
  }

  /// Reads a page from the device.
  private func read(
    _ ref: PageRef, tree: TreeID, level: UInt8, to out: UnsafeMutableRawPointer
  ) throws(StoreError) {
    let length = ref.length
    let got = try device.read(at: ref.address, into: UnsafeMutableRawBufferPointer(start: out, count: length))
    guard Verification.pageEnd.holds(got == length) else { throw endsBefore(ref, tree: tree) }
    try check(UnsafeRawPointer(out), ref, tree: tree, level: level)
  }

  /// Throws if a reference cannot lead to a page, whatever lies there.
  func requireLength(_ ref: PageRef, tree: TreeID) throws(StoreError) {
    guard Verification.pageReference.holds(ref.length >= PageHeader.size && ref.length <= pageSize) else {
      throw .corrupt(place: .page(tree: tree), offset: ref.address, detail: "reference with an impossible length")
    }
  }

  /// What is to be said of a page that the file does not have whole.
  func endsBefore(_ ref: PageRef, tree: TreeID) -> StoreError {
    if mayBeOvertaken.load(ordering: .relaxed) { return .snapshotExpired }
    return .corrupt(place: .page(tree: tree), offset: ref.address, detail: "the file ends before this page")
  }

  /// Throws unless the bytes at `p` are those that were written as the page of `ref`.
  func check(_ p: UnsafeRawPointer, _ ref: PageRef, tree: TreeID, level: UInt8) throws(StoreError) {
    let seed = PageRef.seed(store: storeSeed, location: ref.location)
    let sum = PageHeader.sum(p, count: ref.length, seed: seed)
    guard Verification.pageChecksum.holds(sum == ref.checksum && p.pageChecksum == sum) else {
      if mayBeOvertaken.load(ordering: .relaxed) { throw .snapshotExpired }
      throw .corrupt(place: .page(tree: tree), offset: ref.address, detail: "page checksum does not match")
    }
    guard PageCheck.isSound(p, stored: ref.length) else {
      throw .corrupt(place: .page(tree: tree), offset: ref.address, detail: "page structure is not sound")
    }
    try checkOwner(p, ref, tree: tree, level: level)
  }

  private func checkOwner(
    _ p: UnsafeRawPointer, _ ref: PageRef, tree: TreeID, level: UInt8
  ) throws(StoreError) {
    guard Verification.pageOwner.holds(p.pageTree == tree && p.pageLevel == level) else {
      throw .corrupt(place: .page(tree: tree), offset: ref.address, detail: "page of another tree or level")
    }
  }

  /// Puts a page just written into the cache.
  func insert(_ ref: PageRef, _ bytes: UnsafeRawPointer) {
    lock.lock()
    defer { lock.unlock() }
    // What lay there before it has another checksum, and is told apart by publishing.
    if let same = table.frame(at: Frame.word(ref)), same.holds(ref) { return same.markUsed() }
    guard let frame = takeFrame() else { return }
    frame.content.copyMemory(from: bytes, byteCount: ref.length)
    publish(frame, ref, isUsed: true)
  }

  /// Has the place of a page in the table brought from memory, for who looks it up, or puts it there, soon.
  @inline(__always)
  func touchPlace(_ ref: PageRef) {
    guard let p = UnsafeMutableRawPointer(bitPattern: present.load(ordering: .acquiring)) else { return }
    FrameTable(p: p).touch(ref)
  }

  /// Has the frame of a page brought from memory, if there is one, for who reads the page soon. Frames that the table
  /// knows keep their memory, whatever comes into them meanwhile.
  @inline(__always)
  func touchFrame(_ ref: PageRef) {
    guard let p = UnsafeMutableRawPointer(bitPattern: present.load(ordering: .acquiring)) else { return }
    FrameTable(p: p).touchFrame(ref)
  }

  /// Gives up pages that new views do not read any more, so that their memory serves others. Old views read them again.
  func drop(_ pages: [PageRef]) {
    var rest = pages[...]
    while !rest.isEmpty {
      // A few at a time: whoever misses a page waits for the lock.
      lock.lock()
      let table = table
      for ref in rest.prefix(64) { table.touch(ref) }
      for ref in rest.prefix(64) { table.touchFrame(ref) }
      for ref in rest.prefix(64) {
        guard let frame = table.find(ref, atMost: table.mask + 1) else { continue }
        unlink(frame)
        retired.append((slots.retire(), frame))
      }
      lock.unlock()
      rest = rest.dropFirst(64)
    }
  }

  /// Gives the memory of all frames back, unless a read is running or a cursor holds a page. For a store that is
  /// closed: views and transactions that are kept keep no pages then.
  func giveUp() {
    lock.lock()
    defer { lock.unlock() }
    for frame in frames where frame.name.pointee.load(ordering: .relaxed) != 0 {
      unlink(frame)
      retired.append((slots.retire(), frame))
    }
    let epoch = slots.retire()
    guard slots.isQuiet(since: epoch), !frames.contains(where: { $0.isHeld }),
      !loose.contains(where: { $0.frame.isHeld })
    else { return }
    for frame in frames { frame.dropHints() }
    for (_, frame) in loose { memory.free(frame) }
    (frames, idle, retired, retiredHead, loose, hand) = ([], [], [], 0, [], 0)
    hasAllFrames.store(false, ordering: .relaxed)
    memory.freeAll()
    // Nobody looks into the former tables any more.
    for table in tables.dropLast() { table.p.deallocate() }
    tables.removeFirst(tables.count - 1)
  }

  // MARK: Under the lock

  private func findAnywhere(_ ref: PageRef) -> UnsafeRawPointer? {
    guard let frame = table.find(ref, atMost: table.mask + 1) else { return nil }
    frame.markUsed()
    return frame.page
  }

  /// - Parameter isUsed: whether the frame counts as one that was used since the hand passed.
  private func publish(_ frame: Frame, _ ref: PageRef, isUsed: Bool) {
    // What lay there before is in no tree any more that anybody reads. Left in the table it would be in the way of this
    // one at each look, and with it whatever lay there before that.
    let word = Frame.word(ref)
    while let former = table.frame(at: word) {
      unlink(former)
      retired.append((slots.retire(), former))
    }
    frame.setName(ref, isUsed: isUsed)
    table.add(frame, word)
  }

  private func unlink(_ frame: Frame) {
    let word = frame.name.pointee.load(ordering: .relaxed)
    frame.clearName()
    table.remove(frame, word)
  }

  private func giveBack(_ frame: Frame, isLoose: Bool) {
    if isLoose { memory.free(frame) } else { idle.append(frame) }
  }

  /// A frame to be filled; nil when running reads hold all that could be given up.
  private func takeFrame() -> Frame? {
    if !loose.isEmpty {
      loose.removeAll { epoch, frame in
        guard slots.isQuiet(since: epoch), !frame.isHeld else { return false }
        memory.free(frame)
        return true
      }
    }
    if let frame = idle.popLast() { return frame }
    if frames.count == capacity {
      // Enough for a read that looks many rows up in one go: what is evicted while it runs, it cannot have.
      let enough = max(min(8, capacity / 4), min(64, capacity / 8))
      if retired.count - retiredHead < enough { evictSome(enough * 2) }
    }
    if let frame = takeRetired() { return frame }
    return frames.count < capacity ? makeFrame() : nil
  }

  /// A frame whose name was cleared so long ago that no read knows it; nil if there is none.
  private func takeRetired() -> Frame? {
    for _ in 0..<min(16, retired.count - retiredHead) {
      let entry = retired[retiredHead]
      guard slots.isQuiet(since: entry.epoch) else { return nil }
      retiredHead += 1
      if retiredHead > 64 {
        retired.removeFirst(retiredHead)
        retiredHead = 0
      }
      if entry.frame.isHeld {
        // To the end of the queue: by the next time its cursor may have moved on.
        retired.append(entry)
        continue
      }
      entry.frame.dropHints()
      return entry.frame
    }
    return nil
  }

  /// Whether ``prepareMemory()`` should be called, by who holds nothing that others wait for.
  var wantsMemory: Bool {
    lock.lock()
    defer { lock.unlock() }
    return wantedBytes > 0
  }

  /// Under the lock.
  private var wantedBytes: Int {
    // Frames that can be had otherwise come first.
    idle.count + retired.count - retiredHead < 64 ? memory.wantedBytes(atMost: capacity - frames.count) : 0
  }

  /// Makes memory ready that frames will soon be made of: that of a new piece may be milliseconds in coming, when it is
  /// written to for the first time.
  func prepareMemory() {
    lock.lock()
    let bytes = wantedBytes
    lock.unlock()
    if bytes == 0 { return }
    let start = environment.allocateMemory(byteCount: bytes)
    for offset in stride(from: 0, to: bytes, by: 4096) { start.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self) }
    lock.lock()
    let isTaken = memory.add(start, bytes, atMost: capacity - frames.count)
    lock.unlock()
    if !isTaken { environment.freeMemory(start, byteCount: bytes) }
  }

  private func makeFrame() -> Frame {
    let frame = memory.next(atMost: capacity - frames.count)
    frames.append(frame)
    if frames.count == capacity { hasAllFrames.store(true, ordering: .relaxed) }
    growTable()
    return frame
  }

  /// Clears the names of a few frames that were not used since the hand last passed.
  private func evictSome(_ count: Int) {
    var wanted = count
    var steps = frames.count * 2
    while wanted > 0, steps > 0 {
      steps -= 1
      hand = hand + 1 < frames.count ? hand + 1 : 0
      let frame = frames[hand]
      if frame.name.pointee.load(ordering: .relaxed) == 0 || frame.isHeld || frame.takeUsed() { continue }
      unlink(frame)
      retired.append((slots.retire(), frame))
      wanted -= 1
    }
  }
}
