/// Where a field of variable width lies in a record whose end offsets have one byte each.
@usableFromInline
struct VariablePlace: Sendable {
  @usableFromInline let shape: Int
  @usableFromInline let nullByte: Int
  @usableFromInline let nullMask: UInt8
  /// Where its end offset lies, if it is not the last one's, which is the end of the record.
  @usableFromInline let end: Int
  @usableFromInline let isFirst: Bool
  @usableFromInline let isLast: Bool
  /// Where the values begin.
  @usableFromInline let values: Int

  init?(_ table: UnsafeMutablePointer<RecordTable>, _ index: Int) {
    guard index >= 0, index < table.pointee.fieldCount, table.pointee.slots[index].tag.isVariable else { return nil }
    let number = table.pointee.slots[index].position
    shape = table.pointee.bitsOffset - 1
    nullByte = table.pointee.bitsOffset + index / 8
    nullMask = 1 << UInt8(index & 7)
    end = table.pointee.fixedEnd + number
    isFirst = number == 0
    isLast = number == table.pointee.variableCount - 1
    values = table.pointee.fixedEnd + table.pointee.variableCount - 1
  }

  /// What is known of a field.
  @usableFromInline
  enum Found {
    case null
    case bytes(UnsafeRawPointer, Int)
    /// The record is of another shape, or damaged: it has to be looked at as a whole.
    case unknown
  }

  @inlinable @inline(__always)
  func find(_ base: UnsafeRawPointer, _ count: Int) -> Found {
    guard let (start, length, isNull) = span(base, count) else { return .unknown }
    return isNull != 0 ? .null : .bytes(start, length)
  }

  /// The same without a branch on whether it is null, which a bit of `isNull` says then. Nil if it is unknown.
  @inlinable @inline(__always)
  func span(_ base: UnsafeRawPointer, _ count: Int) -> (start: UnsafeRawPointer, count: Int, isNull: UInt8)? {
    guard count >= values, base.load(fromByteOffset: shape, as: UInt8.self) == 0 else { return nil }
    let isNull = base.load(fromByteOffset: nullByte, as: UInt8.self) & nullMask
    let from = isFirst ? 0 : Int(base.load(fromByteOffset: end &- 1, as: UInt8.self))
    let to = isLast ? count &- values : Int(base.load(fromByteOffset: end, as: UInt8.self))
    guard from <= to, to <= count &- values else { return nil }
    return (base + (values &+ from), to &- from, isNull)
  }
}
