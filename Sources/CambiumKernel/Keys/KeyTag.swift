// The first byte of a key's part. What follows it:
//
//   00          null              nothing
//   04, 05      false, true       nothing
//   08 ... 0F   negative integer  8 ... 1 bytes: the low bytes of the number in two's complement, big-endian
//   10          integer zero      nothing
//   11 ... 18   positive integer  1 ... 8 bytes, big-endian, the first one not zero
//   1A          double, float     8 bytes: the bits, big-endian, all inverted if negative, else with the first bit set;
//                                 -0 as 0; not-a-number as eight zero bytes
//   1B          date              as double
//   1C          decimal NaN       nothing
//   1D          decimal < 0       as 21, every byte after the tag inverted; the place is 128 or more
//   1E          decimal < 0       as 20, every byte after the tag inverted; the place is below 128
//   1F          decimal zero      nothing
//   20          decimal > 0       place + 128 (1 byte), digits, 00; the place is below 128
//   21          decimal > 0       place - 128 (1 byte), digits, 00; the place is 128 or more
//   24          string            UTF-8 in normalisation form C, escaped, 00
//   25          bytes             escaped, 00
//   28          uuid              16 bytes
//   2C          place             24 bytes: see `KeyPlace`
//   30 ... 38   row id            0 ... 8 bytes, big-endian, the first one not zero
//   40 ... 48   row id at the end 0 ... 8 bytes, big-endian, the first one not zero; then the tag again
//
// Decimal: the place is the power of ten of the first digit (12.5 has 1). Digits without trailing zeros, two to a byte
// as 1 + their value from 0 to 99, a last single digit as if a zero followed. Escaped: 00 is written 01 01, and 01 is
// written 01 02. A part that was cut ends in 01 03 instead of 00. A descending part has every byte inverted, its tag
// included.

/// The tags of the parts of keys. No tag and no inverted tag is 01, 02 or 03, or one of these inverted.
enum KeyTag {
  static let null: UInt8 = 0x00
  static let no: UInt8 = 0x04
  static let yes: UInt8 = 0x05
  static let integerZero: UInt8 = 0x10
  static let double: UInt8 = 0x1A
  static let date: UInt8 = 0x1B
  static let decimalNaN: UInt8 = 0x1C
  static let decimalLargeNegative: UInt8 = 0x1D
  static let decimalNegative: UInt8 = 0x1E
  static let decimalZero: UInt8 = 0x1F
  static let decimalPositive: UInt8 = 0x20
  static let decimalLargePositive: UInt8 = 0x21
  static let string: UInt8 = 0x24
  static let bytes: UInt8 = 0x25
  static let uuid: UInt8 = 0x28
  static let place: UInt8 = 0x2C
  static let reference: UInt8 = 0x30
  static let rowID: UInt8 = 0x40

  /// Follows the content of a string or bytes part.
  static let end: UInt8 = 0x00
  /// Begins an escape within a string or bytes part.
  static let escape: UInt8 = 0x01
  static let escapedZero: UInt8 = 0x01
  static let escapedOne: UInt8 = 0x02
  static let cut: UInt8 = 0x03

  /// The bytes that a row id at the end takes at most.
  static let rowIDSize = 10
}

/// How many bytes a number takes without leading zeros; none for 0.
@inline(__always)
func byteCount(_ value: UInt64) -> Int { (71 &- value.leadingZeroBitCount) / 8 }
