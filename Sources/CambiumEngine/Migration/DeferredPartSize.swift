/// How many rows the next part of what migrations put off has (``EntityStore/runDeferredPart(maximumRows:durably:)``), and
/// whether it has to be durable: so many that a part is short, since nobody else writes meanwhile and nobody can stop it; and
/// so seldom that syncs are not most of the work.
public struct DeferredPartSize: Sendable {
  /// What a part is to take, without its sync. Those who save beside it wait for a part at most, a few of them for two.
  public static let aim = Duration.milliseconds(2)
  /// What parts take together until one is made durable.
  public static let span = Duration.milliseconds(50)
  private static let range = 64...65_536

  /// For the next part.
  public private(set) var rows = 256
  /// What the last part took.
  public private(set) var last = Duration.zero
  /// Whether the next part is to be durable.
  public private(set) var isDurable = false
  /// What parts took since one was.
  private var since = Duration.zero

  /// For the first part.
  public init() {}

  /// Takes note of what a part took; `isFull` says that it had so many rows.
  public mutating func note(_ duration: Duration, isFull: Bool) {
    last = duration
    if isDurable {
      // Its sync took who knows how much of it.
      isDurable = false
      since = .zero
      return
    }
    since = min(Self.span, since + min(Self.span, duration))
    isDurable = since >= Self.span
    if duration > Self.aim * 2 { rows /= 2 } else if isFull, duration < Self.aim / 2 { rows *= 2 }
    rows = min(max(rows, Self.range.lowerBound), Self.range.upperBound)
  }
}
