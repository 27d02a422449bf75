/// An unsigned integer of any width: 32-bit words, the least significant first, the last one not zero.
struct WideInteger {
  private var words: [UInt32] = []

  init(_ value: UInt128) {
    var rest = value
    while rest != 0 {
      words.append(UInt32(truncatingIfNeeded: rest))
      rest >>= 32
    }
  }

  /// The number of bits up to the highest that is set; 0 for zero.
  var bitWidth: Int { words.last.map { words.count * 32 - $0.leadingZeroBitCount } ?? 0 }

  /// Whether the number is zero.
  var isZero: Bool { words.isEmpty }

  mutating func multiply(by factor: UInt32, adding addend: UInt32 = 0) {
    var carry = UInt64(addend)
    for index in words.indices {
      let product = UInt64(words[index]) &* UInt64(factor) &+ carry
      words[index] = UInt32(truncatingIfNeeded: product)
      carry = product >> 32
    }
    if carry != 0 { words.append(UInt32(truncatingIfNeeded: carry)) }
  }

  mutating func multiply(byPowerOfFive power: Int) {
    var left = power
    while left >= 13 {
      multiply(by: 1_220_703_125)
      left -= 13
    }
    for _ in 0..<left { multiply(by: 5) }
  }

  mutating func shiftLeft(by bits: Int) {
    guard bits > 0, !words.isEmpty else { return }
    if bits % 32 > 0 { multiply(by: 1 << UInt32(bits % 32)) }
    if bits >= 32 { words.insert(contentsOf: [UInt32](repeating: 0, count: bits / 32), at: 0) }
  }

  /// Subtracts a number that is not greater.
  mutating func subtract(_ other: WideInteger) {
    var borrow: UInt64 = 0
    for index in words.indices {
      if index >= other.words.count, borrow == 0 { break }
      let taken = (index < other.words.count ? UInt64(other.words[index]) : 0) &+ borrow
      let difference = UInt64(words[index]) &- taken
      words[index] = UInt32(truncatingIfNeeded: difference)
      borrow = difference >> 63
    }
    while words.last == 0 { words.removeLast() }
  }

  /// Compares numbers: -1 if this one is smaller, 0 if they are equal, 1 if it is larger.
  func compare(to other: WideInteger) -> Int {
    if words.count != other.words.count { return words.count < other.words.count ? -1 : 1 }
    var index = words.count
    while index > 0 {
      index -= 1
      if words[index] != other.words[index] { return words[index] < other.words[index] ? -1 : 1 }
    }
    return 0
  }
}
