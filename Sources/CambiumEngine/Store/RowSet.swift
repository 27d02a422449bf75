import CambiumKernel

/// Numbers of rows, as bits: those of a store lie close together, so that many take little memory.
struct RowSet {
  private static let wordsPerPage = 64
  private static let rowBits: UInt64 = 12

  /// The bits of 4,096 rows each, page after page.
  private var words: [UInt64] = []
  /// Where each page begins in ``words``, by the upper bits of its rows.
  private var pages: [UInt64: Int] = [:]
  /// The page that was used last: rows that follow one another are mostly in one.
  private var lastPage = UInt64.max
  private var lastStart = 0

  /// How many rows there are.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Adds a row; answers whether it was not there.
  @inline(__always)
  @discardableResult
  mutating func insert(_ row: UInt64) -> Bool {
    let page = row &>> Self.rowBits
    if page != lastPage { turn(to: page) }
    let word = lastStart &+ Int(truncatingIfNeeded: (row &>> 6) & 63)
    let bit = 1 &<< (row & 63) as UInt64
    if words[word] & bit != 0 { return false }
    words[word] |= bit
    count &+= 1
    return true
  }

  @inline(never)
  private mutating func turn(to page: UInt64) {
    if let known = pages[page] {
      lastStart = known
    } else {
      lastStart = words.count
      pages[page] = lastStart
      words.append(contentsOf: repeatElement(0, count: Self.wordsPerPage))
    }
    lastPage = page
  }

  /// Takes a row out, if it is there.
  mutating func remove(_ row: UInt64) {
    guard let (word, bit) = place(row), words[word] & bit != 0 else { return }
    words[word] &= ~bit
    count -= 1
  }

  func contains(_ row: UInt64) -> Bool { place(row).map { words[$0.word] & $0.bit != 0 } ?? false }

  private func place(_ row: UInt64) -> (word: Int, bit: UInt64)? {
    guard let start = pages[row &>> Self.rowBits] else { return nil }
    return (start + Int(truncatingIfNeeded: (row &>> 6) & 63), 1 &<< (row & 63))
  }

  /// The rows, ascending.
  var ascending: [UInt64] {
    var result: [UInt64] = []
    result.reserveCapacity(count)
    for (page, start) in pages.ordered(by: { $0.key < $1.key }) {
      for n in 0..<Self.wordsPerPage {
        var rest = words[start + n]
        while rest != 0 {
          result.append(page &<< Self.rowBits | UInt64(n) &<< 6 | UInt64(rest.trailingZeroBitCount))
          rest &= rest &- 1
        }
      }
    }
    return result
  }
}
