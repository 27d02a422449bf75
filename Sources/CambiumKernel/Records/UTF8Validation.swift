extension UnsafeRawBufferPointer {
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
