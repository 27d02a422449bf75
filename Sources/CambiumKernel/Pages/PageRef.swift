/// Where a page lies and what its checksum is: what a parent stores of a child, and the directory of a root.
///
///     location  bits 63...12  address in the file / 16
///               bits 11...0   stored length / 16 (at most 65,520 bytes)
///     checksum  of the stored bytes, seeded with the store's seed and the location
///
/// Because the parent holds the checksum, a rotten page, a page that was written to the wrong place, and an old page
/// that a lost write left behind are all told from the right one.
struct PageRef: Equatable {
  var location: UInt64
  var checksum: UInt64

  static let none = PageRef(location: 0, checksum: 0)
  static let size = 16
  /// The longest page that a reference can name, in bytes.
  static let longestPage = 4095 * 16

  init(location: UInt64, checksum: UInt64) {
    self.location = location
    self.checksum = checksum
  }

  init(address: UInt64, length: Int, checksum: UInt64) {
    location = (address / 16) &<< 12 | UInt64(length / 16)
    self.checksum = checksum
  }

  init(_ p: UnsafeRawPointer, _ offset: Int) {
    location = p.u64(offset)
    checksum = p.u64(offset + 8)
  }

  @inline(__always) var isNone: Bool { location == 0 }
  @inline(__always) var address: UInt64 { (location &>> 12) &* 16 }
  @inline(__always) var length: Int { Int(location & 0xFFF) &* 16 }

  func write(to p: UnsafeMutableRawPointer, _ offset: Int) {
    p.put(location, offset)
    p.put(checksum, offset + 8)
  }

  static func seed(store: UInt64, location: UInt64) -> UInt64 { Checksum.mix(store, location) }
}
