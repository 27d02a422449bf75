extension EntryRun {
  /// Entries that make a page, and what is known of it.
  struct Filling {
    var count = 0
    var layout = PageLayout()
    /// How many entries of the tree lie below them.
    var below: UInt64 = 0
  }

  /// The entries from `first` on that fit a page, but no more than `most`.
  func filling(_ pageSize: Int, from first: Int = 0, atMost most: Int = .max) -> Filling {
    var sizer = PageSizer(kind: kind, isLeaf: isLeaf)
    var filling = Filling()
    let end = first &+ min(most, count &- first)
    var i = first
    while i < end {
      // The exact size is worked out only where the page may be full.
      if sizer.atMost &+ size(i) &+ PageSizer.mostAnEntry > pageSize {
        let before = sizer
        sizer.add(self, i, first: first)
        if i > first, roundUp(sizer.layout.size, to: 16) > pageSize {
          sizer = before
          break
        }
      } else {
        sizer.add(self, i, first: first)
      }
      filling.below &+= below(i)
      i &+= 1
    }
    filling.count = i &- first
    if i > first { filling.layout = sizer.layout }
    return filling
  }

  /// The entries of the next page, where no more come: full pages, and the last two of about the same size, unless the
  /// tree ends here, when rows keep being added behind and a full page is what is wanted.
  func lastFilling(_ pageSize: Int, atEnd: Bool) -> Filling {
    let full = filling(pageSize)
    guard full.count < count, !atEnd, filling(pageSize, from: full.count).count + full.count == count else {
      return full
    }
    return filling(pageSize, atMost: half(full.count))
  }

  /// The number of entries that make up about half the bytes, at most `full`.
  private func half(_ full: Int) -> Int {
    var sum = 0
    let middle = payload / 2
    for i in 0..<full {
      sum += size(i)
      if sum >= middle { return max(1, i + 1) }
    }
    return full
  }
}
