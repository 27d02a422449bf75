// Every setter throws `StoreError.misuse` if the layout has no such field or one of another kind, and replaces what was
// set before. `nil` makes the field null.

extension RecordBuilder {
  /// Makes a field null.
  public func setNull(at index: Int) throws(StoreError) {
    let slot = try slot(index)
    setBit(index, true)
    if slot.tag == .boolean {
      setBit(slot.position, false)
    } else if slot.tag.isVariable {
      ranges[slot.position] = VariableRange()
    } else {
      (head + slot.position).zero(slot.tag.fixedWidth)
    }
  }

  /// Sets a boolean field.
  public func set(_ value: Bool?, at index: Int) throws(StoreError) {
    let slot = try slot(index, .boolean)
    setBit(index, value == nil)
    setBit(slot.position, value == true)
  }

  /// Sets an integer field of any width.
  ///
  /// - Throws: `StoreError.misuse` also if the value does not fit the field.
  public func set(_ value: Int64?, at index: Int) throws(StoreError) {
    let slot = try slot(index)
    switch slot.tag {
    case .int64: store(value, at: index, slot)
    case .int32:
      guard let value else { return try setNull(at: index) }
      guard let small = Int32(exactly: value) else { throw .misuse("the integer does not fit the field's 32 bits") }
      store(small, at: index, slot)
    case .int16:
      guard let value else { return try setNull(at: index) }
      guard let small = Int16(exactly: value) else { throw .misuse("the integer does not fit the field's 16 bits") }
      store(small, at: index, slot)
    default: throw wrongField()
    }
  }

  /// Sets a double field, or a float field to the nearest float.
  public func set(_ value: Double?, at index: Int) throws(StoreError) {
    let slot = try slot(index)
    switch slot.tag {
    case .double: store(value?.bitPattern, at: index, slot)
    case .float: store(value.map { Float($0).bitPattern }, at: index, slot)
    default: throw wrongField()
    }
  }

  /// Sets a float field.
  public func set(_ value: Float?, at index: Int) throws(StoreError) {
    store(value?.bitPattern, at: index, try slot(index, .float))
  }

  /// Sets a date field to seconds since 2001-01-01 00:00:00 UTC.
  public func set(date value: Double?, at index: Int) throws(StoreError) {
    store(value?.bitPattern, at: index, try slot(index, .date))
  }

  /// Sets a to-one reference field to a row id.
  public func set(reference value: UInt64?, at index: Int) throws(StoreError) {
    store(value, at: index, try slot(index, .reference))
  }

  /// Sets a UUID field.
  public func set(_ value: UUIDBytes?, at index: Int) throws(StoreError) {
    let slot = try slot(index, .uuid)
    setBit(index, value == nil)
    let value = value ?? UUIDBytes(high: 0, low: 0)
    head.storeBytes(of: value.high.bigEndian, toByteOffset: slot.position, as: UInt64.self)
    head.storeBytes(of: value.low.bigEndian, toByteOffset: slot.position &+ 8, as: UInt64.self)
  }

  /// Sets a decimal field.
  public func set(_ value: DecimalValue?, at index: Int) throws(StoreError) {
    let slot = try slot(index, .decimal)
    guard let value else { return try setNull(at: index) }
    let start = variable.count
    value.appendCompactBytes(to: &variable)
    finishVariable(index, slot, start)
  }

  /// Sets a string field.
  public func set(_ value: String?, at index: Int) throws(StoreError) {
    let slot = try slot(index, .string)
    guard let value else { return try setNull(at: index) }
    let isSet: Void? = value.utf8.withContiguousStorageIfAvailable { append(UnsafeRawBufferPointer($0), index, slot) }
    if isSet != nil { return }
    // A string that lies elsewhere, in a form of its own.
    var copy = value
    copy.withUTF8 { append(UnsafeRawBufferPointer($0), index, slot) }
  }

  /// Sets a string field to UTF-8.
  ///
  /// - Throws: `StoreError.misuse` also if the bytes are not well-formed UTF-8.
  public func set(utf8 value: UnsafeRawBufferPointer, at index: Int) throws(StoreError) {
    let slot = try slot(index, .string)
    guard value.isWellFormedUTF8 else { throw .misuse("the text is not well-formed UTF-8") }
    append(value, index, slot)
  }

  /// Sets a bytes field.
  public func set(bytes value: UnsafeRawBufferPointer, at index: Int) throws(StoreError) {
    append(value, index, try slot(index, .bytes))
  }

  /// Sets a bytes field.
  public func set(bytes value: [UInt8]?, at index: Int) throws(StoreError) {
    let slot = try slot(index, .bytes)
    guard let value else { return try setNull(at: index) }
    value.withUnsafeBytes { append($0, index, slot) }
  }

  /// Sets an ordered to-many field to row ids.
  public func set(references value: [UInt64]?, at index: Int) throws(StoreError) {
    let slot = try slot(index, .references)
    guard let value else { return try setNull(at: index) }
    let start = variable.count
    ReferenceList.encode(value, into: &variable)
    finishVariable(index, slot, start)
  }

  /// Sets a string, bytes or references field to the name of a value that lies outside the record.
  public func set(external value: ExternalValue, at index: Int) throws(StoreError) {
    let slot = try slot(index)
    guard slot.tag.mayBeExternal else { throw wrongField() }
    let start = variable.count
    let name = variable.add(RecordShape.externalSize)
    name.put(value.id, 0)
    name.put(value.byteCount, 8)
    finishVariable(index, slot, start, isExternal: true)
  }

  /// Sets a composite field to a record that was made with the field's nested layout.
  ///
  /// - Throws: `StoreError.corrupt` if the bytes are not a canonical record of that layout.
  public func set(nested value: UnsafeRawBufferPointer, at index: Int) throws(StoreError) {
    let slot = try slot(index, .nested)
    guard let inner = slot.nested else { throw wrongField() }
    try RecordView(value, table: inner).validate()
    append(value, index, slot)
  }

  /// Makes a composite field non-null and returns the builder of its nested record, in which every field is null. What
  /// is set there belongs to this record; the child builder is used again for the next one.
  public func nested(at index: Int) throws(StoreError) -> RecordBuilder {
    try lentNested(at: index).takeUnretainedValue()
  }

  /// The same, of which no reference is counted: this builder keeps it.
  func lentNested(at index: Int) throws(StoreError) -> Unmanaged<RecordBuilder> {
    let slot = try slot(index, .nested)
    let child: Unmanaged<RecordBuilder>
    if let known = children[slot.position] {
      child = known
      child.lent { $0.begin() }
    } else {
      guard let layout = layout.nestedLayout(at: index) else { throw wrongField() }
      child = .passRetained(RecordBuilder(layout))
      children[slot.position] = child
    }
    setBit(index, false)
    ranges[slot.position] = VariableRange(isChild: true)
    hasChildren = true
    return child
  }

  @inline(__always)
  func slot(_ index: Int) throws(StoreError) -> FieldSlot {
    guard UInt(bitPattern: index) < UInt(bitPattern: table.pointee.fieldCount) else { throw wrongField() }
    return table.pointee.slots[index]
  }

  @inline(__always)
  func slot(_ index: Int, _ tag: FieldTag) throws(StoreError) -> FieldSlot {
    let slot = try slot(index)
    guard slot.tag == tag else { throw wrongField() }
    return slot
  }

  @inline(__always)
  func setBit(_ index: Int, _ value: Bool) {
    let offset = table.pointee.bitsOffset &+ index &>> 3
    let mask: UInt8 = 1 &<< UInt8(truncatingIfNeeded: index & 7)
    let byte = head.load(fromByteOffset: offset, as: UInt8.self)
    head.put(value ? byte | mask : byte & ~mask, offset)
  }

  /// Whether a field was set to something other than null.
  func isSet(_ index: Int) -> Bool {
    let byte = head.load(fromByteOffset: table.pointee.bitsOffset &+ index &>> 3, as: UInt8.self)
    return byte & (1 &<< UInt8(truncatingIfNeeded: index & 7)) == 0
  }

  func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T?, at index: Int, _ slot: FieldSlot) {
    setBit(index, value == nil)
    head.storeBytes(of: (value ?? 0).littleEndian, toByteOffset: slot.position, as: T.self)
  }

  func append(_ value: UnsafeRawBufferPointer, _ index: Int, _ slot: FieldSlot, isExternal: Bool = false) {
    let start = variable.count
    variable.append(value)
    finishVariable(index, slot, start, isExternal: isExternal)
  }

  func finishVariable(_ index: Int, _ slot: FieldSlot, _ start: Int, isExternal: Bool = false) {
    setBit(index, false)
    ranges[slot.position] = VariableRange(start: start, count: variable.count &- start, isExternal: isExternal)
  }
}
