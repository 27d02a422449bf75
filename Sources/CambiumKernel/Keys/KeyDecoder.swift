/// A part of a key, read back. Strings are in normalisation form C.
public enum KeyPart: Equatable, Sendable {
  /// Null.
  case null
  /// A boolean.
  case boolean(Bool)
  /// An integer of any width.
  case int64(Int64)
  /// A float or double. Not-a-number comes back as the canonical one, -0 as 0.
  case double(Double)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  /// A decimal.
  case decimal(DecimalValue)
  /// A string.
  case string(String)
  /// Bytes.
  case bytes([UInt8])
  /// A UUID.
  case uuid(UUIDBytes)
  /// A place in a plane, by its coordinates.
  case place(Double, Double)
  /// The row id of a relationship's target.
  case reference(UInt64)
  /// The row id at the end of a key.
  case rowID(UInt64)
}

/// Reads keys that ``KeyEncoder`` wrote, part by part. Valid as long as the bytes are.
///
/// Every read is bounds-checked: bytes that are no key give `StoreError.corrupt(place: .key, ...)` with the offset from
/// the start of the key.
public struct KeyDecoder {
  let bytes: UnsafeRawBufferPointer
  /// Where the next part begins.
  public private(set) var offset = 0
  /// Whether the part read last had been cut.
  public private(set) var wasCut = false
  private var inversion: UInt8 = 0

  /// Starts at the first part of a key.
  public init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// Whether every part was read.
  public var isAtEnd: Bool { offset >= bytes.count }

  /// The id of the row at the end of a key, in constant time, and the number of bytes before it.
  @inline(__always)
  public static func rowID(
    atEndOf key: UnsafeRawBufferPointer
  ) throws(StoreError) -> (id: UInt64, start: Int) {
    guard let last = key.last else { throw corrupt(0, "the key is empty") }
    let count = Int(last) - Int(KeyTag.rowID)
    guard count >= 0, count <= 8, key.count >= count + 2 else { throw corrupt(key.count, "the key ends in no row id") }
    let start = key.count &- count &- 2
    var id: UInt64 = 0
    if key.count > 8 {
      // All of it at once, and what stands before it taken off.
      let word = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count &- 9, as: UInt64.self))
      id = count == 0 ? 0 : word & UInt64.max &>> UInt64(64 &- 8 &* count)
    } else {
      for index in 0..<count { id = id &<< 8 | UInt64(key[start &+ 1 &+ index]) }
    }
    // The same tag at both ends, and no leading zeros.
    guard key[start] == last, count == 0 || key[start &+ 1] != 0 else {
      throw corrupt(start, "the key ends in no row id")
    }
    return (id, start)
  }

  /// Reads the next part, which was written with the same `descending`.
  public mutating func next(descending: Bool = false) throws(StoreError) -> KeyPart {
    inversion = descending ? 0xFF : 0x00
    wasCut = false
    let tag = try take()
    switch tag {
    case KeyTag.null: return .null
    case KeyTag.no: return .boolean(false)
    case KeyTag.yes: return .boolean(true)
    case KeyTag.integerZero - 8...KeyTag.integerZero + 8: return .int64(try integer(Int(tag) - Int(KeyTag.integerZero)))
    case KeyTag.double: return .double(try double())
    case KeyTag.date: return .date(try double())
    case KeyTag.decimalNaN: return .decimal(.notANumber)
    case KeyTag.decimalZero: return .decimal(.zero)
    case KeyTag.decimalLargeNegative: return .decimal(try decimal(isNegative: true, bias: 128))
    case KeyTag.decimalNegative: return .decimal(try decimal(isNegative: true, bias: -128))
    case KeyTag.decimalPositive: return .decimal(try decimal(isNegative: false, bias: -128))
    case KeyTag.decimalLargePositive: return .decimal(try decimal(isNegative: false, bias: 128))
    case KeyTag.string: return .string(try string())
    case KeyTag.bytes: return .bytes(try unescaped())
    case KeyTag.uuid: return .uuid(UUIDBytes(high: try bigEndian(8), low: try bigEndian(8)))
    case KeyTag.place:
      guard !descending else { throw KeyDecoder.corrupt(offset, "a place is descending") }
      let code = try bigEndian(8)
      let place = KeyPlace(x: try double(), y: try double())
      guard place.code == code else { throw KeyDecoder.corrupt(offset, "a place of a key has another code") }
      return .place(place.x, place.y)
    case KeyTag.reference...KeyTag.reference + 8:
      return .reference(try shortest(Int(tag - KeyTag.reference)))
    case KeyTag.rowID...KeyTag.rowID + 8:
      let id = try shortest(Int(tag - KeyTag.rowID))
      guard !descending else { throw KeyDecoder.corrupt(offset, "a row id is descending") }
      guard try take() == tag else { throw KeyDecoder.corrupt(offset, "a row id's two tags differ") }
      return .rowID(id)
    default: throw KeyDecoder.corrupt(offset - 1, "a part of a key has an unknown tag")
    }
  }

  /// Passes over the next part.
  public mutating func skip(descending: Bool = false) throws(StoreError) {
    _ = try next(descending: descending)
  }

  private mutating func take() throws(StoreError) -> UInt8 {
    guard offset < bytes.count else { throw KeyDecoder.corrupt(offset, "the key ends within a part") }
    defer { offset &+= 1 }
    return bytes[offset] ^ inversion
  }

  private mutating func bigEndian(_ count: Int) throws(StoreError) -> UInt64 {
    var value: UInt64 = 0
    for _ in 0..<count { value = value &<< 8 | UInt64(try take()) }
    return value
  }

  /// A number whose first byte is not zero.
  private mutating func shortest(_ count: Int) throws(StoreError) -> UInt64 {
    let value = try bigEndian(count)
    guard count == 0 || value &>> UInt64(8 &* (count &- 1)) != 0 else {
      throw KeyDecoder.corrupt(offset, "a number of a key is longer than it need be")
    }
    return value
  }

  private mutating func integer(_ signedCount: Int) throws(StoreError) -> Int64 {
    if signedCount >= 0 {
      guard let value = Int64(exactly: try shortest(signedCount)) else {
        throw KeyDecoder.corrupt(offset, "an integer of a key is too large")
      }
      return value
    }
    let count = -signedCount
    let low = try bigEndian(count)
    let value = count == 8 ? low : low | UInt64.max &<< UInt64(8 &* count)
    let result = Int64(bitPattern: value)
    let magnitude = ~value
    guard result < 0, count == 1 || magnitude &>> UInt64(8 &* (count &- 1)) != 0 else {
      throw KeyDecoder.corrupt(offset, "a negative integer of a key is not in its shortest form")
    }
    return result
  }

  private mutating func double() throws(StoreError) -> Double {
    let bits = try bigEndian(8)
    if bits == 0 { return .nan }
    let value = Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
    guard !value.isNaN, KeyEncoder.orderedBits(value) == bits else {
      throw KeyDecoder.corrupt(offset, "a number of a key is not in its canonical form")
    }
    return value
  }

  private mutating func decimal(isNegative: Bool, bias: Int) throws(StoreError) -> DecimalValue {
    if isNegative { inversion = ~inversion }
    let place = Int(try take()) + bias
    var coefficient: UInt128 = 0
    var count = 0
    while true {
      let byte = try take()
      if byte == KeyTag.end { break }
      guard byte <= 100, count < 40 else {
        throw KeyDecoder.corrupt(offset - 1, "a decimal of a key has a wrong digit")
      }
      let pair = UInt128(byte - 1)
      // The 40th digit is never more than the zero that fills the last pair.
      let isLast = offset < bytes.count && bytes[offset] ^ inversion == KeyTag.end
      let isSingle = isLast && pair % 10 == 0
      let (scaled, overflow) = coefficient.multipliedReportingOverflow(by: isSingle ? 10 : 100)
      let (sum, carry) = scaled.addingReportingOverflow(isSingle ? pair / 10 : pair)
      guard !overflow, !carry else { throw KeyDecoder.corrupt(offset - 1, "a decimal of a key is too large") }
      coefficient = sum
      count += isSingle ? 1 : 2
      if isLast, pair == 0 { throw KeyDecoder.corrupt(offset - 1, "a decimal of a key has zeros at its end") }
    }
    // A first pair below 10 would be a leading zero.
    if count > 0, coefficient.description.utf8.count != count {
      throw KeyDecoder.corrupt(offset, "a decimal of a key begins with a zero")
    }
    var exponent = place - (count - 1)
    while exponent > 127 {
      let (scaled, overflow) = coefficient.multipliedReportingOverflow(by: 10)
      guard !overflow, coefficient != 0 else { throw KeyDecoder.corrupt(offset, "a decimal of a key is too large") }
      coefficient = scaled
      exponent -= 1
    }
    guard coefficient != 0, let power = Int8(exactly: exponent) else {
      throw KeyDecoder.corrupt(offset, "a decimal of a key has no digits or is too small")
    }
    return DecimalValue(isNegative: isNegative, coefficient: coefficient, exponent: power)
  }

  private mutating func unescaped() throws(StoreError) -> [UInt8] {
    var content: [UInt8] = []
    while true {
      let byte = try take()
      if byte == KeyTag.end { return content }
      guard byte == KeyTag.escape else {
        content.append(byte)
        continue
      }
      switch try take() {
      case KeyTag.escapedZero: content.append(0)
      case KeyTag.escapedOne: content.append(1)
      case KeyTag.cut:
        wasCut = true
        return content
      default: throw KeyDecoder.corrupt(offset - 1, "a part of a key has an unknown escape")
      }
    }
  }

  /// A string; one that was cut loses the bytes of a scalar that the cut went through.
  private mutating func string() throws(StoreError) -> String {
    let start = offset
    var content = try unescaped()
    if wasCut {
      var tail = 0
      while tail < 3, tail < content.count, content[content.count - 1 - tail] & 0xC0 == 0x80 { tail += 1 }
      if tail < content.count {
        let first = content[content.count - 1 - tail]
        let length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        if tail + 1 < length { content.removeLast(tail + 1) }
      }
    }
    guard content.withUnsafeBytes({ $0.isWellFormedUTF8 }) else {
      throw KeyDecoder.corrupt(start, "a string of a key is not well-formed UTF-8")
    }
    return String(decoding: content, as: UTF8.self)
  }

  private static func corrupt(_ offset: Int, _ detail: StaticString) -> StoreError {
    .corrupt(place: .key, offset: UInt64(clamping: offset), detail: detail)
  }
}
