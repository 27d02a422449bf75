/// A value where it lies, lent to the caller until it is given back: a read is announced meanwhile (see ``ReaderSlots``),
/// so that the page's memory is not used again. Of a large value only the reference, with nothing to give back.
///
/// For layers that lend on what they are lent; others use ``TreeView/withValue(_:_:_:)-(_,UInt64,_)``.
public struct LentValue {
  /// Nil if there is no value.
  @usableFromInline var start: UnsafeRawPointer?
  @usableFromInline var count = 0
  @usableFromInline var slot = 0
  @usableFromInline var isStub = false
  var id: UInt64 = 0
  var length: UInt64 = 0

  init() {}

  /// Where the value lies; nil if there is none, or ``isLarge``.
  @inlinable
  public var bytes: UnsafeRawBufferPointer? {
    guard let start, !isStub else { return nil }
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  /// Whether the value lies elsewhere, in pieces: it has to be read with `withValue`, and there is nothing to give back.
  @inlinable public var isLarge: Bool { isStub }
}
