/// A range that a field of fixed width of one layout's rows is asked for, told from the row's bytes alone: what most rows of a
/// scan fail by costs a few instructions then.
public struct FixedRange: Sendable {
  @usableFromInline let layoutID: UInt16
  @usableFromInline let fixedEnd: Int
  @usableFromInline let nullByte: Int
  @usableFromInline let nullMask: UInt8
  @usableFromInline let position: Int
  @usableFromInline let tag: FieldTag
  @usableFromInline let low: UInt64
  @usableFromInline let span: UInt64

  /// A range of a field; nil for fields of other types, and for a range that nothing lies in.
  ///
  /// - Parameters:
  ///   - layout: The rows' layout.
  ///   - field: An integer, or a double or date.
  ///   - low: The least value; of a double, ``KeyEncoder/orderedBits(_:)``.
  ///   - high: The greatest value, likewise; not less than `low`.
  public init?(_ layout: BorrowedLayout, _ field: FixedField, low: UInt64, high: UInt64) {
    guard layout.table.pointee.isRow else { return nil }
    switch field.tag {
    case .int16, .int32, .int64: if Int64(bitPattern: low) > Int64(bitPattern: high) { return nil }
    case .double, .date: if low > high { return nil }
    default: return nil
    }
    layoutID = layout.table.pointee.layoutID
    fixedEnd = layout.table.pointee.fixedEnd
    nullByte = field.nullByte
    nullMask = field.nullMask
    position = field.position
    tag = field.tag
    self.low = low
    span = high &- low
  }

  /// Whether the row surely has null there, or a value outside the range. False for rows of other layouts, for those that are
  /// too short, and for the few numbers whose bits do not order like them. Nothing else of the row is looked at: what is
  /// excluded may be damaged elsewhere.
  @inlinable @inline(__always)
  public func excludes(_ row: UnsafeRawBufferPointer) -> Bool {
    guard let base = row.baseAddress, row.count >= fixedEnd,
      UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)) == layoutID
    else { return false }
    if base.load(fromByteOffset: nullByte, as: UInt8.self) & nullMask != 0 { return true }
    var bits: UInt64
    switch tag {
    case .int16:
      bits = UInt64(
        truncatingIfNeeded: Int16(littleEndian: base.loadUnaligned(fromByteOffset: position, as: Int16.self)))
    case .int32:
      bits = UInt64(
        truncatingIfNeeded: Int32(littleEndian: base.loadUnaligned(fromByteOffset: position, as: Int32.self)))
    case .int64: bits = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    default:
      bits = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      // Negative zero, and what is not a number.
      if bits == 1 &<< 63 || bits & (.max &>> 1) > 0x7FF0_0000_0000_0000 { return false }
      bits ^= UInt64(bitPattern: Int64(bitPattern: bits) &>> 63) | 1 &<< 63
    }
    return bits &- low > span
  }
}
