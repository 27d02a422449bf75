/// A cache of the values behind a path through a to-one relationship, by the packed reference of the object there.
/// Two references may share a slot; the later one takes it.
struct KnownValues {
  private var references: [UInt64] = []
  private var values: [Value] = []
  private var learned = 0

  /// The number of slots at first, and at most; and the bytes of the longest text that is kept.
  private static let least = 64
  private static let most = 1 << 16
  private static let longestText = 256

  private func place(_ reference: UInt64) -> Int {
    Int(truncatingIfNeeded: reference & UInt64(truncatingIfNeeded: references.count &- 1))
  }

  /// The value for an object, if it is known.
  subscript(reference: UInt64) -> Value? {
    // An empty slot is that of reference 0, which is looked up each time.
    guard !references.isEmpty, reference != 0 else { return nil }
    let place = place(reference)
    guard references[place] == reference else { return nil }
    return values[place]
  }

  /// Notes a value, unless it may take much memory. If there have been more values than slots, there will be four
  /// times as many slots.
  mutating func learn(_ reference: UInt64, _ value: Value) {
    switch value {
    case .string(let text), .uri(let text): if text.utf8.count > Self.longestText { return }
    case .binary, .composite, .list: return
    default: break
    }
    learned += 1
    if references.isEmpty {
      references = Array(repeating: 0, count: Self.least)
      values = Array(repeating: .null, count: Self.least)
    } else if learned > references.count, references.count < Self.most {
      let (old, oldValues) = (references, values)
      references = Array(repeating: 0, count: old.count * 4)
      values = Array(repeating: .null, count: old.count * 4)
      for i in old.indices where old[i] != 0 {
        references[place(old[i])] = old[i]
        values[place(old[i])] = oldValues[i]
      }
    }
    let place = place(reference)
    references[place] = reference
    values[place] = value
  }
}
