//   nothing                              an empty list
//   width (1 byte: 1, 2, 4 or 8)         the smallest that holds every row id
//   row ids, width bytes each, little-endian

/// The row ids of an ordered to-many relationship, read in place. Valid as long as the record's bytes.
public struct ReferenceList {
  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline let width: Int
  /// How many row ids there are.
  public let count: Int

  @inlinable
  init(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    self.bytes = bytes
    guard let first = bytes.first else {
      width = 1
      count = 0
      return
    }
    guard first == 1 || first == 2 || first == 4 || first == 8 else {
      throw corruptRecord(0, "a list of references has an unknown width")
    }
    width = Int(first)
    let shift = first.trailingZeroBitCount
    count = (bytes.count &- 1) &>> shift
    guard count &<< shift == bytes.count &- 1, count > 0 else {
      throw corruptRecord(0, "a list of references ends within one")
    }
  }

  /// The row id at a position, or `nil` beyond the end.
  @inlinable
  public subscript(index: Int) -> UInt64? {
    guard UInt(bitPattern: index) < UInt(bitPattern: count) else { return nil }
    let offset = 1 &+ index &* width
    switch width {
    case 1: return UInt64(bytes[offset])
    case 2: return UInt64(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    case 4: return UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    default: return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }

  /// The row ids as an array.
  public var array: [UInt64] {
    var result: [UInt64] = []
    result.reserveCapacity(count)
    for index in 0..<count {
      if let id = self[index] { result.append(id) }
    }
    return result
  }

  /// Appends the bytes of a list.
  static func encode(_ ids: [UInt64], into output: inout GrowingBytes) {
    guard let largest = ids.max() else { return }
    let width = largest <= 0xFF ? 1 : largest <= 0xFFFF ? 2 : largest <= 0xFFFF_FFFF ? 4 : 8
    let p = output.add(1 + ids.count * width)
    p.put(UInt8(width), 0)
    var offset = 1
    for id in ids {
      switch width {
      case 1: p.put(UInt8(truncatingIfNeeded: id), offset)
      case 2: p.put(UInt16(truncatingIfNeeded: id), offset)
      case 4: p.put(UInt32(truncatingIfNeeded: id), offset)
      default: p.put(id, offset)
      }
      offset &+= width
    }
  }

  /// Whether the width is the smallest one.
  var isCanonical: Bool {
    var largest: UInt64 = 0
    for index in 0..<count { largest = max(largest, self[index] ?? 0) }
    switch width {
    case 1: return true
    case 2: return largest > 0xFF
    case 4: return largest > 0xFFFF
    default: return largest > 0xFFFF_FFFF
    }
  }
}
