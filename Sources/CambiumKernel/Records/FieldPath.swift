/// A key path such as `colorScheme.primary`, compiled to the indices of the fields on its way, so that the value is
/// read in place without decoding the records around it.
///
/// Paths of up to four steps are read without touching memory of their own.
public struct FieldPath: Sendable {
  /// How many fields are on the way, the last one counted. At least 1.
  public let depth: Int
  /// The first four indices, 16 bits each, the first in the lowest bits.
  @usableFromInline let head: UInt64
  @usableFromInline let tail: [UInt16]

  /// Compiles a path.
  ///
  /// - Parameters:
  ///   - indices: the index of a field of `layout`, then of a field of its nested layout, and so on.
  ///   - layout: where the path begins.
  /// - Throws: `StoreError.misuse` if there is no such field, or one on the way is not a composite.
  public init(_ indices: [Int], in layout: RecordLayout) throws(StoreError) {
    guard !indices.isEmpty, indices.count <= RecordLayout.depthLimit else {
      throw .misuse("a field path has 1 to 64 steps")
    }
    var head: UInt64 = 0
    var tail: [UInt16] = []
    var current: RecordLayout? = layout
    for (step, index) in indices.enumerated() {
      guard let here = current, index >= 0, index < here.fields.count, let small = UInt16(exactly: index) else {
        throw .misuse("a field path leaves its layout")
      }
      if step < 4 { head |= UInt64(small) << UInt64(16 * step) } else { tail.append(small) }
      current = here.nestedLayout(at: index)
    }
    self.depth = indices.count
    self.head = head
    self.tail = tail
  }

  /// The field index at a step.
  @inlinable @inline(__always)
  public subscript(step: Int) -> Int {
    if UInt(bitPattern: step) < 4 { return Int(truncatingIfNeeded: (head &>> UInt64(16 &* step)) & 0xFFFF) }
    let rest = step &- 4
    return rest >= 0 && rest < tail.count ? Int(tail[rest]) : 0
  }

  /// The field index of the last step.
  @inlinable @inline(__always)
  public var leaf: Int { self[depth &- 1] }

  /// The record that holds the last field, or `nil` if a composite on the way is null.
  @inlinable @inline(__always)
  public func parent(in record: RecordView) throws(StoreError) -> RecordView? {
    var view = record
    var step = 0
    while step < depth &- 1 {
      guard let inner = try view.nested(at: self[step]) else { return nil }
      view = inner
      step &+= 1
    }
    return view
  }
}

extension RecordView {
  /// Whether the field at a path, or a composite on the way to it, is null.
  @inlinable @inline(__always)
  public func isNull(_ path: FieldPath) throws(StoreError) -> Bool {
    guard let view = try path.parent(in: self) else { return true }
    return try view.isNull(path.leaf)
  }

  /// The boolean at a path, or `nil` for null.
  @inlinable @inline(__always)
  public func boolean(at path: FieldPath) throws(StoreError) -> Bool? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.boolean(at: path.leaf)
  }

  /// The integer of any width at a path, or `nil` for null.
  @inlinable @inline(__always)
  public func int64(at path: FieldPath) throws(StoreError) -> Int64? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.int64(at: path.leaf)
  }

  /// The double or float at a path, or `nil` for null.
  @inlinable @inline(__always)
  public func double(at path: FieldPath) throws(StoreError) -> Double? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.double(at: path.leaf)
  }

  /// The date at a path, or `nil` for null.
  @inlinable @inline(__always)
  public func date(at path: FieldPath) throws(StoreError) -> Double? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.date(at: path.leaf)
  }

  /// The UUID at a path, or `nil` for null.
  @inlinable @inline(__always)
  public func uuid(at path: FieldPath) throws(StoreError) -> UUIDBytes? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.uuid(at: path.leaf)
  }

  /// The row id at a path, or `nil` for null.
  @inlinable @inline(__always)
  public func reference(at path: FieldPath) throws(StoreError) -> UInt64? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.reference(at: path.leaf)
  }

  /// The UTF-8 of the string at a path, in place, or `nil` for null.
  @inlinable @inline(__always)
  public func utf8(at path: FieldPath) throws(StoreError) -> UnsafeRawBufferPointer? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.utf8(at: path.leaf)
  }

  /// The bytes at a path, in place, or `nil` for null.
  @inlinable @inline(__always)
  public func bytes(at path: FieldPath) throws(StoreError) -> UnsafeRawBufferPointer? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.bytes(at: path.leaf)
  }

  /// The decimal at a path, or `nil` for null.
  public func decimal(at path: FieldPath) throws(StoreError) -> DecimalValue? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.decimal(at: path.leaf)
  }

  /// The string at a path, or `nil` for null.
  public func string(at path: FieldPath) throws(StoreError) -> String? {
    guard let view = try path.parent(in: self) else { return nil }
    return try view.string(at: path.leaf)
  }
}
