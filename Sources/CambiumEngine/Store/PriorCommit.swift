import CambiumKernel

/// What the catalogue says of a retained commit that a migration can be undone to (`prior/<retained>`):
///
///     0          8                        9
///     +----------+------------------------+
///     | sequence | 1: until confirmed, 0  |   integers little-endian
///     +----------+------------------------+
struct PriorCommit: Sendable, Equatable {
  /// The commit: identifiers of retained commits are used again.
  var sequence: UInt64
  /// Whether it is kept until the migration is confirmed, and not only until what was put off is done.
  var isKeptUntilConfirmed: Bool

  /// Why the kernel retains it. Applications do not give reasons that begin like this.
  static let reason = reservedPrefix + "the state before a migration"
  /// What the engine's own reasons begin with.
  static let reservedPrefix = "Cambium: "

  init(sequence: UInt64, isKeptUntilConfirmed: Bool) {
    self.sequence = sequence
    self.isKeptUntilConfirmed = isKeptUntilConfirmed
  }

  init?(_ bytes: [UInt8]) {
    guard bytes.count == 9, let last = bytes.last, last <= 1 else { return nil }
    sequence = bytes[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    isKeptUntilConfirmed = last == 1
  }

  var encoded: [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: sequence >> UInt64(8 * $0)) } + [isKeptUntilConfirmed ? 1 : 0]
  }
}
