import CambiumTesting
import Testing

@testable import CambiumKernel

/// The cache of pages by itself.
@Suite struct PageCacheTests {
  private static let tree = TreeID(rawValue: 20)

  private func page(_ n: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: n), count: 512)
    bytes.withUnsafeMutableBytes { b in
      guard let p = b.baseAddress else { return }
      PageHeader.write(
        to: p, kind: .integerLeaf, level: 0, count: 0, tree: Self.tree, generation: 1, length: 512, flags: 0, width: 0,
        prefix: 0, fixed: 0, countWidth: 0)
    }
    return bytes
  }

  /// Room of the file that is used again and again: the newest page that lies there is found at once, by readers
  /// without a lock too, and those of before are not kept.
  @Test func pagesThatLieWhereOthersLayAreFound() throws {
    let device = MemoryDevice(lock: ThreadLock())
    let cache = PageCache(
      device: device, environment: TestEnvironment(), pageSize: 512, bytes: FrameMemory.stride(512) * 1000, storeSeed: 7
    )
    var newest: [PageRef] = []
    for version in 0..<200 {
      newest = []
      for place in 0..<UInt64(20) {
        let bytes = page(version)
        let ref = PageRef(address: (1 + place) * 4096, length: 512, checksum: UInt64(version) << 8 | place)
        bytes.withUnsafeBytes { b in if let base = b.baseAddress { cache.insert(ref, base) } }
        newest.append(ref)
      }
      let slot = cache.slots.enter(0)
      defer { cache.slots.leave(slot) }
      // The device is empty: whatever is not found is an error.
      for ref in newest {
        #expect(try cache.page(ref, tree: Self.tree, level: 0).u8(100) == UInt8(truncatingIfNeeded: version))
      }
      for ref in newest {
        let former = PageRef(address: ref.address, length: 512, checksum: ref.checksum &- 256)
        #expect(throws: StoreError.self) { try cache.page(former, tree: Self.tree, level: 0) }
      }
    }
    #expect(cache.frameCount < 200, "frames whose pages are gone are used again")
  }

  /// Frames that cursors hold wait in a queue. They must not make it longer each time somebody looks for a free frame.
  @Test func heldFramesDoNotFillTheQueue() throws {
    let cache = PageCache(
      device: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(), pageSize: 512,
      bytes: FrameMemory.stride(512) * 4, storeSeed: 7)
    let bytes = page(1)
    func insert(_ number: Int) -> PageRef {
      let ref = PageRef(address: UInt64(number + 1) * 512, length: 512, checksum: UInt64(number))
      bytes.withUnsafeBytes { b in if let base = b.baseAddress { cache.insert(ref, base) } }
      return ref
    }
    let slot = cache.slots.enter(0)
    let held = (0..<cache.capacity).map { insert($0) }
    for ref in held { cache.hold(try cache.page(ref, tree: Self.tree, level: 0)) }
    cache.slots.leave(slot)
    cache.drop(held)
    for number in 100..<1_100 { _ = insert(number) }
    #expect(cache.retiredCount < 100)
  }

  /// Pages that are given up serve others, but not while somebody reads them; a pass over what is not there leaves no
  /// trace.
  @Test func whatIsDroppedServesOthers() throws {
    let device = MemoryDevice(lock: ThreadLock())
    let cache = PageCache(
      device: device, environment: TestEnvironment(), pageSize: 512, bytes: FrameMemory.stride(512) * 1000, storeSeed: 7
    )
    func refs(_ version: UInt64) -> [PageRef] {
      (0..<100).map { PageRef(address: (version * 100 + $0 + 1) * 512, length: 512, checksum: version << 8 | $0) }
    }
    func fill(_ version: UInt64) {
      for ref in refs(version) {
        page(Int(version)).withUnsafeBytes { b in if let base = b.baseAddress { cache.insert(ref, base) } }
      }
    }
    fill(0)
    let slot = cache.slots.enter(0)
    let held = try cache.page(refs(0)[7], tree: Self.tree, level: 0)
    cache.drop(refs(0) + refs(5))
    fill(1)
    #expect(held.u8(100) == 0 && cache.frameCount == 200)
    cache.slots.leave(slot)
    cache.drop(refs(1))
    fill(2)
    fill(3)
    #expect(cache.frameCount == 200)
    let out = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 16)
    defer { out.deallocate() }
    for ref in refs(2) + refs(3) {
      #expect(try cache.copy(ref, tree: Self.tree, level: 0, to: out))
      #expect(UnsafeRawPointer(out).u8(100) == UInt8(truncatingIfNeeded: ref.checksum >> 8))
    }
    // The device is empty.
    for ref in refs(0) + refs(1) {
      #expect(throws: StoreError.self) { try cache.copy(ref, tree: Self.tree, level: 0, to: out) }
    }
    #expect(cache.frameCount == 200)
  }

  /// However many pages share a run of the table, a page that is in the cache is not brought in once more.
  @Test func noPageIsThereTwice() throws {
    let device = MemoryDevice(lock: ThreadLock())
    let cache = PageCache(
      device: device, environment: TestEnvironment(), pageSize: 512, bytes: FrameMemory.stride(512) * 64, storeSeed: 7)
    var random = SplitMix64(seed: testSeed(31))
    var refs: [PageRef] = []
    // A table of 256 places with homes in a sixteenth of it.
    var address: UInt64 = 0
    while refs.count < 40 {
      address += 512
      let ref = PageRef(address: address, length: 512, checksum: random.next())
      if cache.home(ref) < 16 { refs.append(ref) }
    }
    for ref in refs {
      page(3).withUnsafeBytes { b in if let base = b.baseAddress { for _ in 0..<3 { cache.insert(ref, base) } } }
    }
    #expect(cache.frameCount == 40)
    let slot = cache.slots.enter(0)
    defer { cache.slots.leave(slot) }
    for ref in refs { #expect(try cache.page(ref, tree: Self.tree, level: 0).u8(100) == 3) }
    #expect(cache.missCount == 0)
  }

  /// Who asks for memory beforehand never waits for it when a page comes, and there is no more of it than the cache may
  /// have.
  @Test(arguments: [1, 17, 40, 41, 1000])
  func memoryIsReadyBeforehand(_ frames: Int) throws {
    let environment = TestEnvironment()
    do {
      let capacity = max(PageCache.leastFrames, frames)
      let cache = PageCache(
        device: MemoryDevice(lock: ThreadLock()), environment: environment, pageSize: 512,
        bytes: FrameMemory.stride(512) * frames, storeSeed: 7)
      var (asked, meanwhile) = (0, 0)
      for n in 0..<capacity * 3 {
        if cache.wantsMemory {
          cache.prepareMemory()
          // Twice does no harm.
          cache.prepareMemory()
          #expect(!cache.wantsMemory)
          asked += 1
        }
        let before = environment.memory.allocations
        let ref = PageRef(address: UInt64(n + 1) * 512, length: 512, checksum: UInt64(n))
        page(n).withUnsafeBytes { b in if let base = b.baseAddress { cache.insert(ref, base) } }
        meanwhile += environment.memory.allocations - before
        #expect(environment.memory.bytes <= capacity * FrameMemory.stride(512))
      }
      #expect(meanwhile == 1, "the first piece comes with the first page")
      #expect(asked == environment.memory.allocations - 1 && asked > 0)
      #expect(cache.frameCount == capacity && environment.memory.bytes == capacity * FrameMemory.stride(512))
    }
    #expect(environment.memory.bytes == 0)
  }

  /// A transaction that writes a tree anew takes hardly more memory than the tree has, since it gives up what it
  /// replaces; what it reads, and what others see after it, is the same.
  @Test(arguments: [false, true])
  func replacedPagesMakeRoom(inBatches: Bool) throws {
    var options = StoreOptions()
    options.deltaBytes = 64 << 10
    let store = try Store.create(on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(), options: options)
    let rows = 0..<UInt64(6000)
    func value(_ row: UInt64, _ version: UInt8) -> [UInt8] {
      [UInt8](repeating: UInt8(row & 127) ^ version, count: 200)
    }
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for row in rows { try t.put(tree, row, value(row, 0)) }
    try t.commit()
    try store.checkpoint()
    let before = try store.snapshot()
    for row in rows { #expect(try before.value(tree, row) == value(row, 0)) }
    let frames = store.cache.frameCount
    #expect(frames > 300)
    for isKept in [false, true] {
      t = try store.beginWrite()
      func write(_ rows: Range<UInt64>, _ version: UInt8) throws {
        let batch = RowBatch()
        for row in rows {
          let bytes = value(row, version)
          if !inBatches { try t.put(tree, row, bytes) }
          if inBatches { try bytes.withUnsafeBytesTyped { (b) throws(StoreError) in try batch.add(row, b) } }
        }
        try t.apply(batch, to: tree)
      }
      try write(0..<2000, 128)
      // What is replaced once more, and then is not after all.
      let point = t.savepoint()
      try write(0..<2000, 64)
      for row in rows.prefix(2000) { #expect(try t.value(tree, row) == value(row, 64)) }
      try t.rollBack(to: point)
      for row in rows.prefix(2000) { #expect(try t.value(tree, row) == value(row, 128)) }
      try write(2000..<6000, 128)
      for row in rows where row % 7 == 0 { #expect(try t.value(tree, row) == value(row, 128)) }
      if !isKept {
        t.rollBack()
        #expect(store.cache.frameCount < frames * 7 / 4, "\(store.cache.frameCount) of \(frames)")
        for row in rows { #expect(try before.value(tree, row) == value(row, 0)) }
      } else {
        try t.commit()
        let after = try store.snapshot()
        for row in rows { #expect(try after.value(tree, row) == value(row, 128)) }
        // An older view has its own still, from the file.
        for row in rows { #expect(try before.value(tree, row) == value(row, 0)) }
      }
    }
    try store.close()
  }

  /// What is replaced stays in the cache while others begin views. One that is held, and not read, makes no difference.
  @Test(arguments: [false, true], [false, true])
  func replacedPagesStayWhereOthersRead(_ isRead: Bool, isHeld: Bool) throws {
    var options = StoreOptions()
    options.deltaBytes = 64 << 10
    let store = try Store.create(on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(), options: options)
    let rows = 0..<UInt64(6000)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for row in rows { try t.put(tree, row, [UInt8](repeating: 1, count: 200)) }
    try t.commit()
    try store.checkpoint()
    func expect(_ value: UInt8, _ view: Snapshot) throws {
      for row in rows { #expect(try view.value(tree, row)?.last == value) }
    }
    try expect(1, try store.snapshot())
    let frames = store.cache.frameCount
    let holder = isHeld ? try store.snapshot() : nil
    t = try store.beginWrite()
    for row in rows {
      try t.put(tree, row, [UInt8](repeating: 2, count: 200))
      // Ended at once.
      if isRead { _ = try store.snapshot() }
    }
    try t.commit()
    #expect(isRead == (store.cache.frameCount >= frames * 7 / 4), "\(store.cache.frameCount) of \(frames)")
    if let holder { try expect(1, holder) }
    try expect(2, try store.snapshot())
    try store.close()
  }

  /// What was asked for once only makes room before what somebody came back to.
  @Test func pagesThatWereReadOnceGoFirst() throws {
    let device = MemoryDevice(lock: ThreadLock())
    let cache = PageCache(
      device: device, environment: TestEnvironment(), pageSize: 512, bytes: FrameMemory.stride(512) * 400, storeSeed: 7
    )
    let tree = TreeID(rawValue: 21)
    var refs: [PageRef] = []
    for n in 0..<UInt64(1000) {
      var run = EntryRun(kind: .integer, isLeaf: true, pageSize: 512)
      var sizer = PageSizer(kind: .integer, isLeaf: true)
      let value = [UInt8](repeating: UInt8(n & 255), count: 100)
      value.withUnsafeBytes { run.append(TreeKey(n), value: $0, isStub: false) }
      sizer.add(run, 0, first: 0)
      var page = [UInt8](repeating: 0, count: 512)
      let length = page.withUnsafeMutableBytes { b in
        b.baseAddress.map {
          PageEncoder.encode(run, 0..<1, layout: sizer.layout, level: 0, tree: tree, generation: 1, to: $0)
        } ?? 0
      }
      var ref = PageRef(address: (n + 1) * 512, length: roundUp(length, to: 16), checksum: 0)
      try page.withUnsafeMutableBytes { b in
        guard let p = b.baseAddress else { return }
        ref.checksum = PageHeader.seal(
          p, count: ref.length, seed: PageRef.seed(store: 7, location: ref.location))
        try device.write(UnsafeRawBufferPointer(start: p, count: ref.length), at: ref.address)
      }
      refs.append(ref)
    }
    func read(_ some: ArraySlice<PageRef>) throws {
      for ref in some {
        let slot = cache.slots.enter(0)
        defer { cache.slots.leave(slot) }
        _ = try cache.page(ref, tree: tree, level: 0)
      }
    }
    try read(refs[0..<100])
    try read(refs[0..<100])
    // As many as there is room for beside them, and then some more.
    try read(refs[100..<600])
    let misses = cache.missCount
    try read(refs[0..<100])
    #expect(cache.missCount == misses, "\(cache.missCount - misses) of 100 had gone")
  }

  /// A device that cannot read one place of its file.
  private final class BadSector: StorageDevice {
    let base: any StorageDevice
    let place = Locked<UInt64?>(nil)
    init(_ base: any StorageDevice) { self.base = base }
    func size() throws(StoreError) -> UInt64 { try base.size() }
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
      if let bad = place.withLock({ $0 }), offset <= bad, bad < offset + UInt64(buffer.count) {
        throw .device(operation: .read, offset: offset, code: 5)
      }
      return try base.read(at: offset, into: buffer)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
      try base.write(bytes, at: offset)
    }
    func sync() throws(StoreError) { try base.sync() }
    func resize(to size: UInt64) throws(StoreError) { try base.resize(to: size) }
    func close() { base.close() }
  }

  /// A leaf that cannot be read takes none of those with it that are read together with it, and lie before it.
  @Test func anUnreadableLeafFailsWhereItIsMet() throws {
    let device = BadSector(MemoryDevice(lock: ThreadLock()))
    var options = StoreOptions()
    options.cacheBytes = 256 << 10
    let store = try Store.create(on: device, environment: TestEnvironment(), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for row in 0..<UInt64(20_000) { try t.put(tree, row, [UInt8](repeating: 5, count: 200)) }
    try t.commit()
    try store.checkpoint()
    let view = try store.snapshot()
    try view.forEach(tree) { (_, _) in true }
    // In the middle, where the leaf is not in the cache.
    let state = try #require(view.generation.trees[tree])
    #expect(state.level == 2)
    let slot = store.cache.slots.enter(0)
    let top = IntegerInner(try store.cache.page(state.root, tree: tree, level: 2))
    let middle = IntegerInner(try store.cache.page(top.ref(top.count / 2), tree: tree, level: 1))
    let (bad, first) = (middle.ref(middle.count / 2), middle.separator(middle.count / 2))
    store.cache.slots.leave(slot)
    store.cache.drop([bad])
    device.place.withLock { $0 = bad.address + 100 }
    var last: UInt64 = 0
    #expect(throws: StoreError.self) {
      try view.forEach(tree) { (row, _) in
        last = row
        return true
      }
    }
    #expect(last == first - 1)
    device.place.withLock { $0 = nil }
    try view.forEach(tree) { (row, _) in
      last = row
      return true
    }
    #expect(last == 19_999)
    try store.close()
  }

  /// A tree that the cache has no room for is gone through with few calls of the device, and drives nothing out of the
  /// cache that is read now and then; what is damaged on the way is reported where it is met.
  @Test func leavesAreReadAheadWhereTheCacheHasNoRoom() throws {
    let memory = MemoryDevice()
    let counting = CountingDevice(memory)
    var options = StoreOptions()
    options.cacheBytes = 256 << 10
    let store = try Store.create(on: counting, environment: TestEnvironment(), options: options)
    var t = try store.beginWrite()
    let (small, large) = (try t.createTree(.integer), try t.createTree(.integer))
    func value(_ row: UInt64) -> [UInt8] {
      [UInt8(row & 0xFF), UInt8(row >> 8)] + [UInt8](repeating: UInt8(row & 127), count: 198)
    }
    for row in 0..<UInt64(200) { try t.put(small, row, [UInt8](repeating: 3, count: 200)) }
    let rows: UInt64 = 20_000
    for row in 0..<rows { try t.put(large, row, value(row)) }
    try t.commit()
    // Changes that are not in pages yet lie over them.
    t = try store.beginWrite()
    for row in stride(from: 7, to: rows, by: 1001) { try t.delete(large, row) }
    try t.commit()
    let view = try store.snapshot()
    func goThrough(_ tree: TreeID, until end: UInt64 = .max) throws -> (count: UInt64, sum: UInt64) {
      var (count, sum) = (UInt64(0), UInt64(0))
      try view.forEach(tree) { (row, bytes) in
        #expect(tree == small ? bytes.count == 200 : bytes.elementsEqual(value(row)))
        (count, sum) = (count + 1, sum + row)
        return row < end
      }
      return (count, sum)
    }
    let gone = stride(from: 7, to: rows, by: 1001).map { $0 }
    let wanted = (count: rows - UInt64(gone.count), sum: rows * (rows - 1) / 2 - gone.reduce(0, +))
    for _ in 0..<3 { #expect(try goThrough(large) == wanted) }
    for _ in 0..<2 { _ = try goThrough(small) }
    let pages = try #require(view.generation.trees[large]?.pages)
    #expect(pages > 1000)
    counting.reset()
    #expect(try goThrough(large) == wanted)
    #expect(counting.counts.reads < Int(pages) / 8, "\(counting.counts.reads) of \(pages)")
    counting.reset()
    _ = try goThrough(small)
    #expect(counting.counts.reads == 0)
    // As long as nobody comes to it, nobody is told of it.
    try store.close()
    var image = memory.contents()
    // In its page, and wherever it was before it came there.
    let places = image.ranges(of: value(rows / 2)).map { $0.lowerBound + 100 }
    for place in places { image[place] ^= 0xFF }
    let fresh = try Store.open(on: MemoryDevice(copying: image), environment: TestEnvironment(), options: options)
    let other = try fresh.snapshot()
    var last: UInt64 = 0
    // The cache has to be full before leaves are read ahead.
    try other.forEach(large) { (row, _) in row < rows / 2 - 100 }
    do {
      try other.forEach(large) { (row, _) in
        last = row
        return true
      }
      Issue.record("the damage was not found")
    } catch StoreError.corrupt(.page(let tree), let offset, _) {
      #expect(tree == large && places.contains { offset <= UInt64($0) && UInt64($0) < offset + 4096 })
      #expect(last > rows / 2 - 100 && last <= rows / 2)
    }
  }

  /// Leaves that were gone through in parts are given up, if that is asked for, and read again where somebody wants
  /// them.
  @Test(arguments: [false, true])
  func whatWasGoneThroughMakesRoom(_ givesUp: Bool) throws {
    let store = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(), options: StoreOptions())
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for row in 0..<UInt64(6000) { try t.put(tree, row, [UInt8](repeating: UInt8(row & 127), count: 200)) }
    try t.commit()
    try store.checkpoint()
    let view = try store.snapshot()
    func sum() throws -> UInt64 {
      var sum: UInt64 = 0
      try view.forEach(tree) { (row, value) in
        sum += row * UInt64(value[199])
        return true
      }
      return sum
    }
    let wanted = try sum()
    let (frames, misses) = (store.cache.frameCount, store.cache.missCount)
    let parts = try view.parts(of: tree, entries: 500)
    #expect(parts.count > 8)
    var found: UInt64 = 0
    for number in 0..<parts.count {
      try view.forEachRun(parts, number, givesUpPages: givesUp) { (run) in
        for i in run.indices { found += run.key(i) * UInt64(run.value(i)[199]) }
        return true
      }
    }
    #expect(found == wanted)
    #expect(try sum() == wanted)
    // All but the last leaf of each part.
    #expect(givesUp == (store.cache.missCount - misses > UInt64(frames * 3 / 4)))
    #expect(store.cache.frameCount <= frames + 16)
    try store.close()
  }
}
