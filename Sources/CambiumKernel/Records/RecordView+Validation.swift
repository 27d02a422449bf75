extension RecordView {
  /// Checks the whole record, nested ones included: that every offset is in bounds and rising, that null fields take no
  /// bytes, that strings are well-formed UTF-8, and that it is in the one canonical form which ``RecordBuilder``
  /// writes. Takes time in proportion to the record's size.
  ///
  /// - Throws: `StoreError.corrupt(place: .record, ...)` with the offset, from the start of the outermost record, of
  ///   what is wrong.
  public func validate() throws(StoreError) {
    try validate(origin: base)
  }

  // The depth of the recursion is bounded by `RecordLayout.depthLimit`.
  private func validate(origin: UnsafeRawPointer) throws(StoreError) {
    let here = base - origin
    try validateShape(here)
    let bits = table.pointee.fieldCount + table.pointee.booleanCount
    for index in bits..<max(bits, (table.pointee.fixedOffset - table.pointee.bitsOffset) * 8) where bit(index) {
      throw corruptRecord(here + table.pointee.fixedOffset - 1, "a bit beyond the record's fields is set")
    }
    for index in 0..<fieldCount {
      let slot = table.pointee.slots[index]
      if slot.tag.isVariable {
        try validateVariable(index, slot, origin)
      } else if bit(index) {
        try validateNull(slot, here)
      }
    }
  }

  private func validateShape(_ here: Int) throws(StoreError) {
    let variables = table.pointee.variableCount
    let shape = base.load(fromByteOffset: table.pointee.bitsOffset - 1, as: UInt8.self)
    let size = count - variableOffset
    let expected: UInt8 = variables < 2 ? 0 : RecordTable.endWidthCode(variableSize: size)
    guard shape & RecordShape.widthMask == expected else {
      throw corruptRecord(here + table.pointee.bitsOffset - 1, "the record's offsets are not of the smallest width")
    }
    guard variables > 0 || size == 0 else { throw corruptRecord(here + variableOffset, "bytes follow the record") }
    guard hasExternals else { return }
    guard variables > 0 else { throw corruptRecord(here + table.pointee.bitsOffset - 1, "nothing can be external") }
    var any = false
    for number in 0..<(variables + 7) / 8 * 8 where isExternal(variable: number) {
      any = true
      guard number < variables else { throw corruptRecord(here + variableOffset - 1, "an unused bit is set") }
    }
    guard any else { throw corruptRecord(here + variableOffset - 1, "the external bitmap is empty") }
  }

  private func validateNull(_ slot: FieldSlot, _ here: Int) throws(StoreError) {
    if slot.tag == .boolean {
      guard !bit(slot.position) else { throw corruptRecord(here, "a null boolean has a value") }
      return
    }
    for offset in slot.position..<slot.position + slot.tag.fixedWidth
    where base.load(fromByteOffset: offset, as: UInt8.self) != 0 {
      throw corruptRecord(here + offset, "a null field has a value")
    }
  }

  private func validateVariable(_ index: Int, _ slot: FieldSlot, _ origin: UnsafeRawPointer) throws(StoreError) {
    let bytes = try stored(slot.position)
    let place = bytes.baseAddress.map { $0 - origin } ?? 0
    let external = isExternal(variable: slot.position)
    if bit(index) {
      guard bytes.isEmpty, !external else { throw corruptRecord(place, "a null field has bytes") }
      return
    }
    if external {
      guard slot.tag.mayBeExternal, bytes.count == RecordShape.externalSize else {
        throw corruptRecord(place, "the name of a value outside the record is wrong")
      }
      return
    }
    switch slot.tag {
    case .string:
      guard bytes.isWellFormedUTF8 else { throw corruptRecord(place, "a string is not well-formed UTF-8") }
    case .decimal:
      guard DecimalValue(compactBytes: bytes) != nil else { throw corruptRecord(place, "a decimal is not canonical") }
    case .references:
      guard try ReferenceList(bytes).isCanonical else {
        throw corruptRecord(place, "a list of references is not of the smallest width")
      }
    case .nested:
      guard let inner = slot.nested else { return }
      try RecordView(bytes, table: inner).validate(origin: origin)
    default: break
    }
  }
}

extension RecordTable {
  /// The code of the smallest width that holds every offset of a variable part. Sizes over 4 GiB do not come here.
  static func endWidthCode(variableSize: Int) -> UInt8 {
    variableSize <= 0xFF ? 0 : variableSize <= 0xFFFF ? 1 : 2
  }
}
