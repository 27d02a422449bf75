/// SHA-256 (FIPS 180-4), for version hashes.
enum SHA256 {
  /// The digest of `message`. O(n).
  static func digest(of message: [UInt8]) -> VersionHash {
    var state = initialState
    var schedule = [UInt32](repeating: 0, count: 64)
    var position = 0
    while message.count - position >= 64 {
      compress(message, position, &state, &schedule)
      position += 64
    }
    // The rest, a bit that ends the message, zeros, and the message's length in bits in the last eight bytes.
    var last = Array(message[position...])
    last.append(0x80)
    while last.count % 64 != 56 { last.append(0) }
    let bitCount = UInt64(message.count) &* 8
    for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
      last.append(UInt8(truncatingIfNeeded: bitCount >> shift))
    }
    for start in stride(from: 0, to: last.count, by: 64) { compress(last, start, &state, &schedule) }
    return VersionHash(
      (
        word(state.0, state.1), word(state.2, state.3), word(state.4, state.5), word(state.6, state.7)
      ))
  }

  private typealias State = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)

  private static func word(_ high: UInt32, _ low: UInt32) -> UInt64 { UInt64(high) << 32 | UInt64(low) }

  private static func rotate(_ x: UInt32, _ count: UInt32) -> UInt32 { x >> count | x << (32 &- count) }

  /// Takes in the 64 bytes from `start`.
  private static func compress(_ bytes: [UInt8], _ start: Int, _ state: inout State, _ w: inout [UInt32]) {
    for index in 0..<16 {
      let at = start &+ index &* 4
      w[index] =
        UInt32(bytes[at]) << 24 | UInt32(bytes[at &+ 1]) << 16 | UInt32(bytes[at &+ 2]) << 8 | UInt32(bytes[at &+ 3])
    }
    for index in 16..<64 {
      let (x, y) = (w[index &- 15], w[index &- 2])
      let s0 = rotate(x, 7) ^ rotate(x, 18) ^ x >> 3
      let s1 = rotate(y, 17) ^ rotate(y, 19) ^ y >> 10
      w[index] = w[index &- 16] &+ s0 &+ w[index &- 7] &+ s1
    }
    var (a, b, c, d, e, f, g, h) = state
    for index in 0..<64 {
      let s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      let choice = (e & f) ^ (~e & g)
      let t1 = h &+ s1 &+ choice &+ roundConstants[index] &+ w[index]
      let s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      let t2 = s0 &+ majority
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
    }
    state.0 &+= a
    state.1 &+= b
    state.2 &+= c
    state.3 &+= d
    state.4 &+= e
    state.5 &+= f
    state.6 &+= g
    state.7 &+= h
  }

  /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  private static let initialState: State = (
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19
  )

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let roundConstants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
