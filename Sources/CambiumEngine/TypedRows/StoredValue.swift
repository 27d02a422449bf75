import CambiumKernel

/// A type of Swift whose values an attribute keeps, for the properties of a ``StoredRow``.
///
/// An enumeration with raw values of such a type conforms by naming the protocol:
///
///     enum Quality: Int16, StoredValue { case good, doubtful }
public protocol StoredValue {
  /// The type of the attribute.
  static var attributeType: AttributeType { get }
  /// The value as an attribute's default.
  var storedValue: Value { get }
  /// Reads an attribute of a row; nil for null.
  ///
  /// - Throws: ``EngineError/unsupported(_:)`` for a value that the type does not have; kernel errors.
  static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> Self?
  /// Writes an attribute of the row that was begun; nil for null.
  ///
  /// - Throws: As the setters of ``RowWriter``.
  static func write(_ value: Self?, to field: RowField, of row: RowWriter) throws(EngineError)
}

// MARK: Integers

extension StoredValue where Self: FixedWidthInteger {
  /// An integer.
  @inlinable public var storedValue: Value { .integer(Int64(clamping: self)) }

  /// Reads an integer of any width.
  @inlinable public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> Self? {
    guard let stored = try row.int64(field) else { return nil }
    guard let value = Self(exactly: stored) else { throw row.misfit(field) }
    return value
  }

  /// Writes an integer.
  @inlinable public static func write(_ value: Self?, to field: RowField, of row: RowWriter) throws(EngineError) {
    guard let value else { return try row.setNull(field) }
    guard let stored = Int64(exactly: value) else { throw field.tooGreat }
    try row.set(field, stored)
  }
}

extension Int: StoredValue {
  /// 64 bits, on machines of 32 bits as well.
  public static var attributeType: AttributeType { .integer64 }
}

extension Int8: StoredValue {
  /// 16 bits, the narrowest there is.
  public static var attributeType: AttributeType { .integer16 }
}

extension Int16: StoredValue {
  /// 16 bits.
  public static var attributeType: AttributeType { .integer16 }
}

extension Int32: StoredValue {
  /// 32 bits.
  public static var attributeType: AttributeType { .integer32 }
}

extension Int64: StoredValue {
  /// 64 bits.
  public static var attributeType: AttributeType { .integer64 }
}

extension UInt8: StoredValue {
  /// 16 bits with a sign.
  public static var attributeType: AttributeType { .integer16 }
}

extension UInt16: StoredValue {
  /// 32 bits with a sign.
  public static var attributeType: AttributeType { .integer32 }
}

extension UInt32: StoredValue {
  /// 64 bits with a sign.
  public static var attributeType: AttributeType { .integer64 }
}

// MARK: Other numbers

extension Double: StoredValue {
  /// A double.
  public static var attributeType: AttributeType { .double }
  /// A double.
  public var storedValue: Value { .double(self) }

  /// Reads a double.
  @inlinable public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> Double? {
    try row.double(field)
  }

  /// Writes a double.
  @inlinable public static func write(_ value: Double?, to field: RowField, of row: RowWriter) throws(EngineError) {
    try row.set(field, value)
  }
}

extension Float: StoredValue {
  /// A float.
  public static var attributeType: AttributeType { .float }
  /// A float.
  public var storedValue: Value { .float(self) }

  /// Reads a float.
  @inlinable public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> Float? {
    try row.double(field).map { Float($0) }
  }

  /// Writes a float.
  @inlinable public static func write(_ value: Float?, to field: RowField, of row: RowWriter) throws(EngineError) {
    try row.set(field, value.map { Double($0) })
  }
}

extension DecimalValue: StoredValue {
  /// A decimal.
  public static var attributeType: AttributeType { .decimal }
  /// A decimal.
  public var storedValue: Value { .decimal(self) }

  /// Reads a decimal.
  @inlinable
  public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> DecimalValue? {
    try row.decimal(field)
  }

  /// Writes a decimal.
  @inlinable
  public static func write(_ value: DecimalValue?, to field: RowField, of row: RowWriter) throws(EngineError) {
    try row.set(field, value)
  }
}

extension Bool: StoredValue {
  /// True or false.
  public static var attributeType: AttributeType { .boolean }
  /// True or false.
  public var storedValue: Value { .boolean(self) }

  /// Reads a boolean.
  @inlinable public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> Bool? {
    try row.boolean(field)
  }

  /// Writes a boolean.
  @inlinable public static func write(_ value: Bool?, to field: RowField, of row: RowWriter) throws(EngineError) {
    try row.set(field, value)
  }
}

// MARK: Everything else

extension String: StoredValue {
  /// Text.
  public static var attributeType: AttributeType { .string }
  /// Text.
  public var storedValue: Value { .string(self) }

  /// Reads text.
  @inlinable public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> String? {
    try row.string(field)
  }

  /// Writes text.
  @inlinable public static func write(_ value: String?, to field: RowField, of row: RowWriter) throws(EngineError) {
    try row.set(field, value)
  }
}

extension Array: StoredValue where Element == UInt8 {
  /// Bytes.
  public static var attributeType: AttributeType { .binary }
  /// Bytes.
  public var storedValue: Value { .binary(self) }

  /// Reads bytes.
  @inlinable public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> [UInt8]? {
    try row.bytes(field)
  }

  /// Writes bytes.
  @inlinable public static func write(_ value: [UInt8]?, to field: RowField, of row: RowWriter) throws(EngineError) {
    try row.set(field, bytes: value)
  }
}

extension DateValue: StoredValue {
  /// A moment.
  public static var attributeType: AttributeType { .date }
  /// A moment.
  public var storedValue: Value { .date(seconds) }

  /// Reads a moment.
  @inlinable
  public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> DateValue? {
    try row.date(field).map { DateValue(seconds: $0) }
  }

  /// Writes a moment.
  @inlinable public static func write(_ value: DateValue?, to field: RowField, of row: RowWriter) throws(EngineError) {
    try row.set(field, date: value?.seconds)
  }
}

extension UUIDBytes: StoredValue {
  /// A UUID.
  public static var attributeType: AttributeType { .uuid }
  /// A UUID.
  public var storedValue: Value { .uuid(self) }

  /// Reads a UUID.
  @inlinable
  public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> UUIDBytes? {
    try row.uuid(field)
  }

  /// Writes a UUID.
  @inlinable public static func write(_ value: UUIDBytes?, to field: RowField, of row: RowWriter) throws(EngineError) {
    try row.set(field, value)
  }
}

extension StoredValue where Self: RawRepresentable, RawValue: StoredValue {
  /// The type of the raw value.
  public static var attributeType: AttributeType { RawValue.attributeType }
  /// The raw value.
  public var storedValue: Value { rawValue.storedValue }

  /// Reads a raw value.
  @inlinable public static func read(_ field: RowField, of row: borrowing RowReader) throws(EngineError) -> Self? {
    guard let stored = try RawValue.read(field, of: row) else { return nil }
    guard let value = Self(rawValue: stored) else { throw row.misfit(field) }
    return value
  }

  /// Writes the raw value.
  @inlinable public static func write(_ value: Self?, to field: RowField, of row: RowWriter) throws(EngineError) {
    try RawValue.write(value?.rawValue, to: field, of: row)
  }
}

extension RowField {
  /// The error for an integer that no attribute holds.
  @usableFromInline
  var tooGreat: EngineError { .unsupported("a value for '\(keyPath)' does not fit into 64 bits with a sign") }
}

extension RowReader {
  /// The error for a value that the type of a property does not have.
  @usableFromInline @inline(never)
  func misfit(_ field: RowField) -> EngineError {
    .unsupported(
      "\(entity.name).\(field.keyPath) of \(reference.description) has a value that the structure's property cannot "
        + "hold: give the property a wider type, or a case for the value")
  }
}
