/// Where a field of fixed width lies in the records of one layout, found out once: reading it asks the layout nothing
/// more.
///
/// Good for records of that layout only; of another it gives other bytes of the same record, or 0 beyond its end.
public struct FixedField: Sendable {
  @usableFromInline let nullByte: Int
  @usableFromInline let nullMask: UInt8
  @usableFromInline let position: Int
  @usableFromInline let width: Int
  @usableFromInline let tag: FieldTag

  /// The place of field `index`; nil if the layout has no such field, or its width varies, or it is a boolean.
  public init?(_ layout: BorrowedLayout, _ index: Int) {
    guard index >= 0, index < layout.table.pointee.fieldCount else { return nil }
    let slot = layout.table.pointee.slots[index]
    guard slot.tag != .boolean, !slot.tag.isVariable else { return nil }
    nullByte = layout.table.pointee.bitsOffset + index / 8
    nullMask = 1 << UInt8(index & 7)
    position = slot.position
    width = slot.tag.fixedWidth
    tag = slot.tag
  }
}

extension RecordView {
  /// Whether the field is null.
  @inlinable @inline(__always)
  public func isNull(_ field: FixedField) -> Bool {
    guard field.nullByte < count else { return true }
    return base.load(fromByteOffset: field.nullByte, as: UInt8.self) & field.nullMask != 0
  }

  /// The value of an integer of any width that is not null; 0 of a field of another type.
  @inlinable @inline(__always)
  public func int64(_ field: FixedField) -> Int64 {
    guard field.position &+ field.width <= count else { return 0 }
    switch field.tag {
    case .int64: return load(field.position, as: Int64.self)
    case .int32: return Int64(load(field.position, as: Int32.self))
    case .int16: return Int64(load(field.position, as: Int16.self))
    default: return 0
    }
  }

  /// The value of a double, float or date that is not null; 0 of a field of another type.
  @inlinable @inline(__always)
  public func double(_ field: FixedField) -> Double {
    guard field.position &+ field.width <= count else { return 0 }
    switch field.tag {
    case .double, .date: return Double(bitPattern: load(field.position, as: UInt64.self))
    case .float: return Double(Float(bitPattern: load(field.position, as: UInt32.self)))
    default: return 0
    }
  }
}
