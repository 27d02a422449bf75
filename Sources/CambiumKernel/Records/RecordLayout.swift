// The bytes of a record, all integers little-endian:
//
//   row        layout id   entity id   row version   |
//              2 bytes     2 bytes     4 bytes       |  only in rows, not in nested records
//   shape      1 byte      bits 0-1: width of an end offset (0: 1 byte, 1: 2 bytes, 2: 4 bytes)
//                          bit 2: there is an external bitmap;  bits 3-7: zero
//   bits       ceil((fields + booleans) / 8) bytes: one null bit a field, then one value bit a boolean field
//   fixed      16-byte fields, 8-byte fields, 4-byte fields, 2-byte fields, each in the order of the layout
//   ends       (variable fields - 1) end offsets, from the start of the variable part; the last field ends the record
//   external   ceil(variable fields / 8) bytes, only if the shape says so: the value lies outside the record
//   variable   the variable-width fields in the order of the layout
//
// A null field has its bit set, and zeroes (fixed) or no bytes (variable). Everything up to `ends` lies at offsets that
// the layout alone decides.

/// An immutable description of the fields of a row or of a nested record, and of where their bytes lie.
///
/// Safe to use from any number of threads. A ``RecordView`` borrows the tables of its layout: keep the layout as long.
public final class RecordLayout: @unchecked Sendable {
  // Unchecked, since the tables below are pointers; nothing changes them between `init` and `deinit`.

  /// How deep records may lie in one another, the outermost counted.
  public static let depthLimit = 64
  /// How many fields a layout may have.
  public static let fieldLimit = 16_384

  /// The layout's id, in the head of every row written with it. 0 for a nested record's layout.
  public let id: UInt16
  /// Whether this is the layout of rows; otherwise of nested records.
  public let isRow: Bool
  /// The fields, in the order of their indices.
  public let fields: [RecordField]
  /// How deep the records of this layout can be nested, this one counted.
  public let depth: Int

  @usableFromInline
  let table: UnsafeMutablePointer<RecordTable>

  /// Makes the layout of rows.
  ///
  /// - Throws: `StoreError.misuse` if there are too many fields, two with the same property id, a row layout as a
  ///   nested one, or more than ``depthLimit`` levels.
  public convenience init(row id: UInt16, fields: [RecordField]) throws(StoreError) {
    try self.init(id: id, isRow: true, fields: fields)
  }

  /// Makes the layout of nested records (composites).
  ///
  /// - Throws: as ``init(row:fields:)``.
  public convenience init(nested fields: [RecordField]) throws(StoreError) {
    try self.init(id: 0, isRow: false, fields: fields)
  }

  private init(id: UInt16, isRow: Bool, fields: [RecordField]) throws(StoreError) {
    let depth = try RecordLayout.checkedDepth(of: fields)
    self.id = id
    self.isRow = isRow
    self.fields = fields
    self.depth = depth
    self.table = RecordTable.make(id: id, isRow: isRow, fields: fields)
  }

  deinit {
    RecordTable.destroy(table)
  }

  /// The index of the field with a property id, or `nil`. Takes time in proportion to the number of fields.
  public func index(ofProperty property: UInt32) -> Int? {
    for index in 0..<fields.count where fields[index].property == property { return index }
    return nil
  }

  /// The layout of the nested records of a field, or `nil` if it has none.
  public func nestedLayout(at index: Int) -> RecordLayout? {
    guard index >= 0, index < fields.count, case .nested(let layout) = fields[index].kind else { return nil }
    return layout
  }

  /// Reads a record: calls `body` with a view of it, which is valid until `body` returns.
  @inlinable
  public func withView<R>(
    of bytes: UnsafeRawBufferPointer, _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let view = try RecordView(bytes, layout: self)
    defer { withExtendedLifetime(self) {} }
    return try body(view)
  }

  private static func checkedDepth(of fields: [RecordField]) throws(StoreError) -> Int {
    guard fields.count <= fieldLimit else { throw .misuse("a record layout has more than 16384 fields") }
    var depth = 1
    let properties = fields.map { $0.property }.ordered()
    for (property, next) in zip(properties, properties.dropFirst()) where property == next {
      throw .misuse("two fields of a layout have one property id")
    }
    for field in fields {
      guard case .nested(let inner) = field.kind else { continue }
      guard !inner.isRow else { throw .misuse("the layout of a nested record was made for rows") }
      depth = max(depth, inner.depth + 1)
    }
    guard depth <= depthLimit else { throw .misuse("records are nested more than 64 deep") }
    return depth
  }
}
