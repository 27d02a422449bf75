/// What a merge reads and writes through: pages to read, a place for the pages it makes, and the accounts.
final class MergeContext {
  let space: FileSpace
  let cache: PageCache
  let pageSize: Int
  /// Longer values go to extents.
  let inlineLimit: Int
  /// The publication that will be the first to reach what is written.
  let generation: UInt64
  private let pages: SegmentWriter
  private let values: SegmentWriter
  /// Changes to the tree of extents that the pass itself makes: values that moved out of the log, extents that moved.
  private(set) var extentChanges: DeltaTable
  private let valueIDs: ValueIDs
  /// What was added to ``extentChanges``, in order.
  private(set) var journal: [DeltaNode] = []
  /// Large values that nothing refers to any more.
  private(set) var freedValues: [UInt64] = []
  /// What becomes of pages that were replaced, where that is a transaction's doing.
  @exclusivity(unchecked) var replaced: ReplacedPages?
  /// Where another thread may make leaves ahead of a merge.
  var ahead: PatchesAhead?
  @exclusivity(unchecked) private(set) var pagesWritten = 0
  @exclusivity(unchecked) private(set) var pagesRead = 0

  init(
    space: FileSpace, cache: PageCache, pageSize: Int, generation: UInt64, pages: SegmentWriter,
    values: SegmentWriter, valueIDs: ValueIDs
  ) {
    self.space = space
    self.cache = cache
    self.pageSize = pageSize
    inlineLimit = Self.inlineLimit(pageSize: pageSize)
    self.generation = generation
    self.pages = pages
    self.values = values
    self.valueIDs = valueIDs
    extentChanges = DeltaTable(bucketCount: 1, largestChunk: Arena.usualLargest)
  }

  static func inlineLimit(pageSize: Int) -> Int { pageSize / 4 }

  /// Copies the page of `ref` to `out`.
  func copy(
    _ ref: PageRef, tree: TreeID, level: UInt8, kind: TreeKind, to out: UnsafeMutableRawPointer
  ) throws(StoreError) {
    let slot = cache.slots.enter(0)
    defer { cache.slots.leave(slot) }
    let page = try page(ref, tree: tree, level: level, kind: kind)
    out.copyMemory(from: page, byteCount: page.pageLength)
  }

  /// The same for a page of a pass over many; answers whether it was in the cache, where it does not come.
  func copyPassing(
    _ ref: PageRef, tree: TreeID, level: UInt8, kind: TreeKind, to out: UnsafeMutableRawPointer
  ) throws(StoreError) -> Bool {
    pagesRead += 1
    let wasCached = try cache.copy(ref, tree: tree, level: level, to: out)
    guard Verification.mergeKind.holds(UnsafeRawPointer(out).pageKind == kind.page(atLevel: level).rawValue) else {
      throw TreeDescent.wrongKind(ref, tree)
    }
    return wasCached
  }

  /// The page of `ref`, where it lies in the cache. The caller is inside an epoch.
  func page(_ ref: PageRef, tree: TreeID, level: UInt8, kind: TreeKind) throws(StoreError) -> UnsafeRawPointer {
    pagesRead += 1
    let page = try cache.page(ref, tree: tree, level: level)
    guard Verification.mergeKind.holds(page.pageKind == kind.page(atLevel: level).rawValue) else {
      throw TreeDescent.wrongKind(ref, tree)
    }
    return page
  }

  /// Notes that a page was read elsewhere.
  func noteRead() { pagesRead += 1 }

  /// Seals a page, which is padded to a multiple of 16 bytes, and writes it. A page that does not come into the cache
  /// can be read after ``flush()``.
  func write(_ page: UnsafeMutableRawBufferPointer, cached: Bool = true) throws(StoreError) -> PageRef {
    guard let p = page.baseAddress else { throw .misuse("a page without bytes") }
    let address = try pages.makeRoom(page.count)
    var ref = PageRef(address: address, length: page.count, checksum: 0)
    if cached { cache.touchPlace(ref) }
    let seed = PageRef.seed(store: space.storeSeed, location: ref.location)
    ref.checksum = PageHeader.seal(p, count: page.count, seed: seed)
    try pages.fill(UnsafeRawBufferPointer(page), at: address)
    space.retain(address, page.count)
    if cached { cache.insert(ref, UnsafeRawPointer(p)) }
    pagesWritten += 1
    return ref
  }

  /// Notes that nothing that will be published reaches a page any more.
  func release(_ ref: PageRef) {
    space.release(ref.address, ref.length)
    replaced?.append(ref)
  }

  /// Moves a value into extents of its own.
  func storeLarge(_ value: UnsafeRawBufferPointer) throws(StoreError) -> LargeValueStub {
    let id = valueIDs.take()
    let list = extentChanges.makeList(.extents, .integer)
    try Extents.write(value, id: id, to: values, space: space) { (key, entry) in
      noteExtent(list, key, entry)
    }
    return LargeValueStub(id: id, length: UInt64(value.count))
  }

  private func noteExtent(_ list: DeltaList, _ key: UInt64, _ entry: [UInt8]) {
    let node = entry.withUnsafeBytes {
      extentChanges.add(list, sequence: 1, key: TreeKey(key), value: $0, op: .put, effect: 1)
    }
    journal.append(node)
  }

  /// Notes that nothing refers to a large value any more; its extents are released when the tree of extents is merged.
  func freeValue(_ id: UInt64) { freedValues.append(id) }

  /// Notes that an extent is to be forgotten (its value is gone).
  func deleteExtent(_ key: UInt64) {
    let list = extentChanges.makeList(.extents, .integer)
    journal.append(
      extentChanges.add(
        list, sequence: 2, key: TreeKey(key), value: UnsafeRawBufferPointer(start: nil, count: 0), op: .delete,
        effect: 0))
  }

  /// Copies an extent to the values being written and notes its new place.
  func moveExtent(_ key: UInt64, _ extent: Extent) throws(StoreError) {
    var bytes: [UInt8] = []
    try Extents.read(extent, key: key, device: space.device, storeSeed: space.storeSeed, into: &bytes)
    var scratch: [UInt8] = []
    let entry = try bytes.withUnsafeBytesTyped { (b) throws(StoreError) in
      try Extents.writeOne(b, key: key, to: values, space: space, scratch: &scratch)
    }
    noteExtent(extentChanges.makeList(.extents, .integer), key, entry)
  }

  /// Hands over what was noted about extents: a transaction that goes on after its changes went to pages has to see it.
  func takeExtentChanges() -> (nodes: [DeltaNode], table: DeltaTable) {
    defer {
      journal = []
      extentChanges = DeltaTable(bucketCount: 1, largestChunk: Arena.usualLargest)
    }
    return (journal, extentChanges)
  }

  /// Forgets the values that were freed after the given state.
  func rollBack(freedCount: Int) {
    if freedValues.count > freedCount { freedValues.removeLast(freedValues.count - freedCount) }
  }

  func flush() throws(StoreError) {
    try pages.flush()
    try values.flush()
  }

  /// Notes that the extent of an entry of the tree of extents is not reached any more.
  func releaseExtent(_ entry: UnsafeRawBufferPointer) {
    if let extent = Extent(entry), !isPlanted(.replacedExtentNotReleased) {
      space.release(extent.address, extent.storedLength)
    }
  }
}
