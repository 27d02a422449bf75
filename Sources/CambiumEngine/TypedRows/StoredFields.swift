/// Where the properties of a ``StoredRow`` lie in the rows of a store. Made by ``EntityStore/rows(of:)``.
///
/// The code that the macro ``StoredRow()`` writes names a property by its place among the attributes.
public struct StoredFields: Sendable {
  @usableFromInline let fields: [RowField]

  /// Reads an optional property; nil for null.
  ///
  /// - Throws: As ``StoredRow/init(storedRow:fields:)``.
  @inlinable
  public func value<T: StoredValue>(_ place: Int, of row: borrowing RowReader) throws(EngineError) -> T? {
    try T.read(try field(place), of: row)
  }

  /// Reads a property that is not optional.
  ///
  /// - Throws: As ``StoredRow/init(storedRow:fields:)``.
  @inlinable
  public func value<T: StoredValue>(_ place: Int, of row: borrowing RowReader) throws(EngineError) -> T {
    let field = try field(place)
    guard let value = try T.read(field, of: row) else { throw row.isNullError(field) }
    return value
  }

  /// Writes a property of the row that was begun; nil for null.
  ///
  /// - Throws: As the setters of ``RowWriter``.
  @inlinable
  public func set<T: StoredValue>(_ place: Int, to value: T?, of row: RowWriter) throws(EngineError) {
    try T.write(value, to: try field(place), of: row)
  }

  @inlinable
  func field(_ place: Int) throws(EngineError) -> RowField {
    guard fields.indices.contains(place) else { throw Self.otherStructure }
    return fields[place]
  }

  @usableFromInline
  static var otherStructure: EngineError { .misuse("the fields are of another structure: use those of its rows(of:)") }
}

extension RowReader {
  /// The error for null where the property is not optional.
  @usableFromInline @inline(never)
  func isNullError(_ field: RowField) -> EngineError {
    .typeMismatch(entity: entity.name, property: field.keyPath, expected: field.type, found: "null")
  }
}
