/// Text of ASCII characters that a field of one layout's rows, or of a composite of them, is asked for, told from the row's
/// bytes alone: what most rows of a scan fail by costs a few dozen instructions then.
public struct TextEquality {
  @usableFromInline let layoutID: UInt16
  @usableFromInline let outer: VariablePlace
  @usableFromInline let inner: VariablePlace?
  @usableFromInline let text: UnsafeRawBufferPointer
  /// Its first eight bytes, the first in the lowest bits.
  @usableFromInline let word: UInt64

  /// Text of a field; nil unless the field is one of text, and all of the text ASCII.
  ///
  /// - Parameters:
  ///   - layout: The rows' layout.
  ///   - outer: The field of the composite, if the text is an element of one.
  ///   - index: The field of the text, in the row or in the composite.
  ///   - text: Kept by the caller, as long as this is used.
  public init?(_ layout: BorrowedLayout, outer: Int?, _ index: Int, _ text: UnsafeRawBufferPointer) {
    guard layout.table.pointee.isRow, text.isASCII, let place = VariablePlace(layout.table, outer ?? index) else {
      return nil
    }
    layoutID = layout.table.pointee.layoutID
    self.outer = place
    var table = layout.table
    if let outer {
      guard let nested = table.pointee.slots[outer].nested, let place = VariablePlace(nested, index) else { return nil }
      inner = place
      table = nested
    } else {
      inner = nil
    }
    guard table.pointee.slots[index].tag == .string else { return nil }
    self.text = text
    var word: UInt64 = 0
    for (i, byte) in text.prefix(8).enumerated() { word |= UInt64(byte) << UInt64(8 * i) }
    self.word = word
  }

  /// Whether the row surely has another text there, or null. False for rows of other layouts, for those with values of more
  /// than 255 bytes in all, and for those whose text is not ASCII where that could be the same text in other characters.
  /// Nothing else of the row is looked at: what is excluded may be damaged elsewhere.
  @inlinable @inline(__always)
  public func excludes(_ row: UnsafeRawBufferPointer) -> Bool { passesShort(row).map { $0 == 0 } ?? excludesLong(row) }

  @usableFromInline
  func excludesLong(_ row: UnsafeRawBufferPointer) -> Bool {
    guard var base = row.baseAddress, row.count >= RecordTable.rowHeadSize,
      UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)) == layoutID
    else { return false }
    var count = row.count
    switch outer.find(base, count) {
    case .null: return true
    case .unknown: return false
    case .bytes(let start, let length): (base, count) = (start, length)
    }
    if let inner {
      switch inner.find(base, count) {
      case .null: return true
      case .unknown: return false
      case .bytes(let start, let length): (base, count) = (start, length)
      }
    }
    let found = UnsafeRawBufferPointer(start: base, count: count)
    if count <= text.count { return count < text.count || !hasPrefix(found, text) }
    // Other bytes can be the same text only if they are no plain ASCII, and then there are more of them.
    return found.isASCII
  }

  /// Notes in `places` which of some entries of a run are not excluded; answers how many. For short texts in about the same time
  /// whatever the rows have: a processor cannot guess it.
  ///
  /// - Parameter places: Room for all of them.
  @inlinable
  public func passing(_ run: LentRun, _ entries: Range<Int>, _ places: UnsafeMutablePointer<Int32>) -> Int {
    var count = 0
    for i in entries {
      places[count] = Int32(truncatingIfNeeded: i)
      let row = run.value(i)
      count &+= passesShort(row) ?? (excludesLong(row) ? 0 : 1)
    }
    return count
  }

  /// 1 for a row that is not excluded, and 0 for one that is; nil where it takes a longer look, as for texts of more than eight
  /// bytes.
  @inlinable @inline(__always)
  func passesShort(_ row: UnsafeRawBufferPointer) -> Int? {
    let base = row.start
    guard row.count >= RecordTable.rowHeadSize, UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)) == layoutID,
      var place = outer.span(base, row.count)
    else { return nil }
    if let inner {
      if place.isNull != 0 { return 0 }
      guard let nested = inner.span(place.start, place.count) else { return nil }
      place = nested
    }
    // No more than eight bytes, which lie in the row with those behind them.
    guard place.count <= 8, place.start + 8 <= base + row.count else { return nil }
    let mask: UInt64 =
      (.max &>> UInt64(truncatingIfNeeded: (64 &- 8 &* place.count) & 63)) & (place.count == 0 ? 0 : .max)
    let bytes = UInt64(littleEndian: place.start.loadUnaligned(as: UInt64.self)) & mask
    // Other bytes can be the same text only if they are no plain ASCII.
    if bytes & 0x8080_8080_8080_8080 != 0 { return nil }
    let isSame = (bytes ^ word) | UInt64(truncatingIfNeeded: place.count ^ text.count) | UInt64(place.isNull) == 0
    return isSame ? 1 : 0
  }
}
