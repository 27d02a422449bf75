import CambiumKernel

/// The bytes of rows that were read together, in one piece of memory that is there as long as anybody has one of the rows.
///
/// Objects are fetched by the hundred thousand: to get memory for each row, and to give it back, takes longer than to copy it.
/// A row that somebody keeps alone keeps at most ``RowCollector/most`` bytes of others: who keeps one of each twenty rows keeps the
/// memory of all.
final class RowBlock: @unchecked Sendable {
  // `@unchecked`: only the ``RowCollector`` that made a block adds rows to it, before anyone else has one of them; what a row
  // is made of is not changed any more.

  /// Before each row: its number; the count of its bytes, with the place of its layout in the upper 16 bits. A multiple of 8.
  static let headSize = 16

  private let base: UnsafeMutableRawPointer
  private let capacity: Int
  private var end = 0
  private let first: EntityLayout
  /// The same, kept by ``first``.
  private let borrowedFirst: Unmanaged<EntityLayout>
  /// The layouts that are not the first.
  private var others: [EntityLayout] = []

  init(capacity: Int, _ layout: EntityLayout) {
    self.capacity = capacity
    first = layout
    borrowedFirst = .passUnretained(layout)
    base = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { base.deallocate() }

  /// Adds a row; nil if there is no room.
  func add(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) -> Row? {
    // Both sums are of sizes of memory that is there.
    guard end + Self.headSize + bytes.count <= capacity, UInt32(exactly: end) != nil else { return nil }
    var place = 0
    if layout !== first {
      if let known = others.firstIndex(where: { $0 === layout }) {
        place = known + 1
      } else {
        guard others.count < Int(UInt16.max) else { return nil }
        others.append(layout)
        place = others.count
      }
    }
    return write(bytes, place, number)
  }

  /// A block of one row.
  static func of(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) -> Row {
    RowBlock(capacity: headSize + bytes.count, layout).write(bytes, 0, number)
  }

  /// Writes a row, for which there is room, at the end.
  private func write(_ bytes: UnsafeRawBufferPointer, _ layout: Int, _ number: UInt64) -> Row {
    let offset = end
    base.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
    base.storeBytes(of: UInt64(bytes.count) | UInt64(layout) &<< 48, toByteOffset: offset &+ 8, as: UInt64.self)
    if let start = bytes.baseAddress {
      (base + (offset &+ Self.headSize)).copyMemory(from: start, byteCount: bytes.count)
    }
    end = (offset &+ Self.headSize &+ bytes.count &+ 7) & ~7
    return Row(block: self, offset: UInt32(truncatingIfNeeded: offset))
  }

  // Offsets are those of rows that were added.

  @inline(__always)
  func number(at offset: UInt32) -> UInt64 { base.load(fromByteOffset: Int(offset), as: UInt64.self) }

  @inline(__always)
  func layout(at offset: UInt32) -> EntityLayout {
    let place = Int(base.load(fromByteOffset: Int(offset) &+ 8, as: UInt64.self) &>> 48)
    return place == 0 ? first : others[place &- 1]
  }

  /// Lends the layout, without counting a reference to the first one, which nearly all rows have.
  @inline(__always)
  func withLayout<R, E: Error>(at offset: UInt32, _ body: (EntityLayout) throws(E) -> R) throws(E) -> R {
    let place = Int(base.load(fromByteOffset: Int(offset) &+ 8, as: UInt64.self) &>> 48)
    if place > 0 { return try body(others[place &- 1]) }
    // What lends it does not know of typed errors.
    var failure: E?
    let result = borrowedFirst._withUnsafeGuaranteedRef { layout -> R? in
      do throws(E) { return try body(layout) } catch {
        failure = error
        return nil
      }
    }
    if let failure { throw failure }
    guard let result else { return try body(first) }
    return result
  }

  @inline(__always)
  func bytes(at offset: UInt32) -> UnsafeRawBufferPointer {
    let count = base.load(fromByteOffset: Int(offset) &+ 8, as: UInt64.self) & (1 &<< 48 &- 1)
    return UnsafeRawBufferPointer(start: base + (Int(offset) &+ Self.headSize), count: Int(count))
  }
}

/// Copies rows, many into one ``RowBlock``.
struct RowCollector {
  /// How large blocks become that hold more than one row: about 20 rows of common sizes.
  static let most = 4096
  private var block: RowBlock?
  private var next = 512

  /// A copy of a row.
  mutating func add(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) -> Row {
    if let row = block?.add(bytes, layout, number) { return row }
    let size = RowBlock.headSize + bytes.count
    if size > Self.most / 4 { return RowBlock.of(bytes, layout, number) }
    let made = RowBlock(capacity: next, layout)
    next = Swift.min(next * 2, Self.most)
    guard let row = made.add(bytes, layout, number) else { return RowBlock.of(bytes, layout, number) }
    block = made
    return row
  }
}
