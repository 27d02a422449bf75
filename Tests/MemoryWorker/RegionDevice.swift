#if canImport(Glibc)
  import CambiumKernel
  import Glibc

  /// A device on pages of the system, which the heap's count does not include.
  final class RegionDevice: StorageDevice, @unchecked Sendable {
    // Unchecked: one thread uses it.
    private let region: UnsafeMutableRawPointer
    private let capacity: Int
    private var length = 0

    var isForOneThread: Bool { true }

    /// Makes an empty device.
    init(capacity: Int) {
      self.capacity = capacity
      region = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    }

    deinit { munmap(region, capacity) }

    /// Makes a device with a copy of another's content.
    convenience init(copying other: RegionDevice) {
      self.init(capacity: other.capacity)
      region.copyMemory(from: other.region, byteCount: other.length)
      length = other.length
    }

    func size() throws(StoreError) -> UInt64 { UInt64(length) }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
      guard let start = Int(exactly: offset), start < length, let target = buffer.baseAddress else { return 0 }
      let count = min(buffer.count, length - start)
      target.copyMemory(from: region + start, byteCount: count)
      return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
      guard let source = bytes.baseAddress else { return }
      let end = offset + UInt64(bytes.count)
      guard end <= UInt64(capacity) else { throw .deviceFull(bytes: end - UInt64(capacity)) }
      (region + Int(offset)).copyMemory(from: source, byteCount: bytes.count)
      length = max(length, Int(end))
    }

    func sync() throws(StoreError) {}

    func resize(to size: UInt64) throws(StoreError) {
      guard size <= UInt64(capacity) else { throw .deviceFull(bytes: size - UInt64(capacity)) }
      let size = Int(size)
      if size < length { (region + size).initializeMemory(as: UInt8.self, repeating: 0, count: length - size) }
      length = size
    }

    func close() {}
  }

  /// An environment of one thread.
  final class OneThread: StoreEnvironment, @unchecked Sendable {
    // Unchecked: one thread uses it.
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    func makeLock() -> any StoreLock { SingleThreadLock() }
    func nowMilliseconds() -> Int64 { 1_700_000_000_000 }
    func randomBits() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state
    }
  }
#endif
