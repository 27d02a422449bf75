import CambiumKernel

/// A ``Row`` that somebody else keeps, or that is kept by hand: values are read as Swift's own types, without a
/// ``Value`` between, and without counting references.
///
/// The outer optional of a value says whether the attribute is of the type at all, the inner one whether it has a
/// value.
public struct BorrowedRow: @unchecked Sendable {
  // `@unchecked`: a row's bytes do not change, and references are counted atomically.
  private let block: Unmanaged<RowBlock>
  private let offset: UInt32

  /// Borrows a row. Whoever uses this sees to it that the row is kept as long.
  @inline(__always)
  public init(_ row: Row) {
    block = .passUnretained(row.block)
    offset = row.offset
  }

  @inline(__always)
  init(_ block: RowBlock, _ offset: UInt32) {
    self.block = .passUnretained(block)
    self.offset = offset
  }

  /// Keeps the row until ``release()``; answers it.
  public func retained() -> BorrowedRow {
    _ = block.retain()
    return self
  }

  /// Gives up what ``retained()`` keeps.
  public func release() { block.release() }

  /// The row.
  public var row: Row { Row(block: block.takeUnretainedValue(), offset: offset) }

  /// See ``Row/version``.
  public var version: UInt32 {
    block._withUnsafeGuaranteedRef { block in
      do throws(StoreError) { return try RecordView.rowVersion(of: block.bytes(at: offset)) } catch { return 0 }
    }
  }

  // MARK: Values

  /// The text of a string attribute; nil if the attribute is none.
  public func string(_ key: PropertyKey) throws(EngineError) -> String?? {
    try read(key, .string) { (view, field) throws(StoreError) in try view.string(at: field) }
  }

  /// The number of a double attribute; nil if the attribute is none.
  public func double(_ key: PropertyKey) throws(EngineError) -> Double?? {
    try read(key, .double) { (view, field) throws(StoreError) in try view.double(at: field) }
  }

  /// Seconds since 2001 of a date attribute; nil if the attribute is none.
  public func date(_ key: PropertyKey) throws(EngineError) -> Double?? {
    try read(key, .date) { (view, field) throws(StoreError) in try view.date(at: field) }
  }

  /// The value of a boolean attribute; nil if the attribute is none.
  public func boolean(_ key: PropertyKey) throws(EngineError) -> Bool?? {
    try read(key, .boolean) { (view, field) throws(StoreError) in try view.boolean(at: field) }
  }

  /// The number of an integer attribute; nil if the attribute is none.
  public func integer(_ key: PropertyKey) throws(EngineError) -> Int64?? {
    try read(key, .integer64) { (view, field) throws(StoreError) in try view.int64(at: field) }
  }

  /// Lends the bytes of a binary attribute, and answers whether it has a value; nil if the attribute is none.
  public func withBinary(_ key: PropertyKey, _ body: (UnsafeRawBufferPointer) -> Void) throws(EngineError) -> Bool? {
    // Not generic: what is asked of a value of any type takes longer than to copy the bytes.
    let found = try read(key, .binary) { (view, field) throws(StoreError) -> Bool? in
      guard let bytes = try view.bytes(at: field) else { return nil }
      body(bytes)
      return true
    }
    return found.map { $0 ?? false }
  }

  /// The destination of a to-one relationship; nil for one that is not kept in rows, and for one that the entity does
  /// not have.
  public func reference(_ key: PropertyKey) throws(EngineError) -> ObjectReference? {
    let columns = columns
    guard let place = columns.place(relationship: key), !columns[place].isToMany else { return nil }
    return try read(columns[place], columns) { (view, field) throws(StoreError) in
      try view.reference(at: field).map(PackedReference.unpack)
    }
  }

  /// The text of a string that is an element of a composite attribute of texts alone, by name; nil if there is no such
  /// element. An element of a composite without a value has none.
  ///
  /// For rows whose texts ``hasTexts(_:)`` has looked at: of others, what is not well-formed is repaired, not refused.
  public func string(_ key: PropertyKey, element name: String) throws(EngineError) -> String?? {
    let columns = columns
    guard let place = columns.place(attribute: key) else { return nil }
    let column = columns[place]
    guard column.isOfTexts, let element = columns.element(NameBits(name), of: column) ?? find(name, place) else {
      return nil
    }
    return .some(
      try read(column, columns) { (view, field) throws(StoreError) in
        try view.nested(at: field).flatMap { (nested) throws(StoreError) in try nested.repairedString(at: element) }
      })
  }

  /// The place of an element whose name may be written otherwise.
  @inline(never)
  private func find(_ name: String, _ place: Int) -> Int? { row.layout.elementNames[place].firstIndex(of: name) }

  /// Whether a composite attribute of texts alone has a value; nil if the attribute is none. The texts of one that has
  /// were looked at: reading them does not fail.
  public func hasTexts(_ key: PropertyKey) throws(EngineError) -> Bool? {
    let columns = columns
    guard let place = columns.place(attribute: key), columns[place].isOfTexts else { return nil }
    return try read(columns[place], columns) { (view, field) throws(StoreError) -> Bool? in
      guard let nested = try view.nested(at: field) else { return nil }
      for element in 0..<columns[place].elements.count { _ = try nested.wellFormedUTF8(at: element) }
      return true
    } ?? false
  }

  @inline(__always)
  private var columns: ColumnTable { block._withUnsafeGuaranteedRef { $0.columns(at: offset) } }

  @inline(__always)
  private func read<R>(
    _ key: PropertyKey, _ type: AttributeType, _ body: (RecordView, Int) throws(StoreError) -> R?
  ) throws(EngineError) -> R?? {
    let columns = columns
    guard let place = columns.place(attribute: key) else { return nil }
    let column = columns[place]
    guard column.type == type || type == .integer64 && (column.type == .integer32 || column.type == .integer16) else {
      return nil
    }
    return .some(try read(column, columns, body))
  }

  @inline(__always)
  private func read<R>(
    _ column: Column, _ columns: ColumnTable, _ body: (RecordView, Int) throws(StoreError) -> R?
  ) throws(EngineError) -> R? {
    if column.field < 0 { return nil }
    let bytes = block._withUnsafeGuaranteedRef { $0.bytes(at: offset) }
    do throws(StoreError) { return try body(try RecordView(bytes, layout: columns.record), column.field) } catch {
      throw .store(error)
    }
  }
}

extension Row {
  /// Lends the row to who reads values from it, which must not keep what it is lent.
  @inline(__always)
  public func withBorrowed<R, E: Error>(_ body: (BorrowedRow) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(block) {} }
    return try body(BorrowedRow(self))
  }
}
