/// What a fuzzer gives, read from the front. Behind the end everything is zero, so that any bytes are an input.
struct FuzzInput {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { place >= bytes.count }

  mutating func byte() -> UInt8 {
    guard place < bytes.count else { return 0 }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func word() -> UInt16 { UInt16(byte()) | UInt16(byte()) << 8 }

  mutating func number() -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(byte()) << UInt64(8 * $1) } }

  /// A number from 0 up to, not including, `bound`, which is at most 256; 0 for a bound below 1.
  mutating func below(_ bound: Int) -> Int { bound < 1 ? 0 : Int(byte()) % bound }

  /// The next `count` bytes, or as many as there are.
  mutating func take(_ count: Int) -> [UInt8] {
    let end = min(bytes.count, place + count)
    defer { place = end }
    return place < end ? [UInt8](bytes[place..<end]) : []
  }

  /// All that is left.
  mutating func rest() -> [UInt8] { take(bytes.count) }
}
