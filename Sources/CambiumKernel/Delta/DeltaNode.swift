import Synchronization

/// One logical change in memory: a put or a delete of a key, with the sequence that made it.
///
///      0          8          16         20         24   25      26     32
///     +----------+----------+----------+----------+----+-------+------+------------------+-------+
///     | sequence | key head | key      | value    | op | effect| tall | next, per level  | key,  |
///     |          |          | count    | count    |    |       |      | (Atomic words)   | value |
///     +----------+----------+----------+----------+----+-------+------+------------------+-------+
///
/// Nodes are written before they are linked, and only their links change afterwards (and the sequence of a node that no
/// reader can see yet, when its transaction rolls back).
struct DeltaNode {
  static let headerSize = 32
  static let tallest = 14
  /// The sequence of a node that was rolled back: no view reaches so far.
  static let void = UInt64.max

  let p: UnsafeMutableRawPointer

  @inline(__always) var sequence: UInt64 { UnsafeRawPointer(p).load(as: UInt64.self) }
  @inline(__always) var head: UInt64 { UnsafeRawPointer(p).load(fromByteOffset: 8, as: UInt64.self) }
  @inline(__always) var keyCount: Int {
    Int(truncatingIfNeeded: UnsafeRawPointer(p).load(fromByteOffset: 16, as: UInt32.self))
  }
  @inline(__always) var valueCount: Int {
    Int(truncatingIfNeeded: UnsafeRawPointer(p).load(fromByteOffset: 20, as: UInt32.self))
  }
  @inline(__always) var op: DeltaOp { DeltaOp(rawValue: UnsafeRawPointer(p).u8(24)) ?? .delete }
  /// What the change did to the number of entries: 1, 0 or -1.
  @inline(__always) var effect: Int { Int(Int8(bitPattern: UnsafeRawPointer(p).u8(25))) }
  @inline(__always) var height: Int { Int(UnsafeRawPointer(p).u8(26)) }
  @inline(__always) private var keyStart: UnsafeRawPointer {
    UnsafeRawPointer(p) + Self.headerSize + height &* MemoryLayout<UInt>.size
  }
  @inline(__always) var key: TreeKey { TreeKey(head: head, bytes: keyStart, count: keyCount) }
  @inline(__always) var value: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keyStart + keyCount, count: valueCount)
  }

  @inline(__always)
  func link(_ level: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    (p + Self.headerSize + level &* MemoryLayout<UInt>.size).assumingMemoryBound(to: Atomic<UInt>.self)
  }

  @inline(__always)
  func next(_ level: Int) -> DeltaNode? {
    UnsafeMutableRawPointer(bitPattern: link(level).pointee.load(ordering: .acquiring)).map(DeltaNode.init(p:))
  }

  func makeVoid() { p.storeBytes(of: Self.void, as: UInt64.self) }

  static func size(height: Int, keyCount: Int, valueCount: Int) -> Int {
    headerSize + height * MemoryLayout<UInt>.size + keyCount + valueCount
  }

  static func initialize(
    _ p: UnsafeMutableRawPointer, sequence: UInt64, key: TreeKey, value: UnsafeRawBufferPointer, op: DeltaOp,
    effect: Int, height: Int
  ) -> DeltaNode {
    p.storeBytes(of: sequence, as: UInt64.self)
    p.storeBytes(of: key.head, toByteOffset: 8, as: UInt64.self)
    p.storeBytes(of: UInt32(truncatingIfNeeded: key.count), toByteOffset: 16, as: UInt32.self)
    p.storeBytes(of: UInt32(truncatingIfNeeded: value.count), toByteOffset: 20, as: UInt32.self)
    p.put(op.rawValue, 24)
    p.put(UInt8(bitPattern: Int8(truncatingIfNeeded: effect)), 25)
    p.put(UInt8(truncatingIfNeeded: height), 26)
    let node = DeltaNode(p: p)
    for level in 0..<height { node.link(level).initialize(to: Atomic(0)) }
    let start = headerSize + height * MemoryLayout<UInt>.size
    p.put(key.buffer, start)
    p.put(value, start + key.count)
    return node
  }
}

/// What a change does.
enum DeltaOp: UInt8 {
  case put = 1
  case delete = 2
  /// A put whose value is the stub of a large value.
  case putStub = 3
}
