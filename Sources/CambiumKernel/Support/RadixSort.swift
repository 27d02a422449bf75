/// What is sorted by the head of its key, and what has the same by when it came.
protocol RadixSorted {
  var head: UInt64 { get }
  /// Ascends in the order in which they came.
  var ordinal: Int { get }
}

/// Sorting by the heads of keys, byte by byte from the lowest: stable, in time that grows with the number alone.
enum RadixSort {
  /// Below this, comparing is faster.
  private static let least = 256

  /// Sorts the first `count`; answers where they are then. Of the memory given and that which it allocates, both for
  /// `capacity` of them, it frees the other one.
  static func sort<T: RadixSorted>(
    _ changes: UnsafeMutablePointer<T>, _ count: Int, _ capacity: Int
  ) -> UnsafeMutablePointer<T> {
    if count < least {
      var all = UnsafeMutableBufferPointer(start: changes, count: count)
      all.sort { $0.head != $1.head ? $0.head < $1.head : $0.ordinal < $1.ordinal }
      return changes
    }
    var differing: UInt64 = 0
    let first = changes[0].head
    for i in 0..<count { differing |= changes[i].head ^ first }
    var from = changes
    var to = UnsafeMutablePointer<T>.allocate(capacity: capacity)
    for digit in 0..<8 where (differing &>> UInt64(8 &* digit)) & 0xFF != 0 {
      pass(from, to, count, UInt64(8 &* digit))
      swap(&from, &to)
    }
    to.deallocate()
    return from
  }

  private static func pass<T: RadixSorted>(
    _ from: UnsafeMutablePointer<T>, _ to: UnsafeMutablePointer<T>, _ count: Int, _ shift: UInt64
  ) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
      places.initialize(repeating: 0)
      for i in 0..<count { places[Int(truncatingIfNeeded: (from[i].head &>> shift) & 0xFF)] &+= 1 }
      var sum = 0
      for i in 0..<256 {
        let n = places[i]
        places[i] = sum
        sum &+= n
      }
      for i in 0..<count {
        let bucket = Int(truncatingIfNeeded: (from[i].head &>> shift) & 0xFF)
        (to + places[bucket]).initialize(to: from[i])
        places[bucket] &+= 1
      }
    }
  }
}

/// The same numbers, ascending. O(count).
public func sortedNumbers(_ numbers: [UInt64]) -> [UInt64] {
  struct Number: RadixSorted {
    let head: UInt64
    /// Equal ones are the same.
    var ordinal: Int { 0 }
  }
  if numbers.isEmpty { return [] }
  let memory = UnsafeMutablePointer<Number>.allocate(capacity: numbers.count)
  for place in numbers.indices { (memory + place).initialize(to: Number(head: numbers[place])) }
  let sorted = RadixSort.sort(memory, numbers.count, numbers.count)
  defer { sorted.deallocate() }
  var result: [UInt64] = []
  result.reserveCapacity(numbers.count)
  for place in numbers.indices { result.append(sorted[place].head) }
  return result
}
