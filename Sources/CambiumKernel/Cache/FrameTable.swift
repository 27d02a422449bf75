import Synchronization

/// Frames by the location of what they hold: a word with the number of places less one, then the places (Atomic words).
/// Read without a lock, written under the cache's.
struct FrameTable {
  let p: UnsafeMutableRawPointer

  @inline(__always)
  init(p: UnsafeMutableRawPointer) { self.p = p }

  @inline(__always) var mask: Int { UnsafeRawPointer(p).load(as: Int.self) }
  @inline(__always) private subscript(i: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    (p + 8 + i &* MemoryLayout<UInt>.size).assumingMemoryBound(to: Atomic<UInt>.self)
  }

  static func make(size: Int) -> FrameTable {
    let table = FrameTable(p: .allocate(byteCount: 8 + size * MemoryLayout<UInt>.size, alignment: 64))
    table.p.storeBytes(of: size - 1, as: Int.self)
    for i in 0..<size { table[i].initialize(to: Atomic(0)) }
    return table
  }

  @inline(__always)
  func home(_ word: UInt) -> Int {
    // Pages of one length lie at regular distances: one multiplication would send those of some distances to few
    // places.
    var h = UInt64(word) &* 0x9E37_79B9_7F4A_7C15
    h = (h ^ h &>> 32) &* 0xD6E8_FEB8_6659_FD93
    return Int(truncatingIfNeeded: h &>> 32) & mask
  }

  /// How far who has no lock looks. More than by chance ever are in a row, at half of the places used.
  static let fewProbes = 32

  /// The frame that holds the page of `ref`; nil also where it is being moved in the table, and where it is further off
  /// than `most` places, which with the lock may be all.
  @inline(__always)
  func find(_ ref: PageRef, atMost most: Int = fewProbes) -> Frame? {
    let mask = mask
    var i = home(Frame.word(ref))
    var probes = 0
    while probes < most {
      let entry = self[i].pointee.load(ordering: .acquiring)
      if entry == 0 { return nil }
      if let frame = Frame(word: entry), frame.holds(ref) { return frame }
      i = (i &+ 1) & mask
      probes &+= 1
    }
    return nil
  }

  /// Has the place where the look for a page begins brought from memory.
  @inline(__always)
  func touch(_ ref: PageRef) { MemoryTouch.touch(self[home(Frame.word(ref))]) }

  /// Has the frame that is there brought from memory.
  @inline(__always)
  func touchFrame(_ ref: PageRef) {
    guard let frame = Frame(word: self[home(Frame.word(ref))].pointee.load(ordering: .acquiring)) else { return }
    frame.touch()
  }

  /// A frame that holds a page `word`, of whatever content. For who has the lock.
  func frame(at word: UInt) -> Frame? {
    let mask = mask
    var i = home(word)
    var probes = 0
    while probes <= mask, let frame = Frame(word: self[i].pointee.load(ordering: .relaxed)) {
      if frame.name.pointee.load(ordering: .relaxed) == word { return frame }
      i = (i + 1) & mask
      probes += 1
    }
    return nil
  }

  /// Notes that `frame` holds the page `word`.
  func add(_ frame: Frame, _ word: UInt) {
    var i = home(word)
    var probes = 0
    while self[i].pointee.load(ordering: .relaxed) != 0 {
      i = (i + 1) & mask
      probes += 1
      if probes > mask { return }
    }
    self[i].pointee.store(frame.word, ordering: .releasing)
  }

  /// Forgets `frame`, which held the page `word`.
  func remove(_ frame: Frame, _ word: UInt) {
    let mask = mask
    var i = home(word)
    var probes = 0
    while self[i].pointee.load(ordering: .relaxed) != frame.word {
      if self[i].pointee.load(ordering: .relaxed) == 0 || probes > mask { return }
      i = (i + 1) & mask
      probes += 1
    }
    // Close the gap: move back every later entry of the run whose home does not lie behind the gap.
    var gap = i
    var j = (i + 1) & mask
    while let other = Frame(word: self[j].pointee.load(ordering: .relaxed)) {
      let h = home(other.name.pointee.load(ordering: .relaxed))
      if ((j - h) & mask) >= ((j - gap) & mask) {
        self[gap].pointee.store(other.word, ordering: .releasing)
        gap = j
      }
      j = (j + 1) & mask
    }
    self[gap].pointee.store(0, ordering: .releasing)
  }
}
