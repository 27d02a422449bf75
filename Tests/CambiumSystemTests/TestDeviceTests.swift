import CambiumKernel
import CambiumTesting
import Testing

@Suite struct TestDeviceTests {
  @Test func countingDeviceCounts() throws {
    let device = CountingDevice(MemoryDevice())
    try device.write([1, 2, 3], at: 5)
    try device.write([4], at: 0)
    _ = try device.bytes(at: 6, 100)
    try device.sync()
    try device.resize(to: 2)
    var expected = CountingDevice.Counts()
    expected.reads = 1
    expected.readBytes = 2
    expected.writes = 2
    expected.writtenBytes = 4
    expected.syncs = 1
    expected.resizes = 1
    #expect(device.counts == expected)
    #expect(device.writes == [5..<8, 0..<1])
    device.reset()
    #expect(device.counts == CountingDevice.Counts())
  }

  @Test func faultDeviceFailsOnceOrForGood() throws {
    let memory = MemoryDevice()
    let device = FaultDevice(memory, .init(.write, at: 1, error: .deviceFull(bytes: 3), writtenBytes: 2))
    try device.write([1, 1, 1], at: 0)
    _ = try device.size()
    #expect(thrown { () throws(StoreError) in try device.write([2, 2, 2], at: 0) } == .deviceFull(bytes: 3))
    #expect(memory.contents() == [2, 2, 1])
    try device.write([3], at: 2)
    #expect(device.operationCount == 4)
    #expect(device.operationCount(of: .write) == 3)
    #expect(device.failureCount == 1)

    device.reset()
    device.plan(.init(at: 1, forGood: true, writtenBytes: 1))
    try device.sync()
    #expect(
      thrown { () throws(StoreError) in try device.write([9, 9], at: 0) }
        == .device(operation: .write, offset: 0, code: 5))
    #expect(memory.contents() == [9, 2, 3])
    #expect(thrown { () throws(StoreError) in try device.write([8], at: 0) } != nil)
    #expect(memory.contents() == [9, 2, 3])
    #expect(
      thrown { () throws(StoreError) in try device.sync() } == .device(operation: .sync, offset: 0, code: 5))
    #expect(thrown { () throws(StoreError) in _ = try device.bytes(at: 0, 1) } != nil)
    #expect(thrown { () throws(StoreError) in _ = try device.size() } != nil)
    #expect(thrown { () throws(StoreError) in try device.resize(to: 9) } != nil)
    device.reset()
    #expect(try device.everything() == [9, 2, 3])
  }

  @Test func recordingDeviceGuardsRanges() throws {
    let seen = Locked<[Range<UInt64>]>([])
    let device = RecordingDevice(MemoryDevice()) { range in seen.withLock { $0.append(range) } }
    device.protect(10..<20)
    try device.write([UInt8](repeating: 1, count: 10), at: 0)
    try device.write([1], at: 20)
    #expect(device.violations == [])
    try device.write([1, 1], at: 9)
    try device.resize(to: 15)
    #expect(device.violations == [10..<11, 15..<20])
    device.unprotect(12..<14)
    try device.write([1, 1], at: 12)
    #expect(device.violations.count == 2)
    try device.write([1, 1], at: 13)
    #expect(device.violations.last == 14..<15)
    #expect(seen.withLock { $0 } == [0..<10, 20..<21, 9..<11, 15..<21, 12..<14, 13..<15])
  }
}
