/// One published state of all trees: the roots on disk, and the deltas over them. Immutable, but for the active delta,
/// which grows at its end beyond what any view of it may see.
final class Generation: @unchecked Sendable {
  /// The publication that the roots come from.
  let number: UInt64
  let trees: [TreeID: TreeState]
  /// Where commits go.
  let active: DeltaTable
  /// What a running checkpoint is taking in.
  let frozen: DeltaTable?

  init(number: UInt64, trees: [TreeID: TreeState], active: DeltaTable, frozen: DeltaTable?) {
    self.number = number
    self.trees = trees
    self.active = active
    self.frozen = frozen
  }
}
