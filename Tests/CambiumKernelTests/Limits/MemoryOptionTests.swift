import CambiumTesting
import Testing

@testable import CambiumKernel

/// Options that set how much memory a store takes.
struct MemoryOptionTests {
  private static let numbers = TreeID(rawValue: TreeID.firstFree)
  private static let names = TreeID(rawValue: TreeID.firstFree + 1)

  private static func fill(_ store: Store, _ rows: UInt64) throws {
    var t = try store.beginWrite()
    #expect(try t.createTree(.integer) == numbers)
    #expect(try t.createTree(.bytes) == names)
    try t.commit()
    for key in 0..<rows {
      t = try store.beginWrite()
      try t.put(numbers, key, [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 90))
      try t.put(names, Array("name \(key * 7919 % rows)".utf8), modelKey(key))
      try t.commit()
    }
  }

  private static func expectRows(_ store: Store, _ rows: UInt64) throws {
    let view = try store.snapshot()
    #expect(try view.count(numbers) == rows && view.count(names) == rows)
    #expect(try view.value(numbers, rows - 1)?.first == UInt8(truncatingIfNeeded: rows - 1))
    #expect(try store.check().problems.isEmpty)
  }

  @Test func tooLittleMemoryIsRefused() throws {
    let device = MemoryDevice()
    let environment = TestEnvironment(seed: 1)
    var options = StoreOptions()
    options.cacheBytes = 4 * FrameMemory.stride(4096) - 1
    let needed = StoreError.tooLittleMemory(.cacheBytes, neededBytes: 4 * FrameMemory.stride(4096))
    #expect(throws: needed) { try Store.create(on: device, environment: environment, options: options) }
    options.cacheBytes += 1
    options.bufferBytes = 1023
    #expect(throws: StoreError.tooLittleMemory(.bufferBytes, neededBytes: 1024)) {
      try Store.create(on: device, environment: environment, options: options)
    }
    options.bufferBytes = 1024
    let store = try Store.create(on: device, environment: environment, options: options)
    try Self.fill(store, 300)
    try store.close()
    options.cacheBytes = 0
    #expect(throws: needed) { try Store.open(on: device, environment: environment, options: options) }
    #expect(needed.description.contains("16896 bytes"))
    options.cacheBytes = 20_000
    try Self.expectRows(Store.open(on: device, environment: environment, options: options), 300)
  }

  /// A store with other pages opens with the options of a small one if its pages fit, and says what it needs if not.
  /// Four times the longest record must not overflow.
  @Test func theLargestOptionsAreNoMoreThanThereIs() throws {
    var options = StoreOptions()
    options.maxRecordBytes = .max
    options.deltaBytes = .max
    options.logBytes = .max
    options.logValueLimit = .max
    options.spareBytes = .max
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(), options: options)
    try Self.fill(store, 500)
    try Self.expectRows(store, 500)
    try store.close()
  }

  @Test(arguments: [4096, 8192, 65536]) func storesOfOtherOptionsOpenOrSayWhatTheyNeed(_ pageSize: Int) throws {
    let device = MemoryDevice()
    let environment = TestEnvironment(seed: 2)
    var options = StoreOptions()
    options.pageSize = pageSize
    options.maxRecordBytes = 1 << 20
    let store = try Store.create(on: device, environment: environment, options: options)
    try Self.fill(store, 500)
    // A record that is longer than all of a small store's memory.
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for key in UInt64(0)..<500 { try t.put(tree, key, [UInt8](repeating: 7, count: 300)) }
    try t.commit()
    // Left without closing.
    var small = StoreOptions.small
    let needed = PageCache.leastFrames * FrameMemory.stride(pageSize)
    if small.cacheBytes < needed {
      #expect(throws: StoreError.tooLittleMemory(.cacheBytes, neededBytes: needed)) {
        try Store.open(on: device, environment: environment, options: small)
      }
      small.cacheBytes = needed
    }
    let again = try Store.open(on: device, environment: environment, options: small)
    #expect(again.pageSize == min(pageSize, PageRef.longestPage))
    try Self.expectRows(again, 500)
  }

  /// The state that a small store recovers is that which another one would recover from the same file.
  @Test func whateverIsRecoveredIsTheSame() throws {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 3), options: .small)
    var tree = TreeID(rawValue: 0)
    var random = SplitMix64(seed: testSeed(77))
    var key: UInt64 = 0
    for n in 0..<400 {
      let t = try store.beginWrite()
      if n == 0 { tree = try t.createTree(.integer) }
      for _ in 0...random.below(4) {
        key += 1
        try t.put(tree, random.oneIn(4) ? UInt64(random.below(Int(key))) : key, random.bytes(random.below(700)))
      }
      try t.commit()
      guard n % 9 == 0 else { continue }
      let bytes = device.contents()
      var states: [[UInt8]] = []
      for options in [StoreOptions.small, StoreOptions()] {
        let copy = try Store.open(
          on: MemoryDevice(copying: bytes), environment: TestEnvironment(seed: 4), options: options)
        let cursor = try copy.snapshot().cursor(tree)
        var state: [UInt8] = modelKey(try copy.snapshot().count(tree))
        var isValid = try cursor.seekFirst()
        while isValid {
          state += try cursor.value() ?? []
          isValid = try cursor.next()
        }
        states.append(state)
      }
      #expect(states[0] == states[1], "after \(n) commits")
    }
  }

  /// Once a store is closed, a transaction and a view of it that are kept hold no pages, and say that it is closed.
  @Test func aClosedStoreKeepsNoPages() throws {
    let environment = TestEnvironment(seed: 5)
    let store = try Store.create(on: MemoryDevice(), environment: environment, options: StoreOptions())
    try Self.fill(store, 500)
    try store.checkpoint()
    let t = try store.beginWrite()
    try t.put(Self.numbers, 1, [1])
    try t.commit()
    let view = try store.snapshot()
    let cursor = try view.cursor(Self.names)
    #expect(try cursor.seekLast())
    #expect(environment.memory.bytes > 0)
    // The cursor holds its page.
    try withExtendedLifetime(cursor) { try store.close() }
    #expect(environment.memory.bytes > 0)

    let second = TestEnvironment(seed: 6)
    let other = try Store.create(on: MemoryDevice(), environment: second, options: StoreOptions())
    try Self.fill(other, 500)
    try other.checkpoint()
    try Self.expectRows(other, 500)
    let kept = try other.beginWrite()
    try kept.put(Self.numbers, 1, [1])
    try kept.commit()
    #expect(second.memory.bytes > 0)
    try other.close()
    #expect(second.memory.bytes == 0)
    withExtendedLifetime(kept) {}
  }
}
