/// A page or an extent that the newest state reaches.
struct LiveItem {
  enum Content {
    case page(TreeID, Relocation.Mark)
    case extent(key: UInt64, Extent)
  }

  var address: UInt64
  var length: Int
  var content: Content

  var end: UInt64 { address + UInt64(length) }
}

extension Store {
  /// What is live in `s`, as a transaction sees it if one is given; but for directories, which every publication writes
  /// anew.
  func liveItems(in s: Segment, _ transaction: WriteTransaction? = nil) throws(StoreError) -> [LiveItem] {
    let window = DeviceWindow(device: device, bufferBytes: options.bufferLength)
    switch s.kind {
    case .pages: return try livePages(s, window, transaction)
    case .values: return try liveExtents(s, window, transaction)
    case .log: return []
    }
  }

  /// Walks the pages of a segment and finds those that their tree still reaches.
  private func livePages(
    _ s: Segment, _ window: DeviceWindow, _ transaction: WriteTransaction?
  ) throws(StoreError) -> [LiveItem] {
    var items: [LiveItem] = []
    var offset = SegmentHeader.size
    let used = Int(s.used)
    let end = s.address + UInt64(used)
    let key = UnsafeMutableRawPointer.allocate(byteCount: pageSize, alignment: 16)
    defer { key.deallocate() }
    while offset + PageHeader.size <= used {
      let address = s.address + UInt64(offset)
      var p = try window.bytes(at: address, count: PageHeader.size, limit: end).start
      let stored = roundUp(p.pageLength, to: 16)
      // Parts of a directory may be longer than a page.
      let isDirectory = p.pageKind == PageKind.directory.rawValue
      var isPage =
        stored >= PageHeader.size && offset + stored <= used && p.pageGeneration >= s.born
        && (isDirectory || Verification.relocationLength.holds(stored <= pageSize))
      if isPage {
        p = try window.bytes(at: address, count: stored, limit: end).start
        isPage = PageCheck.isSound(p, stored: stored)
      }
      guard isPage else {
        // At `.strict`, room is left over before the next block.
        offset += 16
        continue
      }
      offset += stored
      guard p.pageKind != PageKind.directory.rawValue,
        let state = transaction?.spilled[p.pageTree] ?? current.trees[p.pageTree], !state.root.isNone,
        Verification.relocationKind.holds(p.pageKind == state.kind.page(atLevel: p.pageLevel).rawValue)
      else { continue }
      let first: TreeKey
      switch PageKind(rawValue: p.pageKind) {
      case .integerLeaf: first = TreeKey(IntegerLeaf(p).key(0))
      case .integerInner: first = TreeKey(IntegerInner(p).low)
      case .bytesLeaf:
        first = TreeKey(UnsafeRawBufferPointer(start: key, count: BytesLeaf(p).copyKey(0, to: key)))
      case .bytesInner: first = TreeKey(BytesInner(p).low)
      case .directory, nil: continue
      }
      let isLive = try reference(p.pageTree, state, level: p.pageLevel, first)?.address == address
      if isLive {
        let mark = Relocation.Mark(level: p.pageLevel, key: OwnedKey(first))
        items.append(LiveItem(address: address, length: stored, content: .page(p.pageTree, mark)))
      }
    }
    return items
  }

  /// The reference to the page of `level` in whose range `key` lies.
  private func reference(
    _ tree: TreeID, _ state: TreeState, level: UInt8, _ key: TreeKey
  ) throws(StoreError) -> PageRef? {
    var ref = state.root
    var at = state.level
    if level > at { return nil }
    let slot = cache.slots.enter(0)
    defer { cache.slots.leave(slot) }
    while at > level {
      let page = try cache.page(ref, tree: tree, level: at)
      guard Verification.relocationKind.holds(page.pageKind == state.kind.page(atLevel: at).rawValue) else {
        throw TreeDescent.wrongKind(ref, tree)
      }
      if state.kind == .integer {
        let inner = IntegerInner(page)
        ref = inner.ref(inner.child(key.head))
      } else {
        let inner = BytesInner(page)
        ref = inner.ref(inner.child(key))
      }
      at -= 1
    }
    return ref
  }

  private func liveExtents(
    _ s: Segment, _ window: DeviceWindow, _ transaction: WriteTransaction?
  ) throws(StoreError) -> [LiveItem] {
    var items: [LiveItem] = []
    lock.lock()
    let view = transaction ?? TreeView(core: self, generation: current, upTo: appendedSequence, hint: 0)
    lock.unlock()
    guard view.find(.extents) != nil else { return [] }
    var offset = SegmentHeader.size
    let ids = 1..<max(valueIDs.next, 2)
    let end = s.address + UInt64(s.used)
    while offset + Extent.headerSize <= Int(s.used) {
      let address = s.address + UInt64(offset)
      let p = try window.bytes(at: address, count: Extent.headerSize, limit: end).start
      let key = p.u64(0)
      // What looks like an extent may be part of one that is dead, or, at `.strict`, lie before the block where a pass
      // began, and be of what the room was used for before. Its length says nothing about where the next one begins.
      var next = offset + 16
      defer { offset = next }
      guard ids.contains(key >> Extent.numberBits), p.u32(8) > 0, p.u32(12) == 0,
        let entry = try view.withValue(.extents, key, { (b) throws(StoreError) in Extent(b) }) ?? nil,
        entry.address == address
      else { continue }
      items.append(LiveItem(address: address, length: entry.storedLength, content: .extent(key: key, entry)))
      next = offset + entry.storedLength
    }
    return items
  }
}
