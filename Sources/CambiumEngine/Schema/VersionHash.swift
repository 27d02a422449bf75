/// A version hash: 32 bytes that tell whether an entity or property of two models is stored alike.
public struct VersionHash: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  init(_ words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

  /// A hash of its bytes; `nil` unless there are 32 of them.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    var parts: [UInt64] = [0, 0, 0, 0]
    for (index, byte) in bytes.enumerated() { parts[index / 8] = parts[index / 8] << 8 | UInt64(byte) }
    words = (parts[0], parts[1], parts[2], parts[3])
  }

  /// A hash of the text that ``base64`` makes; `nil` for any other text.
  public init?(base64 text: String) {
    var bytes: [UInt8] = []
    var pending: UInt32 = 0
    var pendingBits = 0
    let characters = Array(text.utf8)
    guard characters.count == 44, characters.last == UInt8(ascii: "=") else { return nil }
    for character in characters.dropLast() {
      guard let digit = base64Digits.firstIndex(of: character) else { return nil }
      pending = pending << 6 | UInt32(digit)
      pendingBits += 6
      if pendingBits >= 8 {
        pendingBits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
        pending &= (1 << UInt32(pendingBits)) - 1
      }
    }
    // What is left over of the last character has no meaning and is 0, so that a hash has one text.
    guard pending == 0 else { return nil }
    self.init(bytes: bytes)
  }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(32)
    for word in [words.0, words.1, words.2, words.3] {
      for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
        result.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return result
  }

  /// The bytes in base64 (RFC 4648): 44 characters, as Core Data writes version checksums.
  public var base64: String {
    var text: [UInt8] = []
    var pending: UInt32 = 0
    var pendingBits = 0
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      pendingBits += 8
      while pendingBits >= 6 {
        pendingBits -= 6
        text.append(base64Digits[Int(truncatingIfNeeded: pending >> UInt32(pendingBits) & 0x3F)])
        pending &= (1 << UInt32(pendingBits)) - 1
      }
    }
    // 256 bits are 42 characters and 4 bits more.
    text.append(base64Digits[Int(truncatingIfNeeded: pending << 2 & 0x3F)])
    text.append(UInt8(ascii: "="))
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether two hashes have the same bytes.
  public static func == (a: VersionHash, b: VersionHash) -> Bool {
    a.words.0 == b.words.0 && a.words.1 == b.words.1 && a.words.2 == b.words.2 && a.words.3 == b.words.3
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}

private let base64Digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
