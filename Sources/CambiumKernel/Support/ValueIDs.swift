/// Gives out the identifiers of large values. They only grow: one that a rolled-back transaction took is passed over.
///
/// Belongs to who has the turn to write.
final class ValueIDs {
  /// The next identifier.
  private(set) var next: UInt64

  init(next: UInt64) { self.next = next }

  func take() -> UInt64 {
    // The directory and the log name none from which this could run over.
    next &+= 1
    return next &- 1
  }

  /// Takes note of an identifier that is in use.
  func skip(to id: UInt64) { if id > next { next = id } }
}
