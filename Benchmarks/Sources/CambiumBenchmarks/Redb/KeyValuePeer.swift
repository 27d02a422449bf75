/// A store of keys of 24 bytes and values of 150, as redb's published benchmark has them.
protocol KeyValuePeer: AnyObject {
  var name: String { get }

  /// Makes an empty store in place of what was there, and opens it.
  func create() throws
  func close() throws
  /// Puts pairs in one durable transaction.
  func put(_ pairs: Range<Int>) throws
  /// Removes pairs in one durable transaction.
  func remove(_ pairs: Range<Int>) throws
  func get(_ pairs: [Int]) throws -> Answer
  /// From each pair on, `count` pairs in the order of the keys.
  func ranges(_ pairs: [Int], count: Int) throws -> Answer
  func count() throws -> Int
  func compact() throws
  func fileBytes() throws -> UInt64
  /// What a thread reads with.
  func reader() throws -> any KeyValueReader
}

/// What one thread reads with beside others.
protocol KeyValueReader: AnyObject, Sendable {
  func get(_ pairs: [Int]) throws -> Answer
  func close()
}

/// The pairs: random, but the same for every peer.
struct Pair {
  static let keySize = 24
  static let valueSize = 150
  /// As in redb's benchmark, so that everything is in the cache.
  static let cacheBytes = 4 << 30

  private let key = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
  private let value = UnsafeMutableRawBufferPointer.allocate(byteCount: 160, alignment: 16)

  func free() {
    key.deallocate()
    value.deallocate()
  }

  /// The key of a pair, good until the next call.
  @inline(__always)
  func key(_ i: Int) -> UnsafeRawBufferPointer {
    for w in 0..<3 { key.storeBytes(of: mix(i, 40 + UInt64(w)), toByteOffset: 8 * w, as: UInt64.self) }
    return UnsafeRawBufferPointer(rebasing: key[..<Self.keySize])
  }

  /// The value of a pair, good until the next call.
  @inline(__always)
  func value(_ i: Int) -> UnsafeRawBufferPointer {
    var word = mix(i, 50)
    for w in 0..<19 {
      value.storeBytes(of: word, toByteOffset: 8 * w, as: UInt64.self)
      word = word &* 0x9E37_79B9_7F4A_7C15 &+ 1
    }
    return UnsafeRawBufferPointer(rebasing: value[..<Self.valueSize])
  }
}

extension Answer {
  /// Counts a value in: its length and ends.
  @inline(__always)
  mutating func add(value: UnsafeRawBufferPointer) {
    if value.count < 8 { return add(UInt64(value.count)) }
    let first = value.loadUnaligned(as: UInt64.self)
    let last = value.loadUnaligned(fromByteOffset: value.count - 8, as: UInt64.self)
    add(first &+ last &+ UInt64(value.count))
  }
}
