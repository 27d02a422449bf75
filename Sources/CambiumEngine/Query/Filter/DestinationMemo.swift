/// A cache of the answers to a condition of the object at the other end of a to-one relationship, so that each object
/// is asked once and not once for each row that leads to it. The owner must call `deallocate()`.
///
/// An answer belongs to the whole packed reference, because rows of other entities have the same numbers. Two
/// references may share a slot; the later one takes it.
struct DestinationMemo {
  struct Slot {
    var reference: UInt64 = 0
    var answer: AsciiText.Answer = .unknown
  }

  private var slots: UnsafeMutablePointer<Slot>
  private var count: Int
  private var learned = 0
  /// The answer where the relationship leads nowhere.
  let whenNull: Bool

  /// The number of slots at first, and at most: 1 MiB.
  private static let least = 256
  private static let most = 1 << 16

  init(whenNull: Bool) {
    self.whenNull = whenNull && !isPlanted(.noDestinationNeverHolds)
    count = Self.least
    slots = .allocate(capacity: count)
    slots.initialize(repeating: Slot(), count: count)
  }

  func deallocate() { slots.deallocate() }

  /// The answer for an object, if it is known.
  @inline(__always)
  func answer(_ reference: UInt64) -> AsciiText.Answer {
    let slot = slots + Int(truncatingIfNeeded: reference & UInt64(truncatingIfNeeded: count &- 1))
    return slot.pointee.reference == reference || isPlanted(.memoTakesNeighbour) ? slot.pointee.answer : .unknown
  }

  /// Notes an answer. If there have been more answers than slots, there will be four times as many slots.
  mutating func learn(_ reference: UInt64, _ holds: Bool) {
    learned += 1
    if learned > count, count < Self.most { grow() }
    slots[place(reference)] = Slot(reference: reference, answer: AsciiText.Answer(holds))
  }

  private func place(_ reference: UInt64) -> Int {
    Int(truncatingIfNeeded: reference & UInt64(truncatingIfNeeded: count &- 1))
  }

  private mutating func grow() {
    let (old, oldCount) = (slots, count)
    count *= 4
    slots = .allocate(capacity: count)
    slots.initialize(repeating: Slot(), count: count)
    for i in 0..<oldCount where old[i].answer != .unknown { slots[place(old[i].reference)] = old[i] }
    old.deallocate()
  }
}
