import CambiumTesting
import Testing

@testable import CambiumKernel

/// The memory of the cache, and what leads from an inner page to the frames of its children.
@Suite struct FrameTests {
  @Test func framesLieApartAndHoldNothingAtFirst() {
    var memory = FrameMemory(TestEnvironment(), pageSize: 512, capacity: 64)
    var starts: [UInt] = []
    for i in 0..<10_000 {
      let frame = memory.next(atMost: 10_000 - i)
      #expect(frame.word % 64 == 0)
      #expect(frame.name.pointee.load(ordering: .relaxed) == 0 && frame.hint(0) == nil && !frame.isHeld)
      frame.content.initializeMemory(as: UInt8.self, repeating: 0xAB, count: 512)
      starts.append(frame.word)
    }
    starts.sort()
    for (a, b) in zip(starts, starts.dropFirst()) { #expect(b - a >= UInt(Frame.headerSize + 512)) }
  }

  /// Pages of one length lie at regular distances, and must be found all the same.
  @Test(arguments: [1, 117, 187, 256, 272, 351, 352, 374])
  func pagesAtRegularDistancesAreFound(_ distance: UInt64) {
    let environment = TestEnvironment()
    var memory = FrameMemory(environment, pageSize: 64, capacity: 64)
    let table = FrameTable.make(size: 4096)
    defer { table.p.deallocate() }
    var pages: [(frame: Frame, ref: PageRef)] = []
    for i in 0..<UInt64(1500) {
      let frame = memory.next(atMost: 1500 - Int(i))
      let ref = PageRef(address: (70_000 + i * distance) * 16, length: 64, checksum: i)
      frame.setName(ref, isUsed: true)
      table.add(frame, Frame.word(ref))
      pages.append((frame, ref))
    }
    var lost = 0
    for (frame, ref) in pages where table.find(ref)?.word != frame.word { lost += 1 }
    #expect(lost == 0)
    for (frame, ref) in pages { table.remove(frame, Frame.word(ref)) }
    for (_, ref) in pages { #expect(table.find(ref) == nil) }
  }

  @Test func aHintIsGoodAsLongAsTheFrameHoldsThePage() {
    var memory = FrameMemory(TestEnvironment(), pageSize: 512, capacity: 64)
    let parent = memory.next(atMost: 2)
    let child = memory.next(atMost: 1)
    parent.content.put(UInt16(3), PageHeader.countOffset)  // children
    let ref = PageRef(address: 4096, length: 512, checksum: 77)
    child.setName(ref, isUsed: true)
    #expect(parent.hint(2) == nil)
    parent.setHint(2, child)
    parent.setHint(3, child)  // There is no such child.
    #expect(parent.hint(2)?.word == child.word && parent.hint(0) == nil && parent.hint(1) == nil)
    #expect(parent.hint(2)?.holds(ref) == true)
    child.setName(PageRef(address: 4096, length: 512, checksum: 78), isUsed: true)
    #expect(parent.hint(2)?.holds(ref) == false)
    child.setName(PageRef(address: 8192, length: 512, checksum: 77), isUsed: true)
    #expect(parent.hint(2)?.holds(ref) == false)
    parent.dropHints()
    #expect(parent.hint(2) == nil)
  }

  /// A cache of sixteen pages under trees of hundreds: hints go out of date all the time.
  @Test func hintsOutOfDateLeadNowhereElse() throws {
    var options = StoreOptions()
    options.cacheBytes = 68_000
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 9), options: options)
    func value(_ n: UInt64, _ round: Int) -> [UInt8] {
      Array("\(n)".utf8) + [UInt8](repeating: 33, count: 300 + (n % 10 == 0 ? round : 0))
    }
    var t = try store.beginWrite()
    let integers = try t.createTree(.integer)
    let bytes = try t.createTree(.bytes)
    for n in 0..<UInt64(5_000) {
      try t.put(integers, n * 3, value(n, 0))
      try t.put(bytes, Array("key \(n)".utf8), value(n, 0))
    }
    try t.commit()
    try store.checkpoint()
    var random = SplitMix64(seed: 10)
    for round in 0..<3 {
      let view = try store.snapshot()
      let (a, b) = (try view.cursor(integers), try view.cursor(bytes))
      for _ in 0..<3_000 {
        let n = UInt64.random(in: 0..<5_000, using: &random)
        let expected = value(n, round)
        #expect(try view.value(integers, n * 3) == expected)
        #expect(try view.value(integers, n * 3 + 1) == nil)
        #expect(try view.value(bytes, Array("key \(n)".utf8)) == expected)
        #expect(try a.seek(n * 3) && a.value() == expected)
        #expect(try b.seek(Array("key \(n)".utf8)) && b.value() == expected)
      }
      t = try store.beginWrite()
      for n in stride(from: UInt64(0), to: 5_000, by: 10) {
        try t.put(integers, n * 3, value(n, round + 1))
        try t.put(bytes, Array("key \(n)".utf8), value(n, round + 1))
      }
      try t.commit()
      try store.checkpoint()
    }
    #expect(try store.check().problems.isEmpty)
  }
}
