// Sorting where speed hardly matters: a few names, trees or properties, once per schema, check or commit.
//
// Each use of `sorted(by:)` makes the compiler build a merge sort of its own, because the element type and the
// closure differ. That is about 3 KB of code, and the optimizer works longer on it than on most other functions. The
// functions here sort positions in a body that is not generic, which the compiler builds once. A comparison costs an
// indirect call.

extension Sequence {
  /// Returns the elements in the order that `precedes` gives. Equal elements keep their order.
  ///
  /// Complexity: O(*n* log *n*). Prefer `sorted(by:)` for many elements.
  @inlinable
  public func ordered(by precedes: (Element, Element) -> Bool) -> [Element] {
    let elements = Array(self)
    if elements.count < 2 { return elements }
    var order = PositionOrder(count: elements.count)
    order.sort { precedes(elements[$0], elements[$1]) }
    var result: [Element] = []
    result.reserveCapacity(elements.count)
    for position in order.positions { result.append(elements[position]) }
    return result
  }
}

extension Sequence where Element: Comparable {
  /// Returns the elements in ascending order.
  ///
  /// Complexity: O(*n* log *n*). Prefer `sorted()` for many elements.
  @inlinable
  public func ordered() -> [Element] { ordered { $0 < $1 } }
}

extension Array {
  /// Sorts the array in the order that `precedes` gives. Equal elements keep their order.
  @inlinable
  public mutating func order(by precedes: (Element, Element) -> Bool) { self = ordered(by: precedes) }
}

/// The positions of a list, to be brought into the order of its elements.
public struct PositionOrder {
  /// The positions: 0, 1, 2 … at first.
  public private(set) var positions: [Int]
  private var merged: [Int]

  /// The positions of `count` elements.
  @inline(never)
  public init(count: Int) {
    positions = Array(0..<count)
    merged = positions
  }

  /// Sorts the positions by merging neighbouring runs of 1, 2, 4 … positions.
  ///
  /// - Parameter precedes: Whether the element at the first position belongs before the element at the second one.
  @inline(never)
  public mutating func sort(by precedes: (Int, Int) -> Bool) {
    var width = 1
    while width < positions.count {
      var start = 0
      while start < positions.count {
        let middle = Swift.min(start + width, positions.count)
        merge(start, middle, Swift.min(middle + width, positions.count), precedes)
        start += 2 * width
      }
      swap(&positions, &merged)
      width *= 2
    }
  }

  /// Merges two sorted runs. The first one wins a tie, so that equal elements keep their order.
  @inline(never)
  private mutating func merge(_ start: Int, _ middle: Int, _ end: Int, _ precedes: (Int, Int) -> Bool) {
    var (left, right) = (start, middle)
    for place in start..<end {
      if right == end || (left < middle && !precedes(positions[right], positions[left])) {
        merged[place] = positions[left]
        left += 1
      } else {
        merged[place] = positions[right]
        right += 1
      }
    }
  }
}
