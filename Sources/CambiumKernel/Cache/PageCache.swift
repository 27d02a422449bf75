import Synchronization

/// The bounded cache of clean pages, read without locks.
///
/// Invariants:
/// - A frame's memory holds exactly the page its header names, as long as the header names one. The name (location and
///   checksum) is written after the content with release order and cleared, with a grace period, before the content
///   changes: a reader inside an epoch that saw the name may read the content until it leaves.
/// - The table maps a location to a frame. Readers probe it without a lock; they can miss an entry while one is removed,
///   and then look again under the lock before they read the device.
/// - The checksum is part of the name: when a segment is used again, old pages of the same address cannot be taken for
///   the new ones, and nothing needs to be purged.
final class PageCache: @unchecked Sendable {
  // Frame header, 64 bytes before the page:  0 name (Atomic location, 0 = none), 8 checksum, 16 used bit (Atomic),
  // 24 index in `frames`.
  private static let headerSize = 64

  private let device: any StorageDevice
  private let pageSize: Int
  private let capacity: Int
  private let tableMask: Int
  private let table: UnsafeMutablePointer<Atomic<UInt>>
  private let lock: any StoreLock
  let slots: ReaderSlots
  private let storeSeed: UInt64

  // Under `lock`:
  private var frames: [UnsafeMutableRawPointer] = []
  private var hand = 0
  private var idle: [UnsafeMutableRawPointer] = []
  private var retired: [(epoch: UInt, frame: UnsafeMutableRawPointer)] = []
  private var retiredHead = 0
  /// Frames beyond the capacity, which the table does not know: made when running reads hold every retired frame, given
  /// back when these reads have ended. The table therefore never fills up.
  private var loose: [(epoch: UInt, frame: UnsafeMutableRawPointer)] = []
  private(set) var misses: UInt64 = 0
  /// Whether other processes may have used the room of a page again that an old view asks for.
  let mayBeOvertaken = Atomic<Bool>(false)

  init(device: any StorageDevice, pageSize: Int, bytes: Int, storeSeed: UInt64, lock: any StoreLock) {
    self.device = device
    self.pageSize = pageSize
    self.lock = lock
    self.storeSeed = storeSeed
    slots = ReaderSlots()
    capacity = max(16, bytes / (pageSize + Self.headerSize))
    var size = 64
    while size < capacity * 2 { size *= 2 }
    tableMask = size - 1
    table = .allocate(capacity: size)
    for i in 0..<size { (table + i).initialize(to: Atomic(0)) }
  }

  deinit {
    for frame in frames { frame.deallocate() }
    for (_, frame) in loose { frame.deallocate() }
    table.deinitialize(count: tableMask + 1)
    table.deallocate()
  }

  @inline(__always)
  private static func name(_ frame: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt>> {
    frame.assumingMemoryBound(to: Atomic<UInt>.self)
  }
  @inline(__always)
  private static func usedBit(_ frame: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt>> {
    (frame + 16).assumingMemoryBound(to: Atomic<UInt>.self)
  }

  /// The address in 16-byte units: fits a word wherever files fit the platform.
  @inline(__always)
  private static func word(_ ref: PageRef) -> UInt { UInt(truncatingIfNeeded: ref.location &>> 12) }

  @inline(__always)
  private func home(_ word: UInt) -> Int {
    let h = UInt64(word) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: h &>> 32) & tableMask
  }

  /// The page that `ref` names. The caller is inside an epoch of ``slots`` and uses the page only until it leaves it.
  ///
  /// - Throws: ``StoreError/corrupt(place:offset:detail:)`` when the bytes are not those that were written, and device
  ///   errors.
  @inline(__always)
  func page(_ ref: PageRef, tree: TreeID, level: UInt8) throws(StoreError) -> UnsafeRawPointer {
    if let hit = find(ref) {
      if Verification.pageOwnerCached.holds(hit.pageLevel == level && hit.pageTree == tree) { return hit }
      throw .corrupt(place: .page(tree: tree), offset: ref.address, detail: "page of another tree or level")
    }
    return try load(ref, tree: tree, level: level)
  }

  @inline(__always)
  private func find(_ ref: PageRef) -> UnsafeRawPointer? {
    let word = Self.word(ref)
    var i = home(word)
    var probes = 0
    while probes < 32 {
      let entry = table[i].load(ordering: .acquiring)
      if entry == 0 { return nil }
      if let frame = UnsafeMutableRawPointer(bitPattern: entry),
        Self.name(frame).pointee.load(ordering: .acquiring) == word,
        UnsafeRawPointer(frame).load(fromByteOffset: 8, as: UInt64.self) == ref.checksum
      {
        let bit = Self.usedBit(frame)
        if bit.pointee.load(ordering: .relaxed) == 0 { bit.pointee.store(1, ordering: .relaxed) }
        return UnsafeRawPointer(frame) + Self.headerSize
      }
      i = (i &+ 1) & tableMask
      probes &+= 1
    }
    return nil
  }

  @inline(never)
  private func load(_ ref: PageRef, tree: TreeID, level: UInt8) throws(StoreError) -> UnsafeRawPointer {
    let length = ref.length
    guard Verification.pageReference.holds(length >= PageHeader.size && length <= pageSize) else {
      throw .corrupt(place: .page(tree: tree), offset: ref.address, detail: "reference with an impossible length")
    }
    lock.lock()
    if let hit = find(ref) {
      lock.unlock()
      try checkOwner(hit, ref, tree: tree, level: level)
      return hit
    }
    misses &+= 1
    let taken = takeFrame()
    lock.unlock()
    let frame = taken ?? Self.allocate(pageSize)
    let content = frame + Self.headerSize
    do throws(StoreError) {
      let got = try device.read(at: ref.address, into: UnsafeMutableRawBufferPointer(start: content, count: length))
      guard Verification.pageEnd.holds(got == length) else {
        if mayBeOvertaken.load(ordering: .relaxed) { throw .snapshotExpired }
        throw .corrupt(place: .page(tree: tree), offset: ref.address, detail: "the file ends before this page")
      }
      try check(UnsafeRawPointer(content), ref, tree: tree, level: level)
    } catch {
      lock.lock()
      giveBack(frame, isLoose: taken == nil)
      lock.unlock()
      throw error
    }
    lock.lock()
    defer { lock.unlock() }
    if let other = find(ref) {
      giveBack(frame, isLoose: taken == nil)
      return other
    }
    if taken == nil {
      // For this read alone.
      loose.append((slots.retire(), frame))
    } else {
      publish(frame, ref)
    }
    return UnsafeRawPointer(content)
  }

  private func check(_ p: UnsafeRawPointer, _ ref: PageRef, tree: TreeID, level: UInt8) throws(StoreError) {
    let seed = PageRef.seed(store: storeSeed, location: ref.location)
    let sum = Checksum.of(UnsafeRawBufferPointer(start: p, count: ref.length), seed: seed)
    guard Verification.pageChecksum.holds(sum == ref.checksum) else {
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
    if find(ref) != nil { return }
    guard let frame = takeFrame() else { return }
    (frame + Self.headerSize).copyMemory(from: bytes, byteCount: ref.length)
    publish(frame, ref)
  }

  // MARK: Under the lock

  private func publish(_ frame: UnsafeMutableRawPointer, _ ref: PageRef) {
    let word = Self.word(ref)
    frame.storeBytes(of: ref.checksum, toByteOffset: 8, as: UInt64.self)
    Self.usedBit(frame).pointee.store(1, ordering: .relaxed)
    Self.name(frame).pointee.store(word, ordering: .releasing)
    var i = home(word)
    var probes = 0
    while table[i].load(ordering: .relaxed) != 0 {
      i = (i + 1) & tableMask
      probes += 1
      if probes > tableMask { return }
    }
    table[i].store(UInt(bitPattern: frame), ordering: .releasing)
  }

  private func unlink(_ frame: UnsafeMutableRawPointer) {
    let word = Self.name(frame).pointee.load(ordering: .relaxed)
    Self.name(frame).pointee.store(0, ordering: .releasing)
    var i = home(word)
    var probes = 0
    while table[i].load(ordering: .relaxed) != UInt(bitPattern: frame) {
      if table[i].load(ordering: .relaxed) == 0 || probes > tableMask { return }
      i = (i + 1) & tableMask
      probes += 1
    }
    // Close the gap: move back every later entry of the run whose home does not lie behind the gap.
    var gap = i
    var j = (i + 1) & tableMask
    while true {
      let entry = table[j].load(ordering: .relaxed)
      if entry == 0 { break }
      if let other = UnsafeMutableRawPointer(bitPattern: entry) {
        let h = home(Self.name(other).pointee.load(ordering: .relaxed))
        if ((j - h) & tableMask) >= ((j - gap) & tableMask) {
          table[gap].store(entry, ordering: .releasing)
          gap = j
        }
      }
      j = (j + 1) & tableMask
    }
    table[gap].store(0, ordering: .releasing)
  }

  private func giveBack(_ frame: UnsafeMutableRawPointer, isLoose: Bool) {
    if isLoose { frame.deallocate() } else { idle.append(frame) }
  }

  /// A frame to be filled; nil when running reads hold all that could be given up.
  private func takeFrame() -> UnsafeMutableRawPointer? {
    // In the order of their epochs.
    var quiet = 0
    while quiet < loose.count, slots.isQuiet(since: loose[quiet].epoch) {
      loose[quiet].frame.deallocate()
      quiet += 1
    }
    if quiet > 0 { loose.removeFirst(quiet) }
    if let frame = idle.popLast() { return frame }
    if frames.count < capacity { return makeFrame() }
    if retired.count - retiredHead < 8 { evictSome() }
    if retiredHead < retired.count, slots.isQuiet(since: retired[retiredHead].epoch) {
      let frame = retired[retiredHead].frame
      retiredHead += 1
      if retiredHead > 64 {
        retired.removeFirst(retiredHead)
        retiredHead = 0
      }
      return frame
    }
    return nil
  }

  private static func allocate(_ pageSize: Int) -> UnsafeMutableRawPointer {
    let frame = UnsafeMutableRawPointer.allocate(byteCount: headerSize + pageSize, alignment: 64)
    frame.zero(headerSize)
    return frame
  }

  private func makeFrame() -> UnsafeMutableRawPointer {
    let frame = Self.allocate(pageSize)
    Self.name(frame).initialize(to: Atomic(0))
    Self.usedBit(frame).initialize(to: Atomic(0))
    frames.append(frame)
    return frame
  }

  /// Clears the names of a few frames that were not used since the hand last passed.
  private func evictSome() {
    var wanted = 16
    var steps = frames.count * 2
    while wanted > 0, steps > 0 {
      steps -= 1
      hand = hand + 1 < frames.count ? hand + 1 : 0
      let frame = frames[hand]
      if Self.name(frame).pointee.load(ordering: .relaxed) == 0 { continue }
      if Self.usedBit(frame).pointee.load(ordering: .relaxed) != 0 {
        Self.usedBit(frame).pointee.store(0, ordering: .relaxed)
        continue
      }
      unlink(frame)
      retired.append((slots.retire(), frame))
      wanted -= 1
    }
  }
}
