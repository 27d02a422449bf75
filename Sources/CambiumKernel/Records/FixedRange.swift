/// A range that a field of fixed width of one layout's rows, or of a composite of them, is asked for, told from the
/// row's bytes alone: what most rows of a scan fail by costs a few instructions then.
public struct FixedRange: Sendable {
  @usableFromInline let layoutID: UInt16
  /// Where the composite lies, if the field is an element of one.
  @usableFromInline let outer: VariablePlace?
  /// No record of which the field is one is shorter.
  @usableFromInline let fixedEnd: Int
  @usableFromInline let nullByte: Int
  @usableFromInline let nullMask: UInt8
  @usableFromInline let position: Int
  @usableFromInline let tag: FieldTag
  @usableFromInline let low: UInt64
  @usableFromInline let span: UInt64
  /// All bits if null is outside, none if it is inside.
  @usableFromInline let nullVerdict: UInt64

  /// Whether the field is an element of a composite.
  public var isOfElement: Bool { outer != nil }

  /// A range of a field; nil for fields of other types, and for a range that nothing lies in.
  ///
  /// - Parameters:
  ///   - layout: The rows' layout.
  ///   - field: An integer, or a double or date.
  ///   - low: The least value; of a double, ``KeyEncoder/orderedBits(_:)``.
  ///   - high: The greatest value, likewise; not less than `low`.
  ///   - includesNull: Whether null is inside as well.
  public init?(
    _ layout: BorrowedLayout, _ field: FixedField, low: UInt64, high: UInt64, includesNull: Bool = false
  ) {
    guard layout.table.pointee.isRow else { return nil }
    self.init(layout, nil, layout.table, field, low, high, includesNull)
  }

  /// A range of an element of a composite; nil for elements of other types, and for a range that nothing lies in.
  ///
  /// - Parameters:
  ///   - layout: The rows' layout.
  ///   - outer: The field of the composite.
  ///   - index: The element's field in the composite.
  ///   - low: As for a field of the row; so is `high`.
  ///   - includesNull: Whether null is inside as well, and so no composite.
  public init?(
    _ layout: BorrowedLayout, outer: Int, _ index: Int, low: UInt64, high: UInt64, includesNull: Bool = false
  ) {
    guard layout.table.pointee.isRow, let place = VariablePlace(layout.table, outer),
      let nested = layout.table.pointee.slots[outer].nested,
      let field = FixedField(BorrowedLayout(table: nested), index)
    else { return nil }
    self.init(layout, place, nested, field, low, high, includesNull)
  }

  /// Whether a field of any type is null, or is not; nil if there is no such field.
  public init?(_ layout: BorrowedLayout, nullOf index: Int, isNull: Bool) {
    guard layout.table.pointee.isRow, index >= 0, index < layout.table.pointee.fieldCount else { return nil }
    layoutID = layout.table.pointee.layoutID
    outer = nil
    fixedEnd = layout.table.pointee.fixedEnd
    nullByte = layout.table.pointee.bitsOffset + index / 8
    nullMask = 1 << UInt8(index & 7)
    // The first bytes of a row are read as its number. They are no integer of 16 bits that is as great as `low`, or
    // are one like any other.
    position = 0
    tag = .int16
    low = isNull ? 1 << 32 : 0
    span = isNull ? 0 : .max
    nullVerdict = isNull ? 0 : .max
  }

  private init?(
    _ layout: BorrowedLayout, _ outer: VariablePlace?, _ table: UnsafeMutablePointer<RecordTable>, _ field: FixedField,
    _ low: UInt64, _ high: UInt64, _ includesNull: Bool
  ) {
    switch field.tag {
    case .int16, .int32, .int64: if Int64(bitPattern: low) > Int64(bitPattern: high) { return nil }
    case .double, .date: if low > high { return nil }
    default: return nil
    }
    layoutID = layout.table.pointee.layoutID
    self.outer = outer
    fixedEnd = table.pointee.fixedEnd
    nullByte = field.nullByte
    nullMask = field.nullMask
    position = field.position
    tag = field.tag
    self.low = low
    span = high &- low
    nullVerdict = includesNull ? 0 : .max
  }

  /// Whether the row surely has a value outside the range there, or null, if that is not inside. False for rows of
  /// other layouts, for those that are too short, and for the few numbers whose bits do not order like them. Nothing
  /// else of the row is looked at: what is excluded may be damaged elsewhere.
  @inlinable @inline(__always)
  public func excludes(_ row: UnsafeRawBufferPointer) -> Bool {
    guard let base = row.baseAddress else { return false }
    if let outer { return excludesElement(base, row.count, outer) }
    return isMeant(base, row.count) && excludes(base)
  }

  @inlinable @inline(__always)
  func excludes(_ base: UnsafeRawPointer) -> Bool {
    switch tag {
    case .int16: return excludesInt16(base)
    case .int32: return excludesInt32(base)
    case .int64: return excludesInt64(base)
    default: return excludesReal(base)
    }
  }

  @inlinable @inline(__always)
  func excludesElement(_ base: UnsafeRawPointer, _ count: Int, _ outer: VariablePlace) -> Bool {
    guard count >= RecordTable.rowHeadSize, UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)) == layoutID else {
      return false
    }
    switch outer.find(base, count) {
    case .null: return nullVerdict != 0
    case .unknown: return false
    case .bytes(let record, let length): return length >= fixedEnd && excludes(record)
    }
  }

  /// Notes in `places` which of some entries of a run are not excluded; answers how many. In the same time whichever
  /// they are: where a processor has to guess, it is wrong with every third row or so.
  ///
  /// - Parameter places: Room for all of them.
  @inlinable
  public func passing(
    _ run: LentRun, _ entries: Range<Int>, _ places: UnsafeMutablePointer<Int32>
  ) -> Int {
    if let outer {
      var count = 0
      run.forEachValue(entries) { (i, row) in
        places[count] = Int32(truncatingIfNeeded: i)
        count &+= excludesElement(row.start, row.count, outer) ? 0 : 1
      }
      return count
    }
    switch tag {
    case .int16: return passing(run, entries, places) { excludesInt16($0) }
    case .int32: return passing(run, entries, places) { excludesInt32($0) }
    case .int64: return passing(run, entries, places) { excludesInt64($0) }
    default: return passing(run, entries, places) { excludesReal($0) }
    }
  }

  @inlinable @inline(__always)
  func passing(
    _ run: LentRun, _ entries: Range<Int>, _ places: UnsafeMutablePointer<Int32>,
    _ isOutside: (UnsafeRawPointer) -> Bool
  ) -> Int {
    var count = 0
    run.forEachValue(entries) { (i, row) in
      places[count] = Int32(truncatingIfNeeded: i)
      let base = row.start
      if isMeant(base, row.count) { count &+= isOutside(base) ? 0 : 1 } else { count &+= 1 }
    }
    return count
  }

  /// Whether bytes can be a row of the layout.
  @inlinable @inline(__always)
  func isMeant(_ base: UnsafeRawPointer, _ count: Int) -> Bool {
    count >= fixedEnd && UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)) == layoutID
  }

  /// Whether the value is outside the range, in bits whose order is that of the numbers.
  @inlinable @inline(__always)
  func excludes(_ base: UnsafeRawPointer, _ bits: UInt64) -> Bool {
    let isNull: UInt8 = base.load(fromByteOffset: nullByte, as: UInt8.self) & nullMask
    // Without a branch: which of them it is cannot be foreseen.
    let ofNull: UInt64 = isNull == 0 ? 0 : .max
    return (ofNull & nullVerdict) | (~ofNull & (bits &- low > span ? 1 : 0)) != 0
  }

  @inlinable @inline(__always)
  func excludesInt16(_ base: UnsafeRawPointer) -> Bool {
    let value = Int16(littleEndian: base.loadUnaligned(fromByteOffset: position, as: Int16.self))
    return excludes(base, UInt64(truncatingIfNeeded: value))
  }

  @inlinable @inline(__always)
  func excludesInt32(_ base: UnsafeRawPointer) -> Bool {
    let value = Int32(littleEndian: base.loadUnaligned(fromByteOffset: position, as: Int32.self))
    return excludes(base, UInt64(truncatingIfNeeded: value))
  }

  @inlinable @inline(__always)
  func excludesInt64(_ base: UnsafeRawPointer) -> Bool {
    excludes(base, UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
  }

  @inlinable @inline(__always)
  func excludesReal(_ base: UnsafeRawPointer) -> Bool {
    let bits = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    let ordered = bits ^ (UInt64(bitPattern: Int64(bitPattern: bits) &>> 63) | 1 &<< 63)
    // Negative zero, and what is not a number, unless null is all there is.
    if bits == 1 &<< 63 || bits & (.max &>> 1) > 0x7FF0_0000_0000_0000 {
      return base.load(fromByteOffset: nullByte, as: UInt8.self) & nullMask != 0 && nullVerdict != 0
    }
    return excludes(base, ordered)
  }
}
