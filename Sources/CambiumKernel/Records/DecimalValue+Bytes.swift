//   not a number   nothing
//   zero           00
//   a number       exponent (1 byte, signed), then coefficient * 2 + (1 if negative), little-endian, no zero byte last
//
// Up to 18 bytes, since the second part has up to 129 bits.

extension DecimalValue {
  /// Reads the form of a decimal in a record; `nil` if the bytes are not in the one canonical form.
  init?(compactBytes bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else {
      self = .notANumber
      return
    }
    guard bytes.count > 1 else {
      guard first == 0 else { return nil }
      self = .zero
      return
    }
    guard bytes.count <= 18, bytes[bytes.count - 1] != 0 else { return nil }
    var coefficient = UInt128(bytes[1] >> 1)
    for index in 2..<max(2, bytes.count) {
      let byte = UInt128(bytes[index])
      let shift = UInt128(8 * (index - 1) - 1)
      // The 18th byte holds the one bit that is left.
      guard index < 17 || byte <= 1 else { return nil }
      coefficient |= byte << shift
    }
    let exponent = Int8(bitPattern: first)
    self.init(isNegative: bytes[1] & 1 == 1, coefficient: coefficient, exponent: exponent)
    guard coefficient != 0, self.coefficient == coefficient else { return nil }
  }

  /// Appends the form of a decimal in a record.
  func appendCompactBytes(to output: inout GrowingBytes) {
    if isNaN { return }
    output.append(UInt8(bitPattern: exponent))
    if coefficient == 0 { return }
    output.append(UInt8(truncatingIfNeeded: coefficient << 1) | (isNegative ? 1 : 0))
    var rest = coefficient >> 7
    while rest != 0 {
      output.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}
