import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Attributes of common types straight from the row. The outer optional is nil where that cannot be: for an attribute
// that was changed, that is of another type, transient or transformed, or that a parent context has.
extension ManagedObject {
  @usableFromInline
  final func directString(_ key: String) throws -> String?? {
    try direct(key) { (row, key) throws(EngineError) in try row.string(key) }
  }

  @usableFromInline
  final func directDouble(_ key: String) throws -> Double?? {
    try direct(key) { (row, key) throws(EngineError) in try row.double(key) }
  }

  @usableFromInline
  final func directInteger(_ key: String) throws -> Int64?? {
    try direct(key) { (row, key) throws(EngineError) in try row.integer(key) }
  }

  @usableFromInline
  final func directBoolean(_ key: String) throws -> Bool?? {
    try direct(key) { (row, key) throws(EngineError) in try row.boolean(key) }
  }

  @usableFromInline
  final func directDate(_ key: String) throws -> Date?? {
    try direct(key) { (row, key) throws(EngineError) in
      try row.date(key).map { $0.map { Date(timeIntervalSinceReferenceDate: $0) } }
    }
  }

  @usableFromInline
  final func directData(_ key: String) throws -> Data?? {
    try direct(key) { (row, key) throws(EngineError) in
      var data = Data()
      let isThere = try row.withBinary(key) { bytes in
        if let start = bytes.baseAddress { data = Data(bytes: start, count: bytes.count) }
      }
      return isThere.map { $0 ? data : nil }
    }
  }

  /// The elements of a composite of texts, which are read where they lie.
  final func directComposite(_ key: String) throws -> CompositeElements?? {
    let space = space
    return try direct(key) { (row, key) throws(EngineError) in
      try row.hasTexts(key).map { $0 ? CompositeElements(row.row, key, space) : nil }
    }
  }

  /// The destination of a to-one relationship that is not changed, by where the row says that it leads. The outer
  /// optional is nil where that cannot be said so: the general way is to be gone then.
  ///
  /// - Parameter type: The class to use for the entity that the relationship leads to.
  final func directDestination(_ key: String, as type: ManagedObject.Type) throws -> ManagedObject?? {
    // What the home knows of names is for who has the lock.
    guard let context = managedObjectContext, context.isUsedHere, context.parent == nil,
      let (relationship, place) = withToOne(key, { ($0.key, $0.place) })
    else { return nil }
    if state != .loaded { try load() }
    guard state == .loaded, parentState == nil, let heldRow else { return nil }
    if withOverlay({ $0.toOneChanges.contains(place) }) == true { return nil }
    let reference: ObjectReference?
    do throws(EngineError) { reference = try heldRow.reference(relationship) } catch { throw CambiumError(error) }
    guard let reference else { return .some(nil) }
    return context.destination(space, reference) { withToOne(key) { use(type, for: $0, context) } }
  }

  @inline(__always)
  private func direct<R>(_ key: String, _ read: (BorrowedRow, PropertyKey) throws(EngineError) -> R??) throws -> R?? {
    guard let attribute = directAttribute(key) else { return nil }
    if state != .loaded { try load() }
    // Nothing that is called from here on calls the application, or changes the object, which keeps the row.
    defer { withExtendedLifetime(self) {} }
    guard state == .loaded, parentState == nil, let heldRow else { return nil }
    if changesAttribute(at: attribute.place) { return nil }
    do throws(EngineError) { return try read(heldRow, attribute.key) } catch { throw CambiumError(error) }
  }

  /// The value of an attribute without a ``Value`` between, if the type is one of the common ones and the attribute is
  /// of it.
  @inlinable @inline(__always)
  final func directValue<T>(_ key: String, as type: T.Type) throws -> T?? {
    // Decided when this is compiled for a type. What is cast is of the very type.
    if T.self == String.self { return unsafeBitCast(try directString(key), to: T??.self) }
    if T.self == Double.self { return unsafeBitCast(try directDouble(key), to: T??.self) }
    if T.self == Bool.self { return unsafeBitCast(try directBoolean(key), to: T??.self) }
    if T.self == Date.self { return unsafeBitCast(try directDate(key), to: T??.self) }
    if T.self == Data.self { return unsafeBitCast(try directData(key), to: T??.self) }
    if T.self == Int64.self { return unsafeBitCast(try directInteger(key), to: T??.self) }
    if T.self == Int.self { return try directFixed(key, as: Int.self, T.self) }
    if T.self == Int32.self { return try directFixed(key, as: Int32.self, T.self) }
    if T.self == Int16.self { return try directFixed(key, as: Int16.self, T.self) }
    return nil
  }

  /// A number that may be too large for the type, which is told where values are read in general.
  @inlinable @inline(__always)
  final func directFixed<N: FixedWidthInteger, T>(_ key: String, as kind: N.Type, _ type: T.Type) throws -> T?? {
    guard let number = try directInteger(key) else { return nil }
    guard let number else { return .some(nil) }
    guard let fixed = N(exactly: number) else { return nil }
    return .some(unsafeBitCast(fixed, to: T.self))
  }
}
