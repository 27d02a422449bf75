/// What `check()` found.
public struct CheckReport: Sendable {
  /// A finding.
  public struct Problem: Sendable, Equatable {
    /// Which part of the store.
    public var place: StorePlace
    /// Bytes from the start of the file; 0 for what lies in no one place, and for the first copy of the superblock.
    public var offset: UInt64
    /// What is wrong with it.
    public var detail: StaticString
    /// The offset, if it is a place in the file.
    public var knownOffset: UInt64? { offset == 0 && place != .superblock ? nil : offset }

    /// Whether place and offset are the same.
    public static func == (a: Problem, b: Problem) -> Bool { a.place == b.place && a.offset == b.offset }
  }

  /// Findings, at most ``limit``.
  public var problems: [Problem] = []
  /// Pages visited.
  public var pages: UInt64 = 0
  /// Entries visited.
  public var entries: UInt64 = 0
  /// Large values' extents visited.
  public var extents: UInt64 = 0

  /// No more findings than this are gathered.
  public static let limit = 1000

  mutating func add(_ place: StorePlace, _ offset: UInt64, _ detail: StaticString) {
    if problems.count < Self.limit { problems.append(Problem(place: place, offset: offset, detail: detail)) }
  }

  mutating func add(_ error: StoreError) {
    switch error {
    case .corrupt(let place, let offset, let detail): add(place, offset, detail)
    case .device(_, let offset, _): add(.segment, offset, "the device cannot read this place")
    default: add(.segment, 0, "the check could not be finished here")
    }
  }
}

extension Store {
  /// Walks everything that the newest checkpoint reaches, from the device rather than the cache: checksums, structure,
  /// order of keys, separators, entry counts at every level, the figures in the directory, the live bytes of every
  /// segment, that every large value is there and belongs to one entry, and that the next one has a number of its own.
  /// Has the turn to write all the while, or, in a store that is open for reading only, keeps others of this process
  /// from catching up with what other processes commit. What only retained commits reach is not looked at, nor the log,
  /// which was checked when it was read.
  ///
  /// - Throws: ``StoreError/closed`` and the like; damage is reported, not thrown.
  public func check() throws(StoreError) -> CheckReport {
    try beginLooking()
    defer { endLooking() }
    // What it reads may be damaged.
    var found: StoreError?
    if checkpointUnderWay != nil {
      do throws(StoreError) { try finishCheckpoint() } catch {
        guard case .corrupt = error else { throw error }
        found = error
      }
    }
    let checker = StoreChecker(self)
    if let found { checker.report.add(found) }
    checker.run()
    return checker.report
  }
}

/// The walk behind `Store.check()`.
final class StoreChecker {
  private let store: Store
  private let uncached: PageCache
  private let generation: Generation
  var report = CheckReport()
  private var live: [UInt32: UInt64] = [:]
  /// Large values referred to by pages: id to length.
  private var referred: [UInt64: UInt64] = [:]
  /// No more bytes of pages can be reached than this.
  private let usedBytes: UInt64

  init(_ store: Store) {
    self.store = store
    generation = store.current
    usedBytes = store.space.table.segments.reduce(0) { $0 + UInt64($1.used) }
    uncached = PageCache(
      device: store.device, environment: store.environment, pageSize: store.pageSize, bytes: 0,
      storeSeed: store.storeSeed)
  }

  func run() {
    checkSuperblocks()
    checkLogHeaders()
    for (id, state) in generation.trees.ordered(by: { $0.key < $1.key }) where id != .extents { checkTree(id, state) }
    noteStubsOfDeltas()
    if let state = generation.trees[.extents] { checkTree(.extents, state) }
    checkExtents()
    for ref in store.directoryPages { note(ref.address, ref.length, .directory) }
    checkSegments()
  }

  private func checkSuperblocks() {
    var buffer = [UInt8](repeating: 0, count: Superblock.copySize)
    for copy in 0..<2 {
      let offset = Superblock.offset(slot: store.superblock.slot, copy: copy)
      do throws(StoreError) {
        let result: Result<Int, StoreError> = buffer.withUnsafeMutableBytes { b in
          do throws(StoreError) { return .success(try store.device.read(at: offset, into: b)) } catch {
            return .failure(error)
          }
        }
        _ = try result.get()
        let decoded = buffer.withUnsafeBytes { Superblock.decode($0, at: offset, readOnly: true) }
        var isWhole = false
        if case .valid(let s) = decoded {
          // Whoever only reads keeps no other process from publishing twice meanwhile, which takes the same place.
          let (newest, isReader) = (store.superblock.publication, store.options.isReadOnly)
          isWhole = s.publication == newest || isReader && s.publication > newest
        }
        expect(.reportSuperblock, isWhole, .superblock, offset, "a copy of the newest superblock is damaged")
      } catch { report.add(error) }
    }
  }

  /// Opening does not need the headers of log segments, and so says nothing of damage to them.
  private func checkLogHeaders() {
    // Another process may use the room again while this one only reads.
    if store.options.isReadOnly, store.share != nil { return }
    // The segment behind the log needs no header before its first record: a killed opener may have written there.
    let log = store.log.segments.filter { $0 != store.log.next.start }
    let window = DeviceWindow(device: store.device, bufferBytes: SegmentHeader.size)
    for s in store.space.table.segments where s.kind == .log && log.contains(s.start) {
      do throws(StoreError) {
        let segment = try LoadedLogSegment(
          LogSegment(start: s.start, units: s.units), window, storeSeed: store.storeSeed)
        let isThere = segment.header != nil
        expect(.reportLogHeader, isThere, .log, s.address, "the header of a log segment is damaged")
      } catch { report.add(error) }
    }
  }

  private func note(_ address: UInt64, _ length: Int, _ place: StorePlace) {
    let index = store.space.table.index(of: address)
    expect(.reportSegment, index != nil, place, address, "a reference into room that no segment covers")
    guard let index else { return }
    let s = store.space.table[index]
    let isUsed = address + UInt64(length) <= s.address + UInt64(s.used)
    expect(.reportUsed, isUsed, place, address, "a reference behind the used part of its segment")
    live[s.start, default: 0] += UInt64(length)
  }

  private struct Walk {
    var entries: UInt64 = 0
    var pages: UInt64 = 0
    var bytes: UInt64 = 0
    var stubs: UInt64 = 0
    var last: [UInt8]?
  }

  private func checkTree(_ id: TreeID, _ state: TreeState) {
    var walk = Walk()
    if !state.root.isNone {
      do throws(StoreError) {
        _ = try visit(id, state.kind, state.root, state.level, low: nil, high: nil, &walk)
      } catch {
        report.add(error)
        return
      }
    }
    let (place, root) = (StorePlace.page(tree: id), state.root.address)
    expect(.reportEntries, walk.entries == state.count, place, root, "the entry count is wrong")
    expect(.reportPages, walk.pages == state.pages, place, root, "the page count is wrong")
    expect(.reportBytes, walk.bytes == state.bytes, place, root, "the byte count is wrong")
    let isRight = walk.stubs == state.largeValues
    expect(.reportLargeValues, isRight, place, root, "the count of large values is wrong")
  }

  /// Checks a subtree; answers its entries. The recursion is as deep as the tree, at most 64.
  private func visit(
    _ id: TreeID, _ kind: TreeKind, _ ref: PageRef, _ level: UInt8, low: [UInt8]?, high: [UInt8]?, _ walk: inout Walk
  ) throws(StoreError) -> UInt64 {
    note(ref.address, ref.length, .page(tree: id))
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: store.pageSize, alignment: 16)
    defer { buffer.deallocate() }
    do {
      let slot = uncached.slots.enter(0)
      defer { uncached.slots.leave(slot) }
      let page = try uncached.page(ref, tree: id, level: level)
      buffer.copyMemory(from: page, byteCount: page.pageLength)
    }
    let page = UnsafeRawPointer(buffer)
    walk.pages += 1
    walk.bytes += UInt64(ref.length)
    report.pages += 1
    // A few pages that refer to others many times over would keep the walk going for ever.
    guard Verification.reportPagesOnce.holds(walk.bytes <= usedBytes) else {
      throw .corrupt(place: .page(tree: id), offset: ref.address, detail: "pages are reached more than once")
    }
    guard Verification.reportKind.holds(page.pageKind == kind.page(atLevel: level).rawValue) else {
      throw TreeDescent.wrongKind(ref, id)
    }
    if level == 0 {
      for i in 0..<page.pageCount { checkEntry(id, kind, ref, page, i, low, high, &walk) }
      return UInt64(page.pageCount)
    }
    var sum: UInt64 = 0
    var previous = low
    for i in 0..<page.pageCount {
      let start = i == 0 ? low : separator(kind, page, i)
      let end = i + 1 < page.pageCount ? separator(kind, page, i + 1) : high
      if i > 0, let p = previous, let s = start {
        expect(
          .reportSeparators, precedes(p, s), .page(tree: id), ref.address, "separators are out of order")
      }
      previous = start ?? previous
      let child = kind == .integer ? IntegerInner(page).ref(i) : BytesInner(page).ref(i)
      let below = kind == .integer ? IntegerInner(page).entries(i) : BytesInner(page).entries(i)
      do throws(StoreError) {
        let found = try visit(id, kind, child, level - 1, low: start, high: end, &walk)
        let isRight = found == below
        expect(.reportBelow, isRight, .page(tree: id), ref.address, "the count of entries below is wrong")
        sum &+= found
      } catch {
        report.add(error)
        sum &+= below
      }
    }
    return sum
  }

  private func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.withUnsafeBytes { x in b.withUnsafeBytes { y in compareBytes(x.start, x.count, y.start, y.count) < 0 } }
  }

  private func integer(_ key: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: key >> UInt64(56 - 8 * $0)) }
  }

  private func separator(_ kind: TreeKind, _ page: UnsafeRawPointer, _ i: Int) -> [UInt8] {
    if kind == .integer { return integer(IntegerInner(page).separator(i)) }
    return [UInt8](unsafeUninitializedCapacity: store.pageSize) { b, n in
      n = b.baseAddress.map { BytesInner(page).copySeparator(i, to: UnsafeMutableRawPointer($0)) } ?? 0
    }
  }

  private func checkEntry(
    _ id: TreeID, _ kind: TreeKind, _ ref: PageRef, _ page: UnsafeRawPointer, _ i: Int, _ low: [UInt8]?,
    _ high: [UInt8]?, _ walk: inout Walk
  ) {
    let key: [UInt8]
    if kind == .integer {
      key = integer(IntegerLeaf(page).key(i))
    } else {
      key = [UInt8](unsafeUninitializedCapacity: store.pageSize) { b, n in
        n = b.baseAddress.map { BytesLeaf(page).copyKey(i, to: UnsafeMutableRawPointer($0)) } ?? 0
      }
    }
    walk.entries += 1
    report.entries += 1
    let place = StorePlace.page(tree: id)
    if let last = walk.last {
      expect(.reportKeys, precedes(last, key), place, ref.address, "keys are out of order")
    }
    if let low { expect(.reportLow, !precedes(key, low), place, ref.address, "a key below its separator") }
    if let high { expect(.reportHigh, precedes(key, high), place, ref.address, "a key beyond its separator") }
    walk.last = key
    let value = kind == .integer ? IntegerLeaf(page).value(i) : BytesLeaf(page).value(i)
    let isStub = kind == .integer ? IntegerLeaf(page).isStub(i) : BytesLeaf(page).isStub(i)
    if isStub, let stub = LargeValueStub(value) {
      walk.stubs += 1
      noteStub(stub, id, ref.address)
    }
  }

  private func noteStub(_ stub: LargeValueStub, _ id: TreeID, _ address: UInt64) {
    let isAlone = referred.updateValue(stub.length, forKey: stub.id) == nil
    expect(.reportShared, isAlone, .extent(value: stub.id), address, "a large value that two entries refer to")
  }

  /// Large values that only changes since the checkpoint refer to, and those whose last reference is in the pages but
  /// superseded: the latter keep their extents until the next checkpoint.
  private func noteStubsOfDeltas() {
    for table in [generation.active, generation.frozen] {
      guard let table else { continue }
      for tree in table.trees {
        table.list(tree)?.forEachChange { n in
          if n.op == .putStub, n.sequence != DeltaNode.void, let stub = LargeValueStub(n.value) {
            noteStub(stub, tree, 0)
          }
        }
      }
    }
  }

  private func checkExtents() {
    let view = TreeView(core: store, generation: generation, upTo: store.appendedSequence, hint: 0)
    var lengths: [UInt64: UInt64] = [:]
    do throws(StoreError) {
      let cursor = try view.cursor(.extents)
      var more = try cursor.seekFirst()
      var content: [UInt8] = []
      while more {
        let key = cursor.integerKey
        let id = key >> Extent.numberBits
        let place = StorePlace.extent(value: id)
        let extent = try cursor.withValue({ (b) throws(StoreError) in Extent(b) }) ?? nil
        expect(.reportExtentEntry, extent != nil, place, 0, "malformed entry of an extent")
        if let extent {
          report.extents += 1
          note(extent.address, extent.storedLength, place)
          content.removeAll(keepingCapacity: true)
          do throws(StoreError) {
            try Extents.read(extent, key: key, device: store.device, storeSeed: store.storeSeed, into: &content)
          } catch { report.add(error) }
          let isUsed = referred[id] != nil
          expect(.reportExtentUse, isUsed, place, extent.address, "an extent that nothing refers to")
          lengths[id, default: 0] += UInt64(extent.count)
        }
        more = try cursor.next()
      }
    } catch { report.add(error) }
    // Another value would be given a number that is in use, and take the extents of the first for its own.
    let highest = max(referred.keys.max() ?? 0, lengths.keys.max() ?? 0)
    let directory = store.directoryPages.first?.address ?? 0
    expect(
      .reportNextValue, highest < store.valueIDs.next, .directory, directory,
      "the next large value's number is in use")
    for (id, length) in referred {
      expect(.reportExtents, lengths[id] == length, .extent(value: id), 0, "a large value lacks extents")
    }
  }

  private func checkSegments() {
    // That segments do not overlap is seen to whenever one is added to the table.
    for s in store.space.table.segments where s.kind != .log {
      let isRight = UInt64(s.live) == live[s.start] ?? 0
      expect(.reportLive, isRight, .segment, s.address, "the count of live bytes is wrong")
    }
  }

  /// Reports what does not hold.
  private func expect(
    _ check: Verification, _ holds: Bool, _ place: StorePlace, _ offset: UInt64, _ detail: StaticString
  ) {
    if !check.holds(holds) { report.add(place, offset, detail) }
  }
}
