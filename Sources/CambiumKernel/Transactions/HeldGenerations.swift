/// The generations that something needs: views, of whatever process, and retained commits.
///
/// A segment that is dead is needed by the generations from the one in which it was born to the last before its death.
/// It may be used again if none of them is held. Those that are held before or after do not matter.
struct HeldGenerations {
  /// In order, and without overlaps.
  private var ranges: [ClosedRange<UInt64>] = []

  /// - Parameter ranges: In any order; they may overlap.
  init(_ ranges: [ClosedRange<UInt64>]) {
    for range in ranges.ordered(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = self.ranges.last, range.lowerBound <= last.upperBound {
        self.ranges[self.ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        self.ranges.append(range)
      }
    }
  }

  /// Returns whether a generation is held from `born` on and before `dead`. O(log of the number of generations held).
  func holds(from born: UInt64, before dead: UInt64) -> Bool {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < born { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound < dead
  }
}
