/// Names a value that lies outside its record, because it is large.
public struct ExternalValue: Hashable, Sendable {
  /// The stable id under which the value is kept.
  public var id: UInt64
  /// The size of the value in bytes.
  public var byteCount: UInt64

  /// Names a value.
  @inlinable @inline(__always)
  public init(id: UInt64, byteCount: UInt64) {
    self.id = id
    self.byteCount = byteCount
  }
}

// Reads of variable-width fields: the end offsets come from the record, so each is compared with the record's size.

extension RecordView {
  /// The end offset of a variable field, from the start of the variable part. `number` is not the last one's.
  @inlinable @inline(__always)
  func storedEnd(_ number: Int) -> UInt {
    let shape = base.load(fromByteOffset: table.pointee.bitsOffset &- 1, as: UInt8.self)
    let ends = table.pointee.fixedEnd
    switch shape & RecordShape.widthMask {
    case 0: return UInt(base.load(fromByteOffset: ends &+ number, as: UInt8.self))
    case 1: return UInt(load(ends &+ number &* 2, as: UInt16.self))
    default: return UInt(load(ends &+ number &* 4, as: UInt32.self))
    }
  }

  /// The bytes of a variable field, wherever its value lies.
  @inlinable @inline(__always)
  func stored(_ number: Int) throws(StoreError) -> UnsafeRawBufferPointer {
    let size = UInt(bitPattern: count &- variableOffset)
    let start = number == 0 ? 0 : storedEnd(number &- 1)
    let end = number == table.pointee.variableCount &- 1 ? size : storedEnd(number)
    guard start <= end, end <= size else {
      throw corruptRecord(table.pointee.fixedEnd, "the end offsets of a record's fields fall or pass its end")
    }
    return UnsafeRawBufferPointer(
      start: base + (variableOffset &+ Int(bitPattern: start)), count: Int(bitPattern: end &- start))
  }

  @inlinable @inline(__always)
  var hasExternals: Bool {
    base.load(fromByteOffset: table.pointee.bitsOffset &- 1, as: UInt8.self) & RecordShape.external != 0
  }

  /// Whether the value of a variable field lies outside the record.
  @inlinable @inline(__always)
  func isExternal(variable number: Int) -> Bool {
    guard hasExternals, table.pointee.variableCount > 0 else { return false }
    let bitmap = variableOffset &- ((table.pointee.variableCount &+ 7) &>> 3)
    let byte = base.load(fromByteOffset: bitmap &+ number &>> 3, as: UInt8.self)
    return byte & (1 &<< UInt8(truncatingIfNeeded: number & 7)) != 0
  }

  /// The bytes of a variable field of one kind that lie in the record, or `nil` for null.
  @inlinable @inline(__always)
  func inline(_ index: Int, _ tag: FieldTag) throws(StoreError) -> UnsafeRawBufferPointer? {
    let slot = try slot(index)
    guard slot.pointee.tag == tag else { throw wrongField() }
    if bit(index) { return nil }
    if hasExternals, isExternal(variable: slot.pointee.position) {
      guard tag.mayBeExternal else { throw corruptRecord(0, "a value lies outside the record that may not") }
      throw .misuse("the value lies outside the record; ask external(at:) first")
    }
    return try stored(slot.pointee.position)
  }

  /// The UTF-8 of a string field, in place, or `nil` for null. Not checked to be well-formed.
  @inlinable @inline(__always)
  public func utf8(at index: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
    try inline(index, .string)
  }

  /// The value of a bytes field, in place, or `nil` for null.
  @inlinable @inline(__always)
  public func bytes(at index: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
    try inline(index, .bytes)
  }

  /// The UTF-8 of a string field, in place, or `nil` for null. Throws `StoreError.corrupt` if it is ill-formed.
  public func wellFormedUTF8(at index: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
    guard let utf8 = try inline(index, .string) else { return nil }
    guard utf8.isASCII || utf8.isWellFormedUTF8 else {
      throw corruptRecord(0, "a string of a record is not well-formed UTF-8")
    }
    return utf8
  }

  /// The value of a string field as a `String`, or `nil` for null. Throws `StoreError.corrupt` on ill-formed UTF-8.
  public func string(at index: Int) throws(StoreError) -> String? {
    guard let utf8 = try inline(index, .string) else { return nil }
    if let short = ShortText.string(utf8) { return short }
    return try wellFormedUTF8(at: index).map { String(wellFormed: $0) }
  }

  /// The value of a string field that was looked at before (``wellFormedUTF8(at:)``), or `nil` for null. What is not
  /// well-formed all the same is repaired.
  public func repairedString(at index: Int) throws(StoreError) -> String? {
    guard let utf8 = try inline(index, .string) else { return nil }
    return ShortText.string(utf8) ?? String(wellFormed: utf8)
  }

  /// The value of a decimal field, or `nil` for null.
  public func decimal(at index: Int) throws(StoreError) -> DecimalValue? {
    guard let bytes = try inline(index, .decimal) else { return nil }
    guard let value = DecimalValue(compactBytes: bytes) else {
      throw corruptRecord(0, "a decimal of a record is not in its canonical form")
    }
    return value
  }

  /// The row ids of an ordered to-many field, in place, or `nil` for null.
  @inlinable @inline(__always)
  public func references(at index: Int) throws(StoreError) -> ReferenceList? {
    guard let bytes = try inline(index, .references) else { return nil }
    return try ReferenceList(bytes)
  }

  /// The nested record of a composite field, in place, or `nil` for null.
  @inlinable @inline(__always)
  public func nested(at index: Int) throws(StoreError) -> RecordView? {
    let slot = try slot(index)
    guard let inner = slot.pointee.nested else { throw wrongField() }
    if bit(index) { return nil }
    return try RecordView(try stored(slot.pointee.position), table: inner)
  }

  /// The name of a string, bytes or references field's value that lies outside the record; `nil` if it is null or lies
  /// inside.
  @inlinable @inline(__always)
  public func external(at index: Int) throws(StoreError) -> ExternalValue? {
    let slot = try slot(index)
    guard slot.pointee.tag.mayBeExternal else { throw wrongField() }
    guard hasExternals, !bit(index), isExternal(variable: slot.pointee.position) else { return nil }
    let name = try stored(slot.pointee.position)
    guard name.count == RecordShape.externalSize else {
      throw corruptRecord(0, "the name of a value outside the record has a wrong size")
    }
    return ExternalValue(
      id: UInt64(littleEndian: name.loadUnaligned(as: UInt64.self)),
      byteCount: UInt64(littleEndian: name.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  /// Calls `body` for every value that lies outside this record or one nested in it.
  public func forEachExternal(_ body: (ExternalValue) throws(StoreError) -> Void) throws(StoreError) {
    // The depth of the recursion is bounded by `RecordLayout.depthLimit`.
    for index in 0..<fieldCount {
      let tag = table.pointee.slots[index].tag
      if tag.mayBeExternal, let value = try external(at: index) { try body(value) }
      if tag == .nested, let inner = try nested(at: index) { try inner.forEachExternal(body) }
    }
  }
}
