/// The places of a layout's fields, in memory of their own, so that views need no reference counting.
@usableFromInline
struct RecordTable {
  /// The row's head and the shape byte, or the shape byte alone.
  @usableFromInline static let rowHeadSize = 9
  @usableFromInline static let nestedHeadSize = 1

  /// What the variable part of a record may have: less where addresses have 32 bits, so that no sum of sizes overflows.
  static var mostVariableBytes: UInt64 { min(UInt64(UInt32.max), UInt64(Int.max) - 1 << 20) }

  @usableFromInline let layoutID: UInt16
  @usableFromInline let isRow: Bool
  @usableFromInline let fieldCount: Int
  @usableFromInline let booleanCount: Int
  @usableFromInline let variableCount: Int
  /// Where the bits begin.
  @usableFromInline let bitsOffset: Int
  /// Where the fixed-width fields begin.
  @usableFromInline let fixedOffset: Int
  /// Where the end offsets begin.
  @usableFromInline let fixedEnd: Int
  @usableFromInline let slots: UnsafeMutablePointer<FieldSlot>
}

/// Where a field lies.
@usableFromInline
struct FieldSlot {
  @usableFromInline var tag: FieldTag
  /// Fixed-width: offset in the record. Boolean: index of its value bit. Variable-width: its number among those.
  @usableFromInline var position: Int
  @usableFromInline var nested: UnsafeMutablePointer<RecordTable>?
}

extension RecordTable {
  /// Lays the fields out. The result is freed by ``destroy(_:)``; tables of nested layouts are borrowed from these.
  static func make(id: UInt16, isRow: Bool, fields: [RecordField]) -> UnsafeMutablePointer<RecordTable> {
    let slots = UnsafeMutablePointer<FieldSlot>.allocate(capacity: max(1, fields.count))
    var booleans = 0
    var variables = 0
    for (index, field) in fields.enumerated() {
      var slot = FieldSlot(tag: field.kind.tag, position: 0, nested: nil)
      if case .nested(let layout) = field.kind { slot.nested = layout.table }
      if slot.tag == .boolean {
        slot.position = fields.count + booleans
        booleans += 1
      } else if slot.tag.isVariable {
        slot.position = variables
        variables += 1
      }
      (slots + index).initialize(to: slot)
    }
    let bitsOffset = isRow ? rowHeadSize : nestedHeadSize
    let fixedOffset = bitsOffset + (fields.count + booleans + 7) / 8
    var offset = fixedOffset
    for width in [16, 8, 4, 2] {
      for index in 0..<fields.count where slots[index].tag.fixedWidth == width {
        slots[index].position = offset
        offset += width
      }
    }
    let table = UnsafeMutablePointer<RecordTable>.allocate(capacity: 1)
    table.initialize(
      to: RecordTable(
        layoutID: id, isRow: isRow, fieldCount: fields.count, booleanCount: booleans, variableCount: variables,
        bitsOffset: bitsOffset, fixedOffset: fixedOffset, fixedEnd: offset, slots: slots))
    return table
  }

  static func destroy(_ table: UnsafeMutablePointer<RecordTable>) {
    let count = table.pointee.fieldCount
    table.pointee.slots.deinitialize(count: count)
    table.pointee.slots.deallocate()
    table.deinitialize(count: 1)
    table.deallocate()
  }
}

/// Constants of the shape byte.
@usableFromInline
enum RecordShape {
  @usableFromInline static let widthMask: UInt8 = 0x03
  @usableFromInline static let external: UInt8 = 0x04
  @usableFromInline static let known: UInt8 = 0x07
  /// Bytes of an external value's name: id and length, 8 bytes each.
  @usableFromInline static let externalSize = 16
}

/// Makes the error for a damaged record. Never inlined, so that the readers stay small.
@usableFromInline
@inline(never)
func corruptRecord(_ offset: Int, _ detail: StaticString) -> StoreError {
  .corrupt(place: .record, offset: UInt64(clamping: offset), detail: detail)
}

/// Makes the error for a field index or kind that the layout does not have.
@usableFromInline
@inline(never)
func wrongField() -> StoreError {
  .misuse("the record's layout has no such field, or one of another kind")
}
