/// The numbers of one axis of a plane as 2^32 steps in their order, for ``PlaneCell``.
///
///     step                       numbers
///     0                          not-a-number
///     ... 2^30 - 1               below -256, down to minus infinity: by the first 20 bits of their significands
///     2^30 ... 3 × 2^30 - 1      -256 up to, not including, 256: equal steps of 2^-22
///     3 × 2^30 ...               256 and more, up to infinity: by the first 20 bits of their significands
///
/// The middle is linear, so that what is near in the plane is in few cells: degrees of latitude and longitude have
/// steps of 2.7 cm there, and both axes the same ones. By their bits alone, numbers near zero would have more than half
/// of all steps, and a place on the meridian of Greenwich few neighbours. Beyond the middle the steps grow with the
/// numbers, so that the whole range of doubles is in order: metres, pixels and seconds have steps of a millionth of
/// themselves.
public enum PlaneAxis {
  private static let steps = 0x1p22
  private static let linear: Double = 256
  private static let linearBits: UInt64 = 0x4070_0000_0000_0000
  private static let infinityBits: UInt64 = 0x7FF0_0000_0000_0000
  private static let firstLinear: Int64 = 1 << 30
  private static let firstLarge: Int64 = 3 << 30

  /// The step of a number. Never less for a greater number.
  public static func step(_ value: Double) -> UInt32 {
    if value.isNaN { return 0 }
    let step: Int64
    if value >= linear {
      step = firstLarge + Int64(truncatingIfNeeded: (value.bitPattern &- linearBits) >> 32)
    } else if value < -linear {
      step = firstLinear - 1 - Int64(truncatingIfNeeded: ((-value).bitPattern &- linearBits) >> 32)
    } else {
      // Exact: a power of two, and then less than 2^30. (`rounded(.down)` needs a mathematics library on some targets.)
      let scaled = value * steps
      let truncated = Int64(scaled)
      step = (Double(truncated) > scaled ? truncated - 1 : truncated) + (1 << 31)
    }
    return UInt32(truncatingIfNeeded: step)
  }

  /// A number that is not greater than any of a step; for 2^32, infinity. Numbers of a step lie between its bound and
  /// that of the next one, either of which may be one of them.
  public static func bound(_ step: UInt64) -> Double {
    let step = Int64(clamping: min(step, 1 << 32))
    if step >= firstLarge {
      let bits = linearBits + UInt64(step - firstLarge) << 32
      return bits >= infinityBits ? .infinity : Double(bitPattern: bits)
    }
    if step < firstLinear {
      let bits = linearBits + UInt64(firstLinear - step) << 32
      return bits >= infinityBits ? -.infinity : -Double(bitPattern: bits)
    }
    return Double(step - 1 << 31) / steps
  }
}
