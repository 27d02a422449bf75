import CambiumKernel

/// The bytes of rows that were read together, in one piece of memory that is there as long as anybody has one of the rows.
///
/// Objects are fetched by the hundred thousand: to get memory for each row, and to give it back, takes longer than to copy it.
/// A row that somebody keeps alone keeps at most ``FoundRows/mostBytes`` bytes of others: who keeps one of each twenty rows keeps the
/// memory of all.
final class RowBlock: @unchecked Sendable {
  // `@unchecked`: only the ``FoundRows`` that made a block adds rows to it, before anyone else has one of them; what a row
  // is made of is not changed any more.

  /// Before each row: its number; the count of its bytes, with the place of its layout in the upper 16 bits. A multiple of 8.
  static let headSize = 16

  private let base: UnsafeMutableRawPointer
  let capacity: Int
  /// Where the next row would be.
  private(set) var end: UInt32 = 0
  private let first: EntityLayout
  /// Its entity.
  private let firstEntity: UInt32
  /// Its columns, which nearly all rows have.
  private let firstColumns: ColumnTable
  /// The layouts that are not the first.
  private var others: [EntityLayout] = []

  init(capacity: Int, _ layout: EntityLayout) {
    self.capacity = capacity
    first = layout
    firstEntity = layout.entityID
    firstColumns = layout.columns
    base = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { base.deallocate() }

  /// Adds a row at the end; answers whether there was room.
  func add(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) -> Bool {
    // The sum is of sizes of memory that is there.
    guard Int(end) + Self.headSize + bytes.count <= capacity else { return false }
    var place = 0
    if layout !== first {
      if let known = others.firstIndex(where: { $0 === layout }) {
        place = known + 1
      } else {
        guard others.count < Int(UInt16.max) else { return false }
        others.append(layout)
        place = others.count
      }
    }
    write(bytes, place, number)
    return true
  }

  /// A block of one row.
  static func of(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) -> Row {
    let block = RowBlock(capacity: headSize + bytes.count, layout)
    block.write(bytes, 0, number)
    return Row(block: block, offset: 0)
  }

  /// Writes a row, for which there is room, at the end.
  private func write(_ bytes: UnsafeRawBufferPointer, _ layout: Int, _ number: UInt64) {
    let offset = Int(end)
    base.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
    base.storeBytes(of: UInt64(bytes.count) | UInt64(layout) &<< 48, toByteOffset: offset &+ 8, as: UInt64.self)
    if let start = bytes.baseAddress {
      (base + (offset &+ Self.headSize)).copyMemory(from: start, byteCount: bytes.count)
    }
    // Nothing is added behind a row that is long, and may be of any size.
    end = UInt32(clamping: (offset &+ Self.headSize &+ bytes.count &+ 7) & ~7)
  }

  // Offsets are those of rows that were added.

  @inline(__always)
  func number(at offset: UInt32) -> UInt64 { base.load(fromByteOffset: Int(offset), as: UInt64.self) }

  @inline(__always)
  func layout(at offset: UInt32) -> EntityLayout {
    let place = Int(base.load(fromByteOffset: Int(offset) &+ 8, as: UInt64.self) &>> 48)
    return place == 0 ? first : others[place &- 1]
  }

  /// The columns of a row's layout, which are there as long as the block.
  @inline(__always)
  func columns(at offset: UInt32) -> ColumnTable {
    let place = Int(base.load(fromByteOffset: Int(offset) &+ 8, as: UInt64.self) &>> 48)
    return place == 0 ? firstColumns : others[place &- 1].columns
  }

  @inline(__always)
  func bytes(at offset: UInt32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + (Int(offset) &+ Self.headSize), count: count(at: offset))
  }

  @inline(__always)
  private func count(at offset: UInt32) -> Int {
    Int(base.load(fromByteOffset: Int(offset) &+ 8, as: UInt64.self) & (1 &<< 48 &- 1))
  }

  /// Where the next row is, or would be.
  @inline(__always)
  func offset(after offset: UInt32) -> UInt32 {
    UInt32(clamping: (Int(offset) &+ Self.headSize &+ count(at: offset) &+ 7) & ~7)
  }

  /// The object of a row, with its own entity.
  @inline(__always)
  func reference(at offset: UInt32) -> ObjectReference {
    let place = Int(base.load(fromByteOffset: Int(offset) &+ 8, as: UInt64.self) &>> 48)
    let entity = place == 0 ? firstEntity : others[place &- 1].entityID
    return ObjectReference(entity: entity, row: number(at: offset))
  }
}
