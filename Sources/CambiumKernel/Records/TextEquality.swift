/// Text of ASCII characters that a field of one layout's rows, or of a composite of them, is asked for, told from the
/// row's bytes alone: what most rows of a scan fail by costs a few dozen instructions then.
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

  /// Whether the row surely has another text there, or null. False for rows of other layouts, for those with values of
  /// more than 255 bytes in all, and for those whose text is not ASCII where that could be the same text in other
  /// characters. Nothing else of the row is looked at: what is excluded may be damaged elsewhere.
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

  /// Notes in `places` which of some entries of a run are not excluded; answers how many. For short texts in about the
  /// same time whatever the rows have: a processor cannot guess it.
  ///
  /// - Parameter places: Room for all of them.
  @inlinable
  public func passing(_ run: LentRun, _ entries: Range<Int>, _ places: UnsafeMutablePointer<Int32>) -> Int {
    var count = 0
    run.forEachValue(entries) { (i, row) in
      places[count] = Int32(truncatingIfNeeded: i)
      count &+= passesShort(row) ?? (excludesLong(row) ? 0 : 1)
    }
    return count
  }

  /// 1 for a row that is not excluded, and 0 for one that is; nil where it takes a longer look, as for texts of more
  /// than eight bytes of which the first are the same.
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
    // The first eight bytes, if there are so many; those before a shorter text, which the row has at its head at least,
    // are shifted away.
    let n = min(place.count, 8)
    let all = UInt64(littleEndian: (place.start + (n &- 8)).loadUnaligned(as: UInt64.self))
    let half = UInt64(truncatingIfNeeded: 32 &- 4 &* n)
    let bytes = (all &>> half) &>> half
    // Other bytes can be the same text only if they are no plain ASCII. Where they are, texts that differ in them are
    // not the same, whatever follows.
    if bytes & 0x8080_8080_8080_8080 != 0 { return nil }
    let difference = (bytes ^ word) | UInt64(truncatingIfNeeded: place.count ^ text.count) | UInt64(place.isNull)
    if difference == 0, text.count <= 8 { return 1 }
    return bytes != word || text.count <= 8 || place.isNull != 0 ? 0 : nil
  }
}
