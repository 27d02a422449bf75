/// A change as a merge takes it, from a list, from a batch or from a run: borrowed from where it lies.
struct MergeChange {
  let key: TreeKey
  /// Empty for a deletion.
  let value: UnsafeRawBufferPointer
  let op: DeltaOp

  @inline(__always)
  init(key: TreeKey, value: UnsafeRawBufferPointer, op: DeltaOp) {
    self.key = key
    self.value = value
    self.op = op
  }

  @inline(__always)
  init(_ node: DeltaNode) {
    key = node.key
    value = node.value
    op = node.op
  }

  /// - Parameter bytes: where the keys of its batch lie.
  @inline(__always)
  init(_ change: ChangeBatch.Change, in bytes: UnsafeRawPointer) {
    key = change.key(in: bytes)
    value = UnsafeRawBufferPointer(start: nil, count: 0)
    op = change.isPut ? .put : .delete
  }
}
