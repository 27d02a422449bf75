/// How many rows the next part of what migrations put off has (``EntityStore/runDeferredPart(maximumRows:)``): so many that a
/// part is short, since nobody else writes meanwhile and nobody can stop it, and enough for its sync not to be most of it.
public struct DeferredPartSize: Sendable {
  /// What a part is to take, its sync included. Those who save beside it wait for a part at most, a few of them for two.
  public static let aim = Duration.milliseconds(2)
  private static let range = 64...65_536

  /// For the next part.
  public private(set) var rows = 256
  /// What the last part took.
  public private(set) var last = Duration.zero

  /// For the first part.
  public init() {}

  /// Takes note of what a part took; `isFull` says that it had so many rows.
  public mutating func note(_ duration: Duration, isFull: Bool) {
    last = duration
    if duration > Self.aim * 2 { rows /= 2 } else if isFull, duration < Self.aim / 2 { rows *= 2 }
    rows = min(max(rows, Self.range.lowerBound), Self.range.upperBound)
  }
}
