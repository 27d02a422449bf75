/// The bytes of a disk, with a hash of all of them that costs only the pages changed since it was last asked for.
struct DiskImage: Sendable {
  private static let pageBytes = 4096

  private(set) var bytes: [UInt8]
  /// Per page, its hash; out of date for the pages in `stale`.
  private var pageHashes: [UInt64] = []
  private var stale: Set<Int> = []

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    touch(0..<bytes.count)
  }

  /// Writes, growing the image if it ends before.
  mutating func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
    guard source.count > 0 else { return }
    let end = offset + source.count
    if end > bytes.count { resize(to: end) }
    bytes.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[offset..<end]).copyMemory(from: source) }
    touch(offset..<end)
  }

  mutating func write(_ source: [UInt8], _ part: Range<Int>, at offset: Int) {
    source.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[part]), at: offset) }
  }

  /// Makes the image `size` bytes long; new bytes are zero.
  mutating func resize(to size: Int) {
    let old = bytes.count
    if size > old {
      bytes.appendZeros(size - old)
      touch(old..<size)
    } else if size < old {
      bytes.removeLast(old - size)
      // The last page may have become shorter.
      if size > 0 { touch(size - 1..<size) }
    }
  }

  /// A hash of size and content: equal for equal images, and for others almost never.
  mutating func hash() -> UInt64 {
    let count = (bytes.count + DiskImage.pageBytes - 1) / DiskImage.pageBytes
    if pageHashes.count > count { pageHashes.removeLast(pageHashes.count - count) }
    while pageHashes.count < count { pageHashes.append(0) }
    bytes.withUnsafeBytes { all in
      for page in stale where page < count {
        let start = page * DiskImage.pageBytes
        pageHashes[page] = DiskImage.hash(all, start..<min(start + DiskImage.pageBytes, all.count))
      }
    }
    stale.removeAll(keepingCapacity: true)
    var sum = UInt64(bytes.count) &* 0x9E37_79B9_7F4A_7C15
    for hash in pageHashes { sum = DiskImage.mix(sum ^ hash) }
    return sum
  }

  private mutating func touch(_ range: Range<Int>) {
    if range.isEmpty { return }
    for page in range.lowerBound / DiskImage.pageBytes...(range.upperBound - 1) / DiskImage.pageBytes {
      stale.insert(page)
    }
  }

  private static func hash(_ all: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt64 {
    var sum = UInt64(range.count)
    var index = range.lowerBound
    while index + 8 <= range.upperBound {
      sum = mix(sum ^ all.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    while index < range.upperBound {
      sum = mix(sum ^ UInt64(all[index]))
      index += 1
    }
    return sum
  }

  private static func mix(_ value: UInt64) -> UInt64 {
    let product = (value ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
    return product.high ^ product.low &+ value
  }
}

extension [UInt8] {
  private static let zeros = [UInt8](repeating: 0, count: 1 << 16)

  /// Adds zeros by copying memory: element by element, they would take most of the time of the tests that are not
  /// optimized.
  mutating func appendZeros(_ count: Int) {
    let old = self
    self = [UInt8](unsafeUninitializedCapacity: old.count + count) { buffer, initialized in
      let all = UnsafeMutableRawBufferPointer(buffer)
      old.withUnsafeBytes { all.copyMemory(from: $0) }
      Self.zeros.withUnsafeBytes { zeros in
        var start = old.count
        while start < old.count + count {
          let part = Swift.min(zeros.count, old.count + count - start)
          UnsafeMutableRawBufferPointer(rebasing: all[start..<start + part])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: zeros[..<part]))
          start += part
        }
      }
      initialized = old.count + count
    }
  }
}
