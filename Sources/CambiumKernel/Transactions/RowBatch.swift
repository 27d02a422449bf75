/// Values to be put under integer keys, gathered in the order of the keys: for passes that write many rows.
///
/// Put one by one, each value would first be kept in memory under its place in the order; a batch goes straight into
/// pages (``WriteTransaction/apply(_:to:)-(RowBatch,_)``). One thread at a time uses it.
public final class RowBatch {
  // The changes as nodes of no list, one behind the other, each at a multiple of 8.
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private var lastKey: UInt64?

  /// An empty batch.
  public init() {
    capacity = 1 << 12
    memory = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { memory.deallocate() }

  /// Whether there are no values.
  public var isEmpty: Bool { used == 0 }

  /// The memory that the values take, in bytes.
  public var bytes: Int { used }

  /// Forgets all values, and keeps their memory for the next ones.
  public func removeAll() {
    used = 0
    lastKey = nil
  }

  /// Adds a value. Amortized O(size of the value).
  ///
  /// - Throws: ``StoreError/misuse(_:)`` unless `key` is greater than the one before;
  ///   ``StoreError/valueTooLong(length:limit:)`` for one of 4 GiB.
  public func add(_ key: UInt64, _ value: UnsafeRawBufferPointer) throws(StoreError) {
    try add(key, count: value.count) { (p) throws(StoreError) in p.copyMemory(from: value) }
  }

  /// Adds a value of `count` bytes, which `fill` writes. If it throws, nothing is added. Amortized O(size of the
  /// value).
  ///
  /// - Throws: As ``add(_:_:)``; what `fill` throws.
  public func add(
    _ key: UInt64, count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let lastKey, key <= lastKey { throw .misuse("the keys of a batch of rows have to rise") }
    // A node counts the bytes of its value in 32 bits.
    guard let size = UInt32(exactly: count), size <= UInt32.max - 64 else {
      throw .valueTooLong(length: UInt64(clamping: count), limit: UInt64(UInt32.max - 64))
    }
    let nodeSize = roundUp(DeltaNode.size(keyCount: 0, valueCount: count), to: 8)
    if nodeSize > capacity - used { grow(to: used + nodeSize) }
    let p = memory + used
    try fill(UnsafeMutableRawBufferPointer(start: p + DeltaNode.headerSize, count: count))
    DeltaNode.initializeHeader(p, sequence: 0, key: TreeKey(key), valueCount: count, op: .put, effect: 0)
    used += nodeSize
    lastKey = key
  }

  private func grow(to least: Int) {
    var grown = capacity
    while grown < least { grown *= 2 }
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 8)
    fresh.copyMemory(from: memory, byteCount: used)
    memory.deallocate()
    memory = fresh
    capacity = grown
  }

  /// Where the changes lie, ``bytes`` in all, until the batch is changed.
  var contents: UnsafeMutableRawPointer { memory }
}
