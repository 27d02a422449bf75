import Synchronization

/// Announces which reads are running, so that a page's memory is used again only when no read that might still look at
/// it runs (epoch-based reclamation).
///
/// A read takes a slot, writes the current epoch into it, and clears it when done: one compare-and-swap and one store,
/// no lock, no reference count. Memory retired in epoch e may be used again once every taken slot holds a later epoch.
/// When all slots are taken, further reads are counted in `overflow`, and nothing is reclaimed while any of them runs.
///
/// Not an object: threads that read the same leaves in turn would count references to it, all in the same line of
/// memory.
struct ReaderSlots: ~Copyable, @unchecked Sendable {
  // `@unchecked`: what is behind the pointer is atomic.
  private static let slotCount = 64
  private static let stride = 64 / MemoryLayout<UInt>.size
  private static let wordCount = (slotCount + 2) * stride

  /// A line of memory each: the slots, then the epoch, then the number of reads without a slot.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>

  @inline(__always) private var epoch: UnsafeMutablePointer<Atomic<UInt>> { slots + Self.slotCount &* Self.stride }
  @inline(__always) private var overflow: UnsafeMutablePointer<Atomic<UInt>> {
    slots + (Self.slotCount &+ 1) &* Self.stride
  }

  init() {
    slots = .allocate(capacity: Self.wordCount)
    for i in 0..<Self.wordCount { (slots + i).initialize(to: Atomic(0)) }
    epoch.pointee.store(1, ordering: .relaxed)
  }

  deinit {
    slots.deinitialize(count: Self.wordCount)
    slots.deallocate()
  }

  /// Begins a read; give what it answers to ``leave(_:)``. `hint` spreads readers over the slots, and so does the
  /// thread: several may have one view.
  @inline(__always)
  func enter(_ hint: Int) -> Int { enter(at: Self.place(hint)) }

  /// The slot that a read of this thread tries first. (Asked for before the cache is at hand, who reads need not count
  /// references to it.)
  @inline(__always)
  static func place(_ hint: Int) -> Int { (hint &+ threadHint()) & (slotCount - 1) }

  @inline(__always)
  func enter(at place: Int) -> Int {
    let now = epoch.pointee.load(ordering: .sequentiallyConsistent)
    if slots[place &* Self.stride].compareExchange(
      expected: 0, desired: now, ordering: .sequentiallyConsistent
    ).exchanged {
      return place
    }
    return enterElsewhere(place)
  }

  /// A number that tells threads apart, as a rule: where the stack is. Stacks lie 128 KiB to 8 MiB from each other.
  @inline(__always)
  private static func threadHint() -> Int {
    var here: UInt8 = 0
    return _withUnprotectedUnsafeMutablePointer(to: &here) {
      let address = UInt(bitPattern: $0)
      return Int(truncatingIfNeeded: (address >> 17) ^ (address >> 23))
    }
  }

  @inline(never)
  private func enterElsewhere(_ first: Int) -> Int {
    for i in 1..<Self.slotCount {
      let slot = (first + i) & (Self.slotCount - 1)
      let now = epoch.pointee.load(ordering: .sequentiallyConsistent)
      if slots[slot * Self.stride].compareExchange(
        expected: 0, desired: now, ordering: .sequentiallyConsistent
      ).exchanged {
        return slot
      }
    }
    overflow.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    return -1
  }

  @inline(__always)
  func leave(_ slot: Int) {
    if slot >= 0 {
      slots[slot &* Self.stride].store(0, ordering: .releasing)
    } else {
      overflow.pointee.wrappingSubtract(1, ordering: .releasing)
    }
  }

  /// Ends the current epoch and returns it: what was unlinked before the call may be reused when ``isQuiet(since:)``.
  func retire() -> UInt { epoch.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue }

  /// Whether every read that was running in epoch `retired` has ended.
  func isQuiet(since retired: UInt) -> Bool {
    if overflow.pointee.load(ordering: .sequentiallyConsistent) > 0 { return false }
    for i in 0..<Self.slotCount {
      let value = slots[i * Self.stride].load(ordering: .sequentiallyConsistent)
      if value != 0, value <= retired { return false }
    }
    return true
  }
}
