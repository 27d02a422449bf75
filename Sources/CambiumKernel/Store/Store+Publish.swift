// Writing the directory and the superblock.

extension Store {
  /// Longest chunk in bytes, the page header included, of a directory of `bytes`: a long chunk may leave as much unused
  /// at the end of a segment.
  private func directoryChunkSize(_ bytes: Int) -> Int { bytes > 1 << 17 ? 32768 : 8192 }

  /// Writes the directory of `c` behind its pages and prepares the superblock that names it.
  func writeDirectory(_ c: Checkpoint) throws(StoreError) {
    c.retainedAfter = unexpiredRetained().filter { $0.id != c.input?.transaction.restoring?.released }
    // Of the state that a restoration gives up, nothing is counted any more.
    if !c.restores, !isPlanted(.oldDirectoryKept) {
      for ref in directoryPages { space.release(ref.address, ref.length) }
    }
    try c.context.flush()
    var directory = Directory()
    directory.sequence = c.sequence
    directory.nextValueID = valueIDs.next
    directory.nextTree = max(frozenNextTree, c.input?.transaction.nextTree ?? 0)
    directory.trees = c.trees
    directory.retained = c.retainedAfter
    if let entry = c.retain { directory.retained.append(entry) }
    // Room first, since the segment table that is written has to know of it; a few entries more than needed.
    directory.segments = publishedSegments(c.publication)
    let known = directory.encoded().count
    let chunkSize = directoryChunkSize(known)
    let chunk = chunkSize - PageHeader.size
    // Each chunk, the index and what they displace may begin a segment.
    let entries = known / (chunk - 2 * Segment.encodedSize) + 8
    let slack = (entries + (pageWriter.expected == nil ? 0 : space.cuttableSegments)) * Segment.encodedSize
    let total = known + slack
    let chunks = (total + chunk - 1) / chunk
    let indexLength = roundUp(PageHeader.size + chunks * PageRef.size, to: 16)
    guard indexLength <= chunkSize else { throw .misuse("the directory is too large") }
    var places: [(address: UInt64, length: Int)] = []
    var left = total
    for _ in 0..<chunks {
      let n = min(left, chunk)
      let length = roundUp(PageHeader.size + n, to: 16)
      places.append((try pageWriter.place(length), n))
      space.retain(places[places.count - 1].address, length)
      left -= n
    }
    let indexAddress = try pageWriter.place(indexLength)
    space.retain(indexAddress, indexLength)
    if pageWriter.expected != nil {
      space.cutUnusedUnits(at: c.publication, fresh: pageWriter.allocated + valueWriter.allocated)
    }
    // Now the table is final.
    directory.segments = publishedSegments(c.publication)
    var bytes = directory.encoded()
    guard bytes.count <= total else { throw .misuse("the directory outgrew its room") }
    bytes.append(contentsOf: repeatElement(0, count: total - bytes.count))
    var refs: [PageRef] = []
    var offset = 0
    for (address, n) in places {
      let ref = try bytes.withUnsafeBytesTyped { (b) throws(StoreError) in
        try writeDirectoryPage(
          UnsafeRawBufferPointer(rebasing: b[offset..<(offset + n)]), count: 0, at: address, c.publication)
      }
      refs.append(ref)
      offset += n
    }
    var index = ByteWriter()
    for ref in refs {
      index.u64(ref.location)
      index.u64(ref.checksum)
    }
    let indexRef = try index.bytes.withUnsafeBytesTyped { (b) throws(StoreError) in
      try writeDirectoryPage(b, count: refs.count, at: indexAddress, c.publication)
    }
    refs.append(indexRef)
    c.directoryPages = refs
    try reserveForCommits(behind: c)
    var next = superblock
    next.publication = c.publication
    next.generation = c.publication
    next.directory = indexRef
    next.directoryBytes = UInt64(total)
    next.session = log.session
    next.isClean = false
    next.fileUnits = UInt64(space.table.fileUnits)
    next.pieces = [c.mark]
    lock.lock()
    next.durableSequence = max(durableSequence, c.sequence)
    lock.unlock()
    c.superblock = next
    if var entry = c.retain {
      entry.directory = indexRef
      entry.directoryBytes = UInt64(total)
      c.retainedAfter.append(entry)
    }
  }

  /// Makes the room that the first commits behind `c` have to leave in reserve, so that the syncs of the publication
  /// cover the new size of the file, and not the sync of a commit, which somebody waits for. A store that holds next to
  /// nothing stays as small as it is.
  private func reserveForCommits(behind c: Checkpoint) throws(StoreError) {
    let used = UInt64(space.table.usedUnits)
    if used < 8 { return }
    var coming = reserveEstimate
    coming.published()
    // What becomes free by the publication. If a view still needs some of it, a commit makes the rest of its room
    // itself.
    var freed: UInt64 = 0
    for s in space.table.segments where s.kind != .log && s.dead == c.publication { freed += UInt64(s.units) }
    // Something more for what such a commit changes.
    let units = reserveUnits(coming) + min(8, used / 4)
    if units <= freed { return }
    do throws(StoreError) {
      try space.reserve(units - freed, exactly: true)
    } catch {
      // A full device is the matter of the commit that needs the room.
      guard case .deviceFull = error else { throw error }
    }
  }

  private func writeDirectoryPage(
    _ content: UnsafeRawBufferPointer, count: Int, at address: UInt64, _ publication: UInt64
  ) throws(StoreError) -> PageRef {
    let length = PageHeader.size + content.count
    let stored = roundUp(length, to: 16)
    let p = UnsafeMutableRawPointer.allocate(byteCount: stored, alignment: 16)
    defer { p.deallocate() }
    p.zero(stored)
    PageHeader.write(
      to: p, kind: .directory, level: count > 0 ? 1 : 0, count: count, tree: TreeID(rawValue: 0),
      generation: publication, length: length, flags: 0, width: 0, prefix: 0, fixed: 0, countWidth: 0)
    p.put(content, PageHeader.size)
    var ref = PageRef(address: address, length: stored, checksum: 0)
    ref.checksum = PageHeader.seal(p, count: stored, seed: PageRef.seed(store: storeSeed, location: ref.location))
    try device.write(UnsafeRawBufferPointer(start: p, count: stored), at: address)
    return ref
  }

  /// The segments as publication `number` lists them; those in which nothing is reached any more are marked as dead.
  private func publishedSegments(_ number: UInt64) -> [Segment] {
    var list: [Segment] = []
    for i in space.table.segments.indices where space.table[i].kind != .log {
      if space.table[i].live > 0 {
        space.table[i].dead = 0
      } else if space.table[i].dead == 0, space.table[i].start != pageWriter.current,
        space.table[i].start != valueWriter.current
      {
        space.table[i].dead = isPlanted(.deadOnePublicationEarly) ? number - 1 : number
      }
      list.append(space.table[i])
    }
    return list
  }

  /// Writes both copies of the superblock's slot. On failure the store is poisoned: which superblock the next opening
  /// finds is unknown.
  func writeSuperblock(_ next: Superblock) throws(StoreError) {
    do throws(StoreError) {
      // Stores of other processes look at everything until there is a mark again.
      try eraseMark()
      for copy in 0..<(isPlanted(.secondCopyNotWritten) ? 1 : 2) { try writeCopy(copy, of: next) }
      try renewMark()
    } catch {
      throw poisoned(by: error)
    }
    lock.lock()
    noteNeededLengthLocked(publication: next.publication)
    lock.unlock()
  }

  private func writeCopy(_ copy: Int, of superblock: Superblock) throws(StoreError) {
    let offset = Superblock.offset(slot: superblock.slot, copy: copy)
    try superblock.encoded(at: offset).withUnsafeBytesTyped { (b) throws(StoreError) in try device.write(b, at: offset)
    }
  }

  /// Makes sure that the superblock that was read at opening is durable: writes it again, one copy at a time, a
  /// copy that was not whole first. One durable copy is enough; the next sync of any kind covers the other.
  func proveSuperblock() throws(StoreError) {
    if superblockIsProven { return }
    let first = isPlanted(.wholeCopyRewrittenFirst) ? wholeSuperblockCopy : 1 - wholeSuperblockCopy
    for copy in [first, 1 - first] {
      do throws(StoreError) { try writeCopy(copy, of: superblock) } catch {
        throw poisoned(by: error)
      }
      if copy != wholeSuperblockCopy, !isPlanted(.copiesProvedTogether) { try syncNow() }
    }
    superblockIsProven = true
  }

  /// Makes sure that the superblock on the device says that the store is in use, before anything is appended.
  func requireSession() throws(StoreError) {
    if sessionBegun { return }
    // The clean mark was read, but its sync may have failed: then the other slot, which is written next, holds the only
    // superblock that a power cut would leave.
    try proveSuperblock()
    let session = environment.randomBits() | 1
    var next = superblock
    next.publication += 1
    next.session = session
    next.isClean = false
    log.session = session
    next.pieces = [log.piece(firstSequence: appendedSequence + 1)]
    // Nobody needs this header as long as the store is closed. Once the store is in use, a log without records and
    // without this header passes for damaged.
    if !log.headerIsWhole, !isPlanted(.rottenHeaderStays) {
      try writeLogHeader()
      try syncNow()
      log.headerIsWhole = true
    }
    try writeSuperblock(next)
    if !isPlanted(.sessionNotSynced) { try syncNow() }
    superblock = next
    space.durablePublication = next.publication
    space.session = session
    log.pieces = next.pieces
    sessionBegun = true
  }

  /// Frees the dead segments that nothing needs, and gives room at the end of the file back.
  func releaseDeadSegments() throws(StoreError) {
    try freeDeadSegments()
    try trimFile()
    noteRoom()
  }

  /// Frees each dead segment whose death is durable, unless a generation from its birth to its death is held: by a view
  /// of this process or another, or by a retained commit.
  func freeDeadSegments() throws(StoreError) {
    let durable = space.durablePublication
    var held = ownPins().map { $0...$0 }
    if !isPlanted(.retainedNotHeld) { held += retained.map { $0.publication...$0.publication } }
    if share != nil {
      let dead = space.table.segments.filter { $0.kind != .log && $0.dead != 0 }
      if let first = dead.map({ $0.born }).min(), let last = dead.map({ $0.dead }).max() {
        // A reader that pins an older generation from here on sees that it is not the newest. Those that did so before
        // have their pins already.
        try renewMark()
        let end = min(last, durable)
        if first < end, !isPlanted(.foreignPinsNotAsked) { held += foreignPins(in: first..<end) }
      }
    }
    let generations = HeldGenerations(held)
    space.table.removeAll { s in
      let born = s.born + (isPlanted(.birthNotHeld) ? 1 : 0)
      return s.kind != .log && s.dead != 0 && s.dead <= durable && !generations.holds(from: born, before: s.dead)
    }
  }

  /// Cuts off free room at the end of the file, but for the reserve and a little more. Not on a device of fixed size.
  func trimFile(toEnd: Bool = false) throws(StoreError) {
    if device.isOfFixedSize { return }
    let used = space.table.usedUnits
    let spare = toEnd ? 0 : UInt32(clamping: reserveUnits() + UInt64(space.preferredUnits))
    let inside = space.table.freeUnits - UInt64(space.table.fileUnits - used)
    let keepBehind = UInt64(spare) > inside ? UInt64(spare) - inside : 0
    let target = UInt64(used) + keepBehind - (isPlanted(.trimCutsUsedUnit) ? 1 : 0)
    // Not for a sliver: every change of size costs a journal entry.
    guard target < UInt64(space.table.fileUnits),
      toEnd || UInt64(space.table.fileUnits) - target > UInt64(space.preferredUnits)
    else { return }
    // If somebody cut the file shorter than this, cutting it here would lengthen it, and hide the loss.
    try space.requireWholeFile()
    // Others must not take the end of the file for free room.
    try renewMark()
    noteOwnCut(to: target * UInt64(SegmentTable.unitSize))
    try device.resize(to: target * UInt64(SegmentTable.unitSize))
    space.table.fileUnits = UInt32(target)
  }

  /// The retained commits but for those whose time has come or that hold back too much.
  private func unexpiredRetained() -> [RetainedEntry] {
    retained.filter { !(hasLapsed($0) || $0.limit != 0 && heldBytes($0) > $0.limit) }
  }
}
