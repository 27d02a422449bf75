extension UnsafeRawBufferPointer {
  /// Whether every byte is below 0x80.
  @inlinable @inline(__always)
  public var isASCII: Bool {
    let count = self.count
    if count >= 8 {
      // The last eight overlap those before.
      var bits = loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      var index = 0
      while index &+ 8 < count {
        bits |= loadUnaligned(fromByteOffset: index, as: UInt64.self)
        index &+= 8
      }
      return bits & 0x8080_8080_8080_8080 == 0
    }
    if count >= 4 {
      let bits =
        loadUnaligned(fromByteOffset: 0, as: UInt32.self) | loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      return bits & 0x8080_8080 == 0
    }
    var bits: UInt8 = 0
    var index = 0
    while index < count {
      bits |= loadUnaligned(fromByteOffset: index, as: UInt8.self)
      index &+= 1
    }
    return bits < 0x80
  }

  /// Whether the bytes are well-formed UTF-8 (Unicode, table 3-7): no overlong forms, surrogates or cut sequences.
  @usableFromInline
  var isWellFormedUTF8: Bool {
    var index = 0
    let count = self.count
    while index < count {
      // Eight ASCII bytes at a time.
      while index &+ 8 <= count, loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
        index &+= 8
      }
      guard index < count else { return true }
      let first = self[index]
      if first < 0x80 {
        index &+= 1
        continue
      }
      let length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0
      guard length > 0, length <= count &- index else { return false }
      let second = self[index &+ 1]
      let lowest: UInt8 = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80
      let highest: UInt8 = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF
      guard second >= lowest, second <= highest else { return false }
      var next = 2
      while next < length {
        guard self[index &+ next] & 0xC0 == 0x80 else { return false }
        next &+= 1
      }
      index &+= length
    }
    return true
  }
}
