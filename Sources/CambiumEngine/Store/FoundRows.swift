import CambiumKernel

/// The rows that a fetch found, in its order: copies, many in one piece of memory. See ``EntityView/findRows(_:)``.
///
/// A row that is kept keeps the memory of some others, of a few kilobytes at most.
public struct FoundRows: @unchecked Sendable {
  // `@unchecked`: blocks are changed by nobody but the ``FoundRows`` that made them, before anyone else has them.
  private var blocks: [RowBlock] = []
  /// The last of the blocks, which keep it, if others may be added to it.
  private var last: Unmanaged<RowBlock>?
  /// How many there are.
  public private(set) var count = 0
  /// Whether another thread copied the rows before they were asked for, which tests look at.
  var isCopiedAhead = false
  private var capacity = FoundRows.leastBytes

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
    for block in blocks {
      var offset: UInt32 = 0
      while offset < block.end {
        try body(BorrowedRow(block, offset), block.reference(at: offset))
        offset = block.offset(after: offset)
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
    if let last, row.add(to: last) { count += 1 } else { addBlock(row.record.bytes, row.layout, row.reference.row) }
  }

  /// Adds a copy of a row, given by its bytes, behind the others.
  mutating func add(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) {
    if let last, last._withUnsafeGuaranteedRef({ $0.add(bytes, layout, number) }) {
      count += 1
    } else {
      addBlock(bytes, layout, number)
    }
  }

  @inline(never)
  private mutating func addBlock(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) {
    let size = RowBlock.headSize + bytes.count
    // One that is long has its memory for itself. What comes behind it begins small again: where every second row is
    // long, each of the others has a block for itself as well.
    let isAlone = size > Self.mostBytes / 4
    let block = RowBlock.make(capacity: isAlone ? size : Swift.max(size, capacity), layout)
    capacity = isAlone ? Self.leastBytes : Swift.min(capacity * 2, Self.mostBytes)
    _ = block.add(bytes, layout, number)
    blocks.append(block)
    count += 1
    last = isAlone ? nil : .passUnretained(block)
  }

  /// How much memory the rows have, what is not used of it included.
  var byteCount: Int { blocks.reduce(0) { $0 + $1.room } }

  /// Adds others behind these.
  mutating func append(_ others: FoundRows) {
    blocks += others.blocks
    count += others.count
    last = nil
  }

  mutating func removeAll() {
    blocks.removeAll(keepingCapacity: true)
    count = 0
    last = nil
  }
}
