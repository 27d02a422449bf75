import CambiumKernel

#if canImport(CambiumTesting)
  import CambiumTesting
#endif

// What the programs get from the platform. Each program runs on wasm32 and Cortex-M under Embedded Swift, and on the
// machine that builds, where the same file must come out.

#if hasFeature(Embedded)
  import CambiumDeviceSupport

  // The start-up code has these.
  @_extern(c, "host_put") func hostPut(_ text: UnsafeRawPointer, _ count: Int)
  @_extern(c, "stack_most") func stackMost() -> Int

  func say(_ text: String) {
    var text = text
    text.withUTF8 { if let start = $0.baseAddress { hostPut(start, $0.count) } }
  }

  func heapUsed() -> Int { DeviceHeap.usedBytes }
  func heapMost() -> Int { DeviceHeap.mostUsedBytes }
  func resetHeapMost() { DeviceHeap.resetMostUsedBytes() }

  private func sayExhausted(_ byteCount: Int) {
    // No text may be made here, because there is no memory left.
    let text: StaticString = "OUT OF MEMORY, hexadecimal bytes asked for: "
    hostPut(text.utf8Start, text.utf8CodeUnitCount)
    // The highest hexadecimal digit first.
    let digits: StaticString = "0123456789abcdef"
    for shift in stride(from: 28, through: 0, by: -4) { hostPut(digits.utf8Start + (byteCount >> shift & 15), 1) }
  }

  /// Where every program begins.
  @_cdecl("program")
  func program(
    _ heap: UnsafeMutableRawPointer, _ heapBytes: Int, _ disk: UnsafeMutableRawPointer, _ diskBytes: Int
  ) -> CInt {
    DeviceHeap.whenExhausted = { sayExhausted($0) }
    DeviceHeap.use(heap, byteCount: heapBytes)
    RamDisk.memory = UnsafeMutableRawBufferPointer(start: disk, count: diskBytes)
    runProgram()
    if failures == 0 { sayOwn("heap at most \(highestHeap) bytes, stack at most \(stackMost()) bytes\n") }
    say(failures == 0 ? "OK\n" : "NOT OK\n")
    return failures == 0 ? 0 : 1
  }
#else
  func say(_ text: String) { print(text, terminator: "") }
  func heapUsed() -> Int { 0 }
  func heapMost() -> Int { 0 }
  func resetHeapMost() {}
#endif

nonisolated(unsafe) var failures = 0
nonisolated(unsafe) var highestHeap = 0

/// Counts and tells what does not hold.
func expect(_ holds: Bool, _ what: String = "", line: Int = #line) {
  if holds { return }
  failures += 1
  if failures < 20 { say("FAILED: \(what), line \(line)\n") }
}

/// Tells what depends on the machine. Other lines have to be the same on every machine.
func sayOwn(_ text: String) { say("own: " + text) }

/// Tells the memory of one part of a program.
func part(_ name: String) {
  highestHeap = max(highestHeap, heapMost())
  if heapMost() > 0 { sayOwn("\(name): heap \(heapUsed()) bytes, at most \(heapMost())\n") }
  resetHeapMost()
}

func say(_ error: StoreError) {
  switch error {
  case .corrupt(_, let offset, let detail): say("corrupt at \(offset): \(detail)\n")
  case .deviceFull(let bytes): say("the device is full by \(bytes) bytes\n")
  case .misuse(let detail): say("misuse: \(detail)\n")
  default: say("an error of the store\n")
  }
}

/// A disk in memory that is not of the heap.
final class RamDisk: StorageDevice, @unchecked Sendable {
  /// The memory of the only disk. `nonisolated(unsafe)`: there is one thread.
  nonisolated(unsafe) static var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  private var length = 0
  private(set) var writeCount = 0
  private(set) var writtenBytes: UInt64 = 0
  private(set) var syncCount = 0

  var isForOneThread: Bool { true }
  func size() throws(StoreError) -> UInt64 { UInt64(length) }

  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    guard offset < UInt64(length) else { return 0 }
    let count = min(buffer.count, length - Int(offset))
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: Self.memory[Int(offset)..<Int(offset) + count]))
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    let end = offset + UInt64(bytes.count)
    if end > UInt64(Self.memory.count) { throw .deviceFull(bytes: end - UInt64(length)) }
    UnsafeMutableRawBufferPointer(rebasing: Self.memory[Int(offset)..<Int(end)]).copyMemory(from: bytes)
    length = max(length, Int(end))
    writeCount += 1
    writtenBytes += UInt64(bytes.count)
  }

  func sync() throws(StoreError) { syncCount += 1 }

  func resize(to size: UInt64) throws(StoreError) {
    if size > UInt64(Self.memory.count) { throw .deviceFull(bytes: size - UInt64(length)) }
    let size = Int(size)
    if size > length {
      UnsafeMutableRawBufferPointer(rebasing: Self.memory[length..<size]).initializeMemory(as: UInt8.self, repeating: 0)
    }
    length = size
  }

  func close() {}

  /// FNV-1a over the whole file.
  var hash: UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in Self.memory[..<length] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
  }

  func tell() {
    say("file: \(length) bytes, hash \(hash)\n")
  }
}

/// One thread, one clock that stands, and random bits from a seed.
final class Board: StoreEnvironment, @unchecked Sendable {
  private var random: SplitMix64

  init(seed: UInt64 = 20_261_130) { random = SplitMix64(seed: seed) }
  func makeLock() -> any StoreLock { SingleThreadLock() }
  func randomBits() -> UInt64 { random.next() }
  func nowMilliseconds() -> Int64 { 1_700_000_000_000 }
}

/// The memory that a store on a small device has.
///
/// The length of the log decides when a checkpoint begins, which is the same on every machine. The memory that changes
/// take is not: pointers of 64 bits are longer. So files are alike only if that memory is not used up first.
func smallOptions() -> StoreOptions {
  var options = StoreOptions()
  options.cacheBytes = 65_536
  options.deltaBytes = 1_048_576
  options.logBytes = 32_768
  options.maximumThreads = 1
  return options
}
