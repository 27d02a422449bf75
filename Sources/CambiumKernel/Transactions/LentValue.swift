/// A value where it lies, lent to the caller until it is given back: a read is announced meanwhile (see ``ReaderSlots``),
/// so that the page's memory is not used again. Of a large value only the reference, with nothing to give back.
@usableFromInline
struct LentValue {
  /// Nil if there is no value.
  @usableFromInline var start: UnsafeRawPointer?
  @usableFromInline var count = 0
  @usableFromInline var slot = 0
  @usableFromInline var isStub = false
  var id: UInt64 = 0
  var length: UInt64 = 0

  init() {}
}
