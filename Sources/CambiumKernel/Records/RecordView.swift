/// Reads a record in place. See `RecordLayout.swift` for the bytes.
///
/// A view borrows its bytes and the tables of its layout; it is valid as long as both are, and copies neither. Reading
/// allocates and counts references of nothing, except where a method returns a `String` or an array. Every read stays
/// within the bytes, whatever they hold: damage is answered with `StoreError.corrupt(place: .record, ...)`, an index or
/// kind that the layout does not have with `StoreError.misuse`. Offsets in errors count from the start of the record.
public struct RecordView {
  @usableFromInline let base: UnsafeRawPointer
  /// The size of the record in bytes.
  public let count: Int
  @usableFromInline let table: UnsafeMutablePointer<RecordTable>
  /// Where the variable part begins.
  @usableFromInline let variableOffset: Int

  /// Looks at a record.
  ///
  /// - Throws: `StoreError.corrupt` if the bytes cannot be a record of this layout: too short, of an unknown shape, or
  ///   a row of another layout. Constant time; ``validate()`` checks everything.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeRawBufferPointer, layout: RecordLayout) throws(StoreError) {
    try self.init(bytes, table: layout.table)
  }

  @inlinable @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, table: UnsafeMutablePointer<RecordTable>) throws(StoreError) {
    guard let base = bytes.baseAddress, bytes.count >= table.pointee.fixedEnd else {
      throw corruptRecord(bytes.count, "the record is shorter than the fixed part of its layout")
    }
    if table.pointee.isRow {
      let id = UInt16(littleEndian: base.loadUnaligned(as: UInt16.self))
      guard id == table.pointee.layoutID else { throw corruptRecord(0, "the row was written with another layout") }
    }
    let shape = base.load(fromByteOffset: table.pointee.bitsOffset &- 1, as: UInt8.self)
    guard shape <= RecordShape.known, shape & RecordShape.widthMask != 3 else {
      throw corruptRecord(table.pointee.bitsOffset &- 1, "the record's shape byte is unknown")
    }
    let variables = table.pointee.variableCount
    var offset = table.pointee.fixedEnd
    if variables > 0 {
      // No overflow: a layout has at most 16,384 fields.
      offset &+= (variables &- 1) &<< Int(shape & RecordShape.widthMask)
      if shape & RecordShape.external != 0 { offset &+= (variables &+ 7) &>> 3 }
      guard offset <= bytes.count else { throw corruptRecord(offset, "the record ends within its table of offsets") }
    }
    self.base = base
    self.count = bytes.count
    self.table = table
    self.variableOffset = offset
  }

  /// The layout id of a row, read without knowing its layout.
  @inlinable @inline(__always)
  public static func layoutID(of row: UnsafeRawBufferPointer) throws(StoreError) -> UInt16 {
    guard row.count >= RecordTable.rowHeadSize else {
      throw corruptRecord(row.count, "the row is shorter than its head")
    }
    return UInt16(littleEndian: row.loadUnaligned(as: UInt16.self))
  }

  /// The entity id of a row, read without knowing its layout.
  @inlinable @inline(__always)
  public static func entityID(of row: UnsafeRawBufferPointer) throws(StoreError) -> UInt16 {
    guard row.count >= RecordTable.rowHeadSize else {
      throw corruptRecord(row.count, "the row is shorter than its head")
    }
    return UInt16(littleEndian: row.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
  }

  /// The version of a row, read without knowing its layout.
  @inlinable @inline(__always)
  public static func rowVersion(of row: UnsafeRawBufferPointer) throws(StoreError) -> UInt32 {
    guard row.count >= RecordTable.rowHeadSize else {
      throw corruptRecord(row.count, "the row is shorter than its head")
    }
    return UInt32(littleEndian: row.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
  }

  /// The row's entity, or 0 in a nested record.
  @inlinable @inline(__always)
  public var entityID: UInt16 {
    table.pointee.isRow ? UInt16(littleEndian: base.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) : 0
  }

  /// The row's version, by which conflicts are detected, or 0 in a nested record.
  @inlinable @inline(__always)
  public var rowVersion: UInt32 {
    table.pointee.isRow ? UInt32(littleEndian: base.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) : 0
  }

  /// How many fields the layout has.
  @inlinable @inline(__always)
  public var fieldCount: Int { table.pointee.fieldCount }

  /// All bytes of the record.
  @inlinable @inline(__always)
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Whether a field is null.
  @inlinable @inline(__always)
  public func isNull(_ index: Int) throws(StoreError) -> Bool {
    guard UInt(bitPattern: index) < UInt(bitPattern: table.pointee.fieldCount) else { throw wrongField() }
    return bit(index)
  }

  /// Whether a bit of the record's bits is set; `index` is below fields + booleans.
  @inlinable @inline(__always)
  func bit(_ index: Int) -> Bool {
    let byte = base.load(fromByteOffset: table.pointee.bitsOffset &+ index &>> 3, as: UInt8.self)
    return byte & (1 &<< UInt8(truncatingIfNeeded: index & 7)) != 0
  }

  /// The place of a field, checked.
  @inlinable @inline(__always)
  func slot(_ index: Int) throws(StoreError) -> UnsafeMutablePointer<FieldSlot> {
    guard UInt(bitPattern: index) < UInt(bitPattern: table.pointee.fieldCount) else { throw wrongField() }
    return table.pointee.slots + index
  }
}
