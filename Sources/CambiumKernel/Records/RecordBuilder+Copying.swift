// How a record is changed: set the fields that change, then copy the rest from the old record. Values are copied as
// bytes, without being decoded.

extension RecordBuilder {
  /// Begins a record with the entity of `record` and a version of its own, and copies every field of `record`.
  ///
  /// Set the fields that change afterwards. The record must have this builder's layout.
  ///
  /// - Throws: `StoreError.misuse` if it has another layout, `StoreError.corrupt` if its offsets are damaged.
  public func begin(copying record: RecordView, version: UInt32) throws(StoreError) {
    guard record.table == table else { throw .misuse("the record to copy has another layout") }
    begin(entity: record.entityID, version: version)
    try copyAll(from: record)
  }

  /// Copies every field of a record of the same layout into a record that was just begun.
  func copyAll(from record: RecordView) throws(StoreError) {
    let table = self.table.pointee
    // A view has made sure that the record is as long as this.
    (head + table.bitsOffset).copyFew(from: record.base + table.bitsOffset, table.fixedEnd &- table.bitsOffset)
    guard table.variableCount > 0 else { return }
    let hasExternals = record.hasExternals
    // One copy of all values, each of which is then where it is in the record.
    variable.removeAll()
    variable.append(UnsafeRawBufferPointer(rebasing: record.bytes[record.variableOffset...]))
    let first = record.base + record.variableOffset
    for index in 0..<table.fieldCount where table.slots[index].tag.isVariable && isSet(index) {
      let number = table.slots[index].position
      let value = try record.stored(number)
      let start = value.baseAddress.map { $0 - first } ?? 0
      ranges[number] = VariableRange(
        start: start, count: value.count, isExternal: hasExternals && record.isExternal(variable: number))
    }
  }

  /// Copies one field from a record, as bytes. Both fields must have the same kind; for composites, the same layout.
  ///
  /// - Throws: `StoreError.misuse` if the kinds differ, `StoreError.corrupt` if the record's offsets are damaged.
  public func copy(_ source: Int, of record: RecordView, to index: Int) throws(StoreError) {
    let target = try slot(index)
    let from = try record.slot(source).pointee
    guard from.tag == target.tag, from.nested == target.nested else { throw wrongField() }
    guard try !record.isNull(source) else { return try setNull(at: index) }
    if target.tag == .boolean {
      setBit(index, false)
      setBit(target.position, record.bit(from.position))
    } else if target.tag.isVariable {
      let external = record.isExternal(variable: from.position)
      append(try record.stored(from.position), index, target, isExternal: external)
    } else {
      setBit(index, false)
      (head + target.position).copyFew(from: record.base + from.position, target.tag.fixedWidth)
    }
  }

  /// Whether a field is null as the record is by now.
  public func isNull(at index: Int) throws(StoreError) -> Bool {
    _ = try slot(index)
    return !isSet(index)
  }

  /// The builder of a composite field's nested record as it is by now, so that single elements can be set one after the
  /// other: what was set or copied before stays; a null composite becomes one of nulls.
  public func element(at index: Int) throws(StoreError) -> RecordBuilder {
    try lentElement(at: index).takeUnretainedValue()
  }

  /// The same, of which no reference is counted: this builder keeps it, as long as it is there itself.
  public func lentElement(at index: Int) throws(StoreError) -> Unmanaged<RecordBuilder> {
    let slot = try slot(index, .nested)
    guard let inner = slot.nested else { throw wrongField() }
    let range = ranges[slot.position]
    guard isSet(index) else { return try lentNested(at: index) }
    if range.isChild, let child = children[slot.position] { return child }
    let child = try lentNested(at: index)
    // Nothing is added to these values while they are read: the child has memory of its own.
    let old = UnsafeRawBufferPointer(rebasing: variable.bytes[range.start..<range.start + range.count])
    try child.lent { (child) throws(StoreError) in try child.copyAll(from: try RecordView(old, table: inner)) }
    return child
  }

  /// As ``nested(at:)``, but the nested record starts as a copy of the one in the same field of `record`, if that is
  /// not null, so that single elements of a composite can be changed.
  public func nested(at index: Int, copying record: RecordView) throws(StoreError) -> RecordBuilder {
    let child = try nested(at: index)
    if let inner = try record.nested(at: index) {
      guard inner.table == child.table else { throw .misuse("the record to copy has another layout") }
      try child.copyAll(from: inner)
    }
    return child
  }
}
