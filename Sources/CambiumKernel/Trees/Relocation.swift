/// Pages of one tree that a pass shall write anew although nothing in them changed, so that their segments become free.
struct Relocation {
  struct Mark {
    var level: UInt8
    var key: OwnedKey
  }

  /// What is to be emptied.
  let areas: AreaSet
  /// Sorted by key: a key of each page to be moved, and its level.
  let marks: [Mark]

  /// Whether the pass has to read the page of `ref`: it is to be moved, or a page below it is.
  func touches(_ ref: PageRef, level: UInt8, low: TreeKey, high: TreeKey?) throws(StoreError) -> Bool {
    if areas.contains(ref.address) { return true }
    if level == 0 { return false }
    var i = 0
    var to = marks.count
    while i < to {
      let middle = (i + to) / 2
      let less = try marks[middle].key.with { (k) throws(StoreError) in TreeKey.compare(k, low) < 0 }
      if less { i = middle + 1 } else { to = middle }
    }
    while i < marks.count {
      if let high {
        let beyond = try marks[i].key.with { (k) throws(StoreError) in TreeKey.compare(k, high) >= 0 }
        if beyond { return false }
      }
      if marks[i].level < level { return true }
      i += 1
    }
    return false
  }
}

/// Parts of the file, asked by address.
struct AreaSet {
  /// First addresses and ends, sorted.
  private(set) var areas: [(start: UInt64, end: UInt64)]

  init(_ areas: [(start: UInt64, end: UInt64)] = []) {
    self.areas = areas.ordered { $0.start < $1.start }
  }

  var isEmpty: Bool { areas.isEmpty }

  func contains(_ address: UInt64) -> Bool {
    var low = 0
    var high = areas.count
    while low < high {
      let middle = (low + high) / 2
      if areas[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    return low > 0 && areas[low - 1].end > address
  }
}
