// Values that a large transaction puts behind all others of a tree, one after the other, as who loads many rows does.
// Kept in memory under their places in the order first, as other changes are, each would be copied and looked up once
// more than it need be: these are gathered as they come, and taken into the tree's pages many at a time.

/// What was put behind the end of a tree and is not there yet.
final class RowTail {
  /// So many values in turn, each new and under a greater key than the one before, and more are expected.
  static let leastRising: Int32 = 64
  /// Fewer bytes of values stay in memory, where the transaction looks at its trees or ends before there are more.
  static let leastToMerge = 1 << 20
  /// With less memory for changes than this there is none for a tail.
  static let leastMemory = 1 << 20
  /// Fewer bytes are not worth a thread of their own to be told.
  static let leastToTell = 1 << 18
  /// After so many tails ended before any of it was taken into pages, the transaction begins none any more: for one
  /// that looks at something between any two puts they are only work.
  static let mostEnded = 8

  let tree: TreeID
  /// Whether the observer is told of the values.
  let isTold: Bool
  let batch = RowBatch()
  /// The greatest key of the tree.
  @exclusivity(unchecked) var last: UInt64
  /// Whether it was worth its while.
  @exclusivity(unchecked) var wasTakenIn = false

  init(_ tree: TreeID, isTold: Bool, after last: UInt64) {
    self.tree = tree
    self.isTold = isTold
    self.last = last
  }
}

extension WriteTransaction {
  /// Puts `value` under `key`, in place of what was there, as one of many that come behind those before. Answers
  /// whether it was gathered with others, and ``observer`` will be told of it. O(log n).
  ///
  /// - Throws: as ``put(_:_:_:)-(_,UInt64,UnsafeRawBufferPointer)``; after an error of the device nothing can be done
  ///   but to roll back.
  public func put(_ tree: TreeID, behind key: UInt64, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    try put(tree, key, value, isTold: observer != nil)
  }

  /// - Parameter isTold: Whether the observer may be told of it instead of finding it in its place.
  @inline(__always)
  func put(_ tree: TreeID, _ key: UInt64, _ value: UnsafeRawBufferPointer, isTold: Bool) throws(StoreError) -> Bool {
    if let lentTail {
      let isTaken = try lentTail.lent { (tail) throws(StoreError) -> Bool? in
        if tail.tree != tree { return nil }
        if tail.isTold != isTold { return false }
        return try append(tail, key, value)
      }
      if let isTaken {
        if isTaken {
          if isTailFull, let tail { try takeIn(tail) }
          return isTold
        }
        try settleTail()
      }
    }
    if try putRising(tree, key, value) { beginTail(tree, after: key, isTold: isTold) }
    return false
  }

  /// Adds a value to a tail, and notes whether that is to be taken in; answers false, having done nothing, where it
  /// does not belong there.
  @inline(__always)
  private func append(_ tail: RowTail, _ key: UInt64, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard key > tail.last, value.count <= core.options.logValueLimit else { return false }
    try tail.batch.add(key, value)
    tail.last = key
    isTailFull = tail.batch.bytes >= mostTailBytes
    return true
  }

  /// Changes in memory take so many bytes before a tail begins: unless there is little memory for changes, the
  /// transaction is too large for a record of the log then, and all it changes goes into pages when it commits anyway.
  private var leastBeforeTail: Int { min(core.largestOfRecords, core.options.deltaBytes / 4) }

  /// A tail of so many bytes is taken into pages: what fits the processor's caches, and makes threads beside worth
  /// while.
  private var mostTailBytes: Int { min(4 << 20, core.options.deltaBytes / 4) }

  /// Begins a tail behind the value that was put last, where that is the last one of its tree, and much was put before
  /// it.
  @inline(never)
  private func beginTail(_ tree: TreeID, after key: UInt64, isTold: Bool) {
    guard tail == nil, runs.isEmpty, tailsEnded < RowTail.mostEnded, core.options.deltaBytes >= RowTail.leastMemory,
      own.bytes >= leastBeforeTail || context != nil
    else { return }
    // The value is where it belongs already: an error here is nobody's.
    guard let cursor = try? self.cursor(tree), (try? cursor.seekLast()) ?? false, cursor.integerKey == key else {
      tailsEnded += 1
      return
    }
    tail = RowTail(tree, isTold: isTold, after: key)
  }

  /// Takes everything that was gathered where other changes are, so that ``observer`` has been told of all of it.
  ///
  /// - Throws: What writing throws; after that nothing can be done but to roll back.
  public func takeTail() throws(StoreError) {
    if tail != nil { try settleTail() }
  }

  /// Ends the tail, if there is one: its values go where other changes of the transaction are.
  func settleTail() throws(StoreError) {
    guard let ended = tail else { return }
    if !ended.wasTakenIn { tailsEnded += 1 }
    if ended.batch.bytes >= RowTail.leastToMerge { try takeIn(ended) }
    keepTail()
  }

  /// Ends the tail; what is left of it stays in memory.
  func keepTail() {
    guard let ended = tail else { return }
    tail = nil
    if ended.batch.isEmpty { return }
    for (part, values) in tell(ended, 1).enumerated() { observer?.take(values, part: part) }
    let list = own.makeList(ended.tree, .integer)
    var count: Int64 = 0
    var values = BatchCursor(ended.batch)
    while let value = values.change {
      step += 1
      let place = list.locate(value.key)
      journal.append(
        own.add(list, at: place, sequence: step, key: value.key, value: value.value, op: .put, effect: 1))
      count += 1
      values.next()
    }
    figures[ended.tree, default: Figures(kind: .integer)].count += count
    forgetKnown()
    if ended.isTold { observer?.didTake() }
  }

  /// The parts in which the observer is to take what was gathered; none if it is not to be told.
  private func tell(_ tail: RowTail, _ most: Int) -> [TailValues] {
    guard tail.isTold, let observer else { return [] }
    let parts = TailValues(tail.batch.contents, tail.batch.bytes).parts(most, least: RowTail.leastToTell)
    observer.willTake(from: tail.tree, parts: parts.count)
    return parts
  }

  /// Takes what was gathered into the tree's pages; the tail goes on behind it.
  @inline(never)
  private func takeIn(_ tail: RowTail) throws(StoreError) {
    let parts = tell(tail, max(1, core.threadCount - 1))
    do throws(StoreError) {
      if own.list(tail.tree) != nil { try spill() }
      let access = try knownAccess(tail.tree, .integer)
      // Each part is handed to it once, on whichever thread, as it was told.
      nonisolated(unsafe) let observer = observer
      try core.writingBehind(beside: parts.count) { (part) in
        observer?.take(parts[part], part: part)
      } body: { () throws(StoreError) in
        try self.merge(BatchCursor(tail.batch), access, isBulk: true)
      }
    } catch {
      breakOff(error)
      throw error
    }
    tail.batch.removeAll()
    isTailFull = false
    tail.wasTakenIn = true
    if tail.isTold { observer?.didTake() }
  }
}
