/// How much of the work that migrations put off is to be done at once: for background tasks, whose time is short and
/// may end at any moment.
public struct DeferredMigrationBudget: Sendable, Equatable {
  /// The time from the call on; nil for any. A part of the work is not begun if, by the time that the last one took, it
  /// would end later.
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
