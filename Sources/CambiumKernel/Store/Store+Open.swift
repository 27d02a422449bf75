// Opening reads, in this order: the newest whole superblock, the directory that it names, and the log behind that,
// record by record. The records rebuild the delta. No tree page is read, so the time depends on the log and not on the
// size of the store. Specs/03, sections 10 to 12, has the cases and the argument.

/// The changes that the log holds, tree by tree.
struct Replay {
  struct Tree {
    let list: DeltaList
    var nodes: [DeltaNode] = []
    var bytes = 0
    /// How many entries the record that is being replayed adds.
    var change: Int64 = 0
  }

  var trees: [Tree] = []
  /// How many changes are gathered in all trees.
  var nodeCount = 0
  /// The trees whose number of entries the record that is being replayed changes. A tree may occur several times.
  var touched: [Int] = []
  private var places: [TreeID: Int] = [:]
  private var last = 0

  /// The index of a tree in ``trees``.
  mutating func place(_ tree: TreeID, _ kind: TreeKind, _ delta: DeltaTable) -> Int {
    if last < trees.count, trees[last].list.tree == tree { return last }
    if let known = places[tree] {
      last = known
      return known
    }
    last = trees.count
    places[tree] = last
    trees.append(Tree(list: delta.makeList(tree, kind)))
    return last
  }
}

extension Store {
  /// Opens the store on `device`, recovering it if it was not closed.
  ///
  /// Reads the superblock, the directory (36 bytes a segment) and the log; nothing else. If other processes share the
  /// device, waits for the turn to write, unless it is opened for reading only.
  ///
  /// - Throws: ``StoreError/notAStore``, ``StoreError/unsupportedFormat(version:features:)``,
  ///   ``StoreError/corrupt(place:offset:detail:)``; ``StoreError/busy`` if another process has the device for itself;
  ///   ``StoreError/tooLittleMemory(_:neededBytes:)``; what the device throws.
  public static func open(
    on device: any StorageDevice, environment: any StoreEnvironment, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> Store {
    if let locks = device.locks {
      return try openShared(on: device, locks: locks, environment: environment, options: options)
    }
    let loaded = try load(on: device, environment: environment, options: options, use: .opening)
    let store = loaded.store
    store.deviceGivenUp = false
    loaded.adoptWriters(pages: store.pageWriter, values: store.valueWriter)
    if !options.isReadOnly { try store.takeIntoUse(loaded) }
    return store
  }

  /// The purpose for which a store is loaded.
  enum LoadUse {
    /// Nobody else has the file open, or writes to it.
    case opening
    /// Other processes append to the log while this one follows.
    case following
  }

  /// A store as read from the file, and the findings on the way.
  struct Loaded {
    var store: Store
    var outcome: LogScanner.Outcome
    var scanner: LogScanner
    var wholeCopies: [Bool]
    var fileBytes: UInt64
    var directory: Directory

    /// Lets the writers of pages and values continue in the last segments.
    func adoptWriters(pages: SegmentWriter, values: SegmentWriter) {
      let table = store.space.table
      for (kind, writer) in [(Segment.Kind.pages, pages), (.values, values)] {
        guard let s = directory.segments.last(where: { $0.kind == kind }), let i = table.index(start: s.start),
          table[i].dead == 0
        else { continue }
        writer.adopt(start: s.start)
      }
    }
  }

  /// Reads superblock, directory and log. The store does not close the device until it is taken into use.
  static func load(
    on device: any StorageDevice, environment: any StoreEnvironment, options: StoreOptions, use: LoadUse
  ) throws(StoreError) -> Loaded {
    let (superblock, wholeCopies) = try readSuperblock(device, readOnly: options.isReadOnly)
    try options.requireMemory(pageSize: Int(superblock.pageSize))
    let seed = superblock.storeSeed
    let (directory, directoryPages) = try readDirectory(
      superblock, superblock.directory, superblock.directoryBytes, device)
    guard Verification.directoryDurable.holds(superblock.durableSequence >= directory.sequence) else {
      throw .corrupt(
        place: .superblock, offset: Superblock.offset(slot: superblock.slot, copy: 0),
        detail: "the directory is newer than what was durable")
    }
    let space = FileSpace(device: device, storeSeed: seed)
    space.durablePublication = superblock.publication
    let fileBytes = try device.size()
    for s in directory.segments where !Verification.segmentListedKind.holds(s.kind != .log) {
      throw .corrupt(place: .directory, offset: superblock.directory.address, detail: "a log segment is listed")
    }
    // The table is complete before the space gets it, because access to the space's own table is checked at run time.
    var overlaps = false
    var table = SegmentTable(directory.segments, &overlaps)
    guard Verification.segmentOverlap.holds(!overlaps) else {
      throw .corrupt(place: .directory, offset: superblock.directory.address, detail: "segments overlap")
    }
    var retained = directory.retained
    for i in retained.indices where retained[i].directory.isNone {
      retained[i].directory = superblock.directory
      retained[i].directoryBytes = superblock.directoryBytes
      retained[i].publication = superblock.generation
    }
    // A process that shares the file keeps dead segments until it knows that no other process needs them.
    let dead = device.locks == nil ? [] : table.segments.filter { $0.dead != 0 }
    table.removeAll { s in
      s.dead != 0 && !retained.contains { s.born <= $0.publication && $0.publication < s.dead }
    }
    // Dead segments may have been cut off with the end of the file. All others must be there.
    for s in table.segments where !Verification.segmentEnd.holds(s.address + UInt64(s.used) <= fileBytes) {
      throw .corrupt(place: .segment, offset: s.address, detail: "the file ends before this segment")
    }
    // The unused end of the last segment may be missing.
    table.fileUnits = max(UInt32(clamping: fileBytes / UInt64(SegmentTable.unitSize)), table.usedUnits)

    space.table = table
    let cache = PageCache(
      device: device, environment: environment, pageSize: Int(superblock.pageSize), bytes: options.cacheBytes,
      storeSeed: seed, bufferBytes: options.bufferLength)
    let generation = Generation(
      number: superblock.generation, trees: directory.trees,
      active: DeltaTable(largestChunk: options.largestDeltaChunk), frozen: nil)
    let store = Store(
      device: device, environment: environment, options: options, superblock: superblock, space: space, cache: cache,
      log: LogWriter(), generation: generation, sequence: directory.sequence, directory: directory,
      directoryPages: directoryPages, nextValueID: directory.nextValueID, nextTree: directory.nextTree)
    store.deviceGivenUp = true
    store.retained = retained
    for (id, t) in directory.trees { store.reserveEstimate.setPages(id, t.pages) }

    // The records are taken in as they are read, so that no more of the log is in memory than the scanner looks at.
    let scanner = LogScanner(device: device, superblock: superblock, bufferBytes: options.bufferLength)
    var replayed = Replay()
    let outcome = try scanner.scan { (found) throws(StoreError) in
      try store.replay(found, &replayed)
      if replayed.nodeCount >= options.mostReplayedNodes { store.takeIn(&replayed) }
    }
    store.takeIn(&replayed)
    guard Verification.cleanLog.holds(!superblock.isClean || outcome.recordCount == 0) else {
      throw .corrupt(place: .log, offset: outcome.end, detail: "records behind the end of a closed log")
    }
    // The scan has checked that the first record is the one that the first piece names.
    guard
      Verification.logAfterDirectory.holds(superblock.pieces.first?.firstSequence == directory.sequence &+ 1)
    else { throw .corrupt(place: .log, offset: outcome.end, detail: "the log does not follow the directory") }
    // A recovery begins its log in fresh room, so it treats the segment that was prepared last as free. If this opening
    // comes to nothing, the writers that have the store open continue there, whatever was written there meanwhile.
    let logSegments = logSegments(outcome, withNext: superblock.isClean || use == .following)
    for place in logSegments {
      guard Verification.logSegmentOverlap.holds(space.table.insert(Segment(log: place))) else {
        throw .corrupt(place: .log, offset: place.address, detail: "a log segment overlaps another segment")
      }
    }
    store.visibleSequence = outcome.lastSequence
    store.appendedSequence = outcome.lastSequence
    store.durableSequence = outcome.durableSequence
    store.log.segments = logSegments.map { $0.start }
    store.log.pieces = superblock.pieces
    store.log.session = superblock.session
    store.log.lastChecksum = outcome.lastChecksum
    store.log.length = outcome.last.recordBytes
    store.log.present = outcome.endSegment
    store.log.headerIsWhole = outcome.endHeaderIsWhole
    store.log.position = outcome.end
    if superblock.isClean || use == .following { store.log.next = outcome.next }
    for s in dead where s.address + UInt64(s.used > 0 ? Int(s.used) : s.length) <= fileBytes {
      _ = space.table.insert(s)
    }
    store.superblockIsProven = false
    store.wholeSuperblockCopy = wholeCopies[0] ? 0 : 1
    return Loaded(
      store: store, outcome: outcome, scanner: scanner, wholeCopies: wholeCopies, fileBytes: fileBytes,
      directory: directory)
  }

  /// The log segments that are in use, in the order of the log.
  private static func logSegments(_ outcome: LogScanner.Outcome, withNext: Bool) -> [LogSegment] {
    var list: [LogSegment] = []
    for used in outcome.segments where !list.contains(used.place) { list.append(used.place) }
    // Appended without looking: if the log already uses the segment, inserting it into the table fails.
    if withNext { list.append(outcome.next) }
    return list
  }

  /// Prepares a loaded store for writing.
  func takeIntoUse(_ loaded: Loaded) throws(StoreError) {
    space.table.fileUnits = max(space.table.fileUnits, space.table.usedUnits)
    let length = UInt64(space.table.fileUnits) * UInt64(SegmentTable.unitSize)
    if loaded.fileBytes < length {
      try proveSuperblock()
      try device.resize(to: length)
    }
    if superblock.isClean {
      // A power cut tore the missing copy, or it has rotted.
      if !loaded.wholeCopies[0] || !loaded.wholeCopies[1] { try proveSuperblock() }
    } else {
      try recoverForWriting(loaded)
    }
  }

  // MARK: Superblock and directory

  /// The newest superblock, and which of its two copies are whole.
  static func readSuperblock(
    _ device: any StorageDevice, readOnly: Bool
  ) throws(StoreError) -> (Superblock, wholeCopies: [Bool]) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Superblock.regionSize, alignment: 4096)
    defer { buffer.deallocate() }
    let got = try device.read(at: 0, into: buffer)
    var best: Superblock?
    var whole = [false, false]
    var damaged = false
    var unsupported: StoreError?
    for (number, offset) in Superblock.offsets.enumerated() {
      let start = Int(offset)
      guard Verification.superblockEnd.holds(start + Superblock.copySize <= got) else {
        if start + 8 <= got, UnsafeRawBufferPointer(buffer).start.u64(start) == Superblock.magic { damaged = true }
        continue
      }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[start..<(start + Superblock.copySize)])
      switch Superblock.decode(bytes, at: UInt64(start), readOnly: readOnly) {
      case .valid(let s):
        if s.publication > best?.publication ?? 0 {
          best = s
          whole = [false, false]
        }
        if s.publication == best?.publication { whole[number / 2] = true }
      case .damaged: damaged = true
      case .foreign: break
      case .unsupported(let version, let features):
        unsupported = .unsupportedFormat(version: version, features: features)
      }
    }
    if let unsupported { throw unsupported }
    if let best { return (best, whole) }
    if FormerSuperblock.isThere(UnsafeRawBufferPointer(rebasing: buffer[..<got])) {
      throw .unsupportedFormat(version: 1, features: 0)
    }
    throw damaged ? .corrupt(place: .superblock, offset: 0, detail: "no copy of the superblock is whole") : .notAStore
  }

  static func readDirectory(
    _ superblock: Superblock, _ index: PageRef, _ bytes: UInt64, _ device: any StorageDevice
  ) throws(StoreError) -> (Directory, [PageRef]) {
    let seed = superblock.storeSeed
    var refs: [PageRef] = []
    try withDirectoryPage(index, seed, device) { (list) throws(StoreError) in
      guard Verification.directoryIndex.holds(list.count % PageRef.size == 0) else { throw badDirectory(index) }
      for i in 0..<(list.count / PageRef.size) { refs.append(PageRef(list.start, i * PageRef.size)) }
    }
    var directory: Directory?
    func decode(_ stream: UnsafeRawBufferPointer) {
      if Verification.directoryLength.holds(UInt64(stream.count) == bytes) { directory = Directory(stream) }
    }
    if refs.count == 1 {
      // A directory of one chunk is decoded in place.
      try withDirectoryPage(refs[0], seed, device) { (chunk) throws(StoreError) in decode(chunk) }
    } else {
      var stream: [UInt8] = []
      for ref in refs {
        try withDirectoryPage(ref, seed, device) { (chunk) throws(StoreError) in stream.append(contentsOf: chunk) }
        let length = UInt64(stream.count)
        guard Verification.directoryExcess.holds(length <= bytes) else { throw badDirectory(index) }
      }
      stream.withUnsafeBytes { decode($0) }
    }
    guard let directory else { throw badDirectory(index) }
    return (directory, refs + [index])
  }

  private static func badDirectory(_ ref: PageRef) -> StoreError {
    .corrupt(place: .directory, offset: ref.address, detail: "the directory is malformed")
  }

  /// Lends the content of a page of the directory.
  private static func withDirectoryPage(
    _ ref: PageRef, _ seed: UInt64, _ device: any StorageDevice,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let n = ref.length
    guard Verification.directoryReference.holds(n >= PageHeader.size) else { throw badDirectory(ref) }
    // A page that is too short for its header reads as zeros there.
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: max(n, PageHeader.size), alignment: 16)
    defer { room.deallocate() }
    room.baseAddress?.zero(PageHeader.size)
    let buffer = UnsafeMutableRawBufferPointer(rebasing: room[..<n])
    let got = try device.read(at: ref.address, into: buffer)
    guard Verification.directoryEnd.holds(got == n) else {
      throw .corrupt(place: .directory, offset: ref.address, detail: "the file ends before the directory")
    }
    let bytes = UnsafeRawBufferPointer(buffer)
    let sum = PageHeader.sum(bytes.start, count: n, seed: PageRef.seed(store: seed, location: ref.location))
    guard Verification.directoryChecksum.holds(sum == ref.checksum && bytes.start.pageChecksum == sum) else {
      throw .corrupt(place: .directory, offset: ref.address, detail: "directory checksum does not match")
    }
    let length = bytes.start.pageLength
    guard Verification.directoryKind.holds(bytes.start.pageKind == PageKind.directory.rawValue),
      Verification.directoryPageLength.holds(length >= PageHeader.size && length <= n)
    else {
      throw badDirectory(ref)
    }
    try body(UnsafeRawBufferPointer(rebasing: bytes[PageHeader.size..<length]))
  }

  // MARK: The log

  /// Puts the changes of one record into the delta. Changes of keys go to `replayed` first, because all of them are put
  /// into the lists together.
  func replay(
    _ found: LogScanner.Found, _ replayed: inout Replay
  ) throws(StoreError) {
    let payload = UnsafeRawBufferPointer(rebasing: found.bytes[LogRecordHeader.size...])
    let malformed = StoreError.corrupt(place: .log, offset: found.address, detail: "malformed record")
    var reader = LogOperationReader(payload)
    let generation = current
    let delta = generation.active
    let sequence = found.header.sequence
    func kind(_ tree: TreeID) -> TreeKind? { generation.root(of: tree)?.kind ?? delta.list(tree)?.kind }
    while true {
      switch reader.next(kindOf: kind) {
      case .end:
        for i in replayed.touched where replayed.trees[i].change != 0 {
          let list = replayed.trees[i].list
          delta.addEvent(
            list, .count, sequence: sequence,
            total: list.countChange(upTo: sequence) &+ replayed.trees[i].change)
          replayed.trees[i].change = 0
        }
        replayed.touched.removeAll(keepingCapacity: true)
        return
      case .malformed: throw malformed
      case .operation(let operation):
        switch operation {
        case .put(let tree, let operand, let value, let isStub, let isNew):
          guard let kind = kind(tree),
            Verification.operationStub.holds(!isStub || value.count == LargeValueStub.size)
          else { throw malformed }
          let i = replayed.place(tree, kind, delta)
          if isNew {
            replayed.trees[i].change += 1
            replayed.touched.append(i)
          }
          replayed.trees[i].bytes += value.count + 48
          replayed.nodeCount += 1
          try withKey(operand, reader.key, malformed) { key in
            replayed.trees[i].nodes.append(
              delta.makeNode(
                sequence: sequence, key: key, value: value, op: isStub ? .putStub : .put, effect: isNew ? 1 : 0))
          }
        case .delete(let tree, let operand):
          guard let kind = kind(tree) else { throw malformed }
          let i = replayed.place(tree, kind, delta)
          replayed.trees[i].change -= 1
          replayed.touched.append(i)
          replayed.nodeCount += 1
          try withKey(operand, reader.key, malformed) { key in
            replayed.trees[i].nodes.append(
              delta.makeNode(
                sequence: sequence, key: key, value: UnsafeRawBufferPointer(start: nil, count: 0), op: .delete,
                effect: -1))
          }
        case .created(let tree, let kind):
          let next = nextTree
          guard Verification.operationTree.holds(tree.rawValue >= next && tree.rawValue < UInt32.max) else {
            throw malformed
          }
          if !isPlanted(.treeOfLogForgotten) { nextTree = tree.rawValue + 1 }
          delta.addEvent(delta.makeList(tree, kind), .created, sequence: sequence, total: 0)
        case .dropped(let tree):
          guard let kind = kind(tree), Verification.operationDropped.holds(tree.rawValue >= TreeID.firstFree) else {
            throw malformed
          }
          delta.addEvent(delta.makeList(tree, kind), .dropped, sequence: sequence, total: 0)
        case .counter(let tree, let index, let change):
          guard let kind = kind(tree) else { throw malformed }
          let list = delta.makeList(tree, kind)
          let total = list.counterChange(index, upTo: sequence) &+ change
          delta.addCounterEvent(list, index, sequence: sequence, total: total)
        case .valueSegment(let start, let units, let used, let added):
          try replaySegment(start, units, used, added, malformed)
        case .nextValueID(let id):
          guard Verification.operationValueID.holds(id <= Extents.highestID) else { throw malformed }
          if !isPlanted(.valueOfLogForgotten) { valueIDs.skip(to: id) }
        }
      }
    }
  }

  /// Puts the gathered changes into the lists of their trees.
  func takeIn(_ replayed: inout Replay) {
    for i in replayed.trees.indices {
      let one = replayed.trees[i]
      if one.nodes.isEmpty { continue }
      current.active.add(one.list, one.nodes)
      reserveEstimate.add(one.list.tree, nodes: one.nodes.count, bytes: one.bytes)
      replayed.trees[i].nodes = []
      replayed.trees[i].bytes = 0
    }
    replayed.nodeCount = 0
  }

  private func withKey(
    _ operand: TreeKeyOperand, _ key: [UInt8], _ malformed: StoreError, _ body: (TreeKey) -> Void
  ) throws(StoreError) {
    switch operand {
    case .integer(let k): body(TreeKey(k))
    case .bytes:
      guard Verification.operationKey.holds(key.count <= maxKeyLength) else { throw malformed }
      key.withUnsafeBytes { body(TreeKey($0)) }
    }
  }

  private func replaySegment(
    _ start: UInt32, _ units: UInt32, _ used: UInt32, _ added: UInt32, _ malformed: StoreError
  ) throws(StoreError) {
    // Another process may have used the room of a segment again that is dead here.
    if share != nil, !start.addingReportingOverflow(units).overflow { dropDeadSegments(start..<(start + units)) }
    if let i = space.table.index(start: start) {
      let s = space.table[i]
      guard Verification.operationSegmentKind.holds(s.kind == .values),
        Verification.operationSegmentGrowth.holds(used >= s.used),
        Verification.operationSegmentEnd.holds(UInt64(used) <= UInt64(s.length)),
        Verification.operationSegmentLive.holds(!s.live.addingReportingOverflow(added).overflow)
      else { throw malformed }
      space.table[i].used = used
      space.table[i].live += added
      return
    }
    guard Verification.operationSegmentUnits.holds(units > 0 && units <= UInt32(SegmentTable.maxUnits)),
      Verification.operationSegmentStart.holds(start >= SegmentTable.firstUnit),
      Verification.operationSegmentUsed.holds(UInt64(used) <= UInt64(units) * UInt64(SegmentTable.unitSize)),
      Verification.operationSegmentAdded.holds(added <= used),
      Verification.operationSegmentNumbers.holds(!start.addingReportingOverflow(units).overflow)
    else { throw malformed }
    var s = Segment(
      start: start, units: units, kind: .values, used: used,
      born: isPlanted(.valueBornTooLate) ? nextPublication : current.number)
    s.live = added
    let isAlone = space.table.insert(s)
    guard Verification.operationSegmentOverlap.holds(isAlone) else { throw malformed }
    valueWriter.adopt(start: start)
  }

  // MARK: Opening for writing

  /// Recovers the store after an unclean end.
  ///
  /// What was read back need not be durable: a failed or missing sync leaves bytes in the file that a power cut may
  /// still take. So before this handle acknowledges anything, or uses room again, it does the following:
  /// 1. It writes the superblock that it read again, one copy at a time, and syncs each.
  /// 2. It copies the records that no later one proves durable into fresh log room, under a new session, and syncs.
  /// 3. It publishes that in the other slot, and syncs.
  private func recoverForWriting(_ loaded: Loaded) throws(StoreError) {
    let (outcome, scanner) = (loaded.outcome, loaded.scanner)
    try proveSuperblock()
    // Other processes look at the mark to learn whether anything has happened.
    try eraseMark()
    let session = environment.randomBits() | 1
    space.session = session
    log.session = session
    // The records up to the newest commit that something durable names are proven. But if the superblock has no room
    // for another piece, all records are copied.
    let tooMany = superblock.pieces.count >= Superblock.maxPieces - 1
    let known = outcome.durableSequence + (isPlanted(.oneMoreRecordProved) ? 1 : 0)
    let proven = tooMany ? superblock.pieces[0].firstSequence &- 1 : known
    let end = try scanner.place(behind: proven, of: outcome)
    var pieces = tooMany ? [] : superblock.pieces
    // Remove the pieces behind the proven end. The piece that the end falls into ends there.
    while let last = pieces.last, last.firstSequence > proven &+ 1 { pieces.removeLast() }
    if let last = pieces.indices.last {
      pieces[last].end = end.piece == last ? end.end : pieces[last].start
      // A piece without a record holds nothing.
      if pieces[last].end == pieces[last].start { pieces.removeLast() }
    }
    log.demand = outcome.lastSequence > proven ? outcome.longestRecord : 0
    let old = log.segments
    let first = try prepareLogSegment()
    let second = try prepareLogSegment()
    enterLogSegment(first, next: second)
    log.lastChecksum = end.checksum
    pieces.append(log.piece(firstSequence: proven &+ 1))
    log.length = end.recordBytes
    lock.lock()
    durableSequence = min(durableSequence, proven)
    lock.unlock()
    let batch = LogBatch(longest: options.bufferLength)
    logBatch = batch
    defer { logBatch = nil }
    try scanner.forEachRecord(from: end, of: outcome) { (found, _) throws(StoreError) in
      recordBuilder.copy(UnsafeRawBufferPointer(rebasing: found.bytes[LogRecordHeader.size...]))
      guard try appendRecord(sequence: found.header.sequence) else {
        throw .misuse("a recovered record does not fit the log")
      }
      return true
    }
    try batch.flush(device)
    if !isPlanted(.recoveredRecordsNotSynced) { try syncNow() }
    var next = superblock
    next.publication += 1
    next.session = session
    next.isClean = false
    next.pieces = pieces
    next.durableSequence = outcome.lastSequence
    next.fileUnits = UInt64(space.table.fileUnits)
    try writeSuperblock(next)
    try syncNow()
    superblock = next
    log.pieces = pieces
    space.durablePublication = next.publication
    sessionBegun = true
    // Segments of the old log that no piece needs any more are free.
    var needed = Set(pieces.map { $0.segment.start })
    for used in outcome.segments {
      if let first = used.firstSequence, first <= proven { needed.insert(used.place.start) }
    }
    for start in old where !needed.contains(start) && !isPlanted(.oldLogKept) {
      log.segments.removeAll { $0 == start }
      space.table.remove(start: start)
    }
  }
}
