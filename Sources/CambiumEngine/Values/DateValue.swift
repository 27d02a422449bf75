/// A moment, in seconds since 2001-01-01 00:00:00 UTC, which is Foundation's reference date.
///
/// Foundation's `Date` of it is `Date(timeIntervalSinceReferenceDate: value.seconds)`.
public struct DateValue: Hashable, Sendable {
  /// Seconds since 2001-01-01 00:00:00 UTC; negative before that.
  public var seconds: Double

  /// A moment.
  @inlinable public init(seconds: Double) { self.seconds = seconds }
}

extension DateValue: Comparable {
  /// Whether a moment is earlier than another one.
  @inlinable public static func < (a: DateValue, b: DateValue) -> Bool { a.seconds < b.seconds }
}
