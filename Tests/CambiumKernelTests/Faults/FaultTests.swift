import CambiumKernel
import CambiumTesting
import Testing

/// Every operation of a workload fails in turn: once, for good, in the middle of a write, or for want of room. What the
/// workload meets is a typed error; what was acknowledged is there afterwards, and nothing that was refused.
@Suite struct FaultTests {
  static let integers = TreeID(rawValue: 16)
  static let bytes = TreeID(rawValue: 17)

  static var options: StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = 1 << 16
    options.logBytes = 1 << 14
    options.deltaBytes = 1 << 16
    options.logValueLimit = 2000
    options.maxRecordBytes = 8 << 10
    return options
  }

  /// Rows by key, for the acknowledged state and the one that a commit under way would make.
  typealias Rows = [UInt64: [UInt8]]

  struct Outcome {
    var acknowledged: Rows = [:]
    var attempted: Rows = [:]
    /// A commit failed in a way that leaves its outcome open until the store is opened again.
    var isOpen = false
    var errors: [StoreError] = []
  }

  static func work(_ device: any StorageDevice) -> Outcome {
    var outcome = Outcome()
    var random = SplitMix64(seed: 4)
    do throws(StoreError) {
      let store = try Store.open(on: device, environment: TestEnvironment(seed: 8), options: options)
      for round in 0..<40 {
        var rows = outcome.acknowledged
        do throws(StoreError) {
          let t = try store.beginWrite()
          for _ in 0..<(round % 9 == 8 ? 400 : 6) {
            let key = UInt64(random.below(500))
            if random.oneIn(4) {
              try t.delete(integers, key)
              rows[key] = nil
            } else {
              let value = [UInt8](repeating: UInt8(round), count: random.oneIn(15) ? 5000 : 90)
              try t.put(integers, key, value)
              rows[key] = value
            }
          }
          outcome.attempted = rows
          try t.commit()
          outcome.acknowledged = rows
        } catch {
          outcome.errors.append(error)
          // Refused for want of room, nothing was changed; otherwise the commit may be there or not.
          switch error {
          case .deviceFull, .reserveExhausted: outcome.attempted = outcome.acknowledged
          default: outcome.isOpen = true
          }
          if case .poisoned = error { break }
        }
        if outcome.isOpen { break }
        if round % 10 == 5 { try store.checkpoint() }
      }
      if !outcome.isOpen { try store.close() }
    } catch { outcome.errors.append(error) }
    return outcome
  }

  static func made() throws -> [UInt8] {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 1), options: options)
    let t = try store.beginWrite()
    _ = try t.createTree(.integer)
    try t.commit()
    try store.close()
    return device.contents()
  }

  static func rows(_ device: any StorageDevice) throws -> Rows {
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 2), options: options)
    let cursor = try store.snapshot().cursor(integers)
    var rows: Rows = [:]
    var more = try cursor.seekFirst()
    while more {
      rows[cursor.integerKey] = try cursor.value()
      more = try cursor.next()
    }
    let problems = try store.check().problems
    #expect(problems.isEmpty, "\(problems)")
    return rows
  }

  @Test(arguments: [0, 1, 2, 3]) func everyOperationMayFail(_ mode: Int) throws {
    let image = try Self.made()
    let counting = FaultDevice(MemoryDevice(copying: image))
    let whole = Self.work(counting)
    #expect(whole.errors.isEmpty)
    #expect(try Self.rows(counting.base) == whole.acknowledged)
    let operations = counting.operationCount
    #expect(operations > 150)
    var refused = 0
    for index in stride(from: mode, to: operations, by: isFullLength ? 1 : 5) {
      let base = MemoryDevice(copying: image)
      let fault: FaultDevice.Fault
      switch mode {
      case 0: fault = .init(at: index)
      case 1: fault = .init(at: index, forGood: true)
      case 2: fault = .init(at: index, writtenBytes: 100)
      default: fault = .init(at: index, error: .deviceFull(bytes: 1))
      }
      let outcome = Self.work(FaultDevice(base, fault))
      if !outcome.errors.isEmpty { refused += 1 }
      let found = try Self.rows(base)
      if outcome.isOpen {
        #expect(found == outcome.acknowledged || found == outcome.attempted, "operation \(index)")
      } else {
        #expect(found == outcome.acknowledged, "operation \(index): \(outcome.errors)")
      }
    }
    #expect(refused > 10)
  }

  /// "There is no room" promises that nothing was changed, so the store goes on after it. Where a write fails that may
  /// be on the device in part, as the second copy of a superblock, the error is another one, and the store refuses the
  /// next commit until it is opened again.
  @Test func noRoomMeansThatNothingWasChanged() throws {
    let image = try Self.made()
    var (refused, poisoned, isWhole) = (0, 0, false)
    for index in 0..<10_000 where !isWhole {
      let base = MemoryDevice(copying: image)
      let device = FaultDevice(base)
      let store = try Store.open(on: device, environment: TestEnvironment(seed: 8), options: Self.options)
      device.reset()
      device.plan(.init(at: index, error: .deviceFull(bytes: 1)))
      func fill(_ byte: UInt8) throws {
        let t = try store.beginWrite()
        do {
          for key in 0..<2000 as Range<UInt64> { try t.put(Self.integers, key, [UInt8](repeating: byte, count: 90)) }
          try t.commit()
        } catch {
          t.rollBack()
          throw error
        }
        try store.checkpoint()
      }
      do {
        try fill(1)
        isWhole = true
        try store.close()
      } catch StoreError.deviceFull {
        refused += 1
        try fill(2)
        try store.close()
        #expect(try Self.rows(base).values.allSatisfy { $0[0] == 2 }, "operation \(index)")
      } catch StoreError.poisoned {
        poisoned += 1
        #expect(throws: StoreError.poisoned) { try fill(2) }
      }
    }
    #expect(isWhole && refused > 5 && poisoned > 5, "\(refused) refused, \(poisoned) poisoned")
  }

  /// A device of half a megabyte is filled until commits are refused. Deleting, checkpointing and compacting always go
  /// through, and make room again.
  @Test(arguments: [700_000, 1_000_000, 2_000_000]) func aFullDeviceCanBeEmptied(_ capacity: UInt64) throws {
    let device = MemoryDevice(capacityBytes: capacity)
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 6), options: Self.options)
    var t = try store.beginWrite()
    _ = try t.createTree(.integer)
    try t.commit()
    for cycle in 0..<3 {
      var next: UInt64 = 0
      var refused = 0
      while refused < 3 {
        do throws(StoreError) {
          t = try store.beginWrite()
          for _ in 0..<10 {
            try t.put(Self.integers, next, [UInt8](repeating: UInt8(cycle), count: 300))
            next += 1
          }
          try t.commit()
        } catch {
          refused += 1
          next -= 10
          switch error {
          case .deviceFull, .reserveExhausted: break
          default: Issue.record("\(error)")
          }
          // A checkpoint turns what was kept in reserve into pages.
          try store.checkpoint()
        }
      }
      #expect(next * 300 > capacity / 5, "cycle \(cycle): only \(next) rows went in")
      #expect(try store.snapshot().count(Self.integers) == next)
      #expect(try store.check().problems.isEmpty)
      // Everything out again.
      for key in 0..<next {
        t = try store.beginWrite()
        #expect(try t.delete(Self.integers, key))
        try t.commit()
      }
      try store.checkpoint()
      try store.compact()
      // The log may stand at the end of the file and keep its length; the room before it is free.
      let figures = try store.statistics()
      let used = figures.fileBytes - figures.freeBytes - figures.logSegmentBytes
      #expect(used <= 200_000, "\(used) bytes in use after everything was deleted")
    }
    try store.close()
  }
}
