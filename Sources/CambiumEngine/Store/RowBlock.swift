import CambiumKernel

#if hasFeature(Embedded)
  /// The bytes of rows that were read together. Its other form, below, says how it works.
  ///
  /// Under Embedded Swift `ManagedBuffer` reads a wrong size for an instance (Swift 6.2): one block took a megabyte on
  /// wasm32, and the allocation failed on ARM. So the bytes are a second piece of memory there.
  final class RowBlock {
    fileprivate let start: UnsafeMutableRawPointer

    private init(byteCount: Int) { start = .allocate(byteCount: byteCount, alignment: 8) }

    fileprivate static func uninitialized(byteCount: Int) -> RowBlock { RowBlock(byteCount: byteCount) }

    deinit {
      fields.deinitialize(count: 1)
      start.deallocate()
    }
  }
#else
  /// The bytes of rows that were read together, in one piece of memory. It lives as long as somebody holds one of the
  /// rows.
  ///
  /// A fetch reads objects by the hundred thousand. To allocate and free memory for each row takes longer than to copy
  /// it. A row that is held alone keeps at most ``FoundRows/mostBytes`` bytes of other rows. Whoever holds every
  /// twentieth row keeps the memory of all rows.
  ///
  /// The fields of a block lie before its rows, in the same piece of memory. A second piece would cost another
  /// allocation. A look at a row would also wait for the first piece, because only that one says where the second lies.
  ///
  /// Only the ``FoundRows`` that made a block adds rows to it, before anyone else has one of them. The bytes of a row
  /// never change afterwards. So any number of threads may read a block, although its superclass is not `Sendable`.
  final class RowBlock: ManagedBuffer<Void, UInt64> {
    fileprivate var start: UnsafeMutableRawPointer {
      @inline(__always) get { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) } }
    }

    fileprivate static func uninitialized(byteCount: Int) -> RowBlock {
      unsafeDowncast(create(minimumCapacity: (byteCount + 7) / 8) { _ in }, to: RowBlock.self)
    }

    deinit { fields.deinitialize(count: 1) }
  }
#endif

extension RowBlock {
  /// Before each row: its number; the count of its bytes, with the place of its layout in the upper 16 bits. A multiple
  /// of 8.
  static let headSize = 16

  fileprivate struct Fields {
    let room: Int
    let first: EntityLayout
    /// The columns of ``first``, which nearly all rows have.
    let firstColumns: ColumnTable
    /// The entity of ``first``.
    let firstEntity: UInt32
    var end: UInt32 = 0
    /// The layouts that are not the first.
    var others: [EntityLayout] = []
  }

  fileprivate var fields: UnsafeMutablePointer<Fields> {
    @inline(__always) get { start.assumingMemoryBound(to: Fields.self) }
  }

  /// Where the rows begin.
  private var base: UnsafeMutableRawPointer {
    @inline(__always) get { start + Self.rowsOffset }
  }

  private static var rowsOffset: Int {
    @inline(__always) get { (MemoryLayout<Fields>.size + 7) & ~7 }
  }

  /// So many bytes of rows have room, with what is before each.
  var room: Int { fields.pointee.room }

  /// Where the next row would be.
  var end: UInt32 {
    @inline(__always) get { fields.pointee.end }
  }

  static func make(capacity: Int, _ layout: EntityLayout) -> RowBlock {
    // The sum cannot overflow, because both are sizes of memory that exists or is allocated next.
    let block = uninitialized(byteCount: rowsOffset + capacity)
    block.fields.initialize(
      to: Fields(
        room: capacity, first: layout, firstColumns: layout.columns, firstEntity: layout.entityID))
    return block
  }

  /// Adds a row at the end; answers whether there was room.
  func add(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) -> Bool {
    // The sum is of sizes of memory that is there.
    guard Int(end) + Self.headSize + bytes.count <= room else { return false }
    var place = 0
    if layout !== fields.pointee.first {
      if let known = fields.pointee.others.firstIndex(where: { $0 === layout }) {
        place = known + 1
      } else {
        guard fields.pointee.others.count < Int(UInt16.max) else { return false }
        fields.pointee.others.append(layout)
        place = fields.pointee.others.count
      }
    }
    write(bytes, place, number)
    return true
  }

  /// A block of one row.
  static func of(_ bytes: UnsafeRawBufferPointer, _ layout: EntityLayout, _ number: UInt64) -> Row {
    let block = make(capacity: headSize + bytes.count, layout)
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
    fields.pointee.end = UInt32(clamping: (offset &+ Self.headSize &+ bytes.count &+ 7) & ~7)
  }

  // Offsets are those of rows that were added.

  @inline(__always)
  func number(at offset: UInt32) -> UInt64 { base.load(fromByteOffset: Int(offset), as: UInt64.self) }

  @inline(__always)
  func layout(at offset: UInt32) -> EntityLayout {
    let place = Int(base.load(fromByteOffset: Int(offset) &+ 8, as: UInt64.self) &>> 48)
    return place == 0 ? fields.pointee.first : fields.pointee.others[place &- 1]
  }

  /// The columns of a row's layout, which are there as long as the block.
  @inline(__always)
  func columns(at offset: UInt32) -> ColumnTable {
    let place = Int(base.load(fromByteOffset: Int(offset) &+ 8, as: UInt64.self) &>> 48)
    return place == 0 ? fields.pointee.firstColumns : fields.pointee.others[place &- 1].columns
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
    let entity = place == 0 ? fields.pointee.firstEntity : fields.pointee.others[place &- 1].entityID
    return ObjectReference(entity: entity, row: number(at: offset))
  }
}
