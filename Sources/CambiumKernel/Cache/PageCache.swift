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
  // 24 number of cursors that hold the frame (Atomic).
  private static let headerSize = 64

  private let device: any StorageDevice
  private let pageSize: Int
  private let capacity: Int
  /// The table that readers probe. It is replaced by one of twice the size as frames are made, so that a store that is
  /// opened for a few pages need not clear a large one.
  private let present = Atomic<UInt>(0)
  private let lock: any StoreLock
  let slots: ReaderSlots
  private let storeSeed: UInt64

  // Under `lock`:
  /// The present one is the last.
  private var tables: [Table] = []
  private var frames: [UnsafeMutableRawPointer] = []
  private var hand = 0
  private var idle: [UnsafeMutableRawPointer] = []
  private var retired: [(epoch: UInt, frame: UnsafeMutableRawPointer)] = []
  private var retiredHead = 0
  /// Frames beyond the capacity, which the table does not know: made when running reads hold every retired frame, given
  /// back when these reads have ended. The table therefore never fills up.
  private var loose: [(epoch: UInt, frame: UnsafeMutableRawPointer)] = []
  private(set) var misses: UInt64 = 0

  init(device: any StorageDevice, pageSize: Int, bytes: Int, storeSeed: UInt64, lock: any StoreLock) {
    self.device = device
    self.pageSize = pageSize
    self.lock = lock
    self.storeSeed = storeSeed
    slots = ReaderSlots()
    capacity = max(16, bytes / (pageSize + Self.headerSize))
    let first = Table.make(size: 256)
    tables = [first]
    present.store(UInt(bitPattern: first.p), ordering: .releasing)
  }

  deinit {
    for frame in frames { frame.deallocate() }
    for (_, frame) in loose { frame.deallocate() }
    for table in tables { table.p.deallocate() }
  }

  /// Frames by location: a word with the number of places less one, then the places (Atomic words).
  private struct Table {
    let p: UnsafeMutableRawPointer

    @inline(__always) var mask: Int { UnsafeRawPointer(p).load(as: Int.self) }
    @inline(__always) subscript(i: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
      (p + 8 + i &* MemoryLayout<UInt>.size).assumingMemoryBound(to: Atomic<UInt>.self)
    }

    static func make(size: Int) -> Table {
      let table = Table(p: .allocate(byteCount: 8 + size * MemoryLayout<UInt>.size, alignment: 64))
      table.p.storeBytes(of: size - 1, as: Int.self)
      for i in 0..<size { table[i].initialize(to: Atomic(0)) }
      return table
    }

    func home(_ word: UInt) -> Int {
      let h = UInt64(word) &* 0x9E37_79B9_7F4A_7C15
      return Int(truncatingIfNeeded: h &>> 32) & mask
    }

    /// Notes that `frame` holds the page `word`.
    func add(_ frame: UnsafeMutableRawPointer, _ word: UInt) {
      var i = home(word)
      var probes = 0
      while self[i].pointee.load(ordering: .relaxed) != 0 {
        i = (i + 1) & mask
        probes += 1
        if probes > mask { return }
      }
      self[i].pointee.store(UInt(bitPattern: frame), ordering: .releasing)
    }
  }

  /// For who has the lock.
  private var table: Table { tables[tables.count - 1] }

  /// Sees to it that at most half of the table is used. Readers in the old one miss what comes now, and look again under
  /// the lock; the old ones are kept for them, since all of them together are smaller than the present one.
  private func growTable() {
    let size = table.mask + 1
    if frames.count * 2 <= size { return }
    let larger = Table.make(size: size * 2)
    for frame in frames {
      let word = Self.name(frame).pointee.load(ordering: .relaxed)
      if word != 0 { larger.add(frame, word) }
    }
    tables.append(larger)
    present.store(UInt(bitPattern: larger.p), ordering: .releasing)
  }

  @inline(__always)
  private static func name(_ frame: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt>> {
    frame.assumingMemoryBound(to: Atomic<UInt>.self)
  }
  @inline(__always)
  private static func usedBit(_ frame: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt>> {
    (frame + 16).assumingMemoryBound(to: Atomic<UInt>.self)
  }

  @inline(__always)
  private static func holders(_ frame: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt>> {
    (frame + 24).assumingMemoryBound(to: Atomic<UInt>.self)
  }

  /// Keeps the memory of `page` as it is until ``letGo(_:)``, also when the read is over. The caller is inside an epoch in
  /// which it found the page; so whoever finds later that this epoch is over and nobody holds the frame may use it again.
  @inline(__always)
  func hold(_ page: UnsafeRawPointer) {
    Self.holders(UnsafeMutableRawPointer(mutating: page - Self.headerSize)).pointee.wrappingAdd(1, ordering: .relaxed)
  }

  @inline(__always)
  func letGo(_ page: UnsafeRawPointer) {
    Self.holders(UnsafeMutableRawPointer(mutating: page - Self.headerSize)).pointee
      .wrappingSubtract(1, ordering: .releasing)
  }

  @inline(__always)
  private static func isHeld(_ frame: UnsafeMutableRawPointer) -> Bool {
    holders(frame).pointee.load(ordering: .acquiring) != 0
  }

  /// The address in 16-byte units: fits a word wherever files fit the platform.
  @inline(__always)
  private static func word(_ ref: PageRef) -> UInt { UInt(truncatingIfNeeded: ref.location &>> 12) }

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
    guard let p = UnsafeMutableRawPointer(bitPattern: present.load(ordering: .acquiring)) else { return nil }
    let table = Table(p: p)
    let mask = table.mask
    var i = table.home(word)
    var probes = 0
    while probes < 32 {
      let entry = table[i].pointee.load(ordering: .acquiring)
      if entry == 0 { return nil }
      if let frame = UnsafeMutableRawPointer(bitPattern: entry),
        Self.name(frame).pointee.load(ordering: .acquiring) == word,
        UnsafeRawPointer(frame).load(fromByteOffset: 8, as: UInt64.self) == ref.checksum
      {
        let bit = Self.usedBit(frame)
        if bit.pointee.load(ordering: .relaxed) == 0 { bit.pointee.store(1, ordering: .relaxed) }
        return UnsafeRawPointer(frame) + Self.headerSize
      }
      i = (i &+ 1) & mask
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
    table.add(frame, word)
  }

  private func unlink(_ frame: UnsafeMutableRawPointer) {
    let word = Self.name(frame).pointee.load(ordering: .relaxed)
    Self.name(frame).pointee.store(0, ordering: .releasing)
    let table = table
    let mask = table.mask
    var i = table.home(word)
    var probes = 0
    while table[i].pointee.load(ordering: .relaxed) != UInt(bitPattern: frame) {
      if table[i].pointee.load(ordering: .relaxed) == 0 || probes > mask { return }
      i = (i + 1) & mask
      probes += 1
    }
    // Close the gap: move back every later entry of the run whose home does not lie behind the gap.
    var gap = i
    var j = (i + 1) & mask
    while true {
      let entry = table[j].pointee.load(ordering: .relaxed)
      if entry == 0 { break }
      if let other = UnsafeMutableRawPointer(bitPattern: entry) {
        let h = table.home(Self.name(other).pointee.load(ordering: .relaxed))
        if ((j - h) & mask) >= ((j - gap) & mask) {
          table[gap].pointee.store(entry, ordering: .releasing)
          gap = j
        }
      }
      j = (j + 1) & mask
    }
    table[gap].pointee.store(0, ordering: .releasing)
  }

  private func giveBack(_ frame: UnsafeMutableRawPointer, isLoose: Bool) {
    if isLoose { frame.deallocate() } else { idle.append(frame) }
  }

  /// A frame to be filled; nil when running reads hold all that could be given up.
  private func takeFrame() -> UnsafeMutableRawPointer? {
    if !loose.isEmpty {
      loose.removeAll { epoch, frame in
        guard slots.isQuiet(since: epoch), !Self.isHeld(frame) else { return false }
        frame.deallocate()
        return true
      }
    }
    if let frame = idle.popLast() { return frame }
    if frames.count < capacity { return makeFrame() }
    if retired.count - retiredHead < 8 { evictSome() }
    var tries = 0
    while tries < 16, retiredHead < retired.count, slots.isQuiet(since: retired[retiredHead].epoch) {
      let frame = retired[retiredHead].frame
      if Self.isHeld(frame) {
        // To the end of the queue: by the next time its cursor may have moved on.
        retired.append(retired[retiredHead])
        retiredHead += 1
        tries += 1
        continue
      }
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
    name(frame).initialize(to: Atomic(0))
    usedBit(frame).initialize(to: Atomic(0))
    holders(frame).initialize(to: Atomic(0))
    return frame
  }

  private func makeFrame() -> UnsafeMutableRawPointer {
    let frame = Self.allocate(pageSize)
    frames.append(frame)
    growTable()
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
      if Self.name(frame).pointee.load(ordering: .relaxed) == 0 || Self.isHeld(frame) { continue }
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
