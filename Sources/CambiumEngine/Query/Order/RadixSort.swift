/// Sorts indices by the words of a key, without comparing two of them.
enum RadixSort {
  /// Puts indices in the order of `words[index]`. Indices with equal words stay in the order in which they are, so
  /// that an order by several keys is made by sorting by the last one first. O(n) for each 8 or 11 bits in which the
  /// words differ.
  static func sort(_ indices: inout [UInt32], by words: [UInt64], ascending: Bool = true) {
    if indices.count <= 24 { return insert(&indices, words, ascending) }
    guard var least = indices.first.map({ words[Int($0)] }) else { return }
    var greatest = least
    for index in indices {
      let word = words[Int(index)]
      least = min(least, word)
      greatest = max(greatest, word)
    }
    var width = 64 - (greatest - least).leadingZeroBitCount
    // Few indices should not pay for many counters.
    let digit = indices.count < 4096 ? 8 : 11
    var pass = Pass(shift: 0, bits: 0, base: ascending ? least : greatest, isAscending: ascending)
    var target: [UInt32] = Array(repeating: 0, count: indices.count)
    while width > 0 {
      pass.bits = UInt64(min(width, digit))
      pass.move(indices, to: &target, words)
      swap(&indices, &target)
      pass.shift += pass.bits
      width -= digit
    }
  }

  /// Sorts few indices by insertion: moves each index in front of all indices with greater words.
  private static func insert(_ indices: inout [UInt32], _ words: [UInt64], _ isAscending: Bool) {
    for i in indices.indices.dropFirst() {
      let index = indices[i]
      let word = words[Int(index)]
      var place = i
      while place > 0 {
        let other = words[Int(indices[place - 1])]
        if isAscending ? other <= word : other >= word { break }
        indices[place] = indices[place - 1]
        place -= 1
      }
      indices[place] = index
    }
  }

  /// A pass over all indices, which puts them in the order of some bits of their words.
  private struct Pass {
    /// The first of the bits, and how many.
    var shift: UInt64
    var bits: UInt64
    /// The word that comes first.
    let base: UInt64
    let isAscending: Bool

    @inline(__always)
    func digit(_ word: UInt64) -> Int {
      let distance = isAscending ? word &- base : base &- word
      return Int(truncatingIfNeeded: (distance &>> shift) & ((1 &<< bits) &- 1))
    }

    func move(_ source: [UInt32], to target: inout [UInt32], _ words: [UInt64]) {
      var places: [Int] = Array(repeating: 0, count: 1 << Int(bits))
      for index in source { places[digit(words[Int(index)])] &+= 1 }
      var sum = 0
      for i in places.indices {
        let count = places[i]
        places[i] = sum
        sum &+= count
      }
      for index in isPlanted(.equalRowsReversed) ? source.reversed() : source {
        let digit = digit(words[Int(index)])
        target[places[digit]] = index
        places[digit] &+= 1
      }
    }
  }
}
