import Synchronization

/// The numbers of the transactions by which this coordinator saved into a store. They tell its own saves from those
/// of other coordinators and processes in the history of the store. Thread-safe.
final class OwnTransactions: Sendable {
  /// Ranges in ascending order. A process that saves alone makes one range.
  private let ranges = Mutex<[ClosedRange<UInt64>]>([])
  /// With more ranges, the oldest one is forgotten: its saves count as those of others, which does no harm.
  private static let mostRanges = 1_000

  /// Notes a transaction that was committed.
  func note(_ number: UInt64) {
    ranges.withLock { ranges in
      let place = ranges.firstIndex { $0.upperBound >= number } ?? ranges.count
      if place < ranges.count, ranges[place].contains(number) { return }
      ranges.insert(number...number, at: place)
      if place + 1 < ranges.count, ranges[place + 1].lowerBound == number + 1 {
        ranges[place] = number...ranges.remove(at: place + 1).upperBound
      }
      if place > 0, ranges[place - 1].upperBound + 1 == number {
        ranges[place - 1] = ranges[place - 1].lowerBound...ranges.remove(at: place).upperBound
      }
      if ranges.count > Self.mostRanges { ranges.removeFirst() }
    }
  }

  /// Returns whether a transaction was noted.
  func contains(_ number: UInt64) -> Bool {
    ranges.withLock { ranges in ranges.reversed().first { $0.lowerBound <= number }?.contains(number) ?? false }
  }
}
