import CambiumKernel

// Values as Swift's own types, without a `Value` between. The outer optional says whether the attribute is of the type at all,
// the inner one whether it has a value.

extension Row {
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

  /// The text of a string that is an element of a composite attribute of texts alone, by name; nil if there is no such
  /// element. An element of a composite without a value has none.
  public func string(_ key: PropertyKey, element name: String) throws(EngineError) -> String?? {
    try withLayout { (layout) throws(EngineError) -> String?? in
      guard let place = layout.place(attribute: key), layout.columnTypes[place] == .composite,
        layout.columnsOfTexts[place], let element = layout.elementNames[place].firstIndex(of: name)
      else { return nil }
      return .some(
        try withField(place, layout) { (view, field) throws(StoreError) in
          try view.nested(at: field).flatMap { (nested) throws(StoreError) in try nested.string(at: element) }
        })
    }
  }

  /// Whether a composite attribute of texts alone has a value; nil if the attribute is none. The texts of one that has were looked
  /// at: reading them does not fail.
  public func hasTexts(_ key: PropertyKey) throws(EngineError) -> Bool? {
    let layout = layout
    guard let place = layout.place(attribute: key), layout.columnTypes[place] == .composite,
      layout.columnsOfTexts[place]
    else {
      return nil
    }
    let count = layout.elementNames[place].count
    return try withField(place, layout) { (view, field) throws(StoreError) -> Bool? in
      guard let nested = try view.nested(at: field) else { return nil }
      for element in 0..<count { _ = try nested.wellFormedUTF8(at: element) }
      return true
    } ?? false
  }

  @inline(__always)
  private func read<R>(
    _ key: PropertyKey, _ type: AttributeType, _ body: (RecordView, Int) throws(StoreError) -> R?
  ) throws(EngineError) -> R?? {
    try withLayout { (layout) throws(EngineError) -> R?? in
      guard let place = layout.place(attribute: key) else { return nil }
      let found = layout.columnTypes[place]
      guard found == type || type == .integer64 && (found == .integer32 || found == .integer16) else { return nil }
      return .some(try withField(place, layout, body))
    }
  }

  @inline(__always)
  private func withField<R>(
    _ place: Int, _ layout: EntityLayout, _ body: (RecordView, Int) throws(StoreError) -> R?
  ) throws(EngineError) -> R? {
    let field = layout.columnFields[place]
    if field < 0 { return nil }
    return try withBytes { (b) throws(EngineError) -> R? in
      do throws(StoreError) { return try body(try RecordView(b, layout: layout.record), field) } catch {
        throw .store(error)
      }
    }
  }
}
