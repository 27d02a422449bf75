/// How much of the work that migrations put off is to be done at once: for background tasks, whose time is short and may end at
/// any moment.
public struct DeferredMigrationBudget: Sendable, Equatable {
  /// The time from the call on; nil for any. A part of the work is not begun if, by the time that the last one took, it would
  /// end later.
  public var duration: Duration?
  /// The pages of rows to go through, roughly; nil for any. As many are written again, later, by checkpoints.
  public var pages: Int?

  /// No more than `duration`, and no more than `pages`.
  public init(duration: Duration? = nil, pages: Int? = nil) {
    self.duration = duration
    self.pages = pages
  }
}

/// How far the work that migrations put off has come.
public struct DeferredMigrationProgress: Sendable, Equatable {
  /// The task that is being done, as of now.
  public var task: DeferredMigrationTask
  /// The rows that this call has gone through, of all tasks.
  public var rows: UInt64
  /// The tasks that are left, this one counted.
  public var tasksLeft: Int
}

/// How many rows the next part of the work has: so many that a part is short, since nobody can stop it, and long enough for its
/// sync not to be most of it.
struct DeferredPartSize {
  /// What a part is to take.
  static let aim = Duration.milliseconds(20)
  private static let range = 64...65_536

  private(set) var rows = 1_000
  /// What the last part took.
  private(set) var last = Duration.zero

  /// Takes note of what a part took; `isFull` says that it had so many rows.
  mutating func note(_ duration: Duration, isFull: Bool) {
    last = duration
    if duration > Self.aim * 2 { rows /= 2 } else if isFull, duration < Self.aim / 2 { rows *= 2 }
    rows = min(max(rows, Self.range.lowerBound), Self.range.upperBound)
  }
}
