/// A set of changes to any number of trees that becomes visible and durable as one, or not at all.
///
/// One transaction writes at a time: ``Store/beginWrite()`` waits for the turn. The transaction sees its own changes.
/// One thread at a time uses it. If it is dropped without ``commit(durably:)``, it is rolled back.
public final class WriteTransaction: TreeView {
  // Exclusive access is not checked at run time for what every change touches, since the checks would take longer than
  // some of the changes; no method calls out while it changes one of these.

  /// The transaction's own changes, not yet merged.
  @exclusivity(unchecked) var own: DeltaTable { didSet { lentOwn = .passUnretained(own) } }
  /// The same, of which no reference is counted for a change.
  @exclusivity(unchecked) private var lentOwn: Unmanaged<DeltaTable>
  /// Their numbers within the transaction: what plays the part of the sequence in ``own``.
  @exclusivity(unchecked) var step: UInt64 = 0
  /// Nodes of ``own`` in the order they were made, for rolling back to a savepoint.
  @exclusivity(unchecked) var journal: [DeltaNode]
  /// Trees whose pages this transaction has rewritten: their changes outgrew memory.
  @exclusivity(unchecked) var spilled: [TreeID: TreeState] = [:]
  /// What was put into trees, or deleted from them, when the changes outgrew memory, the oldest first: sorted, in pages
  /// of its own, and not yet taken into the tree's. It is taken there when the transaction looks at any tree, and
  /// before it commits: random keys of a transaction that is much larger than memory would otherwise have the tree
  /// written again each time.
  ///
  /// A put into such a tree does not look for what was there, so that ``figures`` don't know the number of its entries.
  @exclusivity(unchecked) var runs: [TreeID: [SpilledRun]] = [:] {
    didSet { isUnsettled = !runs.isEmpty || tail != nil }
  }
  /// What was put behind the end of a tree and is not there yet; taken there like ``runs``.
  @exclusivity(unchecked) var tail: RowTail? {
    didSet {
      isUnsettled = !runs.isEmpty || tail != nil
      lentTail = tail.map { .passUnretained($0) }
    }
  }
  /// The same, of which no reference is counted for a put.
  @exclusivity(unchecked) private(set) var lentTail: Unmanaged<RowTail>?
  /// Whether it is to be taken into pages.
  @exclusivity(unchecked) var isTailFull = false
  @exclusivity(unchecked) var tailsEnded = 0
  /// Who is told of values that ``put(_:behind:_:)`` gathers. Not kept alive: whoever it is sets this to nil in time.
  public unowned(unsafe) var observer: (any TailObserver)?
  /// How often runs were taken in since something was looked at: those that are made for that are only work.
  @exclusivity(unchecked) var looks = 0
  /// What the spilling undoes on rollback.
  var savedTable: SegmentTable?
  /// Count and counters per tree, as changed by this transaction.
  var figures: FigureTable {
    get {
      settleKnown()
      return settledFigures
    }
    _modify {
      settleKnown()
      yield &settledFigures
    }
    set {
      settledFigures = newValue
      known[Self.knownCount].change = 0
      for i in 0..<Self.knownCount { known[i].change = 0 }
    }
  }
  /// The same but for what ``known`` has not handed over yet.
  @exclusivity(unchecked) private var settledFigures: FigureTable
  /// See ``TransactionMemory/known``.
  @exclusivity(unchecked) private var known: UnsafeMutablePointer<KnownTree>
  private static let knownCount = TransactionMemory.knownCount
  /// Nil once the transaction has ended, and the next one has the memory.
  private var memory: TransactionMemory?
  /// Segments of large values that this transaction wrote to directly, and how many bytes of it are reached: none,
  /// where they were rolled back.
  @exclusivity(unchecked) var valueBytes: [UInt32: UInt32] = [:]
  var savedValueTable: SegmentTable?
  var nextTree: UInt32
  @exclusivity(unchecked) private(set) var isOpen = true
  /// What this transaction's merges write through, once there was one.
  @exclusivity(unchecked) var context: MergeContext?
  /// What was given out to those who may read pages that the transaction had made by then.
  @exclusivity(unchecked) var holds: [PageHold] = []
  /// Publications whose pages this transaction may still read.
  @exclusivity(unchecked) var pinned: [UInt64] = []
  /// Why nothing can be done any more but to roll back: taking changes into pages failed half-way, so that what is
  /// counted as live is what neither the pages before nor those afterwards reach.
  @exclusivity(unchecked) var failure: StoreError?
  /// The retained commit that the transaction goes back to, if it does.
  var restoring: Restoration?

  /// Called with the turn.
  init(core: Store, generation: Generation, upTo: UInt64) {
    nextTree = core.nextTree
    let memory = core.spareMemory ?? TransactionMemory(largestChunk: core.options.largestDeltaChunk)
    core.spareMemory = nil
    self.memory = memory
    known = memory.known
    (own, journal, settledFigures) = memory.take()
    lentOwn = .passUnretained(own)
    super.init(core: core, generation: generation, upTo: upTo, hint: 0)
  }

  deinit {
    if isOpen { rollBack() }
  }

  /// Hands the changed numbers of entries over to ``figures``.
  private func settleKnown() {
    if known[Self.knownCount].change == 0 { return }
    known[Self.knownCount].change = 0
    for i in 0..<Self.knownCount where known[i].change != 0 {
      if let access = known[i].access {
        settledFigures[access.id, default: Figures(kind: access.kind)].count += known[i].change
      }
      known[i].change = 0
    }
  }

  /// Forgets what is known of trees: they are, or will be, in other pages, or in other tables.
  func forgetKnown() {
    settleKnown()
    for i in 0..<Self.knownCount { known[i].access = nil }
  }

  /// The place of `tree` in ``known``, where it is with its list of own changes.
  @inline(__always)
  private func know(_ tree: TreeID, _ kind: TreeKind) throws(StoreError) -> Int {
    let i = Int(truncatingIfNeeded: tree.rawValue) & (Self.knownCount - 1)
    if let access = known[i].access, access.id == tree, access.kind == kind { return i }
    return try learn(tree, kind, i)
  }

  /// How the transaction sees `tree`, which it is about to write to.
  func knownAccess(_ tree: TreeID, _ kind: TreeKind) throws(StoreError) -> TreeAccess {
    let i = try know(tree, kind)
    if let access = known[i].access { return access }
    return try access(tree, kind)
  }

  @inline(never)
  private func learn(_ tree: TreeID, _ kind: TreeKind, _ i: Int) throws(StoreError) -> Int {
    // What is found is known from then on.
    _ = try writingAccess(tree, kind)
    return i
  }

  /// The same as ``TreeView/access(_:_:)`` for what is written: nothing is lent, and runs stay.
  private func writingAccess(_ tree: TreeID, _ kind: TreeKind?) throws(StoreError) -> TreeAccess {
    try requireOpen()
    guard let access = find(tree) else { throw .noSuchTree(tree) }
    if let kind, access.kind != kind { throw .wrongTreeKind(tree) }
    return access
  }

  override func requireOpen() throws(StoreError) {
    if !isOpen { throw .misuse("the transaction has ended") }
    if let failure { throw failure }
  }

  /// Notes why nothing can be done any more. What is known of trees is forgotten, so that nothing is put into one
  /// either.
  func breakOff(_ error: StoreError) {
    failure = failure ?? error
    tail = nil
    forgetKnown()
  }

  override func settle() throws(StoreError) {
    try settleTail()
    if runs.isEmpty { return }
    looks += 1
    try spill(wholly: true)
  }

  override func find(_ tree: TreeID) -> TreeAccess? {
    let i = Int(truncatingIfNeeded: tree.rawValue) & (Self.knownCount - 1)
    if let a = known[i].access, a.id == tree {
      // The list of own changes may have been made since.
      return TreeAccess(
        id: tree, kind: a.kind, level: a.level, root: a.root, own: own.list(tree), ownUpTo: a.ownUpTo, active: a.active,
        frozen: a.frozen, after: a.after, upTo: a.upTo)
    }
    let access = look(tree)
    if let access, isOpen {
      if known[i].change != 0 { settleKnown() }
      known[i] = KnownTree(access: access, list: access.own, isBlind: !runs.isEmpty && runs[tree] != nil)
    }
    return access
  }

  /// Finds out how the transaction sees `tree`, whatever it knows.
  private func look(_ tree: TreeID) -> TreeAccess? {
    if settledFigures.isDropped(tree) { return nil }
    let list = own.list(tree)
    let last = DeltaNode.void - 1
    if let t = spilled[tree] {
      return TreeAccess(
        id: tree, kind: t.kind, level: t.level, root: t.root, own: list, ownUpTo: last, active: nil, frozen: nil,
        after: 0, upTo: 0)
    }
    if let a = committed(tree) {
      return TreeAccess(
        id: tree, kind: a.kind, level: a.level, root: a.root, own: list, ownUpTo: last, active: a.active,
        frozen: a.frozen, after: a.after, upTo: a.upTo)
    }
    guard let figures = settledFigures[tree], figures.created else { return nil }
    return TreeAccess(
      id: tree, kind: figures.kind, level: 0, root: .none, own: list, ownUpTo: last, active: nil, frozen: nil,
      after: 0, upTo: 0)
  }

  public override func trees() -> [TreeID] {
    let made = figures.entries.filter { $0.figures.created && !$0.figures.dropped }.map { $0.tree }
    return (super.trees().filter { find($0) != nil } + made).ordered()
  }

  public override func count(_ tree: TreeID) throws(StoreError) -> UInt64 {
    let access = try access(tree, nil)
    return UInt64(max(0, committedCount(committed(tree) ?? access) &+ (figures[tree]?.count ?? 0)))
  }

  public override func counter(_ tree: TreeID, _ index: UInt32) throws(StoreError) -> Int64 {
    let access = try writingAccess(tree, nil)
    var n = committedCounter(committed(tree) ?? access, index)
    for c in figures[tree]?.counters ?? [] where c.index == index { n &+= c.value }
    return n
  }

  override var ownTable: DeltaTable? { own }

  override func makeHold() -> PageHold? { holdPages() }

  public override func cursor(_ tree: TreeID) throws(StoreError) -> Cursor {
    let a = try access(tree, nil)
    let frozenInTime = TreeAccess(
      id: a.id, kind: a.kind, level: a.level, root: a.root, own: a.own,
      ownUpTo: isPlanted(.cursorSeesLaterWrites) ? a.ownUpTo : step, active: a.active,
      frozen: a.frozen, after: a.after, upTo: a.upTo)
    return Cursor(view: self, ownTable: ownTable, access: frozenInTime, hold: holdPages())
  }

  // MARK: Writing

  /// Makes a tree. Its identifier was never used before.
  public func createTree(_ kind: TreeKind) throws(StoreError) -> TreeID {
    try requireOpen()
    guard nextTree < UInt32.max else { throw .misuse("no tree identifiers are left") }
    let tree = TreeID(rawValue: nextTree)
    nextTree += 1
    forgetKnown()
    figures[tree, default: Figures(kind: kind)].created = true
    return tree
  }

  /// Drops a tree with all its entries. O(1), where the transaction has no `runs`; its room is freed by checkpoints.
  public func dropTree(_ tree: TreeID) throws(StoreError) {
    guard tree.rawValue >= TreeID.firstFree else { throw .misuse("the kernel's own trees cannot be dropped") }
    let access = try access(tree, nil)
    forgetKnown()
    figures[tree, default: Figures(kind: access.kind)].dropped = true
  }

  /// Adds `change` to counter `index` of `tree`.
  public func addToCounter(_ tree: TreeID, _ index: UInt32, _ change: Int64) throws(StoreError) {
    let access = try writingAccess(tree, nil)
    figures[tree, default: Figures(kind: access.kind)].addToCounter(index, change)
  }

  /// Puts `value` under `key`, in place of what was there. O(log n).
  ///
  /// - Throws: ``StoreError/valueTooLong(length:limit:)``, ``StoreError/noSuchTree(_:)``,
  ///   ``StoreError/wrongTreeKind(_:)``, and what the device throws when the changes outgrow memory.
  public func put(_ tree: TreeID, _ key: UInt64, _ value: UnsafeRawBufferPointer) throws(StoreError) {
    _ = try put(tree, key, value, isTold: false)
  }

  /// Puts a value; answers whether many in turn were put behind those before.
  @inline(__always)
  func putRising(_ tree: TreeID, _ key: UInt64, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    let i = try know(tree, .integer)
    try put(i, TreeKey(key), value)
    if known[i].rising < RowTail.leastRising { return false }
    known[i].rising = 0
    return true
  }

  /// Puts `value` under `key`, in place of what was there. O(log n).
  public func put(_ tree: TreeID, _ key: UInt64, _ value: [UInt8]) throws(StoreError) {
    try value.withUnsafeBytesTyped { (v) throws(StoreError) in try put(tree, key, v) }
  }

  /// Puts `value` under `key`, in place of what was there. O(log n).
  ///
  /// - Throws: Also ``StoreError/keyTooLong(length:limit:)``: keys are at most a quarter of a page.
  public func put(
    _ tree: TreeID, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    try put(tree, key, value, isNew: false)
  }

  /// The same.
  ///
  /// - Parameter isNew: whether the key is known not to be in the tree; else it is looked for.
  func put(
    _ tree: TreeID, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isNew: Bool
  ) throws(StoreError) {
    let i = try know(tree, .bytes)
    guard key.count <= core.maxKeyLength || isPlanted(.keyLengthUnchecked) else {
      throw .keyTooLong(length: key.count, limit: core.maxKeyLength)
    }
    try put(i, TreeKey(key), value, isKnownNew: isNew)
  }

  /// Puts `value` under `key`, in place of what was there. O(log n).
  public func put(_ tree: TreeID, _ key: [UInt8], _ value: [UInt8]) throws(StoreError) {
    try key.withUnsafeBytesTyped { (k) throws(StoreError) in
      try value.withUnsafeBytesTyped { (v) throws(StoreError) in try put(tree, k, v) }
    }
  }

  /// Deletes the entry of `key`; answers whether there was one. O(log n).
  @discardableResult
  public func delete(_ tree: TreeID, _ key: UInt64) throws(StoreError) -> Bool {
    try delete(know(tree, .integer), TreeKey(key))
  }

  /// Deletes the entry of `key`; answers whether there was one. O(log n).
  @discardableResult
  public func delete(_ tree: TreeID, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    try delete(know(tree, .bytes), TreeKey(key))
  }

  /// Deletes the entry of `key`; answers whether there was one. O(log n).
  @discardableResult
  public func delete(_ tree: TreeID, _ key: [UInt8]) throws(StoreError) -> Bool {
    try key.withUnsafeBytesTyped { (k) throws(StoreError) in try delete(tree, k) }
  }

  private func put(
    _ i: Int, _ key: TreeKey, _ value: UnsafeRawBufferPointer, isKnownNew: Bool = false
  ) throws(StoreError) {
    guard UInt64(value.count) <= Extents.maxValueBytes else {
      throw .valueTooLong(length: UInt64(value.count), limit: Extents.maxValueBytes)
    }
    guard let access = known[i].access else { return }
    let list = ownList(i, access)
    let place = list.locate(key)
    var isNew = isKnownNew && !known[i].isBlind
    if !isKnownNew, !known[i].isBlind { isNew = try !isPresent(access, key, place) }
    if value.count > core.options.logValueLimit {
      let stub = try storeLargeValue(value)
      var bytes = ByteWriter()
      bytes.u64(stub.id)
      bytes.u64(stub.length)
      bytes.bytes.withUnsafeBytes { note(access, key, $0, .putStub, effect: isNew ? 1 : 0) }
    } else {
      note(list, place, key, value, .put, effect: isNew ? 1 : 0)
      if isNew { count(i, 1) }
    }
    known[i].notePut(key.head, isNew: isNew)
    try spillIfLarge()
  }

  private func delete(_ i: Int, _ key: TreeKey) throws(StoreError) -> Bool {
    if isUnsettled, let tree = known[i].access?.id,
      tail?.tree == tree || runs[tree]?.count ?? 0 > SpilledRun.mostToSearch
    {
      try settle()
      _ = find(tree)
    }
    guard let access = known[i].access else { return false }
    // No list is made for a key that is not there.
    let place = known[i].list?.locate(key)
    guard try isPresent(access, key, place ?? DeltaList.WritePlace()) else { return false }
    let list = ownList(i, access)
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    note(list, place ?? list.locate(key), key, nothing, .delete, effect: -1)
    count(i, -1)
    try spillIfLarge()
    return true
  }

  @inline(__always)
  private func count(_ i: Int, _ effect: Int64) {
    known[i].change &+= effect
    known[Self.knownCount].change = 1
  }

  @inline(__always)
  private func ownList(_ i: Int, _ access: TreeAccess) -> DeltaList {
    if let list = known[i].list { return list }
    let list = lentOwn.lent { $0.makeList(access.id, access.kind) }
    known[i].list = list
    return list
  }

  /// Whether the transaction sees an entry for `key`, whose place among its own changes is known.
  @inline(__always)
  private func isPresent(
    _ access: TreeAccess, _ key: TreeKey, _ place: DeltaList.WritePlace
  ) throws(StoreError) -> Bool {
    if let node = DeltaList.visible(place.newest, after: 0, upTo: access.ownUpTo) { return node.op != .delete }
    if isUnsettled, let isPut = try isPutInRuns(access, key) { return isPut }
    if access.active != nil || access.frozen != nil, let node = access.committedChange(key) {
      return node.op != .delete
    }
    if access.root.isNone { return false }
    let place = ReaderSlots.place(hint)
    // As in `TreeView.lend`.
    let cache = Unmanaged.passUnretained(core.cache)
    return try cache._withUnsafeGuaranteedRef { (cache) -> Result<Bool, StoreError> in
      let slot = cache.slots.enter(at: place)
      do throws(StoreError) {
        let found = try TreeDescent.find(
          key, root: access.root, level: access.level, tree: access.id, kind: access.kind, cache)
        cache.slots.leave(slot)
        return .success(found != nil)
      } catch {
        cache.slots.leave(slot)
        return .failure(error)
      }
    }.get()
  }

  /// The memory that the transaction's own changes take, in bytes.
  @inline(__always)
  var ownBytes: Int { lentOwn.lent { $0.bytes } }

  /// Adds a change, and what it does to the number of entries.
  func note(_ access: TreeAccess, _ key: TreeKey, _ value: UnsafeRawBufferPointer, _ op: DeltaOp, effect: Int) {
    let list = own.makeList(access.id, access.kind)
    note(list, list.locate(key), key, value, op, effect: effect)
    if effect != 0 { figures[access.id, default: Figures(kind: access.kind)].count += Int64(effect) }
  }

  @inline(__always)
  private func note(
    _ list: DeltaList, _ place: DeltaList.WritePlace, _ key: TreeKey, _ value: UnsafeRawBufferPointer, _ op: DeltaOp,
    effect: Int
  ) {
    step += 1
    let step = step
    journal.append(
      lentOwn.lent { $0.add(list, at: place, sequence: step, key: key, value: value, op: op, effect: effect) })
  }

  // MARK: Large values

  private func storeLargeValue(_ value: UnsafeRawBufferPointer) throws(StoreError) -> LargeValueStub {
    try core.requireSession()
    if savedValueTable == nil {
      // A checkpoint that were given up later would take the accounts back to before this value.
      if !isPlanted(.valuesBesideCheckpoint) { try core.settleCheckpoints() }
      savedValueTable = core.space.table
      // Views of the present generation see the value through its delta, long before a publication lists the segment.
      core.valueWriter.begin(born: isPlanted(.valueBornTooLate) ? core.nextPublication : core.current.number)
    }
    let id = core.valueIDs.take()
    let access = try writingAccess(.extents, .integer)
    let space = core.space
    var entries: [(UInt64, [UInt8])] = []
    do throws(StoreError) {
      try Extents.write(value, id: id, to: core.valueWriter, space: space) { entries.append(($0, $1)) }
      // The transaction may read it back.
      try core.valueWriter.flush()
    } catch {
      // Nothing will reach what was written of it. The record names its segments all the same, since other processes
      // must take the room for used, as this one does.
      if core.valueWriter.current != 0 { valueBytes[core.valueWriter.current, default: 0] += 0 }
      for (_, entry) in entries {
        guard let extent = entry.withUnsafeBytes({ Extent($0) }), let i = space.table.index(of: extent.address) else {
          continue
        }
        valueBytes[space.table[i].start, default: 0] += 0
        space.release(extent.address, extent.storedLength)
      }
      throw error
    }
    for (key, entry) in entries {
      if let extent = entry.withUnsafeBytes({ Extent($0) }), let i = space.table.index(of: extent.address) {
        valueBytes[space.table[i].start, default: 0] += UInt32(extent.storedLength)
      }
      entry.withUnsafeBytes { note(access, TreeKey(key), $0, .put, effect: 1) }
    }
    return LargeValueStub(id: id, length: UInt64(value.count))
  }

  /// Forgets large values that this transaction wrote and then replaced or deleted again: a record has only net
  /// changes, so nothing else would.
  ///
  /// Answers their extents, whose room is free once the record is in the log.
  func dropSupersededValues() throws(StoreError) -> [Extent] {
    if valueBytes.isEmpty { return [] }
    var ids: [UInt64] = []
    for tree in own.trees where tree != .extents {
      let isDropped = figures.isDropped(tree)
      own.list(tree)?.forEachKey { first in
        var isNewest = true
        var node: DeltaNode? = first
        while let n = node {
          if n.sequence != DeltaNode.void {
            if n.op == .putStub, !isNewest || isDropped, let stub = LargeValueStub(n.value) { ids.append(stub.id) }
            isNewest = false
          }
          node = n.older
        }
      }
    }
    var dropped: [Extent] = []
    guard !ids.isEmpty, let list = own.list(.extents) else { return dropped }
    let access = try access(.extents, .integer)
    for id in ids {
      var cursor = DeltaCursor(list, after: 0, upTo: step)
      cursor.seek(TreeKey(Extents.key(id, 0)))
      while let n = cursor.node, n.head >> Extent.numberBits == id {
        if n.op == .put, let extent = Extent(n.value), let i = core.space.table.index(of: extent.address) {
          let length = UInt32(extent.storedLength)
          let start = core.space.table[i].start
          dropped.append(extent)
          valueBytes[start] = (valueBytes[start] ?? length) - length
          note(access, n.key, UnsafeRawBufferPointer(start: nil, count: 0), .delete, effect: -1)
        }
        cursor.next()
      }
    }
    return dropped
  }

  // MARK: End

  /// Makes the changes durable, as the store's ``Durability`` says, and visible; ends the transaction. Answers the
  /// sequence of the commit (that of the view, if nothing was changed).
  ///
  /// - Parameter durably: Whether to wait for a sync where the store's durability has one for each commit. Without, the
  ///   commit becomes durable, and visible to new views, with the next one that is waited for, with a checkpoint, or by
  ///   ``Store/makeDurable()``: for work that may be lost, of which the end alone counts. A transaction that is too
  ///   large for a record of the log is durable in any case.
  /// - Throws: ``StoreError/reserveExhausted(neededBytes:)`` and ``StoreError/deviceFull(bytes:)``: nothing was
  ///   changed, and the transaction is rolled back. ``StoreError/poisoned``: the outcome is unknown until the store is
  ///   opened again.
  @discardableResult
  public func commit(durably: Bool = true) throws(StoreError) -> UInt64 {
    try requireOpen()
    return try core.commit(self, waits: durably)
  }

  /// Undoes everything and ends the transaction. Nothing happens if it has ended.
  public func rollBack() {
    guard isOpen else { return }
    undoSpace()
    end()
    core.endTurn()
  }

  /// Gives back the room that the transaction's own pages and extents took.
  func undoSpace() {
    if let saved = savedTable ?? savedValueTable {
      core.pageWriter.abandon()
      core.valueWriter.abandon()
      let units = core.space.table.fileUnits
      core.space.table = saved
      core.space.table.fileUnits = units
    }
  }

  /// Marks the transaction as ended; the caller gives the turn up.
  func end() {
    isOpen = false
    for number in pinned { core.unpin(number) }
    pinned = []
    context = nil
    holds = []
    spilled = [:]
    if isUnsettled {
      runs = [:]
      tail = nil
    }
    guard let memory else { return }
    self.memory = nil
    known = core.noMemory.known
    // Its memory serves the next transaction.
    var (table, nodes, figures) = (core.noTable, [DeltaNode](), FigureTable())
    swap(&table, &own)
    swap(&nodes, &journal)
    swap(&figures, &settledFigures)
    memory.giveBack(&table, &nodes, &figures)
    core.spareMemory = memory
  }

  /// Whether there is anything to commit.
  var isEmpty: Bool {
    restoring == nil && journal.isEmpty && spilled.isEmpty && !isUnsettled && figures.isEmpty
  }
}
