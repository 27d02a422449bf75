/// How many views hold each publication: hardly ever more than a few, so that an array is quicker than a dictionary.
struct PinCounts {
  private var entries: [(number: UInt64, count: Int)] = []

  /// The publications that are held.
  var keys: [UInt64] { entries.map { $0.number } }

  /// One view more holds a publication.
  @inline(__always)
  mutating func add(_ number: UInt64) {
    for i in entries.indices where entries[i].number == number {
      entries[i].count &+= 1
      return
    }
    entries.append((number, 1))
  }

  /// One view less holds a publication. Answers whether it was the last one.
  @inline(__always)
  mutating func remove(_ number: UInt64) -> Bool {
    for i in entries.indices where entries[i].number == number {
      entries[i].count &-= 1
      if entries[i].count > 0 { return false }
      // The order means nothing.
      entries.swapAt(i, entries.count &- 1)
      entries.removeLast()
      return true
    }
    return false
  }

  subscript(number: UInt64) -> Int? {
    get {
      for e in entries where e.number == number { return e.count }
      return nil
    }
    set {
      for i in entries.indices where entries[i].number == number {
        if let newValue { entries[i].count = newValue } else { entries.remove(at: i) }
        return
      }
      if let newValue { entries.append((number, newValue)) }
    }
  }

  subscript(number: UInt64, default count: Int) -> Int {
    get { self[number] ?? count }
    set { self[number] = newValue }
  }
}
