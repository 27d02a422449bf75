import Synchronization

/// What a snapshot has found of its trees: it never changes, and finding it takes as long as half of a search.
///
/// A table of places by tree, made when trees are looked at a third time, so that a snapshot of one read costs nothing:
/// whose model it is may have been looked up before. A place that is taken stays; trees that share one with another are
/// found anew each time. Any thread may ask and note.
struct FoundTrees: ~Copyable {
  private static let placeCount = 16
  /// So many looks are free, and counted in ``word``.
  private static let freeLooks: UInt = 2

  /// How many looks there were, or where the table is.
  private let word = Atomic<UInt>(0)

  typealias Place = Atomic<UInt>

  @inline(__always)
  private static func table(_ word: UInt) -> UnsafeMutablePointer<Place>? {
    word > freeLooks ? UnsafeMutablePointer(bitPattern: word) : nil
  }

  @inline(__always)
  private static func place(_ tree: TreeID) -> Int { Int(truncatingIfNeeded: tree.rawValue) & (placeCount &- 1) }

  /// What is known of a tree. It is good as long as this is.
  @inline(__always)
  func find(_ tree: TreeID) -> UnsafePointer<TreeAccess>? {
    guard let table = Self.table(word.load(ordering: .acquiring)),
      let known = UnsafePointer<TreeAccess>(bitPattern: table[Self.place(tree)].load(ordering: .acquiring)),
      known.pointee.id == tree
    else { return nil }
    return known
  }

  /// Notes what was found of a tree.
  func note(_ access: TreeAccess) {
    var present = word.load(ordering: .acquiring)
    while present < Self.freeLooks {
      let outcome = word.compareExchange(expected: present, desired: present + 1, ordering: .acquiring)
      if outcome.exchanged { return }
      present = outcome.original
    }
    if present == Self.freeLooks {
      let made = UnsafeMutablePointer<Place>.allocate(capacity: Self.placeCount)
      for i in 0..<Self.placeCount { (made + i).initialize(to: Atomic(0)) }
      let outcome = word.compareExchange(
        expected: Self.freeLooks, desired: UInt(bitPattern: made), ordering: .acquiringAndReleasing)
      if !outcome.exchanged { Self.free(made) }
      present = outcome.exchanged ? UInt(bitPattern: made) : outcome.original
    }
    guard let table = Self.table(present) else { return }
    let place = Self.place(access.id)
    if table[place].load(ordering: .relaxed) != 0 { return }
    let known = UnsafeMutablePointer<TreeAccess>.allocate(capacity: 1)
    known.initialize(to: access)
    if !table[place].compareExchange(expected: 0, desired: UInt(bitPattern: known), ordering: .releasing).exchanged {
      known.deallocate()
    }
  }

  private static func free(_ table: UnsafeMutablePointer<Place>) {
    for i in 0..<placeCount {
      UnsafeMutablePointer<TreeAccess>(bitPattern: table[i].load(ordering: .acquiring))?.deallocate()
    }
    table.deinitialize(count: placeCount)
    table.deallocate()
  }

  deinit {
    if let table = Self.table(word.load(ordering: .acquiring)) { Self.free(table) }
  }
}
