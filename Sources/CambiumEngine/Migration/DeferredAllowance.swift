/// What is left of a budget for the work that migrations put off, and how long its parts are.
///
///     var allowance = DeferredAllowance(duration: .seconds(20))
///     while let task = try store.deferredTasks().first, let limit = allowance.limit(of: task, after: clock.now - start) {
///       var turn = clock.now
///       let part = try store.runDeferredPart(within: limit, durably: allowance.isDurable) { turn = clock.now }
///       allowance.note(clock.now - turn, part, of: task)
///     }
public struct DeferredAllowance: Sendable {
  private let duration: Duration?
  private var pagesLeft: Double?
  private var size = DeferredPartSize()
  /// The rows that were gone through so far.
  public private(set) var total: UInt64 = 0

  /// No more than `duration`, and roughly no more than `pages` of rows; nil for any.
  public init(duration: Duration? = nil, pages: Int? = nil) {
    self.duration = duration
    pagesLeft = pages.map { Double(max(0, $0)) }
  }

  /// Whether the next part is to be durable.
  public var isDurable: Bool { size.isDurable }

  /// How many rows the next part may have; nil if the budget is used up.
  ///
  /// - Parameter passed: The time since the work began.
  public func limit(of task: DeferredTask, after passed: Duration) -> DeferredPartLimit? {
    // Compared as times that have passed: the end of a long budget need not be a time that there is.
    if let duration, passed >= duration || total > 0 && passed + size.last > duration { return nil }
    let whole = DeferredPartLimit(rows: size.rows, rowsBesideOthers: size.rowsBesideOthers)
    guard let pagesLeft else { return whole }
    guard pagesLeft > 0 else { return nil }
    let most = max(1, pagesLeft / Self.pagesARow(task))
    return DeferredPartLimit(
      rows: Int(min(Double(whole.rows), most)), rowsBesideOthers: Int(min(Double(whole.rowsBesideOthers), most)))
  }

  /// Takes note of a part and what it took.
  public mutating func note(_ time: Duration, _ part: DeferredPart, of task: DeferredTask) {
    size.note(time, part)
    total += UInt64(part.rows)
    if let left = pagesLeft { pagesLeft = left - Double(max(1, part.rows)) * Self.pagesARow(task) }
  }

  private static func pagesARow(_ task: DeferredTask) -> Double {
    Double(max(1, task.pages)) / Double(max(1, task.rows))
  }
}
