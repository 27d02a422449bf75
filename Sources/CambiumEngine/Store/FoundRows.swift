import CambiumKernel

/// The rows that a fetch found, in its order: copies, many in one piece of memory. See ``EntityView/findRows(_:)``.
///
/// A row that is kept keeps the memory of some others, of a few kilobytes at most.
public struct FoundRows: @unchecked Sendable {
  // `@unchecked`: blocks are changed by nobody but the ``FoundRows`` that made them, before anyone else has them.
  private var blocks: [RowBlock] = []
  /// Where each row is, and of which object: who only keeps rows need not look at them, which may lie in another processor's cache.
  private var places: [Place] = []
  /// The last of the blocks, which keep it, if others may be added to it.
  private var last: Unmanaged<RowBlock>?
  /// How many there are.
  public var count: Int { places.count }
  /// Whether the rows lie in another processor's cache, as it has just copied them: all of a block is asked for, then, before its rows.
  var areFar = false
  private var capacity = FoundRows.leastBytes

  private struct Place {
    var row: UInt64
    var entity: UInt32
    /// In its block.
    var offset: UInt32
  }

  /// How large blocks become that hold more than one row: about 20 rows of common sizes.
  static let mostBytes = 4096
  /// How large the first one is.
  private static let leastBytes = 512

  /// No rows.
  init() {}

  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }

  /// Calls `body` with each row, which is lent for the call, and with the object that it is of. O(n).
  public func forEach<E: Error>(_ body: (BorrowedRow, ObjectReference) throws(E) -> Void) throws(E) {
    for (place, block) in blocks.enumerated() {
      if areFar, place &+ 1 < blocks.count { blocks[place &+ 1].bringNear() }
      var offset: UInt32 = 0
      while offset < block.end {
        try body(BorrowedRow(block, offset), block.reference(at: offset))
        offset = block.offset(after: offset)
      }
    }
  }

  /// Calls `body` with each row, which it has to keep by hand, or to release, and with the object that it is of. O(n).
  ///
  /// References are counted for several rows at once: for each row it would take a good part of what is done with it.
  public func forEachRetained(_ body: (BorrowedRow, ObjectReference) -> Void) {
    var next = 0
    for (number, block) in blocks.enumerated() {
      if number &+ 1 < blocks.count {
        if areFar { blocks[number &+ 1].bringNear() } else { blocks[number &+ 1].bringHeadNear() }
      }
      let end = next &+ block.retainForEachRow()
      while next < end {
        let place = places[next]
        body(BorrowedRow(block, place.offset), ObjectReference(entity: place.entity, row: place.row))
        next &+= 1
      }
    }
  }

  /// The rows. O(n).
  public var array: [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(count)
    forEach { row, _ in rows.append(row.row) }
    return rows
  }

  /// Adds a copy of a row behind the others.
  mutating func add(_ row: borrowing RowReader) {
    var offset: UInt32 = 0
    if let last, let added = row.add(to: last) {
      offset = added
    } else {
      addBlock(row.record.bytes, row.layout, row.reference.row)
    }
    places.append(Place(row: row.reference.row, entity: row.reference.entity, offset: offset))
  }

  /// Adds a copy of a row, given by its bytes, behind the others.
  mutating func add(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) {
    var offset: UInt32 = 0
    if let last, let added = last._withUnsafeGuaranteedRef({ $0.add(bytes, layout, number) }) {
      offset = added
    } else {
      addBlock(bytes, layout, number)
    }
    places.append(Place(row: number, entity: layout.entityID, offset: offset))
  }

  @inline(never)
  private mutating func addBlock(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) {
    let size = RowBlock.headSize + bytes.count
    // One that is long has its memory for itself. What comes behind it begins small again: where every second row is long, each of the
    // others has a block for itself as well.
    let isAlone = size > Self.mostBytes / 4
    let block = RowBlock.make(capacity: isAlone ? size : Swift.max(size, capacity), layout)
    capacity = isAlone ? Self.leastBytes : Swift.min(capacity * 2, Self.mostBytes)
    _ = block.add(bytes, layout, number)
    blocks.append(block)
    last = isAlone ? nil : .passUnretained(block)
  }

  /// How much memory the rows have, what is not used of it included.
  var byteCount: Int { blocks.reduce(0) { $0 + $1.room } }

  /// Adds others behind these.
  mutating func append(_ others: FoundRows) {
    blocks += others.blocks
    places += others.places
    last = nil
  }

  mutating func removeAll() {
    blocks.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    last = nil
  }
}
