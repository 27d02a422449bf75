// Reads of fixed-width fields. Their offsets lie below the layout's `fixedEnd`, which `init` has compared with the
// record's size, so that only the index and the kind are checked here.

extension RecordView {
  @inlinable @inline(__always)
  func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type) -> T {
    T(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: type))
  }

  /// The value of a boolean field, or `nil` for null.
  @inlinable @inline(__always)
  public func boolean(at index: Int) throws(StoreError) -> Bool? {
    let slot = try slot(index)
    guard slot.pointee.tag == .boolean else { throw wrongField() }
    return bit(index) ? nil : bit(slot.pointee.position)
  }

  /// The value of an integer field of any width, or `nil` for null.
  @inlinable @inline(__always)
  public func int64(at index: Int) throws(StoreError) -> Int64? {
    let slot = try slot(index)
    let position = slot.pointee.position
    switch slot.pointee.tag {
    case .int64: return bit(index) ? nil : load(position, as: Int64.self)
    case .int32: return bit(index) ? nil : Int64(load(position, as: Int32.self))
    case .int16: return bit(index) ? nil : Int64(load(position, as: Int16.self))
    default: throw wrongField()
    }
  }

  /// The value of a 32-bit integer field, or `nil` for null.
  @inlinable @inline(__always)
  public func int32(at index: Int) throws(StoreError) -> Int32? {
    let slot = try slot(index)
    guard slot.pointee.tag == .int32 else { throw wrongField() }
    return bit(index) ? nil : load(slot.pointee.position, as: Int32.self)
  }

  /// The value of a 16-bit integer field, or `nil` for null.
  @inlinable @inline(__always)
  public func int16(at index: Int) throws(StoreError) -> Int16? {
    let slot = try slot(index)
    guard slot.pointee.tag == .int16 else { throw wrongField() }
    return bit(index) ? nil : load(slot.pointee.position, as: Int16.self)
  }

  /// The value of a double or float field, or `nil` for null.
  @inlinable @inline(__always)
  public func double(at index: Int) throws(StoreError) -> Double? {
    let slot = try slot(index)
    let position = slot.pointee.position
    switch slot.pointee.tag {
    case .double: return bit(index) ? nil : Double(bitPattern: load(position, as: UInt64.self))
    case .float: return bit(index) ? nil : Double(Float(bitPattern: load(position, as: UInt32.self)))
    default: throw wrongField()
    }
  }

  /// The value of a float field, or `nil` for null.
  @inlinable @inline(__always)
  public func float(at index: Int) throws(StoreError) -> Float? {
    let slot = try slot(index)
    guard slot.pointee.tag == .float else { throw wrongField() }
    return bit(index) ? nil : Float(bitPattern: load(slot.pointee.position, as: UInt32.self))
  }

  /// The value of a date field in seconds since 2001-01-01 00:00:00 UTC, or `nil` for null.
  @inlinable @inline(__always)
  public func date(at index: Int) throws(StoreError) -> Double? {
    let slot = try slot(index)
    guard slot.pointee.tag == .date else { throw wrongField() }
    return bit(index) ? nil : Double(bitPattern: load(slot.pointee.position, as: UInt64.self))
  }

  /// The value of a UUID field, or `nil` for null.
  @inlinable @inline(__always)
  public func uuid(at index: Int) throws(StoreError) -> UUIDBytes? {
    let slot = try slot(index)
    guard slot.pointee.tag == .uuid else { throw wrongField() }
    if bit(index) { return nil }
    let position = slot.pointee.position
    return UUIDBytes(
      high: UInt64(bigEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self)),
      low: UInt64(bigEndian: base.loadUnaligned(fromByteOffset: position &+ 8, as: UInt64.self)))
  }

  /// The row id in a to-one reference field, or `nil` for null.
  @inlinable @inline(__always)
  public func reference(at index: Int) throws(StoreError) -> UInt64? {
    let slot = try slot(index)
    guard slot.pointee.tag == .reference else { throw wrongField() }
    return bit(index) ? nil : load(slot.pointee.position, as: UInt64.self)
  }
}
