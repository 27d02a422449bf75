import CambiumKernel

/// A row: its bytes as they came from the store, decoded on access.
public struct Row: @unchecked Sendable {
  // `@unchecked`: a block that somebody has a row of is not changed any more.
  let block: RowBlock
  let offset: UInt32

  init(block: RowBlock, offset: UInt32) {
    self.block = block
    self.offset = offset
  }

  /// The object, with its own entity.
  public var reference: ObjectReference { block.reference(at: offset) }

  var layout: EntityLayout { @inline(__always) get { block.layout(at: offset) } }

  /// Lends the bytes.
  @inline(__always)
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(block) {} }
    return try body(block.bytes(at: offset))
  }

  /// The object's own entity.
  public var entity: EntitySchema { layout.entity }

  /// Grows with every change of the row: conflicts are detected by it.
  public var version: UInt32 {
    withBytes { b in
      do throws(StoreError) { return try RecordView.rowVersion(of: b) } catch { return 0 }
    }
  }

  /// Whether this is a row of the same object with the same version and values. Versions alone do not tell that rows
  /// are the same if a migration was undone between them: they go on from where they were before it. O(bytes of the
  /// row).
  public func isSame(as other: Row) -> Bool {
    if block === other.block, offset == other.offset { return true }
    guard reference == other.reference, version == other.version else { return false }
    let (layout, theirs) = (layout, other.layout)
    if layout.id == theirs.id {
      return withBytes { mine in
        other.withBytes { theirs in mine.count == theirs.count && mine.elementsEqual(theirs) }
      }
    }
    // Migrated there and back: written otherwise, if at all.
    do throws(EngineError) {
      if try !hasValues(of: other) { return false }
      return try other.hasValues(of: self)
    } catch { return false }
  }

  /// Whether it has the values that another row has for the properties of this one's entity.
  private func hasValues(of other: Row) throws(EngineError) -> Bool {
    for attribute in entity.allAttributes where !attribute.isTransient {
      if try value(attribute) != other.value(attribute) { return false }
    }
    for relationship in entity.allRelationships where !relationship.isTransient {
      let isSame =
        relationship.isToMany
        ? try references(relationship) == other.references(relationship)
        : try reference(relationship) == other.reference(relationship)
      if !isSame { return false }
    }
    return true
  }

  func withView<R>(_ body: (RecordView) throws(StoreError) -> R) throws(EngineError) -> R {
    let record = layout.record
    return try withBytes { (b) throws(EngineError) -> R in
      do throws(StoreError) { return try body(try RecordView(b, layout: record)) } catch { throw .store(error) }
    }
  }

  /// The value of an attribute; composites as ``Value/composite(_:)``. Null for a transient attribute.
  public func value(_ attribute: AttributeSchema) throws(EngineError) -> Value {
    guard let index = layout.fieldByName[attribute.name] else { return .null }
    return try withView { (view) throws(StoreError) in try view.value(attribute, at: index) }
  }

  /// The value of an attribute; null for a transient one, and for one that the entity does not have. Faster than to
  /// name it.
  public func value(_ key: PropertyKey) throws(EngineError) -> Value {
    guard let place = layout.columns.place(attribute: key) else { return .null }
    let (field, type) = (layout.columns[place].field, layout.columns[place].type)
    if field < 0 { return .null }
    return try withBytes { (b) throws(EngineError) in
      do throws(StoreError) {
        let view = try RecordView(b, layout: layout.record)
        if type != .composite { return try view.value(type, at: field) }
        return try view.composite(layout.entity.allAttributes[place].elements, layout.elementNames[place], at: field)
      } catch { throw .store(error) }
    }
  }

  /// The destination of a to-one relationship; nil for one that is not kept in rows, and for one that the entity does
  /// not have.
  public func reference(_ key: PropertyKey) throws(EngineError) -> ObjectReference? {
    try withBorrowed { (row) throws(EngineError) in try row.reference(key) }
  }

  /// The value at a key path of attributes and elements of composites.
  ///
  /// - Throws: ``EngineError/unknownProperty(entity:name:)``; paths through relationships need the view.
  public func value(keyPath: String) throws(EngineError) -> Value {
    var parts = keyPathNames(keyPath)[...]
    guard let first = parts.popFirst(), var attribute = entity.attribute(named: String(first)) else {
      throw .unknownProperty(entity: entity.name, name: keyPath)
    }
    var value = try value(attribute)
    while let part = parts.popFirst() {
      guard let element = attribute.element(named: String(part)) else {
        throw .unknownProperty(entity: entity.name, name: keyPath)
      }
      if case .composite(let composite) = value { value = composite[element.name] ?? .null }
      attribute = element
    }
    return value
  }

  /// The destination of a to-one relationship.
  public func reference(_ relationship: RelationshipSchema) throws(EngineError) -> ObjectReference? {
    guard !relationship.isToMany, let index = layout.fieldByName[relationship.name] else { return nil }
    return try withView { (view) throws(StoreError) in try view.reference(at: index).map(PackedReference.unpack) }
  }

  /// The destinations of an ordered to-many relationship, in order.
  public func references(_ relationship: RelationshipSchema) throws(EngineError) -> [ObjectReference] {
    guard let index = layout.fieldByName[relationship.name] else { return [] }
    return try withView { (view) throws(StoreError) in
      try view.references(at: index)?.array.map(PackedReference.unpack) ?? []
    }
  }
}

/// New values of some properties of an object, by name.
public struct RowValues: Sendable {
  var attributes: NameMap<Value> = [:]
  var toOne: NameMap<ObjectReference?> = [:]
  var toMany: NameMap<[ObjectReference]> = [:]

  /// No values.
  public init() {}

  /// Values of attributes.
  public init(_ attributes: NameMap<Value>) { self.attributes = attributes }

  /// Sets an attribute.
  public mutating func set(_ attribute: String, _ value: Value) { attributes[attribute] = value }

  /// Sets a to-one relationship; nil empties it.
  public mutating func set(toOne relationship: String, _ reference: ObjectReference?) {
    toOne.updateValue(reference, forKey: relationship)
  }

  /// Sets all destinations of a to-many relationship.
  public mutating func set(toMany relationship: String, _ references: [ObjectReference]) {
    toMany[relationship] = references
  }

  /// What is set at a path: an attribute, an element of a composite, or a to-one relationship; null if nothing is.
  public func value(at path: String) -> Value {
    var names = keyPathNames(path)[...]
    guard let first = names.popFirst() else { return .null }
    if let reference = toOne[String(first)] { return reference.map { .reference($0) } ?? .null }
    var value = attributes[String(first)] ?? .null
    for name in names {
      guard case .composite(let composite) = value else { return .null }
      value = composite[String(name)] ?? .null
    }
    return value
  }

  /// Whether nothing is set.
  public var isEmpty: Bool { attributes.isEmpty && toOne.isEmpty && toMany.isEmpty }
}
