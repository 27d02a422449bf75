import Synchronization

/// Memory for one page of the cache, behind what the cache notes of it. The page's own header, the first thing that is
/// looked at in it, lies in the same line of the processor's cache.
///
///      0      8          16     20        24      32
///     +------+----------+------+---------+-------+-----------+
///     | name | checksum | used | holders | hints | page, ... |
///     +------+----------+------+---------+-------+-----------+
///
/// `name` is the page's location in units of 16 bytes, 0 for none. `used` is set by readers and cleared by the hand
/// that looks for room. `holders` counts the cursors that hold the frame. `hints` leads to one word for each child of
/// an inner page: the frame that the child was last found in, or 0. Frames are not given back before the cache is, and
/// their names tell whether they hold what is looked for: a hint may be out of date, but never leads astray. (Frames
/// beyond the capacity of the cache are given back; no hint ever leads to one, since only what the table knows becomes
/// a hint.)
struct Frame {
  static let headerSize = 32
  let p: UnsafeMutableRawPointer

  @inline(__always)
  init(p: UnsafeMutableRawPointer) { self.p = p }

  /// The frame at an address that a table or a hint holds; nil for none.
  @inline(__always)
  init?(word: UInt) {
    guard let p = UnsafeMutableRawPointer(bitPattern: word) else { return nil }
    self.p = p
  }

  /// The frame that holds `page`.
  @inline(__always)
  init(of page: UnsafeRawPointer) { p = UnsafeMutableRawPointer(mutating: page) - Self.headerSize }

  @inline(__always) var word: UInt { UInt(bitPattern: p) }
  @inline(__always) var page: UnsafeRawPointer { UnsafeRawPointer(p) + Self.headerSize }
  @inline(__always) var content: UnsafeMutableRawPointer { p + Self.headerSize }

  @inline(__always) var name: UnsafeMutablePointer<Atomic<UInt>> { p.assumingMemoryBound(to: Atomic<UInt>.self) }
  @inline(__always) var checksum: UInt64 { UnsafeRawPointer(p).load(fromByteOffset: 8, as: UInt64.self) }
  @inline(__always) private var used: UnsafeMutablePointer<Atomic<UInt32>> {
    (p + 16).assumingMemoryBound(to: Atomic<UInt32>.self)
  }
  @inline(__always) private var holders: UnsafeMutablePointer<Atomic<UInt32>> {
    (p + 20).assumingMemoryBound(to: Atomic<UInt32>.self)
  }
  @inline(__always) private var hints: UnsafeMutablePointer<Atomic<UInt>> {
    (p + 24).assumingMemoryBound(to: Atomic<UInt>.self)
  }

  /// Makes a frame that holds nothing of memory of any content.
  static func initialize(_ p: UnsafeMutableRawPointer) -> Frame {
    let frame = Frame(p: p)
    p.zero(headerSize)
    frame.name.initialize(to: Atomic(0))
    frame.used.initialize(to: Atomic(0))
    frame.holders.initialize(to: Atomic(0))
    frame.hints.initialize(to: Atomic(0))
    return frame
  }

  /// Whether the frame holds the page that `ref` names. Whoever is inside an epoch may then read it until he leaves.
  ///
  /// In one order with the taking of an epoch's slot before it, and with what ``clearName()`` and the look at the slots
  /// do: an acquiring load might be done before the slot is seen to be taken.
  @inline(__always)
  func holds(_ ref: PageRef) -> Bool {
    name.pointee.load(ordering: .sequentiallyConsistent) == Self.word(ref) && checksum == ref.checksum
  }

  /// The address in 16-byte units: fits a word wherever files fit the platform.
  @inline(__always)
  static func word(_ ref: PageRef) -> UInt { UInt(truncatingIfNeeded: ref.location &>> 12) }

  /// Names what the frame holds now. For who has the lock.
  func setName(_ ref: PageRef, isUsed: Bool) {
    p.storeBytes(of: ref.checksum, toByteOffset: 8, as: UInt64.self)
    used.pointee.store(isUsed ? 1 : 0, ordering: .relaxed)
    name.pointee.store(Self.word(ref), ordering: .releasing)
  }

  /// Has the frame hold nothing. For who has the lock; readers that are inside an epoch may still read what it held.
  func clearName() { name.pointee.store(0, ordering: .sequentiallyConsistent) }

  /// Has the name brought from memory, and what lies beside it: not the page, which others may be writing.
  @inline(__always)
  func touch() { MemoryTouch.touch(name) }

  // MARK: Use

  @inline(__always)
  func markUsed() {
    if used.pointee.load(ordering: .relaxed) == 0 { used.pointee.store(1, ordering: .relaxed) }
  }

  /// Whether the frame was used since this was last asked.
  func takeUsed() -> Bool {
    guard used.pointee.load(ordering: .relaxed) != 0 else { return false }
    used.pointee.store(0, ordering: .relaxed)
    return true
  }

  @inline(__always)
  func hold() { holders.pointee.wrappingAdd(1, ordering: .relaxed) }
  @inline(__always)
  func letGo() { holders.pointee.wrappingSubtract(1, ordering: .releasing) }
  @inline(__always) var isHeld: Bool { holders.pointee.load(ordering: .acquiring) != 0 }

  // MARK: Hints

  /// Where child `i` of the inner page in this frame was last found.
  @inline(__always)
  func hint(_ i: Int) -> Frame? {
    guard let all = UnsafeMutableRawPointer(bitPattern: hints.pointee.load(ordering: .acquiring)) else { return nil }
    return Frame(word: Self.slot(all, i).pointee.load(ordering: .acquiring))
  }

  /// Notes where child `i` was found. The caller is inside an epoch in which he found this page, or holds it.
  @inline(never)
  func setHint(_ i: Int, _ child: Frame) {
    let count = page.pageCount
    guard i < count else { return }
    var word = hints.pointee.load(ordering: .acquiring)
    if word == 0 {
      let made = UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<UInt>.size, alignment: 8)
      for j in 0..<count { Self.slot(made, j).initialize(to: Atomic(0)) }
      let outcome = hints.pointee.compareExchange(
        expected: 0, desired: UInt(bitPattern: made), ordering: .acquiringAndReleasing)
      if outcome.exchanged {
        word = UInt(bitPattern: made)
      } else {
        made.deallocate()
        word = outcome.original
      }
    }
    guard let all = UnsafeMutableRawPointer(bitPattern: word) else { return }
    Self.slot(all, i).pointee.store(child.word, ordering: .releasing)
  }

  /// Gives the memory of the hints back. For who has the lock, when nobody reads the frame.
  func dropHints() {
    UnsafeMutableRawPointer(bitPattern: hints.pointee.load(ordering: .acquiring))?.deallocate()
    hints.pointee.store(0, ordering: .relaxed)
  }

  @inline(__always)
  private static func slot(_ all: UnsafeMutableRawPointer, _ i: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    (all + i &* MemoryLayout<UInt>.size).assumingMemoryBound(to: Atomic<UInt>.self)
  }
}
