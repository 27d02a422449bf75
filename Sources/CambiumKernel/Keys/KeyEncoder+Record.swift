extension KeyEncoder {
  /// Appends the value of a record's field, null included. Answers whether it is null.
  ///
  /// - Throws: `StoreError.misuse` if the field is a composite or a list, or its value lies outside the record;
  ///   `StoreError.corrupt` if the record is damaged.
  @discardableResult
  public mutating func append(
    field index: Int, of record: RecordView, descending: Bool = false
  ) throws(StoreError) -> Bool {
    if try record.isNull(index) {
      appendNull(descending: descending)
      return true
    }
    switch try record.slot(index).pointee.tag {
    case .boolean: if let value = try record.boolean(at: index) { append(value, descending: descending) }
    case .int16, .int32, .int64: if let value = try record.int64(at: index) { append(value, descending: descending) }
    case .float, .double: if let value = try record.double(at: index) { append(value, descending: descending) }
    case .date: if let value = try record.date(at: index) { append(date: value, descending: descending) }
    case .uuid: if let value = try record.uuid(at: index) { append(value, descending: descending) }
    case .reference:
      if let value = try record.reference(at: index) { append(reference: value, descending: descending) }
    case .decimal: if let value = try record.decimal(at: index) { append(value, descending: descending) }
    case .string: if let value = try record.utf8(at: index) { append(utf8: value, descending: descending) }
    case .bytes: if let value = try record.bytes(at: index) { append(bytes: value, descending: descending) }
    case .references, .nested: throw .misuse("a composite or a list of references cannot be part of a key")
    }
    return false
  }

  /// Appends the value at a path; null if a composite on the way is null. Answers whether it is null. Throws as
  /// ``append(field:of:descending:)``.
  @discardableResult
  public mutating func append(
    path: FieldPath, of record: RecordView, descending: Bool = false
  ) throws(StoreError) -> Bool {
    guard let parent = try path.parent(in: record) else {
      appendNull(descending: descending)
      return true
    }
    return try append(field: path.leaf, of: parent, descending: descending)
  }
}
