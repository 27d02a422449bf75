/// A value where it lies, lent to the caller until it is given back: a read is announced meanwhile (see `ReaderSlots`),
/// so that the page's memory is not used again. Of a large value only the reference, with nothing to give back.
///
/// For layers that lend on what they are lent; others use ``TreeView/withValue(_:_:_:)-(_,UInt64,_)``.
public struct LentValue {
  /// Nil if there is no value.
  @usableFromInline var start: UnsafeRawPointer?
  /// The number of bytes, and the slot of the read; of a large value, its identifier and its length.
  @usableFromInline var first: UInt64 = 0
  var second: UInt64 = 0
  @usableFromInline var isStub = false

  @inlinable var count: Int { Int(truncatingIfNeeded: first) }
  var slot: Int { Int(truncatingIfNeeded: Int64(bitPattern: second)) }

  init() {}

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, _ slot: Int) {
    start = bytes.start
    first = UInt64(truncatingIfNeeded: bytes.count)
    second = UInt64(bitPattern: Int64(slot))
  }

  /// A large value, of which the tree has the reference.
  init(stub bytes: UnsafeRawBufferPointer) {
    let stub = LargeValueStub(bytes)
    start = bytes.start
    first = stub?.id ?? .max
    second = stub?.length ?? .max
    isStub = true
  }

  /// Where the value lies; nil if there is none, or ``isLarge``.
  @inlinable
  public var bytes: UnsafeRawBufferPointer? {
    guard let start, !isStub else { return nil }
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  /// Whether the value lies elsewhere, in pieces: it has to be read with `withValue`, and there is nothing to give
  /// back.
  @inlinable public var isLarge: Bool { isStub }
}
