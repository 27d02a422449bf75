/// What a model holds besides its values: its context, and that its row leads back to it as long as it is there.
///
/// The row has no reference to the model that counts: the model holds the row. When the model ends, its row forgets it.
public struct ModelLink: ~Copyable {
  private var row: ModelRow?
  private var owner: UnsafeMutableRawPointer?
  /// The context, which the model keeps alive.
  public private(set) var context: ModelContext?

  /// Of a model that is being made.
  public init() {}

  deinit {
    // Another instance may have come in place of the model while it ended.
    if let row, row.owner == owner { row.owner = nil }
  }

  /// Has a row lead to its model.
  public mutating func own(_ row: ModelRow, _ model: AnyObject) {
    let pointer = Unmanaged.passUnretained(model).toOpaque()
    self.row = row
    owner = pointer
    row.owner = pointer
  }

  /// Makes the model one of a context.
  public mutating func attach(_ row: ModelRow, _ context: ModelContext?) { self.context = context }
}
