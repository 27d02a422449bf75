/// Writes records of one layout. See `RecordLayout.swift` for the bytes.
///
/// Begin with ``begin(entity:version:)``, set fields in any order, then ask for ``bytes()`` or ``withBytes(_:)``. Fields
/// that are not set are null. Equal content gives equal bytes. A builder is reused for record after record and keeps its
/// buffers; it belongs to one thread at a time.
public final class RecordBuilder {
  /// The layout of the records.
  public let layout: RecordLayout

  // Exclusive access is not checked at run time, since the checks would take half of the time of building a row. No
  // method hands one of these out while another could change it (`withBytes` keeps a reference of its own).

  // The head, the bits and the fixed-width fields as they will stand in the record.
  @exclusivity(unchecked) var head: [UInt8]
  // The head of a record in which every field is null.
  private let blank: [UInt8]
  // The values of variable-width fields in the order in which they were set; `ranges` says where each one lies.
  @exclusivity(unchecked) var variable: [UInt8] = []
  @exclusivity(unchecked) var ranges: [VariableRange]
  @exclusivity(unchecked) var children: [RecordBuilder?]
  @exclusivity(unchecked) var output: [UInt8] = []

  struct VariableRange {
    var start = 0
    var count = 0
    var isExternal = false
    /// The value is what the child builder of this field makes, once the record is asked for.
    var isChild = false
  }

  var table: UnsafeMutablePointer<RecordTable> { layout.table }

  /// Makes a builder; its first record is begun with entity 0 and version 0.
  public init(_ layout: RecordLayout) {
    self.layout = layout
    let table = layout.table.pointee
    var blank = [UInt8](repeating: 0, count: table.fixedEnd)
    blank.withUnsafeMutableBytes { bytes in
      if table.isRow { bytes.storeBytes(of: table.layoutID.littleEndian, as: UInt16.self) }
      for index in 0..<table.fieldCount {
        bytes[table.bitsOffset &+ index &>> 3] |= 1 &<< UInt8(truncatingIfNeeded: index & 7)
      }
    }
    self.blank = blank
    head = blank
    ranges = [VariableRange](repeating: VariableRange(), count: layout.table.pointee.variableCount)
    children = [RecordBuilder?](repeating: nil, count: layout.table.pointee.variableCount)
    begin()
  }

  /// Drops what was set and begins a record in which every field is null.
  ///
  /// - Parameters:
  ///   - entity: the entity id in a row's head; not written to a nested record.
  ///   - version: the row version in a row's head; not written to a nested record.
  public func begin(entity: UInt16 = 0, version: UInt32 = 0) {
    let isRow = table.pointee.isRow
    variable.removeAll(keepingCapacity: true)
    ranges.withUnsafeMutableBufferPointer { $0.update(repeating: VariableRange()) }
    head.withUnsafeMutableBytes { bytes in
      blank.withUnsafeBytes { bytes.copyMemory(from: $0) }
      if isRow {
        bytes.storeBytes(of: entity.littleEndian, toByteOffset: 2, as: UInt16.self)
        bytes.storeBytes(of: version.littleEndian, toByteOffset: 4, as: UInt32.self)
      }
    }
  }

  /// Memory that the builder holds for values and for the record, in bytes, without that of nested records.
  public var capacity: Int { variable.capacity + output.capacity }

  /// The record as an array of its own.
  ///
  /// - Throws: `StoreError.valueTooLong` if the variable part is larger than 4 GiB.
  public func bytes() throws(StoreError) -> [UInt8] {
    try assemble()
    return output.withUnsafeBytes { [UInt8]($0) }
  }

  /// Calls `body` with the record, in the builder's buffer, valid until `body` returns.
  ///
  /// - Throws: `StoreError.valueTooLong` if the variable part is larger than 4 GiB; what `body` throws.
  public func withBytes(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try assemble()
    // A reference of its own: were the builder used within `body`, it would go on in another buffer.
    let record = output
    try record.withUnsafeBytesTyped(body)
  }

  /// Puts the record together in `output`.
  private func assemble() throws(StoreError) {
    try finishChildren()
    let table = self.table.pointee
    var size = 0
    var hasExternals = false
    for range in ranges {
      size += range.count
      hasExternals = hasExternals || range.isExternal
    }
    guard UInt64(size) <= UInt64(UInt32.max) else {
      throw .valueTooLong(length: UInt64(size), limit: UInt64(UInt32.max))
    }
    var shape: UInt8 = ranges.count < 2 ? 0 : RecordTable.endWidthCode(variableSize: size)
    let width = 1 << Int(shape)
    if hasExternals { shape |= RecordShape.external }
    output.removeAll(keepingCapacity: true)
    output.reserveCapacity(head.count + ranges.count * (width + 1) + size)
    output.append(contentsOf: head)
    output[table.bitsOffset - 1] = shape
    var end = 0
    for number in 0..<max(0, ranges.count - 1) {
      end += ranges[number].count
      for byte in 0..<width { output.append(UInt8(truncatingIfNeeded: end >> (8 * byte))) }
    }
    if hasExternals { appendExternalBitmap() }
    variable.withUnsafeBytes { values in
      // Values that lie one after the other, as most do, are copied together.
      var start = 0
      var count = 0
      for range in ranges where range.count > 0 {
        if range.start != start + count {
          output.append(contentsOf: UnsafeRawBufferPointer(rebasing: values[start..<start + count]))
          start = range.start
          count = 0
        }
        count += range.count
      }
      output.append(contentsOf: UnsafeRawBufferPointer(rebasing: values[start..<start + count]))
    }
  }

  private func appendExternalBitmap() {
    var byte: UInt8 = 0
    for (number, range) in ranges.enumerated() {
      if range.isExternal { byte |= 1 << UInt8(number & 7) }
      if number & 7 == 7 || number == ranges.count - 1 {
        output.append(byte)
        byte = 0
      }
    }
  }

  /// Moves what the child builders hold into `variable`. The recursion is bounded by `RecordLayout.depthLimit`.
  private func finishChildren() throws(StoreError) {
    for number in 0..<ranges.count where ranges[number].isChild {
      guard let child = children[number] else { continue }
      try child.assemble()
      ranges[number] = VariableRange(start: variable.count, count: child.output.count, isChild: true)
      variable.append(contentsOf: child.output)
    }
  }
}
