/// The rows of a run, made before anything is timed.
final class Dataset: Sendable {
  /// Rows of each table; ids are 1 to this.
  let rows: Int
  let aircraft: [Aircraft]
  let entries: [LogEntry]

  init(rows: Int) {
    self.rows = rows
    aircraft = (1...rows).map { Aircraft(id: $0) }
    entries = (1...rows).map { LogEntry(id: $0, rows: rows) }
  }

  /// `count` random ids, with repetitions.
  func randomIDs(_ count: Int, seed: UInt64) -> [Int] {
    var generator = SplitMix64(seed: seed)
    return (0..<count).map { _ in 1 + Int(generator.next() % UInt64(rows)) }
  }

  /// `count` different ids in random order. `part` 0, 1, 2 ... give sets that have nothing in common.
  func distinctIDs(_ count: Int, part: Int) -> [Int] {
    // Walks the whole circle of ids with a step that has no factor in common with its length.
    var step = rows / 2 | 1
    func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
    step = max(1, Int(Double(rows) * 0.618))
    while divisor(step, rows) != 1 { step += 1 }
    return (0..<count).map { 1 + ((part * count + $0) &* step) % rows }
  }
}
