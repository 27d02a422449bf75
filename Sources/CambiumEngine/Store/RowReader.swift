import CambiumKernel

/// A row lent where it lies, decoded property by property.
///
/// It is good for the call that lends it and cannot be kept; nothing is copied but what is asked for. Each accessor
/// answers nil for null and throws `EngineError.store(.misuse)` for a property of another type,
/// `EngineError.store(.corrupt)` for a damaged row. Constant time each.
public struct RowReader: ~Copyable {
  @usableFromInline let record: RecordView
  @usableFromInline let layoutID: UInt16
  /// The object, with its own entity.
  public let reference: ObjectReference
  // The store keeps the layout as long as any view of it can lend rows.
  private let unmanaged: Unmanaged<EntityLayout>

  @inline(__always)
  init(_ record: RecordView, _ layout: Unmanaged<EntityLayout>, _ layoutID: UInt16, _ reference: ObjectReference) {
    self.record = record
    unmanaged = layout
    self.reference = reference
    self.layoutID = layoutID
  }

  init(_ record: RecordView, _ layout: EntityLayout, _ reference: ObjectReference) {
    self.init(record, .passUnretained(layout), layout.id, reference)
  }

  var layout: EntityLayout { unmanaged.takeUnretainedValue() }

  /// The object's own entity.
  public var entity: EntitySchema { layout.entity }

  /// Grows with every change of the row: conflicts are detected by it.
  @inlinable public var version: UInt32 { record.rowVersion }

  /// Adds a copy to a block; answers whether there was room.
  @inline(__always)
  func add(to block: Unmanaged<RowBlock>) -> Bool {
    let (bytes, number) = (record.bytes, reference.row)
    return unmanaged._withUnsafeGuaranteedRef { layout in
      block._withUnsafeGuaranteedRef { $0.add(bytes, layout, number) }
    }
  }

  /// The row, copied, to be kept.
  public func copy() -> Row { RowBlock.of(record.bytes, layout, reference.row) }

  /// Whether a property, or a composite on the way to it, is null.
  @inlinable
  public func isNull(_ field: RowField) throws(EngineError) -> Bool {
    do throws(StoreError) {
      if field.layoutID == layoutID { return try record.isNull(field.path) }
    } catch { throw .store(error) }
    let path = try field.path(in: layoutID)
    do throws(StoreError) { return try record.isNull(path) } catch { throw .store(error) }
  }

  /// An integer of any width.
  @inlinable
  public func int64(_ field: RowField) throws(EngineError) -> Int64? {
    do throws(StoreError) {
      if field.layoutID == layoutID { return try record.int64(at: field.path) }
    } catch { throw .store(error) }
    let path = try field.path(in: layoutID)
    do throws(StoreError) { return try record.int64(at: path) } catch { throw .store(error) }
  }

  /// A double or float.
  @inlinable
  public func double(_ field: RowField) throws(EngineError) -> Double? {
    do throws(StoreError) {
      if field.layoutID == layoutID { return try record.double(at: field.path) }
    } catch { throw .store(error) }
    let path = try field.path(in: layoutID)
    do throws(StoreError) { return try record.double(at: path) } catch { throw .store(error) }
  }

  /// A boolean.
  @inlinable
  public func boolean(_ field: RowField) throws(EngineError) -> Bool? {
    do throws(StoreError) {
      if field.layoutID == layoutID { return try record.boolean(at: field.path) }
    } catch { throw .store(error) }
    let path = try field.path(in: layoutID)
    do throws(StoreError) { return try record.boolean(at: path) } catch { throw .store(error) }
  }

  /// A date, in seconds since 2001-01-01 00:00:00 UTC.
  @inlinable
  public func date(_ field: RowField) throws(EngineError) -> Double? {
    do throws(StoreError) {
      if field.layoutID == layoutID { return try record.date(at: field.path) }
    } catch { throw .store(error) }
    let path = try field.path(in: layoutID)
    do throws(StoreError) { return try record.date(at: path) } catch { throw .store(error) }
  }

  /// A UUID.
  @inlinable
  public func uuid(_ field: RowField) throws(EngineError) -> UUIDBytes? {
    do throws(StoreError) {
      if field.layoutID == layoutID { return try record.uuid(at: field.path) }
    } catch { throw .store(error) }
    let path = try field.path(in: layoutID)
    do throws(StoreError) { return try record.uuid(at: path) } catch { throw .store(error) }
  }

  /// The destination of a to-one relationship, or an object identity.
  @inlinable
  public func reference(_ field: RowField) throws(EngineError) -> ObjectReference? {
    do throws(StoreError) {
      if field.layoutID == layoutID {
        guard let packed = try record.reference(at: field.path) else { return nil }
        return PackedReference.unpack(packed)
      }
    } catch { throw .store(error) }
    let path = try field.path(in: layoutID)
    do throws(StoreError) { return try record.reference(at: path).map(PackedReference.unpack) } catch {
      throw .store(error)
    }
  }

  /// A decimal.
  public func decimal(_ field: RowField) throws(EngineError) -> DecimalValue? {
    let path = try field.path(in: layoutID)
    do throws(StoreError) { return try record.decimal(at: path) } catch { throw .store(error) }
  }

  /// Text, or a URI, as a `String`. Allocates beyond 15 bytes.
  public func string(_ field: RowField) throws(EngineError) -> String? {
    do throws(StoreError) {
      if field.layoutID == layoutID {
        if let text = field.text { return try record.string(at: text) }
        return try record.string(at: field.path)
      }
    } catch { throw .store(error) }
    let path = try field.path(in: layoutID)
    do throws(StoreError) { return try record.string(at: path) } catch { throw .store(error) }
  }

  /// Calls `body` with the UTF-8 of text, or of a URI, where it lies: nil for null. Not checked to be well-formed; must
  /// not be kept.
  @inlinable
  public func withUTF8<R>(
    _ field: RowField, _ body: (UnsafeRawBufferPointer?) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let text: UnsafeRawBufferPointer?
    if field.layoutID == layoutID {
      do throws(StoreError) { text = try record.utf8(at: field.path) } catch { throw .store(error) }
    } else {
      let path = try field.path(in: layoutID)
      do throws(StoreError) { text = try record.utf8(at: path) } catch { throw .store(error) }
    }
    return try body(text)
  }

  /// Calls `body` with the bytes of a binary attribute where they lie: nil for null. Must not be kept.
  @inlinable
  public func withBytes<R>(
    _ field: RowField, _ body: (UnsafeRawBufferPointer?) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let bytes: UnsafeRawBufferPointer?
    if field.layoutID == layoutID {
      do throws(StoreError) { bytes = try record.bytes(at: field.path) } catch { throw .store(error) }
    } else {
      let path = try field.path(in: layoutID)
      do throws(StoreError) { bytes = try record.bytes(at: path) } catch { throw .store(error) }
    }
    return try body(bytes)
  }

  /// The bytes of a binary attribute, copied.
  @inlinable
  public func bytes(_ field: RowField) throws(EngineError) -> [UInt8]? {
    try withBytes(field) { (bytes) throws(EngineError) in bytes.map { Array($0) } }
  }

  /// The value, whatever its type: composites as ``Value/composite(_:)``.
  public func value(_ field: RowField) throws(EngineError) -> Value {
    let path = try field.path(in: layoutID)
    do throws(StoreError) {
      guard let parent = try path.parent(in: record) else { return .null }
      guard let attribute = field.attribute else {
        return try parent.reference(at: path.leaf).map { .reference(PackedReference.unpack($0)) } ?? .null
      }
      return try parent.value(attribute, at: path.leaf)
    } catch { throw .store(error) }
  }
}

extension Row {
  /// Reads the row property by property with fields that were looked up before.
  @inlinable
  public func withReader<R>(
    _ body: (borrowing RowReader) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    var result: R?
    try lend { (reader) throws(EngineError) in result = try body(reader) }
    guard let result else { throw .misuse("the row was not read") }
    return result
  }

  @usableFromInline
  func lend(_ body: (borrowing RowReader) throws(EngineError) -> Void) throws(EngineError) {
    let layout = layout
    try withBytes { (b) throws(EngineError) in
      let record = try storing { () throws(StoreError) in try RecordView(b, layout: layout.record) }
      try body(RowReader(record, layout, reference))
    }
  }
}
