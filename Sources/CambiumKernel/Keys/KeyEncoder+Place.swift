/// A place in a plane, the part of a key that spatial indexes have: near places have near keys, as far as a line can
/// keep those of a plane together.
///
///     2C | code (8 bytes) | first coordinate (8) | second coordinate (8)
///
/// All big-endian. The code is that of the place's steps (``PlaneAxis``) on Hilbert's curve (``PlaneCell``); the
/// coordinates are as in the part of a double, so that they are in the key exactly and need not be read from the row.
public struct KeyPlace: Sendable {
  /// The place's code on the curve.
  public var code: UInt64
  /// The first coordinate. -0 comes back as 0, not-a-number as the canonical one.
  public var x: Double
  /// The second coordinate.
  public var y: Double

  /// How many bytes the part has.
  public static let byteCount = 25

  /// A place and its code.
  public init(x: Double, y: Double) {
    code = PlaneCell.code(PlaneAxis.step(x), PlaneAxis.step(y))
    self.x = x
    self.y = y
  }

  /// Reads the part that a key begins with. The code is not compared with the coordinates.
  ///
  /// - Throws: `StoreError.corrupt` if there is none.
  @inlinable
  public init(atStartOf key: UnsafeRawBufferPointer) throws(StoreError) {
    guard key.count >= Self.byteCount, key[0] == Self.tag else {
      throw .corrupt(place: .key, offset: 0, detail: "the key does not begin with a place")
    }
    // Within the bytes that were just counted.
    code = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
    x = Self.number(ofOrderedBits: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 9, as: UInt64.self)))
    y = Self.number(ofOrderedBits: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 17, as: UInt64.self)))
  }

  @usableFromInline static let tag: UInt8 = KeyTag.place

  /// The number that ``KeyEncoder/orderedBits(_:)`` gave the bits of.
  @inlinable @inline(__always)
  public static func number(ofOrderedBits bits: UInt64) -> Double {
    bits == 0 ? .nan : Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
  }

  /// The least key that begins with a place of a code.
  public static func firstKey(code: UInt64) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(9)
    key.append(tag)
    for shift in stride(from: 56, through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: code >> UInt64(shift))) }
    return key
  }

  /// The keys of places with codes from one to another, both included.
  public static func range(from first: UInt64, through last: UInt64) -> KeyRange {
    KeyRange(lower: firstKey(code: first), upper: last == .max ? [tag + 1] : firstKey(code: last + 1))
  }
}

extension KeyEncoder {
  /// Appends a place; see ``KeyPlace``. It is never descending.
  public mutating func append(_ place: KeyPlace) {
    guard begin(KeyPlace.byteCount) else { return }
    append(byte: KeyTag.place, 0)
    append(bigEndian: place.code, count: 8, 0)
    append(bigEndian: KeyEncoder.orderedBits(place.x), count: 8, 0)
    append(bigEndian: KeyEncoder.orderedBits(place.y), count: 8, 0)
  }
}

extension RecordView {
  /// The double nearest to the number or date at a path; nil if it is null.
  ///
  /// - Throws: `StoreError.misuse` if the field holds anything else; `StoreError.corrupt` if the record is damaged.
  public func coordinate(at path: FieldPath) throws(StoreError) -> Double? {
    guard let parent = try path.parent(in: self), try !parent.isNull(path.leaf) else { return nil }
    switch try parent.slot(path.leaf).pointee.tag {
    case .int16, .int32, .int64: return try parent.int64(at: path.leaf).map { Double($0) }
    case .float, .double: return try parent.double(at: path.leaf)
    case .date: return try parent.date(at: path.leaf)
    case .decimal:
      guard let value = try parent.decimal(at: path.leaf) else { return nil }
      return value.nearestDouble
    default: throw .misuse("a coordinate is a number or a date")
    }
  }
}
