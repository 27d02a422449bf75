/// The generator behind everything that the simulated disks leave to chance (SplitMix64): the same seed, the same
/// disks, on every platform.
struct DiskChance {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// A number from 0 up to, not including, `bound`; 0 for a bound below 1.
  mutating func below(_ bound: Int) -> Int {
    bound < 1 ? 0 : Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// True once in `n` times.
  mutating func onceIn(_ n: Int) -> Bool { below(n) == 0 }
}
