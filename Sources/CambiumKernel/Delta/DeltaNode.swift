/// One logical change in memory: a put or a delete of a key, with the sequence that made it.
///
///      0          8          16         20         24   25       32         40
///     +----------+----------+----------+----------+----+--------+----------+-------+
///     | sequence | key head | key      | value    | op | effect | older    | key,  |
///     |          |          | count    | count    |    |        | (word)   | value |
///     +----------+----------+----------+----------+----+--------+----------+-------+
///
/// `older` is the change of the same key before this one. Nodes are written before a list leads to them, and do not
/// change afterwards (but for the sequence of a node that no reader can see yet, when its transaction rolls back).
struct DeltaNode: DeltaAddress {
  static let headerSize = 40
  /// The sequence of a node that was rolled back: no view reaches so far.
  static let void = UInt64.max

  let p: UnsafeMutableRawPointer

  @inline(__always)
  init(p: UnsafeMutableRawPointer) { self.p = p }

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
  /// The change of the same key before this one.
  @inline(__always) var older: DeltaNode? {
    DeltaNode(word: UnsafeRawPointer(p).load(fromByteOffset: 32, as: UInt.self))
  }
  @inline(__always) private var keyStart: UnsafeRawPointer { UnsafeRawPointer(p) + Self.headerSize }
  @inline(__always) var key: TreeKey { TreeKey(head: head, bytes: keyStart, count: keyCount) }
  @inline(__always) var value: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keyStart + keyCount, count: valueCount)
  }

  func makeVoid() { p.storeBytes(of: Self.void, as: UInt64.self) }

  /// Notes what comes before this change; only before a list leads to it.
  @inline(__always)
  func setOlder(_ node: DeltaNode) { p.storeBytes(of: UInt(bitPattern: node.p), toByteOffset: 32, as: UInt.self) }

  @inline(__always)
  static func size(keyCount: Int, valueCount: Int) -> Int { headerSize &+ keyCount &+ valueCount }

  @inline(__always)
  static func initialize(
    _ p: UnsafeMutableRawPointer, sequence: UInt64, key: TreeKey, value: UnsafeRawBufferPointer, op: DeltaOp,
    effect: Int
  ) -> DeltaNode {
    initializeHeader(p, sequence: sequence, key: key, valueCount: value.count, op: op, effect: effect)
    p.put(key.buffer, headerSize)
    p.put(value, headerSize + key.count)
    return DeltaNode(p: p)
  }

  /// Writes what comes before key and value.
  @inline(__always)
  static func initializeHeader(
    _ p: UnsafeMutableRawPointer, sequence: UInt64, key: TreeKey, valueCount: Int, op: DeltaOp, effect: Int
  ) {
    p.storeBytes(of: sequence, as: UInt64.self)
    p.storeBytes(of: key.head, toByteOffset: 8, as: UInt64.self)
    p.storeBytes(of: UInt32(truncatingIfNeeded: key.count), toByteOffset: 16, as: UInt32.self)
    p.storeBytes(of: UInt32(truncatingIfNeeded: valueCount), toByteOffset: 20, as: UInt32.self)
    p.put(op.rawValue, 24)
    p.put(UInt8(bitPattern: Int8(truncatingIfNeeded: effect)), 25)
    p.storeBytes(of: 0, toByteOffset: 32, as: UInt.self)
  }
}

/// What a change does.
enum DeltaOp: UInt8 {
  case put = 1
  case delete = 2
  /// A put whose value is the stub of a large value.
  case putStub = 3
}

/// Something in the memory of a list that is known by its address.
protocol DeltaAddress {
  init(p: UnsafeMutableRawPointer)
}

extension DeltaAddress {
  /// What lies at an address that a list holds; nil for none.
  @inline(__always)
  init?(word: UInt) {
    guard let p = UnsafeMutableRawPointer(bitPattern: word) else { return nil }
    self.init(p: p)
  }
}
