/// Where a number or date of a row, or of a composite in it, lies: it is read from the row's bytes without a look at
/// anything else.
///
/// Good for records of one layout only.
public struct FixedPlace: Sendable {
  /// Where the composite lies, if the field is an element of one.
  @usableFromInline let outer: VariablePlace?
  /// No record of which the field is one is shorter.
  @usableFromInline let fixedEnd: Int
  @usableFromInline let nullByte: Int
  @usableFromInline let nullMask: UInt8
  @usableFromInline let position: Int
  @usableFromInline let tag: FieldTag

  /// True for an integer, false for a double or date.
  public var isInteger: Bool { tag == .int16 || tag == .int32 || tag == .int64 }

  /// What is known of a field.
  public enum Found {
    /// The field is null.
    case null
    /// The bits of an integer, widened to 64 bits with its sign, or of a double or date.
    case bits(UInt64)
    /// The record is of another shape, or damaged: it has to be looked at as a whole.
    case unknown
  }

  /// The place of a field, or of a field of a composite; nil for fields that are no numbers or dates.
  ///
  /// - Parameters:
  ///   - layout: The rows' layout.
  ///   - outer: The field of the composite; nil for a field of the row itself.
  ///   - index: The field.
  public init?(_ layout: BorrowedLayout, outer: Int?, _ index: Int) {
    var table = layout.table
    if let outer {
      guard let place = VariablePlace(table, outer), let nested = table.pointee.slots[outer].nested else { return nil }
      self.outer = place
      table = nested
    } else {
      self.outer = nil
    }
    guard let field = FixedField(BorrowedLayout(table: table), index) else { return nil }
    switch field.tag {
    case .int16, .int32, .int64, .double, .date: break
    default: return nil
    }
    fixedEnd = table.pointee.fixedEnd
    nullByte = field.nullByte
    nullMask = field.nullMask
    position = field.position
    tag = field.tag
  }

  /// What a record has there.
  @inlinable @inline(__always)
  public func find(in record: RecordView) -> Found {
    var base = record.base
    var count = record.count
    if let outer {
      switch outer.find(base, count) {
      case .null: return .null
      case .unknown: return .unknown
      case .bytes(let inner, let length): (base, count) = (inner, length)
      }
    }
    guard count >= fixedEnd else { return .unknown }
    if base.load(fromByteOffset: nullByte, as: UInt8.self) & nullMask != 0 { return .null }
    switch tag {
    case .int16:
      let value = Int16(littleEndian: base.loadUnaligned(fromByteOffset: position, as: Int16.self))
      return .bits(UInt64(truncatingIfNeeded: value))
    case .int32:
      let value = Int32(littleEndian: base.loadUnaligned(fromByteOffset: position, as: Int32.self))
      return .bits(UInt64(truncatingIfNeeded: value))
    default: return .bits(UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
    }
  }
}
