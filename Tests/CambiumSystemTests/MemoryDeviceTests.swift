import CambiumKernel
import CambiumTesting
import Testing

@Suite struct MemoryDeviceTests {
  @Test func readsWhatWasWritten() throws {
    let device = MemoryDevice()
    try device.write([1, 2, 3], at: 2)
    #expect(try device.size() == 5)
    #expect(try device.bytes(at: 0, 9) == [0, 0, 1, 2, 3])
    #expect(try device.bytes(at: 4, 9) == [3])
    #expect(try device.bytes(at: 5, 9) == [])
    #expect(try device.bytes(at: .max, 9) == [])
  }

  @Test(arguments: [65_536, 5000, 1]) func agreesWithAnArrayOnRandomWork(chunkBytes: Int) throws {
    var random = SeededNumbers(seed: 11)
    let device = MemoryDevice(chunkBytes: chunkBytes)
    var model: [UInt8] = []
    for _ in 0..<200 {
      let offset = Int.random(in: 0...200_000, using: &random)
      if Int.random(in: 0..<5, using: &random) == 0 {
        try device.resize(to: UInt64(offset))
        model = Array(model.prefix(offset)) + [UInt8](repeating: 0, count: max(0, offset - model.count))
      } else {
        let bytes = [UInt8](
          repeating: UInt8.random(in: 1...255, using: &random), count: .random(in: 0...70_000, using: &random))
        try device.write(bytes, at: UInt64(offset))
        if bytes.isEmpty { continue }
        if model.count < offset + bytes.count {
          model += [UInt8](repeating: 0, count: offset + bytes.count - model.count)
        }
        model.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      }
      #expect(try device.size() == UInt64(model.count))
    }
    #expect(device.contents() == model)
    #expect(try MemoryDevice(copying: model).everything() == model)
  }

  @Test func isFullAtItsCapacity() throws {
    let device = MemoryDevice(capacityBytes: 100)
    try device.write([UInt8](repeating: 7, count: 90), at: 0)
    #expect(thrown { () throws(StoreError) in try device.write([1, 2, 3], at: 98) } == .deviceFull(bytes: 11))
    #expect(thrown { () throws(StoreError) in try device.resize(to: 101) } == .deviceFull(bytes: 11))
    #expect(thrown { () throws(StoreError) in try device.write([1], at: .max) } == .deviceFull(bytes: .max))
    #expect(thrown { () throws(StoreError) in try device.resize(to: .max) } != nil)
    #expect(device.contents() == [UInt8](repeating: 7, count: 90))
    try device.write([1], at: 99)
    #expect(try device.size() == 100)
  }

  @Test func servesSeveralThreadsWithARealLock() async throws {
    let device = MemoryDevice(lock: TestEnvironment().makeLock())
    try device.resize(to: 4096)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<200 {
            guard let bytes = try? device.bytes(at: 0, 4096), Set(bytes).count == 1 else { return false }
          }
          return true
        }
      }
      for value in UInt8(1)...200 { try? device.write([UInt8](repeating: value, count: 4096), at: 0) }
      for await isWhole in group { #expect(isWhole) }
    }
  }
}

/// SplitMix64.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
