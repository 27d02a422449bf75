/// Numbers of rows, 64 a word: those of a store lie close together, so that many take little memory.
struct RowSet {
  private var words: [UInt64: UInt64] = [:]

  var isEmpty: Bool { words.isEmpty }

  /// Adds a row; answers whether it was not there.
  @discardableResult
  mutating func insert(_ row: UInt64) -> Bool {
    let bit = 1 << (row & 63) as UInt64
    let word = words[row >> 6, default: 0]
    words[row >> 6] = word | bit
    return word & bit == 0
  }

  func contains(_ row: UInt64) -> Bool { (words[row >> 6] ?? 0) & (1 << (row & 63)) != 0 }
}
