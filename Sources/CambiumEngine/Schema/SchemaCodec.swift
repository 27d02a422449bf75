import CambiumKernel

//  A stored model:
//
//    +------+------+---------+------------------------------------------+
//    | "CS" | 0x01 | version | fields of the model                      |
//    |  2   |  1   |    1    | to the end                               |
//    +------+------+---------+------------------------------------------+
//
//  A field, in the model and in every part of it:
//
//    +-----------+-----------+------------------+
//    | number    | length    | content          |      number and length: unsigned LEB128, at most 5 bytes
//    | LEB128    | LEB128    | `length` bytes   |
//    +-----------+-----------+------------------+
//
//  Content is, as the field's number says: a number (LEB128, at most 10 bytes), text (UTF-8), a value
//  (`SchemaValueCodec`), or the fields of a part. A field that has its usual value is left out; one that repeats is a
//  list, in order. A reader passes over fields whose number it does not know, so that later versions can add some; what
//  a reader must not ignore changes the version. The numbers are in `SchemaEncoder`, and are never used again for
//  something else.

/// Appends the fields of a part.
///
/// Encoders call these functions dozens of times each. They are never inlined, because the copies would cost the
/// optimizer seconds.
struct FieldWriter {
  private(set) var bytes: [UInt8] = []

  @inline(never)
  mutating func append(number value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func append(raw content: [UInt8]) { bytes.append(contentsOf: content) }

  @inline(never)
  mutating func field(_ number: UInt64, bytes content: [UInt8]) {
    append(number: number)
    append(number: UInt64(content.count))
    bytes.append(contentsOf: content)
  }

  @inline(never)
  mutating func field(_ number: UInt64, text: String) { field(number, bytes: Array(text.utf8)) }

  @inline(never)
  mutating func field(_ number: UInt64, text: String?) {
    if let text { field(number, text: text) }
  }

  /// A number; left out if it is 0.
  @inline(never)
  mutating func field(_ number: UInt64, number value: UInt64) {
    if value == 0 { return }
    var content = FieldWriter()
    content.append(number: value)
    field(number, bytes: content.bytes)
  }

  mutating func field(_ number: UInt64, flag: Bool) { field(number, number: flag ? 1 : 0) }

  @inline(never)
  mutating func field(_ number: UInt64, part: FieldWriter) { field(number, bytes: part.bytes) }
}

/// Reads the fields of a part. Every step is checked; nothing in the bytes can trap.
struct FieldReader {
  private let bytes: [UInt8]
  private(set) var position: Int
  private let end: Int

  init(_ bytes: [UInt8], from start: Int = 0) {
    self.bytes = bytes
    position = min(max(start, 0), bytes.count)
    end = bytes.count
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  var isAtEnd: Bool { position >= end }

  @inline(never)
  func malformed(_ detail: String) -> SchemaError { .malformed(offset: position, detail: detail) }

  mutating func byte() throws(SchemaError) -> UInt8 {
    guard position < end else { throw malformed("the bytes end within a field") }
    defer { position += 1 }
    return bytes[position]
  }

  @inline(never)
  mutating func number() throws(SchemaError) -> UInt64 {
    // Most are small.
    if position < end, bytes[position] < 0x80 {
      defer { position += 1 }
      return UInt64(bytes[position])
    }
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      let byte = try byte()
      guard shift < 63 || byte <= 1 else { break }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw malformed("a number is longer than 64 bits")
  }

  @inline(never)
  mutating func number32() throws(SchemaError) -> UInt32 {
    guard let value = UInt32(exactly: try number()) else { throw malformed("a number is longer than 32 bits") }
    return value
  }

  /// The next field's number and content; `nil` at the end of the part.
  @inline(never)
  mutating func field() throws(SchemaError) -> (number: UInt64, content: FieldReader)? {
    if isAtEnd { return nil }
    let number = try number()
    let length = try self.number()
    return (number, try part(length))
  }

  /// The next `length` bytes.
  @inline(never)
  mutating func part(_ length: UInt64) throws(SchemaError) -> FieldReader {
    guard let count = Int(exactly: length), count <= end - position else {
      throw malformed("a field is longer than what it is in")
    }
    defer { position += count }
    return FieldReader(bytes, position..<position + count)
  }

  mutating func flag() throws(SchemaError) -> Bool {
    switch try number() {
    case 0: return false
    case 1: return true
    default: throw malformed("a flag is neither 0 nor 1")
    }
  }

  mutating func rest() -> [UInt8] {
    defer { position = end }
    return Array(bytes[position..<end])
  }

  mutating func text() throws(SchemaError) -> String {
    let text = bytes.withUnsafeBytes { bytes -> String? in
      let content = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
      // Most is, and needs no looking at what follows what.
      if content.isASCII { return String(decoding: content, as: UTF8.self) }
      return String(validating: content, as: UTF8.self)
    }
    guard let text else { throw malformed("text is not UTF-8") }
    position = end
    return text
  }

  mutating func fixed64() throws(SchemaError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 56, by: 8) { value |= UInt64(try byte()) << shift }
    return value
  }

  /// Checks that a content was read to its end.
  func finish() throws(SchemaError) {
    guard isAtEnd else { throw malformed("a field is longer than its content") }
  }
}
