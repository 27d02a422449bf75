/// Writes records of one layout. See `RecordLayout.swift` for the bytes.
///
/// Begin with ``begin(entity:version:)``, set fields in any order, then ask for ``bytes()`` or ``withBytes(_:)``.
/// Fields that are not set are null. Equal content gives equal bytes. A builder is reused for record after record and
/// keeps its buffers; it belongs to one thread at a time.
public final class RecordBuilder {
  /// The layout of the records.
  public let layout: RecordLayout

  let table: UnsafeMutablePointer<RecordTable>

  // All of it is plain memory of the builder's own, and exclusive access is not checked at run time: counting
  // references and checking would take longer than building a row. No method hands one of these out while another could
  // change it (`withBytes` takes the output away meanwhile).

  /// The head, the bits and the fixed-width fields as they will stand in the record: `fixedEnd` bytes.
  let head: UnsafeMutableRawPointer
  /// The head of a record in which every field is null, of the same size.
  private let blank: UnsafeMutableRawPointer
  /// The values of variable-width fields in the order in which they were set; `ranges` says where each one lies.
  @exclusivity(unchecked) var variable = GrowingBytes()
  /// One of each variable-width field.
  let ranges: UnsafeMutablePointer<VariableRange>
  /// The builder of each variable-width field that is a composite, once it was asked for: this one keeps it.
  let children: UnsafeMutablePointer<Unmanaged<RecordBuilder>?>
  /// Whether any range may be that of a child.
  @exclusivity(unchecked) var hasChildren = false
  @exclusivity(unchecked) private var output = GrowingBytes()

  struct VariableRange {
    var start = 0
    var count = 0
    var isExternal = false
    /// The value is what the child builder of this field makes, once the record is asked for.
    var isChild = false
  }

  /// Makes a builder; its first record is begun with entity 0 and version 0.
  public init(_ layout: RecordLayout) {
    self.layout = layout
    // The layout keeps it.
    table = layout.table
    let table = layout.table.pointee
    head = .allocate(byteCount: table.fixedEnd, alignment: 16)
    blank = .allocate(byteCount: table.fixedEnd, alignment: 16)
    blank.zero(table.fixedEnd)
    if table.isRow { blank.put(table.layoutID, 0) }
    for index in 0..<table.fieldCount {
      let offset = table.bitsOffset &+ index &>> 3
      let byte = blank.load(fromByteOffset: offset, as: UInt8.self)
      blank.put(byte | 1 &<< UInt8(truncatingIfNeeded: index & 7), offset)
    }
    ranges = .allocate(capacity: table.variableCount)
    ranges.initialize(repeating: VariableRange(), count: table.variableCount)
    children = .allocate(capacity: table.variableCount)
    children.initialize(repeating: nil, count: table.variableCount)
    begin()
  }

  deinit {
    head.deallocate()
    blank.deallocate()
    ranges.deallocate()
    for number in 0..<table.pointee.variableCount { children[number]?.release() }
    children.deallocate()
    variable.deallocate()
    output.deallocate()
  }

  /// Drops what was set and begins a record in which every field is null.
  ///
  /// - Parameters:
  ///   - entity: the entity id in a row's head; not written to a nested record.
  ///   - version: the row version in a row's head; not written to a nested record.
  public func begin(entity: UInt16 = 0, version: UInt32 = 0) {
    variable.removeAll()
    hasChildren = false
    ranges.update(repeating: VariableRange(), count: table.pointee.variableCount)
    head.copyFew(from: blank, table.pointee.fixedEnd)
    if table.pointee.isRow {
      head.put(entity, 2)
      head.put(version, 4)
    }
  }

  /// Memory that the builder holds for values and for the record, in bytes, without that of nested records.
  public var capacity: Int { variable.capacity + output.capacity }

  /// The record as an array of its own.
  ///
  /// - Throws: `StoreError.valueTooLong` if the variable part is larger than 4 GiB.
  public func bytes() throws(StoreError) -> [UInt8] {
    output.removeAll()
    try assemble(into: &output)
    return [UInt8](output.bytes)
  }

  /// Calls `body` with the record, in the builder's buffer, valid until `body` returns.
  ///
  /// - Throws: `StoreError.valueTooLong` if the variable part is larger than 4 GiB; what `body` throws.
  public func withBytes(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    // Taken away meanwhile: were the builder used within `body`, it would make itself another one.
    var record = output
    output = GrowingBytes()
    defer {
      let other = output
      output = record
      other.deallocate()
    }
    record.removeAll()
    try assemble(into: &record)
    try body(record.bytes)
  }

  /// Adds the record to `output`, which is not this builder's ``variable``.
  private func assemble(into output: inout GrowingBytes) throws(StoreError) {
    if hasChildren { try finishChildren() }
    let table = self.table.pointee
    // No overflow: a layout has at most 16,384 fields. Those of a damaged record may overlap, and be more than there
    // is.
    var total: UInt64 = 0
    var hasExternals = false
    for number in 0..<table.variableCount {
      total &+= UInt64(truncatingIfNeeded: ranges[number].count)
      hasExternals = hasExternals || ranges[number].isExternal
    }
    guard total <= RecordTable.mostVariableBytes else {
      throw .valueTooLong(length: total, limit: RecordTable.mostVariableBytes)
    }
    let size = Int(truncatingIfNeeded: total)
    let code: UInt8 = table.variableCount < 2 ? 0 : RecordTable.endWidthCode(variableSize: size)
    let endsSize = table.variableCount < 2 ? 0 : (table.variableCount &- 1) &<< Int(code)
    let bitmapSize = hasExternals ? (table.variableCount &+ 7) &>> 3 : 0
    let p = output.add(table.fixedEnd &+ endsSize &+ bitmapSize &+ size)
    p.copyFew(from: head, table.fixedEnd)
    p.put(hasExternals ? code | RecordShape.external : code, table.bitsOffset &- 1)
    putEnds(p + table.fixedEnd, table.variableCount &- 1, code)
    if hasExternals { putExternalBitmap(p + (table.fixedEnd &+ endsSize), table.variableCount) }
    putValues(p + (table.fixedEnd &+ endsSize &+ bitmapSize), table.variableCount)
  }

  /// Writes the ends of all variable-width fields but the last.
  private func putEnds(_ p: UnsafeMutableRawPointer, _ count: Int, _ code: UInt8) {
    var p = p
    var end = 0
    var number = 0
    switch code {
    case 0:
      while number < count {
        end &+= ranges[number].count
        p.put(UInt8(truncatingIfNeeded: end), 0)
        p += 1
        number &+= 1
      }
    case 1:
      while number < count {
        end &+= ranges[number].count
        p.put(UInt16(truncatingIfNeeded: end), 0)
        p += 2
        number &+= 1
      }
    default:
      while number < count {
        end &+= ranges[number].count
        p.put(UInt32(truncatingIfNeeded: end), 0)
        p += 4
        number &+= 1
      }
    }
  }

  private func putExternalBitmap(_ p: UnsafeMutableRawPointer, _ count: Int) {
    p.zero((count &+ 7) &>> 3)
    for number in 0..<count where ranges[number].isExternal {
      let byte = p.load(fromByteOffset: number &>> 3, as: UInt8.self)
      p.put(byte | 1 &<< UInt8(truncatingIfNeeded: number & 7), number &>> 3)
    }
  }

  /// Writes the values, in the order of the layout. Those that lie one after the other, as most do, are copied
  /// together.
  private func putValues(_ p: UnsafeMutableRawPointer, _ fields: Int) {
    let values = UnsafeRawPointer(variable.base)
    var p = p
    var start = 0
    var count = 0
    for number in 0..<fields where ranges[number].count > 0 {
      if ranges[number].start != start &+ count {
        p.copyFew(from: values + start, count)
        p += count
        start = ranges[number].start
        count = 0
      }
      count &+= ranges[number].count
    }
    p.copyFew(from: values + start, count)
  }

  /// Moves what the child builders hold into `variable`. The recursion is bounded by `RecordLayout.depthLimit`.
  private func finishChildren() throws(StoreError) {
    for number in 0..<table.pointee.variableCount where ranges[number].isChild {
      guard let child = children[number] else { continue }
      let start = variable.count
      try child.lent { (child) throws(StoreError) in try child.assemble(into: &variable) }
      ranges[number] = VariableRange(start: start, count: variable.count &- start, isChild: true)
    }
  }
}
