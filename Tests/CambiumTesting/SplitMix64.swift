/// A small random generator with a seed, so that every random test can be repeated.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Starts the sequence that belongs to `seed`.
  public init(seed: UInt64) {
    state = seed
  }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// A number from 0 up to, not including, `bound`, which must be positive.
  public mutating func below(_ bound: Int) -> Int {
    Int(next() % UInt64(bound))
  }

  /// True once in `count` times.
  public mutating func oneIn(_ count: Int) -> Bool {
    below(count) == 0
  }

  /// One of the elements, which must not be empty.
  public mutating func pick<T>(_ elements: [T]) -> T {
    elements[below(elements.count)]
  }

  /// Random bytes, of eight random bits each.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    // The library writes the count of what was initialised into the array of no elements that all threads share, which
    // Thread Sanitizer takes for a race.
    if count == 0 { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
      while initialized < count {
        bytes.initializeElement(at: initialized, to: UInt8(truncatingIfNeeded: next()))
        initialized += 1
      }
    }
  }
}
